"""The best nested set of spans under rules, against all sets without crossings."""

import itertools
import math
import random
import time
from dataclasses import replace

import pytest
from support.effort import at_most, examples

import ilpinfer
from formulations import Group
from formulations import constraints as C
from ilpinfer.corpus.candidates import Candidate, CandidateSet
from ilpinfer.pipelines import span_recursion

T, LABELS = 6, ("A", "B", "D")
TEXT = ["x"] * T


def spans_of(name, chosen):
    """The members of a name, or of several: `x/y` is a y with an x around it."""
    if isinstance(name, Group):
        name = name.members
    if not isinstance(name, str):
        return [each for each in chosen if any(each in spans_of(one, chosen) for one in name)]
    outer, _, label = name.rpartition("/")
    return [
        each
        for each in chosen
        if each.label == label
        and (not outer or any(o.label == outer and strictly_in(each, o) for o in chosen))
    ]


def strictly_in(one, other):
    inside = other.start <= one.start and one.end <= other.end
    return inside and one.end - one.start < other.end - other.start


def runs(name, chosen):
    return len(spans_of(name, chosen))


def away(total, low=-math.inf, high=math.inf):
    return max(0, low - total, total - high)


def ordered(field, good):
    return lambda chosen: sum(not good(each, chosen) for each in spans_of(field, chosen))


NAMES = ["A", "B", "D", "A/B", "A/A", "B/D", "none", ["A", "B"], ["A/B", "D"], C.group("both", ["A/D", "B"])]


def draw_rule(draw, cost):
    """A rule with its plain count of violations."""
    one, other, n = draw.choice(NAMES), draw.choice(NAMES), draw.randint(0, 3)

    def before(name):
        return lambda each, chosen: any(o.start < each.start for o in spans_of(name, chosen))

    def after(name):
        return lambda each, chosen: any(o.end > each.end for o in spans_of(name, chosen))

    kinds = [
        (lambda **k: C.at_most_runs(one, n, **k), lambda s: away(runs(one, s), high=n)),
        (lambda **k: C.at_least_runs(one, n, **k), lambda s: away(runs(one, s), low=n)),
        (lambda **k: C.exactly_runs(one, n, **k), lambda s: away(runs(one, s), n, n)),
        (lambda **k: C.between_runs(one, n, n + 1, **k), lambda s: away(runs(one, s), n, n + 1)),
        (
            lambda **k: C.at_most_runs(C.EACH_FIELD, n, **k),
            lambda s: sum(away(runs(name, s), high=n) for name in LABELS),
        ),
        (
            lambda **k: C.min_run_length(one, n, **k),
            lambda s: sum(max(0, n - each.end + each.start) for each in spans_of(one, s)),
        ),
        (
            lambda **k: C.max_run_length(one, n, **k),
            lambda s: sum(max(0, each.end - each.start - n) for each in spans_of(one, s)),
        ),
        (
            lambda **k: C.requires_present(one, other, **k),
            lambda s: int(runs(one, s) > 0 and runs(other, s) == 0),
        ),
        (
            lambda **k: C.never_together(one, other, **k),
            lambda s: int(runs(one, s) > 0 and runs(other, s) > 0),
        ),
        (
            lambda **k: C.requires_present("X", "Y", scope="each pair", **k),
            lambda s: sum(runs(x, s) > 0 == runs(y, s) for x, y in itertools.permutations(LABELS, 2)),
        ),
        (
            lambda **k: C.at_most_runs(C.other_than("A"), n, **k),
            lambda s: away(runs(["B", "D"], s), high=n),
        ),
        (lambda **k: C.requires_before(other, one, **k), ordered(one, before(other))),
        (lambda **k: C.precedence(one, other, **k), ordered(one, after(other))),
    ]
    make, count = draw.choice(kinds)
    penalty = math.inf if draw.random() < 0.3 else cost
    return make(penalty=penalty), penalty, count


