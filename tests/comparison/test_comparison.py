"""Comparisons: every figure against plain counting, and nothing that flatters who fails."""

import itertools
import math
import statistics
from dataclasses import fields, replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from ilpinfer.comparison import running
from ilpinfer.comparison.pairs import holm
from ilpinfer.comparison.rows import Contradiction, MethodError, ScoredGold, error_of
from ilpinfer.comparison.summary import _gold_intervals
from ilpinfer.core import registry
from ilpinfer.exact import bare
from ilpinfer.exact.bare import bare_pass, bare_seconds

LABELS = ["B-x", "I-x", "O"]
RULES = [C.at_most_runs("x", 1, penalty=1.25, name="one x"), C.ends_with("O", name="ends outside")]
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
    methods = ["auto", "viterbi", often_missing, poor, "beam:width=1", unstable]
    return ilpinfer.compare(TRELLISES, RULES, methods, gold=GOLD, cap=CAP, on_error="record")


def answers_of(result, method):
    """The rows of a method that are no failures."""
    return [row for row in result.rows() if row["method"] == method and "error" not in row]


def test_rows_are_those_of_each_sequence_and_method(result):
    rows = list(result.rows())
    methods = ["auto", "viterbi", "often_missing", "poor", "beam:width=1", "unstable"]
    assert [(row["sequence"], row["method"]) for row in rows] == list(product(range(12), methods))
    assert [row["score"] for row in rows if row["method"] == "auto"] == pytest.approx(OPTIMA)
    for row in rows:
        trellis = TRELLISES[row["sequence"]]
        if row["labels"] is not None:
            value = score(trellis, row["labels"])
            assert row["score"] == (None if math.isinf(value) else pytest.approx(value))
        assert row["length"] == len(trellis)


def test_a_method_that_misses_half_is_not_ranked_above_one_that_solves_all(result):
    lines = {line.method: line for line in result.summary()}
    half, all_poor = lines["often_missing"], lines["poor"]
    assert all_poor.mean_gap > half.common_gap == 0.0, "what it solves, it solves perfectly"
    assert half.solved < 0.5 and all_poor.solved == 1.0
    assert all_poor.rank < half.rank
    assert sorted(line.rank for line in lines.values()) == [1, 2, 3, 4, 5, 6] and lines["auto"].rank == 1


def test_the_summary_is_what_counting_says(result):
    common = [
        n for n in range(12) if all(row["score"] is not None for row in result.rows() if row["sequence"] == n)
    ]
    assert 0 < len(common) < 12
    for line in result.summary():
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
        assert line.gap_low <= line.mean_gap <= line.gap_high
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
    for line in result.summary():
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
        assert (line.search_errors, line.model_errors, line.rule_errors, line.ties) == tuple(counts.values())
        assert line.search_error_tokens == tokens.get("search", 0)
        assert line.model_error_tokens == tokens.get("model", 0)
        assert line.rule_error_tokens == tokens.get("rule", 0)
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
    for row in result.rows():
        if "error" not in row:
            value = -math.inf if row["score"] is None else row["score"]
            by_method.setdefault(row["method"], {})[row["sequence"]] = value
    matches = result.matches()
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
    viterbi = {n: ilpinfer.decode(trellis, method="viterbi").labels for n, trellis in enumerate(TRELLISES)}

    def spans(labellings):
        found = set()
        for n, labels in labellings.items():
            begin = None
            for t, name in enumerate([*(labels or []), "O"]):
                if begin is not None and name != "I-x":
                    found.add((n, begin, t - 1))
                    begin = None
                if name == "B-x" or (name == "I-x" and begin is None):
                    begin = t
        return found

    gains = {gain.method: gain for gain in result.field_gains()}
    assert set(gains) == {"auto", "viterbi", "often_missing", "poor", "beam:width=1", "unstable"}
    for method, gain in gains.items():
        own = {row["sequence"]: row["labels"] for row in answers_of(result, method)}
        gold, before = (spans({n: each[n] for n in own}) for each in (dict(enumerate(GOLD)), viterbi))
        now = spans(own)
        assert gain.failed == 12 - len(own)
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
    gaps = {seed: [] for seed in (3, 5, 8)}
    for row in drawn:
        gaps[row["seed"]].append(CAP if row["score"] is None else OPTIMA[row["sequence"]] - row["score"])
    means = {seed: statistics.mean(own) for seed, own in gaps.items()}
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
    with pytest.raises(MethodError, match=r"sequence 0, method bad: .*no label 'B-y'"):
        ilpinfer.compare(TRELLISES, RULES, ["auto"], predictions={"bad": bad})
    result = ilpinfer.compare(TRELLISES, RULES, ["auto"], predictions={"bad": bad}, on_error="record")
    auto, line = result.summary()
    assert (auto.solved, line.failed, line.solved) == (1.0, 12, 0.0)
    assert "no label 'B-y'" in next(row for row in result.rows() if row["method"] == "bad")["reason"]


def test_infeasible_sequences_are_left_out_and_counted():
    never = -math.inf
    impossible = Trellis([0.0, 0.0, never], [[[0.0, 0.0, never]] * 3], labels=LABELS, tokens=["w", "w"])
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
    assert len(frame) == 72
    assert frame.groupby("method").gap.min()["auto"] == 0.0
    assert frame.optimum.tolist()[::6] == pytest.approx(OPTIMA)
    failures = frame[frame.error != ""]
    assert set(failures.method) == {"unstable"} and set(failures.error) == {"RuntimeError"}
    assert failures[["gap", "gold_tokens", "correct"]].isna().all(axis=None) and not failures.solved.any()


