"""Second order: scores that look at two labels before, against brute force over all labellings."""

import itertools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support import oracles
from support.effort import examples
from support.strategies import (
    FORBIDDING,
    LABEL_SETS,
    NEAR_TIES,
    PENALTIES,
    TOKENS,
    UNIT,
    Case,
    Instance,
    cases,
    cost_units,
)
from test_decoding_against_oracle import check_optimum, check_two_phase, rules, units

import ilpinfer
from formulations import LabelSet, Trellis
from formulations import constraints as C
from formulations.grid import is_forbidden
from formulations.problem.compiled_rules import compile_problem
from formulations.programs import formulation
from formulations.programs.formulation import exclude_labelling, formulate
from formulations.programs.loss_bounds import best_score, losses
from ilpinfer import solvers
from ilpinfer.corpus.sequences import InputError, read

SLOW = {"deadline": None, "suppress_health_check": list(HealthCheck)}
SMALL_PENALTIES = st.one_of(st.just(math.inf), st.integers(1, 3).map(lambda k: k * UNIT))


@dataclass(frozen=True)
class Second(Instance):
    """A second-order trellis and the numbers whose sum a labelling's score is."""

    numbers: Callable[[tuple[int, ...]], list[float]]

    def units(self, labelling: tuple[int, ...]) -> int | None:
        result = [oracles.snap(x) for x in self.numbers(labelling)]
        return None if None in result else sum(result)


def dense_numbers(start, first, edges, y: tuple[int, ...]) -> list[float]:
    result = [start[y[0]]]
    result += [first[y[0]][y[1]]] if len(y) > 1 else []
    return result + [edges[t - 2][y[t - 2]][y[t - 1]][y[t]] for t in range(2, len(y))]


def factored_numbers(emissions, transitions, start, end, first, y: tuple[int, ...]) -> list[float]:
    result = [emissions[t][k] for t, k in enumerate(y)]
    result += [] if start is None else [start[y[0]]]
    result += [] if end is None else [end[y[-1]]]
    result += [first[y[0]][y[1]]] if first is not None and len(y) > 1 else []
    return result + [transitions[y[t - 2]][y[t - 1]][y[t]] for t in range(2, len(y))]


@st.composite
def instances(draw: st.DrawFn, scores: st.SearchStrategy[float] = FORBIDDING, longest: int = 4) -> Second:
    scheme, names = draw(st.sampled_from(LABEL_SETS))
    K = len(names)
    T = draw(st.integers(1, longest + (K < 4)))

    def array(*shape: int) -> list:
        size = math.prod(shape)
        return np.reshape(draw(st.lists(scores, min_size=size, max_size=size)), shape).tolist()

    tokens = draw(st.lists(st.sampled_from(TOKENS), min_size=T, max_size=T))
    named = {"labels": LabelSet(names, scheme), "tokens": tokens}
    if draw(st.booleans()):
        start, first, edges = array(K), array(K, K) if T > 1 else [], array(max(T - 2, 0), K, K, K)
        trellis = Trellis.second_order(start, first, edges, **named)
        return Second(trellis, [], [], scheme, lambda y: dense_numbers(start, first, edges, y))
    parts = [
        array(T, K),
        array(K, K, K),
        *(draw(st.none() | st.builds(lambda s=s: s)) for s in ((K,), (K,), (K, K))),
    ]
    emissions, transitions, start, end, first = (p if not isinstance(p, tuple) else array(*p) for p in parts)
    trellis = Trellis.from_emissions(emissions, transitions, start, end, first=first, **named)
    return Second(
        trellis, [], [], scheme, lambda y: factored_numbers(emissions, transitions, start, end, first, y)
    )


@st.composite
def problems(
    draw: st.DrawFn,
    scores: st.SearchStrategy[float] = FORBIDDING,
    penalties: st.SearchStrategy[float] = PENALTIES,
    longest: int = 4,
) -> tuple[Second, list[Case]]:
    instance = draw(instances(scores, longest))
    result = draw(st.lists(cases(instance.trellis.labels, penalties), max_size=4))
    assume(not any(r.overruled for r in compile_problem(instance.trellis, rules(result)).rules))
    return instance, result


NEAR = problems(NEAR_TIES, SMALL_PENALTIES)