def draw_candidates(draw, most=7):
    """Candidates at different places or with different labels, of scores that are seldom equal."""
    places = {}
    for _ in range(draw.randint(0, most)):
        start = draw.randrange(T)
        end = draw.randint(start + 1, min(T, start + draw.choice([1, 2, 3, 6])))
        places[start, end, draw.choice(LABELS)] = draw.choice([0.1, 0.3, 0.5, 0.6, 0.8, 0.9, draw.random()])
    return [Candidate(*place, p) for place, p in places.items()]


def nests(one, other):
    apart = one.end <= other.start or other.end <= one.start
    return apart or strictly_in(one, other) or strictly_in(other, one)


def nested_sets(candidates, depth=None):
    """Each set without crossings; of spans at one place it has at most one."""
    for size in range(len(candidates) + 1):
        for chosen in itertools.combinations(candidates, size):
            if all(nests(one, other) for one, other in itertools.combinations(chosen, 2)):
                deepest = max((sum(e.start <= t < e.end for e in chosen) for t in range(T)), default=0)
                if depth is None or deepest <= depth:
                    yield chosen


def odds(each):
    p = min(max(each.score, 1e-6), 1 - 1e-6)
    return math.log(p / (1 - p))


def cost(rules, chosen):
    broken = [(penalty, count(chosen)) for _, penalty, count in rules]
    return sum(penalty * times for penalty, times in broken if times)


def problem(seed):
    draw = random.Random(seed)
    candidates = draw_candidates(draw)
    rules = [draw_rule(draw, draw.choice([0.3, 0.7, 2.0])) for _ in range(draw.randint(0, 3))]
    depth = draw.choice([None, None, 1, 2])
    return candidates, rules, depth


def check(found, candidates, rules, depth):
    worth = {
        chosen: sum(map(odds, chosen)) - cost(rules, chosen) for chosen in nested_sets(candidates, depth)
    }
    best = max(worth.values())
    solution = found.solution
    if best == -math.inf:
        assert (solution.status, solution.bound, solution.violations) == (
            "infeasible",
            -math.inf,
            {},
        ) and not found.spans
        assert "no set of the candidates keeps the hard rules" in solution.reason
        return
    assert solution.status == "optimal" and solution.gap == 0 and solution.bound == solution.score
    assert solution.score == pytest.approx(best, abs=1e-4)
    own = tuple(each for each in candidates if each in found.spans)
    assert len(own) == len(found.spans) and worth[own] == pytest.approx(best, abs=1e-4)
    assert list(solution.violations.values()) == [count(own) for _, _, count in rules]


@pytest.mark.examples
def test_the_best_nested_set_is_that_of_all_sets():
    methods = set()
    for seed in range(examples(15_000, 150)):
        candidates, rules, depth = problem(seed)
        found = ilpinfer.select_spans(
            TEXT, candidates, [rule for rule, *_ in named(rules)], nested=True, depth=depth, fields=LABELS
        )
        check(found, candidates, rules, depth)
        methods.add((found.solution.method, found.solution.certificate.kind))
    assert methods == {("auto: interval recursion", "none"), ("auto: cp-sat", "solver")}


def named(rules):
    return [
        (replace(rule, name=f"rule {n}"), penalty, count) for n, (rule, penalty, count) in enumerate(rules)
    ]


@pytest.mark.parametrize("method", ["cp-sat", "highs", "cbc", "scip"])
def test_solvers_agree_with_all_sets(method):
    for seed in range(examples(60, 4)):
        candidates, rules, depth = problem(seed)
        found = ilpinfer.select_spans(
            TEXT, candidates, [rule for rule, *_ in named(rules)], nested=True, depth=depth, fields=LABELS,
            method=method,
        )  # fmt: skip
        check(found, candidates, rules, depth)
        assert found.solution.method == method and found.solution.certificate.kind == "solver"


def many(seed, size=60, length=40):
    draw = random.Random(seed)
    starts = [draw.randrange(length) for _ in range(size)]
    return [
        (
            start,
            min(length, start + draw.choice([1, 2, 3, 5, 8, 15])),
            draw.choice("ABCDE"),
            draw.uniform(0.2, 0.9),
        )
        for start in starts
    ], ["x"] * length


