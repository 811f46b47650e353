"""Comparisons: every figure against plain counting, and nothing that flatters who fails."""

import itertools
import math
import re
import statistics
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.comparisons import GOLD, LABELS, RULES, TIMES, TRELLISES, lines_of, poor

import ilpinfer
from formulations import Trellis
from ilpinfer.comparison import running
from ilpinfer.comparison.frame import rows_of
from ilpinfer.comparison.rows import MethodError, ScoredGold, error_of
from ilpinfer.comparison.statistics import holm
from ilpinfer.core import registry

CAP = 3.0


def spans(labels):
    """First token and end of each run of x."""
    return [each.span() for each in re.finditer("BI*|I+", "".join(name[0] for name in labels))]


def score(trellis, labels):
    """By the meaning of the two rules; -inf where the hard one is broken."""
    if labels[-1] != "O":
        return -math.inf
    return trellis.score(labels) - 1.25 * max(0, len(spans(labels)) - 1)


OPTIMA = [max(score(t, [LABELS[i] for i in y]) for y in product(range(3), repeat=len(t))) for t in TRELLISES]


def often_missing(trellis, rules, *, time_limit, seed):
    """A perfect method that has no labelling for every second sequence."""
    number = next(n for n, known in enumerate(TRELLISES) if known is trellis)
    return None if number == 0 or number % 2 else ilpinfer.decode(trellis, rules).labels


def unstable(trellis, rules, *, time_limit, seed):
    """A poor method that raises an error on every third sequence."""
    if next(n for n, known in enumerate(TRELLISES) if known is trellis) % 3 == 1:
        raise RuntimeError("out of luck")
    return poor(trellis, rules, time_limit=time_limit, seed=seed)


def broken(trellis, rules, *, time_limit, seed):
    raise KeyError("nothing works")


def random_labels(trellis, rules, *, time_limit, seed):
    draw = np.random.default_rng(seed + len(trellis))
    return [*draw.integers(3, size=len(trellis) - 1), 2]


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})


METHODS = ["auto", "viterbi", "often_missing", "poor", "beam:width=1", "unstable"]


@pytest.fixture(scope="module")
def result():
    methods = ["auto", "viterbi", often_missing, poor, "beam:width=1", unstable]
    return ilpinfer.compare(TRELLISES, RULES, methods, gold=GOLD, cap=CAP, on_error="record")


def answers_of(result, method):
    """The rows of a method that are no failures."""
    return [row for row in rows_of(result.frame) if row["method"] == method and not row["error"]]


def test_rows_are_those_of_each_sequence_and_method(result):
    rows = list(rows_of(result.frame))
    assert [(row["sequence"], row["method"]) for row in rows] == list(product(range(12), METHODS))
    assert [row["score"] for row in rows if row["method"] == "auto"] == pytest.approx(OPTIMA)
    for row in rows:
        trellis = TRELLISES[row["sequence"]]
        if row["labels"] is not None:
            value = score(trellis, row["labels"])
            assert row["score"] == (None if math.isinf(value) else pytest.approx(value))
        assert row["tokens"] == len(trellis)


def test_a_method_that_misses_half_is_not_ranked_above_one_that_solves_all(result):
    lines = {line.method: line for line in lines_of(result.summary())}
    half, all_poor = lines["often_missing"], lines["poor"]
    assert all_poor.mean_gap > half.common_gap == 0.0, "what it solves, it solves perfectly"
    assert half.solved < 0.5 and all_poor.solved == 1.0