@settings(max_examples=examples(150), **SLOW)
@given(instances())
def test_a_score_is_the_sum_of_its_numbers(instance):
    for y in oracles.labellings(*instance.shape):
        expected = instance.units(y)
        assert instance.trellis.score(y) == (-math.inf if expected is None else expected / 2**20)


@settings(max_examples=examples(150), **SLOW)
@given(problems())
def test_rules_and_folding_speak_of_labels(problem):
    instance, result = problem
    compiled = compile_problem(instance.trellis, rules(result))
    folded = compiled.fold()
    for y in oracles.labellings(*instance.shape):
        path, cost = np.array(y), cost_units(instance, result, y)
        value, units_of_model = compiled.value(path), instance.units(y)
        counts = [case.violations(instance.names(y), instance.trellis.tokens) for case in result]
        assert list(value.violations.values()) == counts
        if cost is None or units_of_model is None:
            assert is_forbidden(value.score) and is_forbidden(folded.value(path).score)
        else:
            assert value.score == folded.value(path).score == units_of_model - cost


@settings(max_examples=examples(150), **SLOW)
@given(problems())
def test_auto_finds_the_optimum(problem):
    check_optimum(*problem, "auto")


@settings(max_examples=examples(150), **SLOW)
@given(NEAR)
def test_auto_finds_the_optimum_of_near_ties(problem):
    check_optimum(*problem, "auto")


@pytest.mark.parametrize("method", ["cbc", "cp-sat", "highs", "scip"])
@settings(max_examples=examples(20), **SLOW)
@given(problem=st.one_of(problems(), NEAR))
def test_solvers_find_the_optimum(method, problem):
    check_optimum(*problem, method)


@settings(max_examples=examples(100), **SLOW)
@given(st.one_of(problems(), NEAR))
def test_a_beam_of_full_width_is_exact(problem):
    instance, result = problem
    expected, labellings = oracles.best(
        *instance.shape, instance.units, lambda y: cost_units(instance, result, y)
    )
    solution = ilpinfer.decode(instance.trellis, rules(result), method="beam", width=3000)
    assert solution.status == ("infeasible" if expected is None else "optimal")
    if expected is not None:
        assert units(solution.score) == expected
        assert tuple(solution.ids.tolist()) in labellings


@settings(max_examples=examples(100), **SLOW)
@given(problems(), st.integers(1, 3))
def test_a_narrow_beam_never_claims_too_much(problem, width):
    instance, result = problem
    expected, _ = oracles.best(*instance.shape, instance.units, lambda y: cost_units(instance, result, y))
    solution = ilpinfer.decode(instance.trellis, rules(result), method="beam", width=width)
    if expected is None:
        assert solution.status in ("unknown", "infeasible")
    else:
        assert solution.status != "infeasible"
        assert units(solution.bound) >= expected
        assert solution.status != "optimal" or units(solution.score) == expected


@settings(max_examples=examples(100), **SLOW)
@given(instances(st.one_of(NEAR_TIES, st.just(-math.inf))), st.integers(1, 8))
def test_the_best_few_come_in_the_order_of_label_ids(instance, top):
    expected = oracles.top(*instance.shape, instance.units, lambda y: 0, top)
    for method in ("auto", "viterbi"):
        result = ilpinfer.decode(instance.trellis, method=method, top=top)
        assert [(units(s.score), tuple(s.ids.tolist())) for s in result] == expected


@pytest.mark.parametrize("method", ["auto", "highs"])
@settings(max_examples=examples(15), **SLOW)
@given(problem=problems(longest=3), top=st.integers(1, 4))
def test_the_best_few_under_rules(method, problem, top):
    instance, result = problem
    expected = oracles.top(*instance.shape, instance.units, lambda y: cost_units(instance, result, y), top)
    solutions = ilpinfer.decode(instance.trellis, rules(result), method=method, top=top)
    assert [units(s.score) for s in solutions] == [score for score, _ in expected]
    assert len({tuple(s.ids.tolist()) for s in solutions}) == len(solutions)


@pytest.mark.parametrize("method", ["auto", "cbc", "cp-sat", "highs", "scip"])
@settings(max_examples=examples(12), **SLOW)
@given(
    problem=st.one_of(problems(), NEAR),
    tau=st.sampled_from((0.0, 0.3, 0.9, 1.0)),
    bound=st.sampled_from(("relative", "odds")),
)
def test_two_phase(method, problem, tau, bound):
    check_two_phase(*problem, tau, bound, method)


