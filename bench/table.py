#!/usr/bin/env python3
"""Reads JSON lines of benchmarks, adds commit and machine to each, prints them and then a table."""
import argparse
import json
import sys


def shown(value):
    """A number as people read it; everything else as it is."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}"
    return f"{value:,.3f}" if abs(value) < 100 else f"{value:,.1f}"


def print_table(rows):
    """One block per set of field names, with aligned columns; numbers to the right."""
    blocks = {}
    for row in rows:
        blocks.setdefault(tuple(row), []).append(row)
    for names, block in blocks.items():
        cells = [list(names)] + [[shown(row[name]) for name in names] for row in block]
        widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
        is_number = [all(isinstance(row[name], (int, float)) for row in block) for name in names]
        print()
        for line in cells:
            print("  ".join(text.rjust(width) if right else text.ljust(width)
                            for text, width, right in zip(line, widths, is_number)).rstrip())


PARTS = ("area", "value", "unit")
PARTS_OF_A_BAR = PARTS + ("limit", "holds")


def read(line):
    """The line as a row; ends the process with 1 if it is none."""
    try:
        row = json.loads(line)
    except ValueError as error:
        sys.exit(f"bench: error: no JSON: {line.strip()}: {error}")
    missing = [x for x in (PARTS_OF_A_BAR if "bar" in row else PARTS) if x not in row]
    if missing or ("bar" not in row and "fact" not in row):
        sys.exit(f"bench: error: {line.strip()} lacks {', '.join(missing) or 'bar'}")
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--machine", required=True)
    arguments = parser.parse_args()
    rows = []
    for line in sys.stdin:
        if not line.lstrip().startswith("{"):
            sys.stderr.write(line)
            continue
        row = read(line)
        rows.append(dict(row))
        print(json.dumps({**row, "commit": arguments.commit, "machine": arguments.machine}))
    flat = [{name: value for name, value in row.items() if not isinstance(value, (dict, list))}
            for row in rows]
    print_table(flat)
    if not rows:
        sys.exit("bench: error: nothing was measured")
    print(f"\ncommit {arguments.commit} on {arguments.machine}")


if __name__ == "__main__":
    main()
