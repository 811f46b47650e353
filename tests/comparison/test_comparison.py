"""Comparisons: every figure against plain counting, and nothing that flatters who fails."""

import math
import statistics
from itertools import product

import numpy as np
import pytest
from scipy import stats

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from ilpinfer.comparison import running
from ilpinfer.comparison.rows import Disagreement, Gold, error_of
from ilpinfer.core import registry

LABELS = ["B-x", "I-x", "O"]
RULES = [
    C.at_most_runs("x", 1, penalty=1.25, name="one x"),
    C.ends_with("O", name="ends outside"),
]
CAP = 3.0


def trellises(count, seed=0, longest=5):
    draw = np.random.default_rng(seed)
    result = []
    for _ in range(count):
        T = int(draw.integers(2, longest + 1))
        start, edges = draw.normal(size=3), draw.normal(size=(T - 1, 3, 3))
        result.append(Trellis(start, edges, labels=LABELS, tokens=["w"] * T))
    return result


TRELLISES = trellises(12)
GOLD = [
    [LABELS[i] for i in np.random.default_rng(number).integers(3, size=len(trellis))]
    for number, trellis in enumerate(TRELLISES)
]


def score(trellis, labels):
    """By the meaning of the two rules; -inf where the hard one is broken."""
    runs = sum(
        name == "B-x" or (name == "I-x" and (t == 0 or labels[t - 1] == "O")) for t, name in enumerate(labels)
    )
    if labels[-1] != "O":
        return -math.inf
    return trellis.score(labels) - 1.25 * max(0, runs - 1)


OPTIMA = [max(score(t, [LABELS[i] for i in y]) for y in product(range(3), repeat=len(t))) for t in TRELLISES]


def often_missing(trellis, rules, *, time_limit, seed):
    """A perfect method that fails on every second sequence."""
    number = next(n for n, known in enumerate(TRELLISES) if known is trellis)
    if number == 0 or number % 2:
        raise RuntimeError("out of luck")
    return ilpinfer.decode(trellis, rules).labels


def poor(trellis, rules, *, time_limit, seed):
    """All O: always allowed, seldom good."""
    return ["O"] * len(trellis)


def random_labels(trellis, rules, *, time_limit, seed):
    draw = np.random.default_rng(seed + len(trellis))
    return [*draw.integers(3, size=len(trellis) - 1), 2]


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})


@pytest.fixture(scope="module")
def result():
    methods = ["auto", "viterbi", often_missing, poor, "beam:width=1"]
    return ilpinfer.compare(TRELLISES, RULES, methods, gold=GOLD, cap=CAP)


def labels_of(result, method):
    return [row["labels"] for row in result.rows() if row["method"] == method]


def test_rows_are_those_of_each_sequence_and_method(result):
    rows = list(result.rows())
    methods = ["auto", "viterbi", "often_missing", "poor", "beam:width=1"]
    assert [(row["sequence"], row["method"]) for row in rows] == list(product(range(12), methods))
    assert [row["score"] for row in rows if row["method"] == "auto"] == pytest.approx(OPTIMA)
    for row in rows:
        trellis = TRELLISES[row["sequence"]]
        if row["labels"] is not None:
            value = score(trellis, row["labels"])
            assert row["score"] == (None if math.isinf(value) else pytest.approx(value))
        assert row["length"] == len(trellis)


def test_a_method_that_fails_on_half_is_not_ranked_above_one_that_solves_all(result):
    lines = {line.method: line for line in result.summary()}
    half, all_poor = lines["often_missing"], lines["poor"]
    assert all_poor.mean_gap > half.common_gap == 0.0, "what it solves, it solves perfectly"
    assert half.solved < 0.5 and all_poor.solved == 1.0
    assert all_poor.rank < half.rank
    assert sorted(line.rank for line in lines.values()) == [1, 2, 3, 4, 5] and lines["auto"].rank == 1


