#!/usr/bin/env bash
# Builds everything and runs all tests: for continuous integration and for everybody.
#
# TUTTI_MODELS says which protocol models Spin checks, if it is installed: base (the default), bugs,
# all, long or none (protocol/model/README.md).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./scripts/setup.sh

cache_home="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}"
export CCACHE_DIR="${CCACHE_DIR:-$cache_home/ccache}"
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1

cmake --preset dev
cmake --build --preset dev -j "$(nproc)"

# One line per skipped test, with what it said.
report_skipped() {
  local log=build/dev/Testing/Temporary/LastTest.log
  [[ -f "$log" ]] || return 0
  awk '
    /^[0-9]+\/[0-9]+ Testing: / { sub(/^[0-9]+\/[0-9]+ Testing: /, ""); name = $0 }
    wants_reason { reason = $0; wants_reason = 0 }
    /: Skipped$/ { wants_reason = 1 }
    /^\[  SKIPPED \] .* \([0-9]+ ms\)$/ { ++n; list = list "  " name ": " reason "\n"; reason = "" }
    END { printf "skipped tests: %d\n%s", n, list }
  ' "$log"
}

status=0
ctest --test-dir build/dev --output-on-failure -j "$(nproc)" || status=$?
report_skipped
((status == 0)) || exit "$status"

models="${TUTTI_MODELS:-base}"
if [[ "$models" == none || ! -x protocol/model/run.sh ]]; then
  echo "models: not run"
elif ! command -v spin >/dev/null; then
  echo "models: not run, spin is not installed"
else
  protocol/model/run.sh "$models"
fi
