"""The plugin of pytest, as a user's project sees it."""

from support.processes import python

pytest_plugins = ["pytester"]

PASSING = """
import ilpinfer
from formulations import parse_rules
from ilpinfer.testing import assert_optimal, assert_within

def test_my_decoder(ilpinfer_references):
    for kind in ilpinfer_references.kinds:
        for reference in ilpinfer_references.kind(kind)[:3]:
            mine = ilpinfer.decode(reference.trellis, parse_rules(reference.rules))
            assert_optimal(mine.labels if mine.has_labelling else None, reference)
            assert_within(mine.ids if mine.has_labelling else None, reference, gap=0.5)
"""
FAILING = """
import ilpinfer
from ilpinfer.testing import assert_optimal

def test_my_decoder(ilpinfer_references):
    for reference in ilpinfer_references.kind("soft-and-hard"):
        assert_optimal(ilpinfer.decode(reference.trellis).labels, reference)

def test_wrong_length(ilpinfer_references):
    assert_optimal(["O"], ilpinfer_references["plain-0-0"])

def test_same_object(ilpinfer_references, request):
    assert request.getfixturevalue("ilpinfer_references") is ilpinfer_references
"""


def test_a_right_decoder_passes(pytester):
    pytester.makepyfile(PASSING)
    pytester.runpytest_subprocess("-q").assert_outcomes(passed=1)


def test_a_wrong_decoder_fails_with_places_rules_and_nats(pytester):
    pytester.makepyfile(FAILING)
    result = pytester.runpytest_subprocess("-q")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            "E*AssertionError: soft-and-hard-*: the labelling *",
            "E*token * '*': expected *, got *",
            'E*rule "*": * violation*',
            "E*AssertionError: plain-0-0: the labelling has 1 label for 8 tokens",
        ]
    )
    assert "fault_of" not in result.stdout.str()


def test_nothing_heavy_is_imported_when_pytest_starts():
    libraries = ("numpy", "ilpinfer.kernels", "scipy", "ortools", "pulp")
    heavy = (*libraries, "formulations", "ilpinfer.core", "ilpinfer.references")
    program = (
        "import sys, pytest\n"
        "pytest.main(['--version', '-p', 'no:cacheprovider'])\n"
        "from importlib.metadata import entry_points\n"
        "[plugin] = [e for e in entry_points(group='pytest11') if e.name == 'ilpinfer']\n"
        "before = set(sys.modules)\n"
        "plugin.load()\n"
        f"print([name for name in {heavy!r} if name in set(sys.modules) - before])\n"
        "print(sorted(name for name in sys.modules if name.startswith('ilpinfer')))\n"
    )
    run = python("-c", program, check=True)
    assert run.stdout.splitlines()[-2:] == ["[]", "['ilpinfer', 'ilpinfer.pytest_plugin']"]
