#!/usr/bin/env bash
# Formats every C++ file of the repository with clang-format 14; `--check` changes nothing and names
# the places that would change. Exit 77 if there is no clang-format 14: other versions break lines
# at other places.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tool=
for candidate in clang-format-14 clang-format; do
  if command -v "$candidate" >/dev/null && "$candidate" --version | grep -q 'version 14\.'; then
    tool=$candidate
    break
  fi
done
if [[ -z "$tool" ]]; then
  echo "clang-format 14 is not installed (apt-get install clang-format)"
  exit 77
fi

case "${1:-}" in
  --check) how=(--dry-run -Werror) ;;
  "") how=(-i) ;;
  *)
    echo "usage: scripts/format.sh [--check]" >&2
    exit 2
    ;;
esac
folders=(actors api base bench bridge chaos cli persistence placement protocol queue shards sim tests)
find "${folders[@]}" \( -name '*.cpp' -o -name '*.hpp' \) -print0 |
  xargs -0 -n 40 -P 2 "$tool" --style=file "${how[@]}"