def test_the_summary_is_what_counting_says(result):
    common = [
        n for n in range(12) if all(row["score"] is not None for row in result.rows() if row["sequence"] == n)
    ]
    assert 0 < len(common) < 12
    for line in result.summary():
        rows = [row for row in result.rows() if row["method"] == line.method]
        raw = [math.inf if row["score"] is None else OPTIMA[row["sequence"]] - row["score"] for row in rows]
        gaps = [min(max(gap, 0.0), CAP) for gap in raw]
        assert line.solved == sum(math.isfinite(gap) for gap in raw) / 12
        assert line.failed == sum("error" in row for row in rows)
        assert line.reaches == pytest.approx(sum(gap < 1e-4 for gap in raw) / 12)
        assert line.missed == 12 - round(line.reaches * 12)
        assert line.mean_gap == pytest.approx(statistics.mean(gaps), abs=1e-5)
        assert line.gap_low <= line.mean_gap <= line.gap_high
        assert line.gap_per_token == pytest.approx(
            statistics.mean(g / len(t) for g, t in zip(gaps, TRELLISES)), abs=1e-5
        )
        assert line.relative_gap == pytest.approx(
            statistics.mean(g / abs(o) for g, o in zip(gaps, OPTIMA)), abs=1e-4
        )
        shared = [raw[n] for n in common]
        assert (line.optimum_known, line.common) == (12, len(common))
        assert line.common_gap == pytest.approx(statistics.mean(shared), abs=1e-5)
        assert line.largest_gap == pytest.approx(max(gap for gap in raw if math.isfinite(gap)), abs=1e-5)
        wrong = [
            sum(a != b for a, b in zip(row["labels"] or ["?"] * len(gold), gold))
            for row, gold in zip(rows, GOLD)
        ]
        assert line.label_accuracy == pytest.approx(1 - sum(wrong) / sum(map(len, GOLD)))
        wrong_fields = [
            sum(a[2:] != b[2:] for a, b in zip(row["labels"] or ["?-?"] * len(gold), gold))
            for row, gold in zip(rows, GOLD)
        ]
        assert line.accuracy == pytest.approx(1 - sum(wrong_fields) / sum(map(len, GOLD)))
        assert line.violations == sum(sum(row["violations"].values()) for row in rows)
        assert line.times_viterbi > 0 and line.median_ms <= line.p90_ms


def test_errors_have_their_reason(result):
    for line in result.summary():
        counts, tokens = dict.fromkeys(("search", "model", "rule", "tie"), 0), {}
        for labels, trellis, gold in zip(labels_of(result, line.method), TRELLISES, GOLD):
            if labels == gold:
                continue
            own = -math.inf if labels is None else score(trellis, labels)
            if gold[-1] != "O":
                kind = "rule"
            elif score(trellis, gold) > own:
                kind = "search"
            else:
                kind = "model"
            counts[kind] += 1
            missing = labels or [None] * len(gold)
            tokens[kind] = tokens.get(kind, 0) + sum(a != b for a, b in zip(missing, gold))
        assert (line.search_errors, line.model_errors, line.rule_errors, line.ties) == tuple(counts.values())
        assert line.search_error_tokens == tokens.get("search", 0)
        assert line.model_error_tokens == tokens.get("model", 0)
        assert line.rule_error_tokens == tokens.get("rule", 0)
        if line.kind == "exact":
            assert line.search_errors == 0


def test_kinds_of_errors_by_hand():
    gold = Gold(("a", "b"), -2.0)
    assert error_of(["a", "b"], -2.0, gold) == ""
    assert error_of(["a", "a"], -3.0, gold) == "search"
    assert error_of(None, -math.inf, gold) == "search"
    assert error_of(["a", "a"], -1.0, gold) == "model"
    assert error_of(["b", "b"], -2.0, gold) == "tie"
    assert error_of(["b", "b"], -2.0, Gold(("a", "b"), -math.inf, True)) == "rule"
    assert error_of(None, -math.inf, Gold(("a", "c"), -math.inf)) == "model"


