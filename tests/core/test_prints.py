"""What records print, and incumbents on the way."""

import itertools
import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from support.checks import SEARCHES
from support.effort import examples
from support.strategies import UNIT, problems
from support.trellises import many_runs

import ilpinfer
from formulations import Trellis, join
from formulations import constraints as C
from formulations.problem.problem import Problem
from ilpinfer.adapters.windows import MergedWindows
from ilpinfer.learning import RuleMiner

NAMES = [f"{mark}-a rather long field {n}" for n in range(6) for mark in "BI"]
RULES = [C.valid_scheme(), *(C.at_most_runs(f"a rather long field {n}", 1, penalty=0.1) for n in range(6))]
SMALL = [C.valid_scheme(), C.at_most_runs("a rather long field 0", 1, penalty=0.1)]
T = 60
SCORES = [[2.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.5, 0.0], [0.0, 2.0]]


@pytest.fixture(scope="module")
def trellis():
    random = np.random.default_rng(0)
    scores = random.normal(size=(T, len(NAMES))), random.normal(size=(len(NAMES), len(NAMES)))
    return Trellis.from_emissions(*scores, labels=NAMES)


def mined():
    pairs = [(["Ada", str(year)], ["author", "date"]) for year in range(1843, 1873)]
    return RuleMiner(families=["first-field", "precedence", "one-run"]).fit(pairs)