@settings(max_examples=examples(60), **SLOW)
@given(data=st.data(), instance=instances())
def test_features_are_added_to_steps_and_tokens(data, instance):
    scheme, fields = instance.scheme, list(instance.trellis.labels.fields)
    some = st.sampled_from(fields)
    A, B, word = data.draw(some), data.draw(some), data.draw(st.sampled_from(TOKENS))
    features = [
        C.feature(label=A, weight=3 * UNIT, words=[word]),
        C.feature(from_=A, to=B, weight=-2 * UNIT),
        C.feature(to=B, weight=5 * UNIT, words=[word]),
    ]
    tokens = instance.trellis.tokens

    def extra(y: tuple[int, ...]) -> int:
        names = instance.names(y)
        in_a, in_b = (set(oracles.tokens_of(names, f, scheme)) for f in (A, B))
        steps = [t for t in range(1, len(y)) if t in in_b]
        single = sum(tokens[t].lower() == word for t in in_a)
        entered = sum(tokens[t].lower() == word for t in steps)
        return 3 * single - 2 * sum(t - 1 in in_a for t in steps) + 5 * entered

    result = oracles.top(*instance.shape, instance.units, lambda y: -extra(y), 1)
    solution = ilpinfer.decode(instance.trellis, features)
    assert solution.status == ("optimal" if result else "infeasible")
    if result:
        assert (units(solution.score), tuple(solution.ids.tolist())) == result[0]
        assert units(solution.feature_score) == extra(result[0][1])


@pytest.mark.parametrize("method", ["auto", "beam", "highs"])
@settings(max_examples=examples(15), **SLOW)
@given(data=st.data(), instance=instances(longest=3))
def test_a_hamming_distance_counts_labels_and_not_pairs(method, data, instance):
    T, K = instance.shape
    case = data.draw(cases(instance.trellis.labels, st.just(math.inf)))
    hard = data.draw(st.booleans())
    try:
        rule = replace(case.rule, distance="hamming", penalty=math.inf if hard else 0.75)
        compile_problem(instance.trellis, [rule])
    except ValueError:
        assume(False)
    kept = [y for y in oracles.labellings(T, K) if not case.count(instance.names(y), instance.trellis.tokens)]

    def distance(y: tuple[int, ...]) -> int:
        return min((sum(a != b for a, b in zip(y, z, strict=True)) for z in kept), default=T)

    def cost(y: tuple[int, ...]) -> int | None:
        return (None if distance(y) else 0) if hard else round(0.75 * 2**20) * distance(y)

    expected, labellings = oracles.best(T, K, instance.units, cost)
    options = {"width": 3000} if method == "beam" else {}
    solution = ilpinfer.decode(instance.trellis, [rule], method=method, **options)
    assert solution.status == ("infeasible" if expected is None else "optimal")
    if expected is not None:
        assert units(solution.score) == expected
        assert tuple(solution.ids.tolist()) in labellings


@st.composite
def twins(draw: st.DrawFn) -> tuple[Trellis, Trellis, list]:
    """The same scores as a first-order trellis and as a second-order one, with rules."""
    scheme, names = draw(st.sampled_from(LABEL_SETS))
    K, T = len(names), draw(st.integers(1, 4))
    size = K + (T - 1) * K * K
    flat = np.array(
        draw(st.lists(draw(st.sampled_from((FORBIDDING, NEAR_TIES))), min_size=size, max_size=size))
    )
    start, edges = flat[:K], flat[K:].reshape(T - 1, K, K)
    tokens = draw(st.lists(st.sampled_from(TOKENS), min_size=T, max_size=T))
    named = {"labels": LabelSet(names, scheme), "tokens": tokens}
    result = draw(st.lists(cases(named["labels"]), max_size=4))
    first = edges[0] if T > 1 else None
    later = np.repeat(edges[1:, None], K, axis=1)
    return Trellis(start, edges, **named), Trellis.second_order(start, first, later, **named), rules(result)