def test_pairs_are_wins_ties_and_losses_with_a_sign_test(result):
    by_method = {}
    for row in result.rows():
        by_method.setdefault(row["method"], []).append(-math.inf if row["score"] is None else row["score"])
    matches = result.matches()
    assert len(matches) == 10
    for match in matches:
        pairs = list(zip(by_method[match.method], by_method[match.other]))
        wins, losses = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
        assert (match.wins, match.ties, match.losses) == (wins, 12 - wins - losses, losses)
        expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
        assert match.p == pytest.approx(expected)


def test_fields_gain_what_rules_bring(result):
    viterbi = [ilpinfer.decode(trellis, method="viterbi").labels for trellis in TRELLISES]

    def spans(labellings):
        found = set()
        for n, labels in enumerate(labellings):
            begin = None
            for t, name in enumerate([*(labels or []), "O"]):
                if begin is not None and name != "I-x":
                    found.add((n, begin, t - 1))
                    begin = None
                if name == "B-x" or (name == "I-x" and begin is None):
                    begin = t
        return found

    gold, before = spans(GOLD), spans(viterbi)
    gains = {gain.method: gain for gain in result.field_gains()}
    assert set(gains) == {"auto", "viterbi", "often_missing", "poor", "beam:width=1"}
    for method, gain in gains.items():
        now = spans(labels_of(result, method))
        precision = len(now & gold) / len(now) if now else 0.0
        recall = len(now & gold) / len(gold)
        assert (gain.field, gain.gold) == ("x", len(gold))
        assert (gain.precision, gain.recall) == (pytest.approx(precision), pytest.approx(recall))
        assert gain.recall_gain == pytest.approx(recall - len(before & gold) / len(gold))
        assert gain.precision_gain == pytest.approx(precision - len(before & gold) / len(before))


def test_seeds_are_runs_of_their_own_with_a_spread():
    result = ilpinfer.compare(TRELLISES, RULES, ["auto", random_labels], seeds=[3, 5, 8], cap=CAP)
    drawn = [row for row in result.rows() if row["method"] == "random_labels"]
    assert [row["seed"] for row in drawn[:3]] == [3, 5, 8] and len(drawn) == 36
    means = {
        seed: statistics.mean(
            CAP if row["score"] is None else min(CAP, OPTIMA[row["sequence"]] - row["score"])
            for row in drawn
            if row["seed"] == seed
        )
        for seed in (3, 5, 8)
    }
    exact, line = result.summary()
    assert (exact.seeds, exact.gap_spread, line.seeds) == (1, None, 3)
    assert line.mean_gap == pytest.approx(statistics.mean(means.values()), abs=1e-5)
    assert line.gap_spread == pytest.approx(statistics.stdev(means.values()), abs=1e-5)
    assert line.sequences == 12
    one = ilpinfer.compare(TRELLISES[:2], RULES, ["annealing:seed=4:time_limit=0.01"], seeds=2)
    assert [row["seed"] for row in one.rows()] == [4, 4]


def test_the_same_method_may_come_many_times():
    result = ilpinfer.compare(TRELLISES[:3], RULES, "beam:width=1,beam:width=2,beam,auto")
    assert [line.method for line in result.summary()] == ["beam:width=1", "beam:width=2", "beam", "auto"]
    routes = [row["route"] for row in result.rows()][:3]
    assert routes == ["beam: width 1", "beam: width 2", "beam: width 10"]


def test_predictions_are_methods_without_code():
    predictions = {"gold": GOLD, "half": [labels if n % 2 else None for n, labels in enumerate(GOLD)]}
    result = ilpinfer.compare(TRELLISES, RULES, ["auto"], gold=GOLD, predictions=predictions, cap=CAP)
    _, gold, half = result.summary()
    assert (gold.kind, gold.median_ms, gold.accuracy) == ("predictions", None, 1.0)
    assert gold.solved == sum(labels[-1] == "O" for labels in GOLD) / 12
    assert half.failed == 0 and half.solved < gold.solved and half.rank > gold.rank
    assert half.accuracy == pytest.approx(sum(map(len, GOLD[1::2])) / sum(map(len, GOLD)))