COUNTS = [
    C.at_most_runs("A", 2),
    C.at_least_runs("B", 2, penalty=2.0),
    C.at_most_runs("C/D", 0),
    C.max_run_length("E", 3, penalty=0.2),
    C.requires_present("A", "C"),
]


@pytest.mark.parametrize("seed", range(3))
def test_recursion_and_solver_agree_on_larger_sets(seed, monkeypatch):
    candidates, text = many(seed)
    by_recursion = ilpinfer.select_spans(text, candidates, COUNTS, nested=True, depth=3).solution
    assert by_recursion.method == "auto: interval recursion"
    monkeypatch.setattr(span_recursion, "MOST_STEPS", 100)
    by_solver = ilpinfer.select_spans(text, candidates, COUNTS, nested=True, depth=3).solution
    assert by_solver.method == "auto: cp-sat"
    assert by_recursion.score == by_solver.score and by_solver.status == "optimal"


@pytest.mark.parametrize("seed", range(5))
def test_spans_of_depth_one_are_flat(seed):
    candidates, text = many(seed, 25, 20)
    rules = [*COUNTS[:2], *COUNTS[3:], C.requires_before("B", "A", penalty=0.5), C.min_run_length("D", 2)]
    flat = ilpinfer.select_spans(text, candidates, rules)
    nested = ilpinfer.select_spans(text, candidates, rules, nested=True, depth=1)
    assert nested.solution.score == flat.solution.score and nested.spans == flat.spans
    assert list(nested.solution.violations.values()) == list(flat.solution.violations.values())


def test_the_greedy_choice_is_that_of_gliner():
    for seed in range(200):
        candidates = draw_candidates(random.Random(seed), 12)
        left = sorted(
            (each for each in candidates if each.score > 0.5), key=lambda e: (-e.score, e.start, e.end)
        )
        chosen = []
        for each in left:
            if all(nests(each, other) for other in chosen):
                chosen.append(each)
        scores = [each.score for each in left]
        if len(set(scores)) == len(scores):
            found = ilpinfer.select_spans(TEXT, candidates, nested=True)
            assert set(found.greedy) == set(chosen)
            assert found.loss == pytest.approx(found.solution.score - sum(map(odds, chosen)), abs=1e-4)
            alone = ilpinfer.select_spans(TEXT, candidates, nested=True, method="greedy-spans")
            assert alone.spans == found.greedy and alone.solution.bound == found.solution.score


def test_labels_are_paths_from_which_spans_are_read():
    for seed in range(200):
        candidates = draw_candidates(random.Random(seed), 12)
        found = ilpinfer.select_spans(TEXT, candidates, nested=True)
        group = CandidateSet.of(TEXT, candidates)
        assert group.original(found.solution.labels, nested=True) == found.spans
    assert group.original(["O"] * T, nested=True) == ()


def test_spans_of_one_place_exclude_each_other_and_sets_may_be_empty():
    found = ilpinfer.select_spans(["x"], [(0, 1, "A", 0.8), (0, 1, "B", 0.9)], nested=True)
    assert [each.label for each in found.spans] == ["B"] and found.loss == 0
    for text, candidates in (("Ada", []), ("", []), ("Ada", [(0, 3, "A", 0.2)])):
        found = ilpinfer.select_spans(text, candidates, [C.at_most_runs("A", 1)], nested=True)
        assert (found.spans, found.solution.status, found.solution.score) == ((), "optimal", 0)


def test_priors_and_thresholds():
    spans = [(0, 2, "A", 0.4), (0, 1, "B", 0.3), (1, 2, "B", 0.05)]
    found = ilpinfer.select_spans(["x", "y"], spans, nested=True, prior={"A": 0.2, "B": 0.1}, threshold=0.1)
    assert [each.score for each in found.spans] == [0.3, 0.4] and found.below == 1
    assert found.solution.score == pytest.approx(math.log(0.4 / 0.6 * 4) + math.log(0.3 / 0.7 * 9), abs=1e-4)