@settings(max_examples=examples(150), **SLOW)
@given(twins())
def test_scores_that_ignore_the_label_before_last_decode_as_first_order(twin):
    one, two, result = twin
    for method in ("auto", "viterbi"):
        a, b = (ilpinfer.decode(t, result, method=method) for t in (one, two))
        assert (a.status, a.score, a.bound, a.violations) == (b.status, b.score, b.bound, b.violations)
        assert not a.has_labelling or a.ids.tolist() == b.ids.tolist()
    few = [ilpinfer.decode(t, method="auto", top=7) for t in (one, two)]
    assert [(s.score, s.labels) for s in few[0]] == [(s.score, s.labels) for s in few[1]]


SEARCHES = {
    "constrained-viterbi": {},
    "post-correction": {},
    "best-first": {},
    "greedy": {},
    "lds": {"variant": "admissible", "keep_going": True},
    "evolutionary": {"iterations": 30},
    "annealing": {"iterations": 300},
    "tabu": {"iterations": 60, "refit_rate": 0.0},
}


@settings(max_examples=examples(60), **SLOW)
@given(twins())
def test_searches_take_the_same_steps_in_second_order(twin):
    one, two, result = twin
    assume(not any(rule.machineless for rule in compile_problem(one, result).rules))
    for method, options in SEARCHES.items():
        a, b = (ilpinfer.decode(t, result, method=method, **options) for t in (one, two))
        assert (a.has_labelling, a.score, a.labels if a.has_labelling else 0) == (
            b.has_labelling,
            b.score,
            b.labels if b.has_labelling else 0,
        )


@settings(max_examples=examples(40), **SLOW)
@given(twins())
def test_reasons_for_infeasibility_are_those_of_first_order(twin):
    one, two, result = twin
    a, b = (ilpinfer.decode(t, [replace(r, penalty=math.inf) for r in result]) for t in (one, two))
    assert a.status == b.status
    if a.status == "infeasible":
        assert a.infeasibility.conflict == b.infeasibility.conflict
        assert sum(a.infeasibility.relaxation.values()) == sum(b.infeasibility.relaxation.values())


@settings(max_examples=examples(60), **SLOW)
@given(problems(penalties=st.just(math.inf)))
def test_the_cheapest_relaxation_is_the_least_of_all_labellings(problem):
    instance, result = problem
    solution = ilpinfer.decode(instance.trellis, rules(result))
    possible = [y for y in oracles.labellings(*instance.shape) if instance.units(y) is not None]
    least = min(
        (sum(c.violations(instance.names(y), instance.trellis.tokens) for c in result) for y in possible),
        default=None,
    )
    assert (solution.status == "infeasible") == (least is None or least > 0)
    if least:
        assert sum(solution.infeasibility.relaxation.values()) == least
        assert solution.infeasibility.conflict


def random_trellis(T: int, K: int, seed: int = 0, **options) -> Trellis:
    rng = np.random.default_rng(seed)
    first = rng.normal(size=(K, K)) if T > 1 else None
    return Trellis.second_order(
        rng.normal(size=K), first, rng.normal(size=(max(T - 2, 0), K, K, K)), **options
    )


def path_vector(program, path) -> np.ndarray:
    """The 0/1 vector of a labelling: states are pairs, (i + 1)·K + j for label j after label i."""
    T, K = program.tokens, program.labels
    S = (K + 1) * K
    states = [(before + 1) * K + label for before, label in zip([-1, *path[:-1]], path, strict=True)]
    x = np.zeros(program.n_columns, np.int64)
    x[[states[0], S + (T - 1) * S * K + states[-1]]] = 1
    for t in range(1, T):
        x[S + (t - 1) * S * K + states[t - 1] * K + path[t]] = 1
    return x


@pytest.mark.parametrize(("T", "K"), [(1, 1), (1, 3), (2, 1), (2, 3), (4, 2), (5, 1)])
def test_a_program_takes_exactly_the_labellings(T, K):
    scores = random_trellis(T, K, seed=T)
    program = formulate(compile_problem(scores, [])).soft()
    S = (K + 1) * K
    assert program.n_columns == program.n_edges == (T - 1) * S * K + 2 * S
    assert program.n_rows == T * S + 2
    best, loss = losses(scores.lattice)
    assert best == best_score(scores.lattice)
    forbidden = exclude_labelling(program, np.zeros(T, np.int64))
    for path in itertools.product(range(K), repeat=T):
        x = path_vector(program, path)
        assert program.satisfied_by(x)
        assert program.labelling(x).tolist() == list(path)
        assert program.value(x) == best - int(loss @ x[: len(loss)]) == units(scores.score(path))
        assert forbidden.satisfied_by(x) == any(path)


