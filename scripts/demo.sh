#!/usr/bin/env bash
# Shows what tutti does: a real cluster is scheduled, then the same again with the process killed in
# the middle. Installs what is missing, builds, runs; leaves nothing behind but the build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./scripts/setup.sh
cache_home="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}"
export CCACHE_DIR="${CCACHE_DIR:-$cache_home/ccache}"
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
cmake --preset release >/dev/null
cmake --build --preset release -j "$(nproc)" --target tutti

tutti="build/release/bin/tutti"
files=(-f examples/openb/cluster.yaml -f examples/openb/gangs.yaml)
work="$(mktemp -d)"
daemon=""
cleanup() {
  [[ -z "$daemon" ]] || kill "$daemon" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

say() { printf '\n== %s\n' "$*"; }
fail() {
  echo "demo: failed: $1" >&2
  exit 1
}

# Starts a scheduler in the background and waits for its admin address: start LOG ARGUMENT…
start() {
  local log="$1"
  shift
  : >"$log" # it is looked at before the background job may have made it
  "$tutti" local --admin 127.0.0.1:0 "$@" >"$work/out" 2>"$log" &
  daemon=$!
  for _ in $(seq 300); do
    if grep -q '^admin address' "$log"; then
      TUTTI_SERVER="$(sed -n 's/^admin address //p' "$log")"
      export TUTTI_SERVER
      return
    fi
    kill -0 "$daemon" 2>/dev/null || return 0 # died already: the caller looks
    sleep 0.1
  done
  fail "the scheduler did not start: $(cat "$log")"
}

stop() {
  kill "$daemon"
  wait "$daemon" || fail "the scheduler did not stop in order"
  daemon=""
}

say "1. OpenB: 1,523 nodes with 6,212 GPUs, 423 gangs of 2,681 pods"
start "$work/first.log" "${files[@]}"
"$tutti" wait --for settled --timeout 120
"$tutti" get gangs >"$work/gangs"
head -n 12 "$work/gangs"
echo "… $(($(wc -l <"$work/gangs") - 1)) gangs; by phase and reason:"
tail -n +2 "$work/gangs" | awk '{ print $4, $5 }' | sort | uniq -c
say "The racks"
"$tutti" top racks | tail -n 2
say "Why one of them waits"
"$tutti" explain gang llm-whole-rack
stop

# Gangs as the API server's own store has them, with no scheduler near: "WHOLE PARTLY UNBOUND".
count_gangs() {
  "$tutti" local --serve-only --data-dir "$1" --listen 127.0.0.1:0 2>"$work/api.log" &
  daemon=$!
  for _ in $(seq 300); do
    grep -q '^API server' "$work/api.log" && break
    sleep 0.1
  done
  python3 - "$(sed -n 's/^API server .* on //p' "$work/api.log")" <<'END' >"$work/counted"
import json, sys, urllib.request
def items(path):
    with urllib.request.urlopen(sys.argv[1] + path) as answer:
        return json.load(answer)["items"]
bound = {}
for pod in items("/api/v1/pods"):
    group = pod["spec"].get("schedulingGroup", {}).get("podGroupName")
    bound.setdefault(group, 0)
    bound[group] += 1 if pod["spec"].get("nodeName") else 0
whole = partly = unbound = 0
for g in items("/apis/scheduling.k8s.io/v1beta1/podgroups"):
    n = bound.get(g["metadata"]["name"], 0)
    least = g["spec"]["schedulingPolicy"]["gang"]["minCount"]
    whole, partly, unbound = whole + (n >= least), partly + (0 < n < least), unbound + (n == 0)
print(whole, partly, unbound)
END
  stop
}

say "2. The same cluster, killed with kill -9 while many gangs are being bound"
partly=0
# Which Bindings are under way at the fault point is the machine's choice: about every third kill
# hits one, each at another moment, and there are at most twenty.
for ((round = 1; round <= 20; ++round)); do
  rm -rf "$work/data"
  if TUTTI_FAULT="C7:$((40 + 5 * round))" "$tutti" local --admin 127.0.0.1:0 --data-dir "$work/data" "${files[@]}" \
    >/dev/null 2>"$work/second.log"; then
    fail "the fault point was not reached"
  fi
  words="$(grep '^fault point' "$work/second.log")" || fail "no last words: $(cat "$work/second.log")"
  unfinished="$(sed 's/^[^{]*//' <<<"$words" |
    python3 -c 'import json,sys; d=json.load(sys.stdin); print(sum(d.get(k,0) for k in ("Decided","Evicting","Binding")))')"
  count_gangs "$work/data"
  read -r whole partly unbound <"$work/counted"
  ((partly >= 1 && unfinished >= 20)) && break
  echo "kill $round hit $partly half-bound gangs and $unfinished decided ones: once more"
done
((unfinished >= 20)) || fail "only $unfinished gangs were decided and unfinished: at least 20 are wanted"
((partly >= 1)) || fail "no gang was partly bound at the kill"
echo "before the kill:   $words"
echo "left behind:       $whole gangs bound, $partly partly bound, $unbound unbound; $unfinished decided and unfinished"

start "$work/third.log" --data-dir "$work/data"
echo "after the restart: $("$tutti" status | grep '^Gangs')"
"$tutti" wait --for settled --timeout 120
echo "settled:           $("$tutti" status | grep '^Gangs')"
partial="$("$tutti" get gangs -o json | python3 -c '
import json, sys
rows = json.load(sys.stdin)["items"]
print(sum(1 for r in rows if 0 < r["bound"] < r["min"]))')"
stop
[[ "$partial" == 0 ]] || fail "$partial gangs are left partly bound"
echo "no gang is left partly bound"
