"""The arithmetic of the study of the engine, and of the data sets that it decodes."""

import json

import numpy as np
import pytest
from pandas import DataFrame

import ilpinfer
from benchmarks import optimum as agreement
from benchmarks.data import corpora
from benchmarks.data.sets import SHARE, TOLERANCE, Item, noise_for, spread
from benchmarks.data.synthetic import document, document_rules, labels_of_size
from benchmarks.studies.engine import memory
from benchmarks.studies.engine.report import decoded, losses, multiple, of, passes
from benchmarks.study import Disagreement

LABELS = labels_of_size(7)


def row(method, seconds, item="1", methods="heuristics", **more):
    about = {"part": "cora", "data": "cora 20", "methods": methods, "item": item, "T": 10, "K": 5}
    claim = {"status": "optimal", "proved": True, "breaks": False, "score": 0.0, "bound": 0.0}
    return {**about, **claim, "method": method, "seconds": seconds, **more}


ROWS = [
    row("auto", 2.0, score=5.0),
    row("auto", 4.0, item="2", score=7.0),
    row("bare Viterbi pass", 1.0),
    row("bare Viterbi pass", 1.0, item="2"),
    row("beam 50", 6.0, score=5.0),
    row("beam 50", 12.0, item="2", score=4.0, proved=False),
    row("auto", 8.0, methods="solvers", score=5.0),
    row("cbc", 80.0, methods="solvers", score=5.0, proved=False),
]


def test_multiples_are_of_totals_in_the_same_cell() -> None:
    frame = decoded(DataFrame(ROWS))
    assert multiple(of(frame, "beam 50")) == 18 / 6
    assert multiple(of(frame, "cbc")) == 80 / 8
    assert multiple(of(frame, "scip")) is None
    assert len(of(frame, "auto")) == 2


def test_times_in_bare_passes_are_medians_over_sequences_of_the_same_cell() -> None:
    frame = decoded(DataFrame(ROWS))
    assert passes(of(frame, "auto")) == (2 / 1 + 4 / 1) / 2
    assert passes(of(frame, "beam 50")) == (6 / 1 + 12 / 1) / 2
    assert passes(of(frame, "bare Viterbi pass")) == 1.0
    assert np.isnan(passes(of(frame, "cbc")))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (ROWS, (2, 1, 0, 1.5, 3.0)),
        ([row("auto", 1.0, score=5.0), row("beam 50", 1.0, score=None)], (1, 1, 1, np.nan, np.nan)),
        ([row("auto", 1.0, score=5.0, proved=False), row("beam 50", 1.0)], (0, 0, 0, np.nan, np.nan)),
    ],
)
def test_losses_are_counted_where_the_optimum_is_known(rows, expected) -> None:
    assert losses(of(decoded(DataFrame(rows)), "beam 50")) == pytest.approx(expected, nan_ok=True)


def test_disagreements_are_named() -> None:
    exact = {"data": "d", "item": "1", "method": "auto", "status": "optimal", "score": 1.0, "bound": 1.0}
    agreement.check_all([exact, {**exact, "method": "cbc", "score": 1.0005}], ("data", "item"))
    agreement.check_all([exact, {**exact, "item": "2", "method": "cbc", "score": 9.0}], ("data", "item"))
    with pytest.raises(Disagreement, match="cbc found"):
        agreement.check_all([exact, {**exact, "method": "cbc", "score": 1.1}], ("data", "item"))
    with pytest.raises(Disagreement, match="cbc claims"):
        agreement.check({**exact, "method": "cbc", "score": 0.9, "bound": 0.9}, exact)
    with pytest.raises(Disagreement, match="is worth"):
        agreement.check({**exact, "method": "pulp", "claimed": 2.0}, exact)


def test_peak_memory_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    memory.main(1.0, 12, 5)
    result = json.loads(capsys.readouterr().out)
    assert result["peak_mib"] >= result["before_mib"] > 0
    assert result["status"] == "optimal"


def test_noise_makes_half_of_the_viterbi_labellings_break_a_rule() -> None:
    noise, share = noise_for(24, 5)
    assert abs(share - SHARE) <= TOLERANCE
    assert noise_for(24, 5) == (noise, share)


@pytest.mark.parametrize(("T", "K"), [(12, 5), (60, 13), (200, 27)])
def test_planted_documents_keep_their_rules(T: int, K: int) -> None:
    labels = labels_of_size(K)
    assert len(labels) == K
    for seed in range(5):
        solution = ilpinfer.decode(document(T, seed, labels, 0.0), document_rules(labels), method="viterbi")
        assert not any(solution.violations.values())


def test_mined_penalties_are_log_odds() -> None:
    """Of two kinds of sequences, 60 each; fields that never occur together would do so 30 times, were they independent."""
    one, other = (("x", "x"), ("B-a", "B-b")), (("x",), ("B-c",))
    mined = {rule.title: rule.penalty for rule in corpora.soft_rules([one, other] * 60, 100)}
    assert mined["requires_present(a, b)"] == pytest.approx(np.log(60.5 / 0.5))
    assert mined["requires_before(a, b)"] == pytest.approx(np.log(60.5 / 0.5))
    assert mined["never_together(a, c)"] == pytest.approx(np.log(30.5 / 0.5))
    assert [rule.title for rule in corpora.implications([one, other] * 6, 1)] == ["requires_present(a, b)"]


def test_a_sample_is_spread_evenly() -> None:
    items = tuple(Item(str(number), lambda: document(4, 0, LABELS, 0.0)) for number in range(10))
    assert [item.key for item in spread(items, 4)] == ["0", "2", "5", "7"]
    assert spread(items, 20) == items