def test_the_summary_is_what_counting_says(result):
    common = [
        n
        for n in range(12)
        if all(row["score"] is not None for row in rows_of(result.frame) if row["sequence"] == n)
    ]
    assert 0 < len(common) < 12
    for line in lines_of(result.summary()):
        rows = answers_of(result, line.method)
        count = len(rows)
        trellises_, optima, golden = (
            [each[row["sequence"]] for row in rows] for each in (TRELLISES, OPTIMA, GOLD)
        )
        raw = [math.inf if row["score"] is None else OPTIMA[row["sequence"]] - row["score"] for row in rows]
        gaps = [CAP if math.isinf(gap) else max(gap, 0.0) for gap in raw]
        finite = [gap for gap in raw if math.isfinite(gap)]
        assert line.solved == len(finite) / 12
        assert line.failed == 12 - count == (4 if line.method == "unstable" else 0)
        assert line.reaches == pytest.approx(sum(gap < 1e-4 for gap in raw) / count)
        assert line.missed == count - round(line.reaches * count)
        assert line.mean_gap == pytest.approx(statistics.mean(gaps), abs=1e-5)
        assert line.solved_gap == pytest.approx(statistics.mean(finite), abs=1e-5)
        assert line.mean_gap_low <= line.mean_gap <= line.mean_gap_high
        per_token = statistics.mean(g / len(t) for g, t in zip(gaps, trellises_))
        assert line.gap_per_token == pytest.approx(per_token, abs=1e-5)
        relative = statistics.mean(g / abs(o) for g, o in zip(gaps, optima))
        assert line.relative_gap == pytest.approx(relative, abs=1e-4)
        shared = [gap for gap, row in zip(raw, rows) if row["sequence"] in common]
        assert (line.optimum_known, line.common, len(shared)) == (count, len(common), len(common))
        assert line.common_gap == pytest.approx(statistics.mean(shared), abs=1e-5)
        assert line.largest_gap == pytest.approx(max(finite), abs=1e-5)
        said = [name for row, gold in zip(rows, golden) for name in row["labels"] or ["?-?"] * len(gold)]
        pairs = list(zip(said, itertools.chain(*golden), strict=True))
        assert line.label_accuracy == pytest.approx(statistics.mean(a == b for a, b in pairs))
        assert line.accuracy == pytest.approx(statistics.mean(a[2:] == b[2:] for a, b in pairs))
        assert line.violations == sum(sum(row["violations"].values()) for row in rows)
        assert line.bare_passes > 0 and line.median_ms <= line.p90_ms


def test_errors_have_their_reason(result):
    for line in lines_of(result.summary()):
        counts, tokens = dict.fromkeys(("search", "model", "rule", "tie"), 0), {}
        for row in answers_of(result, line.method):
            labels, trellis, gold = row["labels"], TRELLISES[row["sequence"]], GOLD[row["sequence"]]
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
        for kind, count in counts.items():
            assert getattr(line, f"{kind}_errors") == count
        for kind in ("search", "model", "rule"):
            assert getattr(line, f"{kind}_error_tokens") == tokens.get(kind, 0)
        if line.kind == "exact":
            assert line.search_errors == 0


def test_kinds_of_errors_by_hand():
    gold = ScoredGold(("a", "b"), -2.0)
    assert error_of(["a", "b"], -2.0, gold) == ""
    assert error_of(["a", "a"], -3.0, gold) == "search"
    assert error_of(None, -math.inf, gold) == "search"
    assert error_of(["a", "a"], -1.0, gold) == "model"
    assert error_of(["b", "b"], -2.0, gold) == "tie"
    assert error_of(["b", "b"], -2.0, ScoredGold(("a", "b"), -math.inf, True)) == "rule"
    assert error_of(None, -math.inf, ScoredGold(("a", "c"), -math.inf)) == "model"


def test_pairs_are_wins_ties_and_losses_with_a_sign_test(result):
    by_method = {}
    for row in rows_of(result.frame):
        if not row["error"]:
            value = -math.inf if row["score"] is None else row["score"]
            by_method.setdefault(row["method"], {})[row["sequence"]] = value
    matches = lines_of(result.matches())
    assert len(matches) == 15
    for match in matches:
        one, other = by_method[match.method], by_method[match.other]
        pairs = [(one[n], other[n]) for n in set(one) & set(other)]
        wins, losses = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
        assert (match.wins, match.ties, match.losses) == (wins, len(pairs) - wins - losses, losses)
        assert match.failed == 12 - len(pairs) == (4 if "unstable" in (match.method, match.other) else 0)
        expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
        assert match.p == pytest.approx(expected)


