#!/usr/bin/env bash
# Installs the Debian packages that the build needs; changes nothing if they are all there.
set -euo pipefail

packages=(
  # compilers and tools
  g++ cmake ninja-build pkg-config mold ccache git python3 python3-yaml
  # libraries
  libcaf-dev librocksdb-dev libcapnp-dev capnproto
  libboost1.81-dev libboost-json1.81-dev libboost-url1.81-dev libboost-system1.81-dev
  libssl-dev libyaml-cpp-dev libfmt-dev libcli11-dev libsimdjson-dev zlib1g-dev
  # tests and benchmarks
  libgtest-dev libgmock-dev libbenchmark-dev librapidcheck-dev spin
)

# Nice to have: a test that needs one of these is skipped, and counted, where it cannot be had.
wanted=(clang-format)

fail() {
  echo "setup: error: $1" >&2
  echo "hint: $2" >&2
  exit 1
}

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
  fail "this is not a Debian system" "install by hand: ${packages[*]}"

is_installed() {
  [[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]
}

missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done
unmet=()
for package in "${wanted[@]}"; do
  is_installed "$package" || unmet+=("$package")
done
if ((${#missing[@]} + ${#unmet[@]} == 0)); then
  echo "setup: all packages are installed"
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    ((${#missing[@]} == 0)) && exit 0
    fail "packages are missing, and neither root nor sudo is at hand" \
      "as root: apt-get install -y ${missing[*]}"
  fi
  as_root=(sudo)
fi

install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "$@"
}

echo "setup: installing ${missing[*]} ${unmet[*]}"
if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq; then
  ((${#missing[@]} == 0)) && exit 0
  fail "the package lists cannot be read" "look at the network and at /etc/apt/sources.list"
fi
if ((${#missing[@]} > 0)); then
  install "${missing[@]}" ||
    fail "installation failed" "Debian 12 (bookworm) has all of them: apt-cache policy ${missing[0]}"
fi
for package in "${unmet[@]}"; do
  install "$package" || echo "setup: goes on without $package"
done