def test_methods_that_disagree_are_an_error(monkeypatch):
    honest = running.row_of

    def lying(sequence, entry, *more):
        row = honest(sequence, entry, *more)
        return {**row, "bound": row["bound"] - 2.0**-20} if entry.name == "highs" else row

    monkeypatch.setattr(running, "row_of", lying)
    with pytest.raises(Contradiction, match=r"sequence 0: auto found a labelling .* but highs claims"):
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
        ({"on_error": "skip"}, "on_error is 'skip'; expected 'raise' or 'record'"),
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


def test_an_error_of_a_method_ends_the_comparison_unless_it_is_recorded():
    with pytest.raises(RuntimeError, match="sequence 1, method unstable: out of luck") as caught:
        ilpinfer.compare(TRELLISES, RULES, ["auto", unstable])
    assert isinstance(caught.value, MethodError) and str(caught.value.__cause__) == "out of luck"
    assert 'on_error="record" records it' in str(caught.value)


def test_a_method_that_always_fails_changes_no_figure_of_the_others():
    options = {"gold": GOLD, "on_error": "record"}
    alone = ilpinfer.compare(TRELLISES, RULES, ["auto", poor], **options)
    beside = ilpinfer.compare(TRELLISES, RULES, ["auto", poor, broken], **options)
    *others, failed = beside.summary()
    times = {"median_ms": 0.0, "p90_ms": 0.0, "bare_passes": 0.0}
    for before, after in zip(alone.summary(), others):
        assert replace(before, **times) == replace(after, **times)
    assert (failed.failed, failed.solved, failed.proved, failed.rank) == (12, 0.0, 0.0, 3)
    counts = ("optimum_known", "missed", "violations", "breaking")
    assert [getattr(failed, name) for name in counts] == [0, 0, 0, 0]
    stated = {*counts, "method", "kind", "rank", "seeds", "sequences", "infeasible", "solved", "failed"}
    stated |= {"proved", "cap", "common"}
    known = {field.name for field in fields(failed)} - stated
    assert all(getattr(failed, name) is None for name in known), "no mean, no interval, no time, no account"
    for match in beside.matches():
        if match.other == "broken":
            assert (match.wins, match.ties, match.losses, match.failed, match.p) == (0, 0, 0, 12, 1.0)
    assert {gain.method for gain in beside.field_gains()} == {"auto", "poor"}


def test_the_cap_stands_for_a_missing_labelling_only():
    steep = Trellis.from_emissions([[1000.0, 0.0]] * 2, [[0.0, 0.0]] * 2, labels=["a", "b"])
    predictions = {"far": [["b", "b"]] * 3, "half": [["b", "b"], None, None]}
    auto, far, half = ilpinfer.compare([steep] * 3, [], ["auto"], predictions=predictions).summary()
    assert (far.mean_gap, far.gap_low, far.gap_high, far.solved_gap, far.largest_gap) == (2000.0,) * 5
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
    score = bare_pass(trellis)()
    assert score == round(ilpinfer.decode(trellis).score * 2**20)
    count = itertools.count()
    monkeypatch.setattr(bare, "time", SimpleNamespace(perf_counter=lambda: next(count)))
    assert bare_seconds(trellis) == 1
    monkeypatch.setattr(running, "bare_seconds", lambda trellis: 0.5)
    result = ilpinfer.compare([trellis], [], ["viterbi"])
    (line,) = result.summary()
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
    assert holm(values) == pytest.approx(corrected)


def test_intervals_against_gold_are_those_of_drawn_sequences():
    rng = np.random.default_rng(3)
    trellises = [Trellis(rng.normal(size=2), rng.normal(size=(t, 2, 2)), ["a", "O"]) for t in range(1, 13)]
    gold = [["a" if rng.random() < 0.4 else "O" for _ in range(len(each))] for each in trellises]
    (line,) = ilpinfer.compare(trellises, [], ["viterbi"], gold=gold).summary()
    (again, other) = ilpinfer.compare(trellises, [], ["viterbi", "auto"], gold=gold).summary()
    pairs = [(ilpinfer.decode(each).labels, labels) for each, labels in zip(trellises, gold, strict=True)]
    right = np.array([[sum(a == b for a, b in zip(*pair, strict=True)), len(pair[1])] for pair in pairs])
    drawn = np.sort([np.divide(*right[rng.integers(12, size=12)].sum(axis=0)) for _ in range(20_000)])
    assert [line.accuracy_low, line.accuracy_high] == pytest.approx(drawn[[500, 19_499]], abs=0.01)
    assert line.accuracy_low < line.accuracy < line.accuracy_high and line.f1_low <= line.f1 <= line.f1_high
    assert (line.f1_low, line.f1_high) == (again.f1_low, again.f1_high) == (other.f1_low, other.f1_high)
    ends = _gold_intervals(np.array([[0, 0, 0, 0, 0], [4, 3, 1, 1, 1], [5, 5, 2, 2, 2]]))
    assert 0 <= ends[0] <= ends[1] <= 1 and ends[2:] == [1, 1]
    alike = ilpinfer.compare(trellises[:1] * 3, [], ["viterbi"], gold=gold[:1] * 3).summary()[0]
    assert alike.accuracy_low == alike.accuracy == alike.accuracy_high
