"""The benchmark of compiled rules, on generated documents of a few tokens."""

import os
import re

import numpy as np
import pytest

from benchmarks.compiled import __main__ as program
from benchmarks.compiled import singles
from benchmarks.compiled.lines import Line, shares
from benchmarks.compiled.timing import time_rounds
from benchmarks.compiled.unit import viterbi_calls
from benchmarks.data.sets import SCALES
from formulations import constraints as C
from formulations.constraints.rule_set import RuleSet
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.exact.viterbi import viterbi


def test_the_unit_is_the_best_value_of_the_folded_scores() -> None:
    sequences = singles.long(singles.NOISY, SCALES["smoke"])
    rules = RuleSet((C.starts_with("field 0", penalty=2.0), C.forbidden_transition("field 1", "field 2")))
    values = [unit() for unit in viterbi_calls(sequences.trellises, rules)]
    folded = [compile_problem(trellis, rules).fold() for trellis in sequences.trellises]
    assert values == [viterbi(problem.lattice)[0] for problem in folded]


def test_it_runs_without_corpora(capsys: pytest.CaptureFixture[str]) -> None:
    cores = os.sched_getaffinity(0)
    assert program.main(["--scale", "smoke", "--parts", "cora,long,threads"]) == 0
    assert os.sched_getaffinity(0) == cores
    text = capsys.readouterr().out
    assert len(re.findall(r"Trellis to Solution .* median at most \d+: ", text)) == 2
    assert "proved 100%" in text and "two threads" in text and "citations" not in text


def test_ways_take_turns() -> None:
    calls: list[str] = []
    works = {name: [lambda n=name: calls.append(n)] * 2 for name in "ab"}
    assert {name: len(seconds) for name, seconds in time_rounds(works, 2).items()} == {"a": 2, "b": 2}
    assert calls == ["a", "a", "b", "b"] * 3


def test_multiples_are_those_of_each_sequence_but_for_the_mean() -> None:
    line = Line("x", np.array([1.0, 1.0, 4.0]), np.array([2.0, 3.0, 4.0]), {"median": 2.0, "p90": 2.0})
    assert line.multiples == {"median": 2.0, "p90": pytest.approx(2.8), "mean": 1.5}
    assert str(line).endswith("median at most 2: met, p90 at most 2: NOT met")


def test_shares_tell_what_settled_a_sequence() -> None:
    methods = [
        "auto: viterbi",
        "auto: label setting over 2 machines",
        "auto: viterbi breaks 1",
        "auto: viterbi",
    ]
    assert shares(methods) == "nothing broken 50%, multipliers or label setting 25%, the engine 25%"
