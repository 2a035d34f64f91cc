#!/usr/bin/env bash
# Builds the parts of a Kubernetes control plane that tests run against, from Go modules, once.
#
#   scripts/kube_assets.sh [VERSION…]         builds what is missing; prints the folder of each version
#   scripts/kube_assets.sh --all              every version that is known here
#   scripts/kube_assets.sh --find [VERSION…]  builds nothing: prints the folder, or fails with a reason
#
# A folder holds etcd, kube-apiserver, kube-controller-manager and kube-scheduler, and can be used as
# KUBEBUILDER_ASSETS. If that is set, and has them in the only version asked for, it is taken. Others
# are kept in ${XDG_CACHE_HOME:-~/.cache}/tutti/kube; TUTTI_KUBE_CACHE names another place. Five to
# seven minutes on two cores, 1 GB of modules and 4 GB of Go's build cache, which is not needed
# afterwards. Exit codes: 0 all there, 1 cannot be had (one line says why), 2 wrong usage.
set -euo pipefail

versions=(v1.37.2 v1.36.3) # the first is the default, and what most of tests/live runs against
parts=(etcd kube-apiserver kube-controller-manager kube-scheduler)
cache="${TUTTI_KUBE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/tutti/kube}"

say() { echo "kube_assets: $*" >&2; }
fail() {
  say "$1"
  exit "${2:-1}"
}

etcd_version() { # as the release's own build has it
  case "$1" in
    v1.36.*) echo v3.6.16 ;;
    *) echo v3.7.3 ;;
  esac
}

is_whole() { # FOLDER
  local part
  for part in "${parts[@]}"; do [[ -x "$1/$part" ]] || return 1; done
}

# Prints the folder of a version that is there.
find_version() {
  local given="${KUBEBUILDER_ASSETS:-}"
  if [[ -n "$given" ]] && is_whole "$given" &&
    [[ "$("$given/kube-apiserver" --version)" == "Kubernetes $1" ]]; then
    echo "$given"
  elif is_whole "$cache/$1"; then
    echo "$cache/$1"
  else
    return 1
  fi
}

# Prints where the module cache has PATH@VERSION; says why it has not.
module_dir() {
  local said
  said="$(cd "$work" && GOFLAGS=-mod=mod go mod download -json "$1")" || true
  sed -n 's/^\t"Error": "\(.*\)",\{0,1\}$/kube_assets: \1/p' <<<"$said" >&2
  sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p' <<<"$said"
}

# A module of our own with exactly the dependencies of PATH@VERSION: its go.mod with the local
# replacements turned into the releases of the same day (k8s.io staging: v1.X.Y is v0.X.Y) or dropped.
make_module() { # PATH VERSION FOLDER
  local from
  from="$(module_dir "$1@$2")"
  [[ -n "$from" ]] || return 1
  mkdir -p "$3"
  sed -E -e 's|^module .*|module tutti.invalid/assets|' \
    -e "s|^(\t?)(replace )?(k8s\.io/[a-z0-9-]+) => \./staging/.*|\1\2\3 => \3 v0.${2#v1.}|" \
    -e '/ => \.\.?\//d' "$from/go.mod" >"$3/go.mod" &&
    cp "$from/go.sum" "$3/go.sum" && chmod u+w "$3/go.mod" "$3/go.sum" &&
    (cd "$3" && go mod edit -require="$1@$2")
}

# Each step says itself that it has failed: `set -e` does not hold in what stands before `||`.
build_part() { # VERSION PART
  local version="$1" part="$2" module package flags="-s -w" start=$SECONDS p
  if [[ "$part" == etcd ]]; then
    module="$work/etcd" package=go.etcd.io/etcd/server/v3
    [[ -d "$module" ]] || make_module "$package" "$(etcd_version "$version")" "$module" || return 1
  else
    module="$work/kube" package="k8s.io/kubernetes/cmd/$part"
    [[ -d "$module" ]] || make_module k8s.io/kubernetes "$version" "$module" || return 1
    for p in k8s.io/component-base/version k8s.io/client-go/pkg/version; do # gates follow the version
      flags+=" -X $p.gitVersion=$version -X $p.gitMajor=1"
      flags+=" -X $p.gitMinor=$(cut -d. -f2 <<<"$version") -X $p.gitTreeState=clean"
    done
  fi
  say "building $part of $version"
  # Beside its place first: nobody must find half of it.
  (cd "$module" &&
    go build -mod=mod -trimpath -buildvcs=false -ldflags "$flags" -o "$cache/$version/.$part.$$" "$package") ||
    return 1
  mv "$cache/$version/.$part.$$" "$cache/$version/$part" || return 1
  say "built $part in $((SECONDS - start)) s"
}

build_version() {
  local part
  command -v go >/dev/null || fail "no Go to build $1 with: install Go 1.26, or set KUBEBUILDER_ASSETS"
  work="$(mktemp -d)"
  trap 'rm -rf "$work"' EXIT
  export CGO_ENABLED=0 GOTOOLCHAIN=local
  unset GOOS GOARCH || true
  mkdir -p "$cache/$1"
  for part in "${parts[@]}"; do
    [[ -x "$cache/$1/$part" ]] || build_part "$1" "$part" || fail "$part $1 cannot be built here"
  done
  rm -rf "$work"
}

only_finds=
wanted=()
for word in "$@"; do
  case "$word" in
    --find) only_finds=1 ;;
    --all) wanted=("${versions[@]}") ;;
    v1.*) wanted+=("$word") ;;
    *)
      sed -n '2,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
      exit 2
      ;;
  esac
done
((${#wanted[@]} > 0)) || wanted=("${versions[0]}")
for version in "${wanted[@]}"; do
  if ! folder="$(find_version "$version")"; then
    [[ -z "$only_finds" ]] || fail "no control plane of $version: scripts/kube_assets.sh $version builds one"
    build_version "$version"
    folder="$(find_version "$version")"
  fi
  echo "$folder"
done
