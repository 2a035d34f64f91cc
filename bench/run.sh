#!/usr/bin/env bash
# Builds the release preset, runs the benchmarks and prints their JSON lines and a table.
#
#   bench/run.sh [--quick] [AREA…]     AREA as in the name of the executable tutti_bench_AREA
#
# Each line gets "commit" and "machine", so that lines of different days can be kept in one file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

options=()
areas=()
for argument in "$@"; do
  case "$argument" in
    --quick) options+=(--quick) ;;
    -h | --help)
      sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    -*)
      echo "bench: error: unknown option $argument" >&2
      echo "hint: bench/run.sh --help" >&2
      exit 2
      ;;
    *) areas+=("$argument") ;;
  esac
done

cache_home="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}"
export CCACHE_DIR="${CCACHE_DIR:-$cache_home/ccache}"
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
cmake --preset release >&2
cmake --build --preset release -j "$(nproc)" >&2

if ((${#areas[@]} == 0)); then
  mapfile -t areas < <(find build/release -type f -executable -name 'tutti_bench_*' -printf '%f\n' |
    sed 's/^tutti_bench_//' | sort)
fi
if ((${#areas[@]} == 0)); then
  echo "bench: error: no executable tutti_bench_* was built" >&2
  exit 1
fi

commit="$(git describe --always --dirty 2>/dev/null || echo unknown)"
model="$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)"
memory_gib="$(awk '/^MemTotal:/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo)"
machine="$(nproc) x ${model:-unknown CPU}, ${memory_gib} GiB"

lines="$(mktemp)"
trap 'rm -f "$lines"' EXIT
for area in "${areas[@]}"; do
  program="$(find build/release -type f -executable -name "tutti_bench_$area" -print -quit)"
  if [[ -z "$program" ]]; then
    echo "bench: error: there is no tutti_bench_$area" >&2
    echo "hint: ls build/release/bench" >&2
    exit 1
  fi
  "$program" "${options[@]}" >>"$lines"
done

python3 bench/table.py --commit "$commit" --machine "$machine" <"$lines"
