"""Arithmetic of the study of searches, against values worked out by hand."""

import math
from pathlib import Path

import pytest
from pandas import DataFrame

from benchmarks.data.corpora import with_factor
from benchmarks.data.sets import DataSet, Item
from benchmarks.studies import searches as study
from benchmarks.studies.searches import outcomes as tables
from benchmarks.studies.searches.contenders import CONTENDERS, OPTIMUM, runs
from benchmarks.studies.searches.measuring import rows_of, times, trace
from benchmarks.studies.searches.outcomes import CAP, GRACE, gap_at, longest, of, profiles
from benchmarks.study import Sources
from formulations import RuleSet, Trellis
from formulations import constraints as C


def outcomes(rows: list[dict[str, object]]) -> DataFrame:
    return tables.outcomes(DataFrame(rows))


def row(T: int = 5, gap: float | None = 0.0, **other: object) -> dict[str, object]:
    """One with an optimum of -20 nats."""
    about = {"method": "lds", "limit": 0.2, "data": "data", "item": f"{T}", "T": T, "gap": gap, "trace": []}
    scores = {"optimum": -20.0, "violations": None if gap is None else 0}
    times = {"seconds": 0.1, "first": 0.05, "reached": 0.05}
    return about | scores | times | other


def test_gaps_count_missing_and_late_labellings():
    late = row(9, 0.0, method="Viterbi", seconds=0.2 + 2 * GRACE, violations=3)
    table = outcomes([row(1, 0.0), row(2, None), row(3, 2 * CAP, violations=2), row(4, 1.0), late])
    assert (table.optimal.mean(), table.gap.isna().mean()) == (0.2, pytest.approx(0.4))
    assert table.capped.mean() == pytest.approx((0 + CAP + CAP + 1 + CAP) / 5)
    assert table.gap.mean() == pytest.approx((0 + 2 * CAP + 1) / 3)
    assert table.relative.mean() == pytest.approx((0 + 5 + 0.05) / 3)
    assert table.violations.tolist() == [0, 0, 2, 0, 0]


def test_gaps_at_a_moment_are_those_of_the_best_so_far():
    one = outcomes([row(trace=[[0.1, None, 9.0], [0.2, 7.0, 4.0], [0.3, 1.0, 4.0]])])
    assert [gap_at(one, t) for t in (0.05, 0.1, 0.25, 0.4)] == [CAP, CAP, 7.0, 1.0]
    assert [gap_at(one, t, bound=True) for t in (0.05, 0.15, 0.4)] == [CAP, 9.0, 4.0]


def test_profiles_divide_by_the_fastest_that_has_the_optimum():
    table = outcomes(
        [
            row(1, method="lds", reached=0.01),
            row(2, method="lds", reached=0.08),
            row(1, method="hybrid", reached=0.04),
            row(2, method="hybrid", reached=0.02),
            row(1, 1.0, method="beam 10", reached=None),
            row(2, 1.0, method="beam 10", reached=0.001),
        ]
    )
    ratios = {name: own.tolist() for name, own, _ in profiles(table)}
    assert ratios == {"lds": pytest.approx([1, 4]), "hybrid": pytest.approx([1, 4]), "beam 10": []}


def test_what_ran_once_counts_at_every_limit():
    rows = [row(method="Viterbi"), row(limit=0.01), row(), row(method=OPTIMUM, limit=None)]
    table = outcomes(rows)
    assert {name: [*of(table, name).limit] for name in table.method.unique()} == {
        "Viterbi": [0.01, 0.2],
        "lds": [0.01, 0.2],
    }
    assert longest(table).limit.tolist() == [0.2, 0.2]


def test_traces_have_improvements_of_incumbent_and_bound():
    events = [(0.1, None, 4.0), (0.2, -3.0, 4.0), (0.3, -3.0, 4.0), (0.4, 1.0, 1.0)]
    assert trace(events, 1.0, bounds=True) == [[0.1, None, 3.0], [0.2, 4.0, 3.0], [0.4, 0.0, 0.0]]
    assert trace(events, 1.0) == [[0.2, 4.0, None], [0.4, 0.0, None]]
    assert times(events, 1.0) == {"first": 0.2, "reached": 0.4}
    assert times(events, 2.0) == {"first": 0.2, "reached": None}


def test_penalties_are_multiplied_and_infinite_ones_are_hard():
    rules = RuleSet((C.at_most_runs("a", 1, penalty=2.0), C.requires_present("a", "b")))
    assert [rule.penalty for rule in with_factor(rules, 0.5).items] == [1.0, math.inf]
    assert all(rule.hard for rule in with_factor(rules, math.inf).items)


def test_contenders_of_a_sequence():
    timed = sum(contender.timed for contender in CONTENDERS.values())
    assert len(list(runs())) == 4 * timed + len(CONTENDERS) - timed


def test_rows_of_a_sequence():
    """Viterbi has `b` at both tokens and a score of 1; with the rule, which costs 2, it has -1, and the optimum 0."""

    def make() -> Trellis:
        return Trellis.from_emissions([[0.0, 0.5], [0.0, 0.5]], [[0.0, 0.0], [0.0, 0.0]], labels=["a", "b"])

    data = DataSet("d", "p", (), lambda: RuleSet((C.at_most_tokens("b", 0, penalty=2.0),)))
    item = Item("one", make)
    chosen = [("Viterbi", CONTENDERS["Viterbi"], 0.5)]
    best, viterbi = rows_of(data, item, chosen, 0.5)
    assert (best["method"], best["optimum"], best["status"], best["violations"]) == (
        OPTIMUM,
        0.0,
        "optimal",
        0,
    )
    assert viterbi["gap"] > 0 and viterbi["violations"] > 0


def test_cells_name_every_sequence(tmp_path: Path):
    some = study.cells(Sources(tmp_path, "smoke"), "generator")
    assert [(cell.data, cell.item) for cell in some] == [("generated 12", "0"), ("generated 24", "0")]