def test_fields_gain_what_rules_bring(result):
    viterbi = [ilpinfer.decode(trellis, method="viterbi").labels for trellis in TRELLISES]

    def fields(labellings):
        return {(n, *span) for n, labels in labellings.items() for span in spans(labels or [])}

    assert result.field_gains().method.tolist() == METHODS
    for gain in lines_of(result.field_gains()):
        own = {row["sequence"]: row["labels"] for row in answers_of(result, gain.method)}
        gold, before = (fields({n: each[n] for n in own}) for each in (GOLD, viterbi))
        now = fields(own)
        assert gain.failed == 12 - len(own)
        precision = len(now & gold) / len(now) if now else 0.0
        recall = len(now & gold) / len(gold)
        assert (gain.field, gain.gold) == ("x", len(gold))
        assert (gain.precision, gain.recall) == (pytest.approx(precision), pytest.approx(recall))
        assert gain.recall_gain == pytest.approx(recall - len(before & gold) / len(gold))
        assert gain.precision_gain == pytest.approx(precision - len(before & gold) / len(before))


def test_seeds_are_runs_of_their_own_with_a_spread():
    result = ilpinfer.compare(TRELLISES, RULES, ["auto", random_labels], seeds=[3, 5, 8], cap=CAP)
    drawn = [row for row in rows_of(result.frame) if row["method"] == "random_labels"]
    assert [row["seed"] for row in drawn[:3]] == [3, 5, 8] and len(drawn) == 36
    gaps = {seed: [] for seed in (3, 5, 8)}
    for row in drawn:
        gaps[row["seed"]].append(CAP if row["score"] is None else OPTIMA[row["sequence"]] - row["score"])
    means = {seed: statistics.mean(own) for seed, own in gaps.items()}
    exact, line = lines_of(result.summary())
    assert (exact.seeds, line.seeds) == (1, 3) and math.isnan(exact.gap_spread)
    assert line.mean_gap == pytest.approx(statistics.mean(means.values()), abs=1e-5)
    assert line.gap_spread == pytest.approx(statistics.stdev(means.values()), abs=1e-5)
    assert line.sequences == 12
    one = ilpinfer.compare(TRELLISES[:2], RULES, ["evolutionary:seed=4:time_limit=0.01"], seeds=2)
    assert [row["seed"] for row in rows_of(one.frame)] == [4, 4]


def test_the_same_method_may_come_many_times():
    methods = ["beam:width=1", "beam:width=2", "beam", "auto"]
    result = ilpinfer.compare(TRELLISES[:3], RULES, ",".join(methods))
    assert result.frame.method.unique().tolist() == methods
    routes = [row["route"] for row in rows_of(result.frame)][:3]
    assert routes == ["beam: width 1", "beam: width 2", "beam: width 10"]


def test_predictions_are_methods_without_code():
    predictions = {"gold": GOLD, "half": [labels if n % 2 else None for n, labels in enumerate(GOLD)]}
    result = ilpinfer.compare(TRELLISES, RULES, ["auto"], gold=GOLD, predictions=predictions, cap=CAP)
    _, gold, half = lines_of(result.summary())
    assert (gold.kind, gold.accuracy) == ("predictions", 1.0) and math.isnan(gold.median_ms)
    assert gold.solved == sum(labels[-1] == "O" for labels in GOLD) / 12
    assert half.failed == 0 and half.solved < gold.solved
    assert half.accuracy == pytest.approx(sum(map(len, GOLD[1::2])) / sum(map(len, GOLD)))


