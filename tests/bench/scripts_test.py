"""What bench/run.sh refuses, and the shape of the lines that bench/table.py prints."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run_sh(*arguments, **environment):
    return subprocess.run([str(ROOT / "bench/run.sh"), *arguments], capture_output=True, text=True,
                          timeout=30, check=False, env={**os.environ, **environment})


def table(lines):
    return subprocess.run([sys.executable, str(ROOT / "bench/table.py"), "--commit", "abc",
                           "--machine", "2 x CPU"], input=lines, capture_output=True, text=True,
                          timeout=30, check=False)


BAR = ('{"area":"memory","bar":"growth per node","value":5.5,"unit":"KiB","limit":6,'
       '"holds":true}')
FACT = '{"area":"memory","fact":"empty scheduler","value":21,"unit":"MiB"}'


class Arguments(unittest.TestCase):
    def refused(self, result, word):
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("bench: error: ", result.stderr)
        self.assertIn(word, result.stderr)
        self.assertEqual(result.stdout, "")

    def test_an_unknown_option_is_refused_before_anything_is_built(self):
        self.refused(run_sh("--quik"), "--quik")

    def test_an_unknown_area_is_refused_before_anything_is_built(self):
        self.refused(run_sh("memry"), "memry")

    def test_one_bad_area_among_good_ones_is_refused(self):
        self.refused(run_sh("--quick", "placement", "../placement"), "../placement")

    def test_an_empty_area_is_refused(self):
        self.refused(run_sh(""), "area")

    def test_a_table_of_floors_that_is_asked_for_must_be_there(self):
        self.refused(run_sh("placement", TUTTI_FLOORS="/nowhere/floors.csv"), "/nowhere")

    def test_help_names_every_area(self):
        result = run_sh("--help")
        self.assertEqual(result.returncode, 0)
        for source in (ROOT / "bench").glob("*_bench.cpp"):
            self.assertIn(source.name.removesuffix("_bench.cpp"), result.stdout)


class Lines(unittest.TestCase):
    def test_every_bar_says_where_and_of_what_it_was_measured(self):
        result = table(BAR + "\n" + FACT + "\n")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [json.loads(x) for x in result.stdout.splitlines() if x.startswith("{")]
        self.assertEqual(list(lines[0]), ["area", "bar", "value", "unit", "limit", "holds", "commit",
                                          "machine"])
        self.assertEqual(lines[0]["value"], 5.5)
        self.assertIs(lines[0]["holds"], True)
        self.assertEqual(lines[1]["fact"], "empty scheduler")
        self.assertEqual(lines[1]["machine"], "2 x CPU")

    def test_a_table_for_people_follows(self):
        text = table(BAR + "\n").stdout.split("\n\n", 1)[1]
        self.assertIn("growth per node", text)
        self.assertNotIn("{", text)

    def test_a_bar_that_lacks_a_part_is_an_error(self):
        for part in ("value", "unit", "limit", "holds"):
            line = json.loads(BAR)
            del line[part]
            result = table(json.dumps(line) + "\n")
            self.assertEqual(result.returncode, 1, part)
            self.assertIn(part, result.stderr)

    def test_what_is_no_line_of_json_is_an_error(self):
        self.assertEqual(table('{"area":"memory",\n').returncode, 1)

    def test_nothing_measured_is_an_error(self):
        self.assertEqual(table("").returncode, 1)


if __name__ == "__main__":
    unittest.main()
