#!/usr/bin/env bash
# Builds everything and runs all tests: for continuous integration and for everybody.
#
# The protocol's models take some minutes; `TUTTI_CTEST_ARGS="-LE model"` leaves them out.
# `TUTTI_PRESET=asan` builds and runs the same under the sanitizers, in some three times the time.
# Where there is Go, the parts of real control planes are built once, in some ten minutes, and
# kept outside the build tree; `TUTTI_KUBE=none` leaves that out. Without them their tests are
# skipped, and counted.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./scripts/setup.sh

cache_home="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}"
export CCACHE_DIR="${CCACHE_DIR:-$cache_home/ccache}"
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1

preset="${TUTTI_PRESET:-dev}"
cmake --preset "$preset"
cmake --build --preset "$preset" -j "$(nproc)"

# No registry at hand, an old Go: the tests say why they are skipped.
if [[ "${TUTTI_KUBE:-}" != none ]]; then
  timeout 1500 ./scripts/kube_assets.sh --all >/dev/null ||
    echo "test.sh: no control plane can be built here" >&2
fi

# One line per skipped test, with what it said.
report_skipped() {
  local log="build/$preset/Testing/Temporary/LastTest.log"
  [[ -f "$log" ]] || return 0
  awk '
    /^[0-9]+\/[0-9]+ Testing: / { sub(/^[0-9]+\/[0-9]+ Testing: /, ""); name = $0 }
    wants_reason { reason = $0; wants_reason = 0 }
    /: Skipped$/ { wants_reason = 1 }
    /^\[  SKIPPED \] .* \([0-9]+ ms\)$/ { ++n; list = list "  " name ": " reason "\n"; reason = "" }
    END { printf "skipped tests: %d\n%s", n, list }
  ' "$log"
}

# Property tests draw the same cases in every run here; RC_PARAMS= (empty) draws new ones.
export RC_PARAMS="${RC_PARAMS-seed=1}"

status=0
# shellcheck disable=SC2086 # several arguments on purpose
ctest --test-dir "build/$preset" --output-on-failure -j "$(nproc)" ${TUTTI_CTEST_ARGS:-} || status=$?
report_skipped
((status == 0)) || exit "$status"