def test_wrong_predictions_cost_their_own_rows_only():
    bad = [["B-y"] * len(trellis) for trellis in TRELLISES]
    with pytest.raises(MethodError, match=r"sequence 0, method bad: .*no label 'B-y'"):
        ilpinfer.compare(TRELLISES, RULES, ["auto"], predictions={"bad": bad})
    result = ilpinfer.compare(TRELLISES, RULES, ["auto"], predictions={"bad": bad}, on_error="record")
    auto, line = lines_of(result.summary())
    assert (auto.solved, line.failed, line.solved) == (1.0, 12, 0.0)
    assert "no label 'B-y'" in next(row for row in rows_of(result.frame) if row["method"] == "bad")["reason"]


def test_infeasible_sequences_are_left_out_and_counted():
    never = -math.inf
    impossible = Trellis([0.0, 0.0, never], [[[0.0, 0.0, never]] * 3], labels=LABELS, tokens=["w", "w"])
    result = ilpinfer.compare([*TRELLISES[:3], impossible], RULES, ["auto", "viterbi"])
    auto, viterbi = lines_of(result.summary())
    assert (auto.sequences, auto.infeasible, auto.solved, auto.proved) == (3, 1, 1.0, 1.0)
    assert (viterbi.sequences, viterbi.infeasible) == (3, 1)


def test_without_an_exact_method_gaps_are_not_known():
    line = ilpinfer.compare(TRELLISES[:4], RULES, [poor]).summary().iloc[0]
    assert line.optimum_known == 0 and line[["mean_gap", "common_gap", "reaches", "accuracy"]].isna().all()
    assert line.solved == 1.0


def test_the_frame_has_a_line_for_each_row(result):
    frame = result.frame
    assert len(frame) == 72
    assert frame.groupby("method").gap.min()["auto"] == 0.0
    assert frame.optimum.tolist()[::6] == pytest.approx(OPTIMA)
    failures = frame[frame.error != ""]
    assert set(failures.method) == {"unstable"} and set(failures.error) == {"RuntimeError"}
    assert failures[["gap", "gold_tokens", "correct"]].isna().all(axis=None) and not failures.solved.any()


def test_an_error_of_a_method_ends_the_comparison_unless_it_is_recorded():
    with pytest.raises(RuntimeError, match="sequence 1, method unstable: out of luck") as caught:
        ilpinfer.compare(TRELLISES, RULES, ["auto", unstable])
    assert isinstance(caught.value, MethodError) and str(caught.value.__cause__) == "out of luck"
    assert 'on_error="record" records it' in str(caught.value)


def test_a_method_that_always_fails_changes_no_figure_of_the_others():
    options = {"gold": GOLD, "on_error": "record"}
    alone = ilpinfer.compare(TRELLISES, RULES, ["auto", poor], **options)
    beside = ilpinfer.compare(TRELLISES, RULES, ["auto", poor, broken], **options)
    before, after = (each.summary().drop(columns=TIMES) for each in (alone, beside))
    both = after[after.method != "broken"].reset_index(drop=True)
    pd.testing.assert_frame_equal(before, both)
    failed = beside.summary().iloc[2]
    stated = {"failed": 12, "solved": 0, "proved": 0}
    stated |= dict.fromkeys(["optimum_known", "missed", "violations", "breaking"], 0)
    assert failed[list(stated)].to_dict() == stated
    known = ["method", "kind", "seeds", "sequences", "infeasible", "cap", "common"]
    others = failed.drop([*stated, *known])
    assert others.isna().all(), "no mean, no interval, no time, no account"
    for match in lines_of(beside.matches()):
        if match.other == "broken":
            assert (match.wins, match.ties, match.losses, match.failed, match.p) == (0, 0, 0, 12, 1.0)
    assert set(beside.field_gains().method) == {"auto", "poor"}


