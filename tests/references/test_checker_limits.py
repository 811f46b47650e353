"""The steps of the checker bound its time and its memory."""

import json
import re
import sys
from pathlib import Path

import pytest
from support.hostile_references import EMPTY, hostile, level, machine, record
from support.processes import python

from ilpinfer import checker

STEPS = 10**6
USED = """
import re, runpy, sys, time
sys.argv = sys.argv[1:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as end:
    code = end.code
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
print("used", code, time.process_time(), peak)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
def test_a_million_steps_take_less_than_a_second_and_100_megabytes(tmp_path):
    for name, plain in hostile():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(plain, separators=(",", ":")))
        limited = checker.__file__, "--max-steps", STEPS, path
        done = python("-I", "-S", "-c", USED, *limited, check=True)
        code, seconds, peak = done.stdout.splitlines()[-1].split()[1:]
        assert code in "012" and float(seconds) < 1 and int(peak) < 100 * 1024, (name, done.stdout)


def steps(plain):
    """The steps of the first level."""
    own = checker.read(plain, [checker.MAX_STEPS])
    return checker.check_level(*own, plain["levels"][0], [], checker.MAX_STEPS)


def test_machines_of_many_groups_cost_no_more_than_their_number():
    def of(count):
        follow = {"prices": [], "stages": [[*range(count)]]}
        return record(2, 2, [machine(2, 2, g) for g in range(count)], level(0, [[0, 0]], follow))

    assert steps(of(800)) < 2.1 * steps(of(400))


def test_labellings_cost_as_many_steps_as_they_have_tokens():
    def of(tokens):
        return record(1, tokens, [], level(0, [[0] * tokens]))

    assert steps(of(2000)) < 2.1 * steps(of(1000))
    assert len(checker.acceptor([(0,) * 20_000], 20_000, 1).next) == 20_002


def test_reading_counts_towards_the_limit():
    plain = record(20, 20, [], level(0, [[0] * 20]))
    with pytest.raises(checker.CheckError, match="more steps"):
        checker.check(plain, 1000)
    own = checker.read(plain, budget := [checker.MAX_STEPS])
    assert budget[0] <= checker.MAX_STEPS - 20**3 and own


def test_the_levels_of_a_reference_share_the_limit():
    bits = [[i >> b & 1 for b in range(3)] for i in range(8)]
    plain = record(2, 3, [], [level(0, bits), level(None, [], EMPTY)])
    checker.check(plain)
    one = steps(plain)
    with pytest.raises(checker.CheckError, match="more steps"):
        checker.check(plain, one + 200)


@pytest.mark.parametrize("content", [b"", b"{", b"1" * 5000])
def test_files_without_a_reference_end_with_2(tmp_path, content, checked):
    path = tmp_path / "empty.jsonl"
    path.write_bytes(content)
    code, _, err = checked(path)
    assert code == 2 and "is not JSON" in err


def test_names_of_files_are_shown_with_escapes(tmp_path, checked):
    path = tmp_path / "\x1b[31m\u202e.json"
    path.write_text("{}")
    code, out, _ = checked(path)
    assert code == 1 and "\\x1b[31m\\u202e.json: reference 1: " in out


def test_a_line_that_is_no_json_is_named_so(tmp_path, checked):
    for name, text, said in (
        ("a.jsonl", "what is this\n", "reference 1 is not JSON: Expecting value"),
        ("b.json", '{"format": "x', "reference 1 is not JSON: Unterminated string"),
        ("c.json", " " * 40, "reference 1 cannot be read in 25 bytes: Expecting value"),
        ("d.json", None, "cannot be read: "),
    ):
        if text is not None:
            (tmp_path / name).write_text(text)
        limit = ("--max-steps", "100") if name == "c.json" else ()
        code, _, err = checked(*limit, tmp_path / name)
        assert (code, said in err) == (2, True), err


def test_the_checker_has_at_most_250_lines_of_the_standard_library():
    text = Path(checker.__file__).read_text("utf-8")
    imported = re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE)
    assert text.count("\n") <= 250 and {*imported} <= sys.stdlib_module_names