MERGED = MergedWindows(np.zeros((99, 9)), [(0, 1)] * 99, None, np.zeros(99, int), np.arange(99))
RECORDS = {
    "solution": lambda t: ilpinfer.decode(t, RULES),
    "infeasible": lambda t: ilpinfer.decode(
        t.with_given({3: 0}), [C.ends_with(NAMES[1]), C.ends_with(NAMES[3])]
    ),
    "unknown": lambda t: ilpinfer.decode(t, RULES, time_limit=1e-9),
    "two phases": lambda t: ilpinfer.decode_two_phase(t, SMALL),
    "verdict": lambda t: ilpinfer.verify(t, SMALL, ilpinfer.decode(t, SMALL)),
    "no proof": lambda t: ilpinfer.verify(t, RULES, ilpinfer.decode(t, RULES, method="beam")),
    "marginals": lambda t: ilpinfer.marginals(t, SMALL),
    "frontier": lambda t: ilpinfer.decode_frontier(t, SMALL),
    "point": lambda t: ilpinfer.decode_frontier(t, SMALL).points[0],
    "spans": lambda t: ilpinfer.select_spans(
        "x" * 200, [(n, n + 1, "name", 0.9) for n in range(0, 100, 2)], []
    ),
    "comparison": lambda t: ilpinfer.compare([t] * 2, SMALL, ["viterbi"]),
    "decoder": lambda t: ilpinfer.Decoder(RULES),
    "rules": lambda t: ilpinfer.load_rules("citations"),
    "rule": lambda t: RULES[1],
    "trellis": lambda t: join([t] * 2, separator=None),
    "certificate": lambda t: ilpinfer.decode(t, RULES).certificate,
    "program": lambda t: ilpinfer.formulate(t, SMALL),
    "mined": lambda t: mined(),
    "windows": lambda t: MERGED,
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_prints_a_few_short_lines(name, trellis):
    record = RECORDS[name](trellis)
    lines = str(record).splitlines()
    assert 1 <= len(lines) <= 6
    assert all(len(line) <= 110 for line in lines), lines
    assert len(repr(record)) <= 200 and "\n" not in repr(record)


def test_what_is_printed():
    small = Trellis.from_emissions(
        SCORES,
        [[0.0] * 2] * 2,
        labels=["author", "title"],
        tokens=np.array(["Knuth", "The", "Art", "of", "Programming"]),
    )
    rules = [C.at_most_runs("title", 1, penalty=0.25, name="one title")]
    solution = ilpinfer.decode(small, rules)
    assert str(solution).splitlines()[:3] == [
        "optimal, with proof: score 7.25 nats, bound 7.25, gap 0",
        "5 labels: author, title ×2, author, title",
        'breaks "one title" 1',
    ]
    assert repr(solution) == "Solution(optimal, score=7.25, bound=7.25, 5 tokens)"
    assert str(ilpinfer.verify(small, rules, solution)) == "proved"
    wrong = solution.to_dict() | {"score": 9.0, "model_score": 9.25, "bound": 9.0}
    assert str(ilpinfer.verify(small, rules, ilpinfer.Solution.from_dict(wrong))).startswith("wrong")
    totals, broken = [], []
    for ids in itertools.product((0, 1), repeat=5):
        runs = sum(k == 1 and (t == 0 or ids[t - 1] == 0) for t, k in enumerate(ids))
        broken.append(max(0, runs - 1))
        totals.append(sum(SCORES[t][k] for t, k in enumerate(ids)) - 0.25 * broken[-1])
    whole = sum(map(math.exp, totals))
    expected = sum(math.exp(total) * count for total, count in zip(totals, broken, strict=True)) / whole
    assert str(ilpinfer.marginals(small, rules)).splitlines()[::2] == [
        f"5 tokens, 2 labels, log partition {math.log(whole):.6g} nats",
        f'expected violations: "one title" {expected:.3g}',
    ]
    question = ilpinfer.next_question(small, rules)
    assert {type(question.text), type(question.label), *map(type, question.chances)} == {str}


@pytest.mark.parametrize("method", ["auto", *SEARCHES])
@settings(max_examples=examples(40))
@given(problem=problems())
def test_every_incumbent_is_worth_and_breaks_what_the_rules_say(method, problem):
    solution = ilpinfer.decode(*problem.given, method=method, **SEARCHES.get(method, {}))
    passed = solution.incumbents
    if not solution.has_labelling:
        assert passed == ()
        return
    assert (passed[-1].score, passed[-1].violations) == (solution.score, solution.violations)
    assert all(a.score < b.score and a.seconds <= b.seconds for a, b in pairwise(passed))
    assert passed[-1].seconds <= solution.seconds
    for incumbent, kept in zip(passed[:-1], solution.improvements, strict=False):
        labelling = tuple(kept.path.tolist())
        assert incumbent.score == (problem.units(labelling) - problem.cost(labelling)) * UNIT
        assert list(incumbent.violations.values()) == problem.violations(labelling)


def example():
    return many_runs(60, 5, 3, seed=5, penalty=1.0)


@pytest.mark.parametrize("method", ["lds", "evolutionary"])
def test_searches_pass_several_and_nothing_is_valued_unasked(method, monkeypatch):
    trellis, rules = example()
    counted = []
    options = {"zero": "best", "keep_going": True} if method == "lds" else {}
    solution = ilpinfer.decode(trellis, rules, method=method, time_limit=2.0, **options)
    whole = Problem.value
    monkeypatch.setattr(Problem, "value", lambda *given: counted.append(1) or whole(*given))
    assert len(solution.incumbents) == len(solution.improvements) > 2
    assert solution.incumbents is solution.incumbents
    assert len(counted) == len(solution.incumbents) - 1
    row = json.loads(json.dumps(solution.to_dict(incumbents=True), allow_nan=False))
    assert row["incumbents"][-1] == {
        "seconds": solution.incumbents[-1].seconds,
        "score": solution.score,
        "violations": solution.violations,
    }
    assert "incumbents" not in solution.to_dict()


def test_methods_without_a_record_have_the_solution_itself():
    trellis, rules = example()
    for method in ("viterbi", "beam", "highs"):
        solution = ilpinfer.decode(trellis, rules[:1], method=method)
        (only,) = solution.incumbents
        assert (only.seconds, only.score) == (solution.seconds, solution.score)
    first, second = ilpinfer.decode(trellis, rules[:1], top=2)
    assert len(second.incumbents) == 1
    assert first.incumbents[-1].score == first.score
    hard = [C.at_most_runs("L0", 0)]
    (broken,) = ilpinfer.decode(trellis, hard, method="viterbi").incumbents
    assert broken.score == -math.inf
    assert broken.to_dict()["score"] is None
    assert sum(broken.violations.values()) > 0
    two_phase = ilpinfer.decode_two_phase(trellis, rules[:1], 0.9)
    assert [i.violations for i in two_phase.incumbents] == [two_phase.violations]


def test_processes_hand_incumbents_back():
    trellis, rules = example()
    (there,) = ilpinfer.decode_many([trellis], rules, n_jobs=2, method="evolutionary", iterations=30)
    here = ilpinfer.decode(trellis, rules, method="evolutionary", iterations=30)
    assert [(i.score, i.violations) for i in there.incumbents] == [
        (i.score, i.violations) for i in here.incumbents
    ]