@settings(max_examples=examples(25), **SLOW)
@given(problems(penalties=st.one_of(st.just(math.inf), st.just(1.0)), longest=3))
def test_rows_keep_exactly_the_labellings_without_violations(problem):
    instance, result = problem
    program = formulate(compile_problem(instance.trellis, rules(result))).soft()
    every = list(oracles.labellings(*instance.shape))
    for labelling in every[:: max(1, len(every) // 6)]:
        fixed = path_vector(program, labelling)[: program.n_edges]
        if (fixed > program.upper[: program.n_edges]).any():
            assert instance.units(labelling) is None
            continue
        lower, upper = program.lower.copy(), program.upper.copy()
        lower[: program.n_edges] = upper[: program.n_edges] = fixed
        answer = solvers.solve(
            "highs", replace(program, lower=lower, upper=upper), time_limit=60.0, threads=1
        )
        cost = cost_units(instance, result, labelling)
        assert (answer.status == "optimal") == (cost is not None)
        if answer.status == "optimal":
            assert instance.units(labelling) - program.value(answer.x) == cost


@pytest.mark.parametrize("T", [1, 2, 3])
def test_one_label_leaves_one_labelling(T):
    scores = random_trellis(T, 1)
    for method in ("auto", "viterbi", "beam", "highs", "cp-sat"):
        solution = ilpinfer.decode(scores, [C.at_most_tokens("0", 0, penalty=1.0)], method=method, top=2)
        assert [s.ids.tolist() for s in solution] == [[0] * T]
        assert solution[0].violations == {"at_most_tokens(0, 0)": T}


def test_a_program_too_large_to_build_is_refused(monkeypatch):
    monkeypatch.setattr(formulation, "MOST_COLUMNS", 100)
    scores = random_trellis(9, 3)
    with pytest.raises(ValueError, match="288 columns for 9 tokens and 3 labels in pairs, and may have 100"):
        ilpinfer.decode(scores, method="highs")
    assert ilpinfer.decode(scores).status == "optimal"


def test_a_trigram_is_told_from_bigrams():
    """Only the label before last says what comes next, which no first-order trellis can say."""
    edges = np.full((4, 2, 2, 2), -5.0)
    for before, previous in itertools.product(range(2), repeat=2):
        edges[:, before, previous, 1 - before] = 0.0
    scores = Trellis.second_order([0.0, -1.0], [[0.0, -1.0], [0.0, 0.0]], edges, labels=["a", "b"])
    assert (scores.order, repr(scores)) == (2, "Trellis(6 tokens, 2 labels, plain, second order)")
    assert ilpinfer.decode(scores).labels == ["a", "a", "b", "b", "a", "a"]
    solution = ilpinfer.decode(scores, [C.at_most_runs("a", 1)])
    assert solution.labels == min(
        (list(y) for y in itertools.product("ab", repeat=6) if "".join(y).strip("b").count("b") == 0),
        key=lambda y: (-scores.score(y), y),
    )
    assert "at_most_runs" in str(ilpinfer.decode(scores, [C.at_most_runs("a", 1, penalty=0.1)]).explain())


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Trellis.second_order([[0, 0]], [], []), r"start has shape \(1, 2\); expected \(K,\)"),
        (lambda: Trellis.second_order([0, 0], [0, 0], []), r"first has shape \(2,\); expected \(2, 2\), as start has 2"),
        (lambda: Trellis.second_order([0, 0], np.zeros((2, 2)), np.zeros((3, 2, 2))), r"edges has shape \(3, 2, 2\); expected \(T-2, 2, 2, 2\)"),
        (lambda: Trellis.second_order([0, 0], np.zeros((2, 2)), np.zeros((0, 3, 3, 3))), r"edges has shape \(0, 3, 3, 3\)"),
        (lambda: Trellis.second_order([0, 0], [], np.zeros((3, 2, 2, 2))), r"first is empty, as for one token, but edges .* 5 tokens"),
        (lambda: Trellis.second_order([0, 0], None, np.zeros((1, 2, 2, 2))), r"first is empty"),
        (lambda: Trellis.second_order([0, 0], [[0, math.nan], [0, 0]], []), r"first\[0, 1\] is nan"),
        (lambda: Trellis.second_order([0, 0], np.zeros((2, 2)), np.full((1, 2, 2, 2), math.inf)), r"edges\[0, 0, 0, 0\] is inf"),
        (lambda: Trellis.second_order([0, 0], [[0, 2e9], [0, 0]], np.full((1, 2, 2, 2), 1e9)), r"largest entry is first\[0, 1\]"),
        (lambda: Trellis.second_order([0, 0], np.zeros((2, 2)), [], tokens=["x"]), "1 tokens are given, but the scores cover 2"),
        (lambda: Trellis.second_order([0, 0], np.zeros((2, 2)), [], labels=["a"]), "1 labels are named, but the scores have 2"),
        (lambda: Trellis([0, 0], np.zeros((3, 2, 2, 2))), r"edges has shape \(3, 2, 2, 2\).*second order has first"),
        (lambda: Trellis.from_emissions(np.zeros((3, 2)), np.zeros((2, 2, 3))), r"transitions has shape \(2, 2, 3\); expected \(2, 2, 2\)"),
        (lambda: Trellis.from_emissions(np.zeros((3, 2)), np.zeros((2, 2)), first=np.zeros((2, 2))), r"first goes with transitions of shape \(2, 2, 2\)"),
        (lambda: Trellis.from_emissions(np.zeros((3, 2)), np.zeros((2, 2, 2)), first=[0, 0]), r"first has shape \(2,\); expected \(2, 2\)"),
        (lambda: Trellis.from_emissions(np.zeros((4, 2)), np.full((2, 2, 2), 1.5e9)), r"largest entry is transitions\[0, 0, 0\]"),
    ],
)  # fmt: skip
def test_bad_scores_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_penalties_too_large_beside_the_scores_are_refused_by_label():
    scores = Trellis.second_order([0, 1.5e9], np.zeros((2, 2)), np.zeros((1, 2, 2, 2)))
    with pytest.raises(ValueError, match=r"the largest entry is node\[0, 1\] = 1\.5e\+09"):
        ilpinfer.decode(scores, [C.at_most_tokens("0", 0, penalty=6e8)])


