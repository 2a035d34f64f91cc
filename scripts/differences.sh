#!/usr/bin/env bash
# Plays the scenarios on genuine control planes, once with our scheduler and once with
# kube-scheduler, and writes the page that says where the two differ.
#
#   scripts/differences.sh [--tutti PROGRAM] [--keep DIR] [PAGE]
#
# PAGE is docs/reference/differences.md if none is named; PROGRAM is build/dev/bin/tutti. Takes about
# an hour of mostly waiting; results go to DIR as they come, and what is there is not played again.
# Exit codes: 0 written, 1 error, 2 wrong usage. That scenarios fail is no error.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
page="$root/docs/reference/differences.md"
tutti="$root/build/dev/bin/tutti"
keep=''

usage() {
  sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}
while (($# > 0)); do
  case "$1" in
    --tutti) tutti="${2:?}"; shift ;;
    --keep) keep="${2:?}"; shift ;;
    -*) usage ;;
    *) page="$1" ;;
  esac
  shift
done

work="$(mktemp -d)"
keep="${keep:-$work}"
mkdir -p "$keep"
keep="$(cd "$keep" && pwd)"
started=()
end_all() {
  local pid plane
  for pid in "${started[@]}"; do
    pkill -P "$pid" 2>/dev/null || true # what it plays just now
    kill "$pid" 2>/dev/null || true
  done
  for plane in "$work"/*/pids; do
    [[ ! -d "$plane" ]] || "$root/scripts/control_plane.sh" stop -d "${plane%/pids}" || true
  done
  rm -rf "$work"
}
trap end_all EXIT

# What a story waits for at most, in seconds; what takes longer by its own words is left out.
limits=(--loosely --patience 30 --longest 75)

# One file of results for each letter, so that little is lost if this is ended.
play() { # WHO FOLDER KUBECONFIG ARG…
  local who="$1" folder="$2" kubeconfig="$3" letter name code
  mkdir -p "$keep/$who"
  for letter in {a..p}; do
    name="$who/$folder-$letter"
    [[ ! -s "$keep/$name.json" ]] || continue
    compgen -G "$root/tests/scenarios/$folder/$letter-*.yaml" >/dev/null || continue
    code=0
    (cd "$root" && exec "$tutti" scenario run "tests/scenarios/$folder/$letter"-*.yaml -o json \
      --kubeconfig "$kubeconfig" "${limits[@]}" "${@:4}") >"$keep/$name.part" 2>"$keep/$name.err" || code=$?
    ((code <= 1)) && [[ -s "$keep/$name.part" ]] || { cat "$keep/$name.err" >&2; return 1; }
    mv "$keep/$name.part" "$keep/$name.json"
    rm "$keep/$name.err"
  done
}
# kube-scheduler says nothing of itself: that nothing is written for five of its back-offs is rest.
play_theirs() { # FOLDER
  local plane="$work/theirs-$1"
  "$root/scripts/control_plane.sh" start -d "$plane" --kcm --scheduler --longest-backoff 1 --while $$ >&2
  play kube-scheduler "$1" "$plane/kubeconfig" --scheduler-name default-scheduler --rest 5
}
play_ours() { # FOLDER
  local plane="$work/ours-$1" admin tries=0 code=0
  "$root/scripts/control_plane.sh" start -d "$plane" --kcm --while $$ >&2
  "$tutti" scheduler --kubeconfig "$plane/kubeconfig" --data-dir "$plane-store" --admin 127.0.0.1:0 \
    >"$plane.log" 2>&1 &
  local scheduler=$!
  until admin="$(grep -ho 'http://127\.0\.0\.1:[0-9]*' "$plane.log" | head -n 1)" && [[ -n "$admin" ]]; do
    ((++tries < 600)) || { echo "differences: the scheduler does not start" >&2; return 1; }
    sleep 0.1
  done
  play tutti "$1" "$plane/kubeconfig" --server "$admin" --rest 3 || code=$?
  kill "$scheduler"
  return "$code"
}

for folder in cases upstream; do
  play_ours "$folder" & started+=($!)
  play_theirs "$folder" & started+=($!)
done
for pid in "${started[@]}"; do wait "$pid"; done
{
  cat <<'EOF'
# Where kube-scheduler and tutti differ

What becomes of each [scenario](../operate/scenarios.md) of `tests/scenarios` on a genuine control plane, Kubernetes 1.37.2 with its
gang features on: with `tutti scheduler`, and with kube-scheduler itself. Written by `scripts/differences.sh`; the texts of the last
column are what was found in that one run. A scenario says what *we* hold to be right: that it fails with kube-scheduler need not be a mistake there.

Where tutti fails here and passes in the simulator, it is one of these:

* `pending: [...]`, "no reason is visible": of a gang that waits for members, or a member that came late, neither scheduler writes a condition. The simulator
  asks the queue; so does `tutti explain`, and the runner does not.
* "loosely" with `batch`: the steps were not one event, and a scheduler that saw the first of them was right to act on it (U-E-01, U-E-02).
* C-10 is about seconds, and on a cluster its steps take some themselves: the pod had its 60 s before the story looked.

EOF
  "$tutti" scenario compare "$keep/tutti" "$keep/kube-scheduler"
} >"$work/page.md"
mv "$work/page.md" "$page"
echo "$page: written"
