#!/usr/bin/env bash
# Builds the release preset, runs the benchmarks and prints their JSON lines and a table.
#
#   bench/run.sh [--quick] [AREA…]     AREA: placement, mixed, openb, preemption, end_to_end, memory, chaos, sim, live; none = all
#
# One line per bar: area, bar, value, unit, limit, holds, commit, machine; lines of different days can
# be kept in one file. Lines with "fact" instead of "bar" say where time and memory go. Ends with 1 if
# something did not run; a bar that does not hold is no error. TUTTI_FLOORS names the table of physical
# floors (gang_placement_limits.csv) if it is not in ../shared/data/limits.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

refuse() {
  echo "bench: error: $1" >&2
  echo "hint: bench/run.sh --help" >&2
  exit 2
}

options=()
areas=()
for argument in "$@"; do
  case "$argument" in
    --quick) options=(--quick) ;;
    -h | --help)
      sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    -*) refuse "unknown option $argument" ;;
    *)
      [[ "$argument" =~ ^[a-z_]+$ && -f "bench/${argument}_bench.cpp" ]] || refuse "there is no area $argument"
      areas+=("$argument")
      ;;
  esac
done
if ((${#areas[@]} == 0)); then
  areas=(placement mixed openb preemption end_to_end memory chaos sim live)
fi

floors="${TUTTI_FLOORS:-../shared/data/limits/gang_placement_limits.csv}"
if [[ -n "${TUTTI_FLOORS:-}" && ! -r "$floors" ]]; then
  refuse "TUTTI_FLOORS: cannot read $floors"
fi

cache_home="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}"
export CCACHE_DIR="${CCACHE_DIR:-$cache_home/ccache}"
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
cmake --preset release -DTUTTI_BENCH=ON >&2
cmake --build --preset release -j "$(nproc)" --target "${areas[@]/#/tutti_bench_}" >&2

commit="$(git describe --always --dirty 2>/dev/null || echo unknown)"
model="$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)"
memory_gib="$(awk '/^MemTotal:/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo)"
machine="$(nproc) x ${model:-unknown CPU}, ${memory_gib} GiB"

lines="$(mktemp)"
trap 'rm -f "$lines"' EXIT
for area in "${areas[@]}"; do
  more=()
  if [[ "$area" == placement && -r "$floors" ]]; then
    more=(--floors "$floors")
  fi
  "build/release/bench/tutti_bench_$area" "${options[@]}" "${more[@]}" >>"$lines"
done

python3 bench/table.py --commit "$commit" --machine "$machine" <"$lines"