def test_the_cap_stands_for_a_missing_labelling_only():
    steep = Trellis.from_emissions([[1000.0, 0.0]] * 2, [[0.0, 0.0]] * 2, labels=["a", "b"])
    predictions = {"far": [["b", "b"]] * 3, "half": [["b", "b"], None, None]}
    auto, far, half = lines_of(ilpinfer.compare([steep] * 3, [], ["auto"], predictions=predictions).summary())
    assert (far.mean_gap, far.mean_gap_low, far.mean_gap_high) == (2000.0,) * 3
    assert (far.solved_gap, far.largest_gap) == (2000.0,) * 2
    assert (half.mean_gap, half.solved_gap) == ((2000.0 + 50.0 + 50.0) / 3, 2000.0)
    assert (auto.mean_gap, auto.solved_gap) == (0.0, 0.0)


@pytest.mark.parametrize(
    "trellis",
    [
        *TRELLISES[:3],
        Trellis([0.0, 1.0, 0.5], [], labels=LABELS),
        Trellis([2.0], [[[1.0]], [[3.0]]], labels=["a"]),
        Trellis.second_order([0.5, 1.0], [[0.0, 2.0], [1.0, -1.0]], [np.arange(8.0).reshape(2, 2, 2)] * 3),
    ],
    ids=str,
)
def test_the_unit_of_times_is_a_bare_pass(trellis, monkeypatch):
    """The clock of these tests goes on by a second with each reading; the unit has two readings a pass."""
    score = running.bare_pass(trellis.lattice)()
    assert score == round(ilpinfer.decode(trellis).score * 2**20)
    count = itertools.count()
    monkeypatch.setattr(running, "time", SimpleNamespace(perf_counter=lambda: next(count)))
    assert running.bare_seconds(trellis.lattice) == 1
    monkeypatch.setattr(running, "bare_seconds", lambda lattice: 0.5)
    result = ilpinfer.compare([trellis], [], ["viterbi"])
    (line,) = lines_of(result.summary())
    assert line.bare_passes == pytest.approx(line.median_ms / 500), "the method is a row like others"


@pytest.mark.parametrize(
    ("values", "corrected"),
    [
        ([], []),
        ([0.2], [0.2]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.5, 0.5, 0.001], [1.0, 1.0, 0.003]),
    ],
)
def test_p_values_are_corrected_by_holm(values, corrected):
    assert holm(pd.Series(values, dtype=float)).tolist() == pytest.approx(corrected)


def drawn(table, rng):
    """Quantiles of accuracy, F1 and mean gap, and of losses against the first method, by plain resampling of sequences.

    `table` has for each method and sequence: tokens, right tokens, fields predicted, gold and both, and the gap.
    """
    count, found = len(table[0]), []
    for _ in range(4000):
        chosen = rng.integers(count, size=count)
        values = []
        for own in table:
            tokens, right, predicted, gold, both, gap = np.sum([own[n] for n in chosen], axis=0)
            values.append(
                (right / tokens, 2 * both / (predicted + gold) if predicted + gold else 1.0, gap / count)
            )
        found.append([(*own, values[0][0] - own[0], values[0][1] - own[1]) for own in values])
    return np.quantile(found, (0.025, 0.975), axis=0)


def counted(labels, gold, gap):
    """Of one sequence of labels `a` and `O`, each run of `a` a field."""
    one, other = ({run.span() for run in re.finditer("a+", "".join(names))} for names in (labels, gold))
    right = sum(a == b for a, b in zip(labels, gold, strict=True))
    return len(gold), right, len(one), len(other), len(one & other), gap