def test_long_chains_of_nested_spans():
    chain = [(n, 4000 - n, "A", 0.6) for n in range(0, 1500, 10)]
    found = ilpinfer.select_spans(["x"] * 4000, chain, nested=True)
    assert len(found.spans) == 150 and found.solution.labels[1995].count("/") == 149
    assert len(ilpinfer.select_spans(["x"] * 4000, chain, nested=True, depth=2).spans) == 2


def test_contradictions_and_limits():
    spans, rules = [(0, 1, "A", 0.9)], [C.at_least_runs("A", 2), C.at_most_runs("B", 1)]
    found = ilpinfer.select_spans(["x"], spans, rules, nested=True)
    assert (found.spans, found.solution.status, found.solution.bound) == ((), "infeasible", -math.inf)
    assert math.isnan(found.loss) and "at_least_runs(A, 2)" in found.solution.reason
    candidates, text = many(0, 400, 300)
    late = ilpinfer.select_spans(text, candidates, [C.precedence("A", "B")], nested=True, time_limit=1e-6)
    assert (late.solution.status, late.solution.method) == ("feasible", "auto: empty set")
    assert late.loss == math.inf and late.spans == () and late.solution.bound >= late.solution.score
    for rule, penalty in itertools.product([C.at_most_runs, C.at_least_runs], [0.01, 50.0]):
        late = ilpinfer.select_spans(
            text, candidates, [rule("A", 5, penalty=penalty)], nested=True, time_limit=1e-6
        )
        chosen = "empty set" if late.spans == () else "greedy choice"
        assert (late.solution.status, late.solution.method) == ("feasible", f"auto: {chosen}")
        assert late.spans == (() if late.loss > 0 else late.greedy) and late.solution.score >= 0
    late = ilpinfer.select_spans(text, candidates, [C.between_runs("A", 1, 2)], nested=True, time_limit=1e-6)
    assert (late.solution.status, late.solution.method) == ("unknown", "auto: greedy choice")
    began = time.process_time()
    late = ilpinfer.select_spans(
        *reversed(many(0, 3000, 900)), [C.precedence("A", "B")], nested=True, time_limit=0.1
    )
    assert late.solution.seconds < at_most(0.2) and time.process_time() - began < 2
    none = [*COUNTS, C.at_most_runs(C.EACH_FIELD, 0)]
    late = ilpinfer.select_spans(text, candidates, none, nested=True, time_limit=1e-6)
    assert (late.solution.status, late.solution.method) == ("feasible", "auto: empty set")


def test_many_outer_labels_are_left_to_a_solver():
    chain = [(n, 60 - n, f"L{n}", 0.6) for n in range(20)]
    rules = [C.at_most_runs([f"L{n}/L19" for n in range(19)], 0)]
    found = ilpinfer.select_spans(["x"] * 60, chain, rules, nested=True)
    assert (found.solution.method, found.solution.status) == ("auto: cp-sat", "optimal")
    assert len(found.spans) == 19
    few = ilpinfer.select_spans(["x"] * 60, chain, [C.at_most_runs(["L1/L19", "L2/L19"], 0)], nested=True)
    assert (few.solution.method, len(few.spans)) == ("auto: interval recursion", 19)


def test_solutions_of_nested_spans_are_not_explained():
    found = ilpinfer.select_spans("a b", [(0, 1, "x", 0.9)], nested=True).solution
    for read in (found, ilpinfer.Solution.from_dict(found.to_dict())):
        for options in ({}, {"change": True}, {"token": 0}):
            with pytest.raises(ValueError, match="solutions from files and of nested spans have no trellis"):
                read.explain(**options)


def test_rules_of_other_sequences_are_refused():
    rule = C.at_most_runs("x", 0, when="intent = z")
    with pytest.raises(ValueError, match=r"holds only where intent = z: take the rules of a sequence"):
        ilpinfer.select_spans("a b", [(0, 1, "x", 0.9)], [rule], nested=True)