def test_wrong_predictions_cost_their_own_rows_only():
    bad = [["B-y"] * len(trellis) for trellis in TRELLISES]
    result = ilpinfer.compare(TRELLISES, RULES, ["auto"], predictions={"bad": bad})
    auto, line = result.summary()
    assert (auto.solved, line.failed, line.solved) == (1.0, 12, 0.0)
    assert "no label 'B-y'" in next(row for row in result.rows() if row["method"] == "bad")["reason"]


def test_infeasible_sequences_are_left_out_and_counted():
    impossible = Trellis(
        [0.0, 0.0, -math.inf], [[[0.0, 0.0, -math.inf]] * 3], labels=LABELS, tokens=["w", "w"]
    )
    result = ilpinfer.compare([*TRELLISES[:3], impossible], RULES, ["auto", "viterbi"])
    auto, viterbi = result.summary()
    assert (auto.sequences, auto.infeasible, auto.solved, auto.proved) == (3, 1, 1.0, 1.0)
    assert (viterbi.sequences, viterbi.infeasible) == (3, 1)


def test_without_an_exact_method_gaps_are_not_known():
    line = ilpinfer.compare(TRELLISES, RULES, [poor]).summary()[0]
    assert (line.optimum_known, line.mean_gap, line.common_gap, line.reaches) == (0, None, None, None)
    assert line.solved == 1.0 and line.accuracy is None


def test_the_frame_has_a_line_for_each_row(result):
    frame = result.to_pandas()
    assert len(frame) == 60
    assert frame.groupby("method").gap.min()["auto"] == 0.0
    assert frame.optimum.tolist()[::5] == pytest.approx(OPTIMA)
    assert frame[frame.method == "often_missing"].error.isin(["", "RuntimeError"]).all()


def test_methods_that_disagree_are_an_error(monkeypatch):
    honest = running.row_of

    def lying(sequence, entry, *more):
        row = honest(sequence, entry, *more)
        return {**row, "bound": row["bound"] - 2.0**-20} if entry.name == "highs" else row

    monkeypatch.setattr(running, "row_of", lying)
    with pytest.raises(Disagreement, match=r"sequence 0: auto found a labelling .* but highs claims"):
        ilpinfer.compare(TRELLISES, RULES, ["auto", "highs"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"methods": []}, "no methods"),
        ({"methods": ["auto", "auto"]}, "method auto is given twice"),
        ({"methods": ["auto"], "predictions": {"auto": GOLD}}, "method auto is given twice"),
        ({"methods": ["autto"]}, 'did you mean "auto"'),
        ({"methods": [7]}, "expected a decoder that can be called"),
        ({"predictions": {"x": GOLD[:3]}}, "x has 3 labellings, but there are 12 sequences"),
        ({"predictions": {"x": [["O"]] * 12}}, "x, sequence 0: 1 labels for"),
        ({"gold": GOLD[:3]}, "gold has 3 labellings, but there are 12 trellises"),
        ({"gold": [["O"]] * 12}, "gold 0 has 1 labels for"),
        ({"seeds": 0}, "seeds is 0"),
        ({"seeds": [1, 1]}, "seeds is"),
        ({"seeds": "x"}, "seeds is"),
        ({"cap": 0}, "cap is 0"),
        ({"cap": math.inf}, "cap is inf"),
        ({"on_error": "skip"}, "on_error"),
    ],
)
def test_bad_input_is_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        ilpinfer.compare(TRELLISES, RULES, **arguments)


def test_nothing_to_compare_on():
    with pytest.raises(ValueError, match="no trellises"):
        ilpinfer.compare([], RULES)
    with pytest.raises(ValueError, match="trellis 0 is 'x'"):
        ilpinfer.compare(["x"], RULES)


def test_errors_may_end_the_comparison():
    with pytest.raises(RuntimeError, match="out of luck"):
        ilpinfer.compare(TRELLISES, RULES, [often_missing], on_error="raise")