def test_what_is_never_reached_takes_no_part_in_the_total():
    Trellis.second_order([1e9], [[1e9]], [])
    Trellis.from_emissions([[0.0]], [[[2e9]]], first=[[2e9]], start=[2e9])
    Trellis.from_emissions([[0.0]] * 3, [[[1e9]]], first=[[1e9]])


def test_scores_of_second_order_come_as_json_lines(tmp_path):
    edges = np.arange(16).reshape(2, 2, 2, 2).tolist()
    edges[1][0][1][1] = None
    records = [
        {"start": [0, 1], "first": [[0, 1], [2, 3]], "edges": edges, "label_names": ["x", "O"]},
        {"start": [0, 1], "first": [], "edges": []},
        {"start": [0, 1], "first": [[0, 1], [2, 3]], "edges": []},
        {"emissions": [[0, 1]] * 4, "transitions": edges[0], "first": [[0, 1], [2, 3]], "end": [0, 7]},
        {"emissions": [[0, 1]] * 4, "transitions": edges[0]},
        {"start": [0, 1], "edges": edges},
        {"first": [[0, 1], [2, 3]], "tokens": ["a"]},
    ]
    path = tmp_path / "scores.jsonl"
    path.write_text("\n".join(map(json.dumps, records[:6])), "utf-8")
    examples = read(path)
    one, two, three, four, five = (e.trellis() for e in examples[:5])
    assert [len(t) for t in (one, two, three, four, five)] == [4, 1, 2, 4, 4]
    assert one.score(["O", "O", "x", "O"]) == 1 + 3 + 6 + (8 + 5)
    assert one.score(["O", "x", "O", "O"]) == -math.inf
    assert three.score([1, 0]) == 3
    assert four.score([1, 1, 1, 1]) == 4 + 3 + 7 + 7 + 7
    assert five.score([1, 1, 1, 1]) == 4 + 7 + 7
    with pytest.raises(InputError, match="second order has first, too"):
        examples[5].trellis()
    path.write_text(json.dumps(records[6]), "utf-8")
    with pytest.raises(InputError, match="has first; expected start and edges, or emissions and transitions"):
        read(path)