def test_intervals_are_those_of_drawn_sequences():
    rng = np.random.default_rng(3)
    trellises = [Trellis(rng.normal(size=2), rng.normal(size=(t, 2, 2)), ["a", "O"]) for t in range(1, 13)]
    gold = [["a" if rng.random() < 0.4 else "O" for _ in range(len(each))] for each in trellises]
    other = [["a" if rng.random() < 0.5 else "O" for _ in range(len(each))] for each in trellises]
    options = {"gold": gold, "predictions": {"other": other}}
    lines = ilpinfer.compare(trellises, [], ["auto", "viterbi"], **options).summary().set_index("method")
    best = [ilpinfer.decode(each) for each in trellises]
    gaps = [
        each.score - trellis.score(labels)
        for each, trellis, labels in zip(best, trellises, other, strict=True)
    ]
    table = [
        [counted(each.labels, labels, 0.0) for each, labels in zip(best, gold, strict=True)],
        [counted(*three) for three in zip(other, gold, gaps, strict=True)],
    ]
    low, high = drawn(table, rng)
    for place, method in enumerate(("auto", "other")):
        line = lines.loc[method]
        names = ["accuracy", "f1", "mean_gap", *(["accuracy_loss", "f1_loss"] if place else [])]
        for number, name in enumerate(names):
            ends = line[[f"{name}_low", f"{name}_high"]].tolist()
            assert ends == pytest.approx([low[place, number], high[place, number]], abs=0.03, rel=0.03), name
            assert ends[0] <= line[name] <= ends[1]
    assert lines.loc["other", "f1_loss"] == pytest.approx(lines.f1["auto"] - lines.f1["other"])
    same = [name for name in lines if name.startswith(("accuracy", "f1", "mean_gap")) and "loss" not in name]
    assert lines.loc["auto", same].equals(lines.loc["viterbi", same].rename("auto")), "the same draws"
    losses = [name for name in lines if "loss" in name]
    assert lines.loc["auto", losses].isna().all() and (lines.loc["viterbi", losses] == 0).all()
    alike = ilpinfer.compare(trellises[:1] * 3, [], ["viterbi"], gold=gold[:1] * 3).summary().iloc[0]
    assert alike.accuracy_low == alike.accuracy == alike.accuracy_high and np.isnan(alike.f1_loss)


def test_the_bare_pass_is_a_line_with_its_time_and_what_it_does_against_gold(result):
    (bare,) = result.summary()[lambda lines: lines.kind == "bare"].itertuples()
    alone = lines_of(ilpinfer.compare(TRELLISES, [], ["viterbi"], gold=GOLD).summary())[0]
    assert bare.method == "bare Viterbi pass" and bare.bare_passes == 1 and 0 < bare.median_ms < 1
    assert (bare.f1, bare.accuracy, bare.f1_low) == (alone.f1, alone.accuracy, alone.f1_low)
    auto = lines_of(result.summary())[0]
    assert bare.f1_loss == pytest.approx(auto.f1 - alone.f1)
    assert np.isnan([bare.mean_gap, bare.solved, bare.violations, bare.search_errors]).all()
    with pytest.raises(ValueError, match="'bare Viterbi pass' is a line of every table"):
        ilpinfer.compare(TRELLISES[:1], names={"beam": "bare Viterbi pass"})


def test_a_loss_is_over_the_sequences_that_both_have():
    """And a method that has failed on some is not compared on them."""
    result = ilpinfer.compare(TRELLISES, RULES, ["auto", unstable], gold=GOLD, on_error="record")
    line = result.summary().iloc[1]
    frame = result.frame
    both = frame[frame.sequence.isin(frame.sequence[(frame.method == "unstable") & (frame.error == "")])]
    accuracy = both.groupby("method").correct.sum() / both.groupby("method").gold_tokens.sum()
    assert line.accuracy_loss == pytest.approx(accuracy["auto"] - accuracy["unstable"])
    assert line.accuracy_loss_low <= line.accuracy_loss <= line.accuracy_loss_high


def test_resamples_without_any_value_are_left_out():
    nothing = Trellis([0.0, 1.0], [], ["a", "O"])
    line = ilpinfer.compare([nothing] * 2, [], ["auto"], gold=[["a"], None]).summary().iloc[0]
    assert (line.accuracy_low, line.accuracy, line.accuracy_high) == (0.0, 0.0, 0.0)
