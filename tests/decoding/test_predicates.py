"""Rules that are functions, against brute force over all labellings."""

import math
import pickle
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from support.checks import GENERAL_METHODS, check_claims, check_optimum, of_any_order, ranking
from support.effort import examples, seeds
from support.strategies import UNIT, Case, problems
from support.trellises import random_trellis
from test_given import corrected

import ilpinfer
from formulations import constraints as C
from ilpinfer.core import request
from ilpinfer.core.certificate import Certificate

RULES = [C.at_most_runs("a", 1), C.requires_present("a", "b", penalty=1.5)]


def changes(labels, tokens):
    """How often the label changes, and equal tokens have different labels."""
    pairs = zip(labels, tokens, strict=True)
    different = len({*pairs}) - len({*tokens})
    return sum(a != b for a, b in zip(labels, labels[1:], strict=False)) + different


def palindrome(labels, tokens):
    return sum(a != b for a, b in zip(labels, labels[::-1], strict=True)) // 2


def no_repeat(labels, tokens):
    """What no automaton of few states counts: labels that occur more often than another one."""
    return max(labels.count(each) for each in labels) - min(labels.count(each) for each in labels)


def odd(labels, tokens):
    return len(labels) % 2


COUNTS = (changes, palindrome, no_repeat, odd)


def changes_so_far(labels, tokens):
    return changes(labels, tokens[: len(labels)])


PREFIXES = {
    changes: changes_so_far,
    palindrome: lambda labels, tokens: sum(
        labels[t] != labels[len(tokens) - 1 - t]
        for t in range(max(0, len(tokens) - len(labels)), len(tokens) // 2)
    ),
    odd: lambda labels, tokens: len(tokens) % 2,
}
METHODS = [each.name for each in GENERAL_METHODS if each.functions is not None]
PENALTIES = st.sampled_from((math.inf, UNIT, 0.3, 2.0, 9.0))


@st.composite
def under_functions(draw, of=None):
    """A problem with known labels, one or two functions, hard or soft, among its rules, and which of them see prefixes."""
    problem, told = draw(corrected(of))
    chosen = draw(
        st.lists(st.tuples(st.sampled_from(COUNTS), PENALTIES, st.booleans()), min_size=1, max_size=2)
    )
    cases = list(problem.cases)
    for n, (count, penalty, seen) in enumerate(chosen):
        prefix = PREFIXES.get(count) if seen else None
        rule = C.predicate(count, penalty=penalty, prefix=prefix, name=f"function {n}")
        cases.insert(draw(st.integers(0, len(cases))), Case(rule, count))
    return problem._replace(cases=cases), told


@settings(max_examples=examples(480))
@drawn(under_functions(of_any_order()), st.none() | st.integers(1, 12))
def test_the_best_labellings_under_functions(case, top):
    problem, told = case
    trellis, rules = problem.trellis, problem.rules
    solution = ilpinfer.decode(trellis, rules, given=told)
    check_optimum(problem, solution, first=True)
    read = type(solution).from_dict(solution.to_dict())
    for each in (solution, read):
        assert ilpinfer.verify(trellis, rules, each).proved
    if solution.has_labelling:
        check_forgeries(trellis, rules, solution)
    if top is not None:
        several = ilpinfer.decode(trellis, rules, given=told, top=top)
        assert ranking(several) == problem.top(top)
        assert all(each.status == "optimal" for each in several)
        assert not several or ilpinfer.verify(trellis, rules, several, top=top).proved
        if len(several) > 1:
            assert not ilpinfer.verify(trellis, rules, several[1:], top=top).proved
            hidden = replace(several[1], certificate=replace(several[1].certificate, excluded=()))
            assert not ilpinfer.verify(trellis, rules, hidden).proved or several[0].score == hidden.score


@settings(max_examples=examples(480))
@drawn(under_functions(problems()), st.sampled_from(METHODS))
def test_every_method_under_functions(case, method):
    problem, told = case
    options = {"iterations": 3} if method == "evolutionary" else {}
    if method in ("lds", "hybrid"):
        options = {"time_limit": 0.1}
    solution = ilpinfer.decode(problem.trellis, problem.rules, method=method, given=told, **options)
    check_claims(problem, solution)
    assert ilpinfer.verify(problem.trellis, problem.rules, solution).ok


def check_forgeries(trellis, rules, solution):
    certificate = solution.certificate
    name = next(name for name in solution.violations if name.startswith("function"))
    for forged in (
        replace(
            solution, score=solution.score + 1, model_score=solution.model_score + 1, bound=solution.bound + 1
        ),
        replace(solution, bound=solution.bound - UNIT, score=solution.score - UNIT),
        replace(solution, violations={**solution.violations, name: 7}),
        replace(solution, certificate=Certificate("none")),
        replace(solution, certificate=replace(certificate, make_digest=lambda: "0" * 64)),
    ):
        assert not ilpinfer.verify(trellis, rules, forged).proved


def test_a_list_that_leaves_out_a_better_labelling_is_refused():
    trellis, rule = random_trellis(1, T=5), C.predicate(changes, penalty=3.0)
    solution = ilpinfer.decode(trellis, [rule])
    listed = solution.certificate.listed
    above = [path for path in listed if trellis.score(path) > solution.score]
    assert above and solution.status == "optimal"
    for path in above:
        few = tuple(each for each in listed if each != path)
        forged = replace(solution, certificate=replace(solution.certificate, listed=few))
        assert not ilpinfer.verify(trellis, [rule], forged).ok
    cheaper = C.predicate(lambda labels, tokens: 0, penalty=3.0, name="changes")
    assert not ilpinfer.verify(trellis, [cheaper], solution).ok


@pytest.mark.parametrize(("most", "status"), [(8, "feasible"), (10_000, "optimal")])
def test_a_list_with_an_end_leaves_a_bound(monkeypatch, most, status):
    monkeypatch.setitem(request.MOST, "top", most)
    trellis, rules = random_trellis(3, T=7), [C.predicate(no_repeat, penalty=5.0)]
    solution = ilpinfer.decode(trellis, rules)
    assert solution.status == status and solution.bound >= solution.score
    verdict = ilpinfer.verify(trellis, rules, solution)
    assert verdict.ok and verdict.proved == (status == "optimal")


def test_hard_functions_that_nothing_keeps():
    trellis = random_trellis(0, T=3)
    never = [C.predicate(lambda labels, tokens: 1, name="never")]
    solution = ilpinfer.decode(trellis, never)
    assert (solution.status, solution.score, solution.bound) == ("infeasible", -math.inf, -math.inf)
    assert solution.reason == "Python functions refuse every labelling: never"
    assert ilpinfer.verify(trellis, never, solution).proved
    assert not ilpinfer.verify(trellis, [C.predicate(lambda labels, tokens: 0, name="never")], solution).ok
    assert ilpinfer.decode(trellis, [*never, C.starts_with("a"), C.starts_with("b")]).status == "infeasible"
    assert ilpinfer.decode(random_trellis(0, T=40), never, time_limit=0.2).status == "unknown"


@pytest.mark.parametrize("method", [each.name for each in GENERAL_METHODS if each.functions is None])
def test_other_methods_refuse_functions(method):
    words = f"method {method} takes no rule that is a Python function, such as 'changes': choose"
    with pytest.raises(ValueError, match=words):
        ilpinfer.decode(random_trellis(2, T=6), [C.predicate(changes, penalty=1.0)], method=method)


def test_an_error_of_a_function_names_it():
    def looks_up(labels, tokens):
        return {}["x"]

    rules = [C.predicate(looks_up, penalty=1.0)]
    with pytest.raises(ValueError, match=r"^rule 'looks_up': its function failed: KeyError: 'x'$") as raised:
        ilpinfer.decode(random_trellis(2, T=6), rules)
    assert isinstance(raised.value.__cause__, KeyError)


def test_an_error_of_a_lambda_names_the_rule():
    trellis = random_trellis(2, T=6)
    rule = C.predicate(lambda labels, tokens: None, penalty=1.0, name="even")
    said = "^rule 'even': its function returned None; expected a number of violations"
    for call in (
        lambda: ilpinfer.decode(trellis, [rule]),
        lambda: rule.violations(["a"] * 6, labels=trellis.labels, tokens=["x"] * 6),
        lambda: ilpinfer.evaluate_labelling(trellis, [rule], [0] * 6),
    ):
        with pytest.raises(ValueError, match=said):
            call()
    fine = C.predicate(lambda labels, tokens: 0, penalty=1.0)
    unnamed = C.predicate(lambda labels, tokens: -1, penalty=1.0)
    with pytest.raises(ValueError, match=r"^rule 'predicate #2': its function returned -1"):
        ilpinfer.decode(trellis, [fine, unnamed])


def test_what_takes_functions():
    trellises = [random_trellis(n, T=5) for n in range(3)]
    rules = [*RULES, C.predicate(changes, penalty=1.0, prefix=changes_so_far)]
    scores = [ilpinfer.decode(trellis, rules).score for trellis in trellises]
    decoder = pickle.loads(pickle.dumps(ilpinfer.Decoder(rules, trellises[0].labels)))
    assert [each.score for each in decoder.decode_many(trellises, threads=2)] == scores
    assert [each.score for each in ilpinfer.decode_many(trellises, rules, n_jobs=2)] == scores
    assert [each[0].score for each in decoder.decode_many(trellises, top=3)] == scores
    ilpinfer.compare(trellises, rules, ["auto", "beam:width=1000", "lds"], gold=[["a"] * 5] * 3)
    beam = ilpinfer.decode(trellises[0], rules, method="beam")
    assert ilpinfer.prove(trellises[0], rules, beam).certificate.kind == "exact"
    worth = ilpinfer.evaluate_labelling(trellises[0], rules, beam.labels)
    assert worth.score == beam.score and worth.violations == beam.violations
    cheap = ilpinfer.decode(trellises[0], [C.predicate(changes, penalty=0.01)])
    assert [each.rule for each in cheap.explain().broken] == ["changes"]
    assert ilpinfer.next_question(trellises[0], rules, labellings=20) is not None


def test_names_are_numbered():
    rules = [C.predicate(changes, penalty=1.0), C.predicate(changes, penalty=2.0), C.predicate(lambda *_: 0)]
    solution = ilpinfer.decode(random_trellis(0, T=4), rules)
    assert [*solution.violations] == ["changes", "changes #2", "predicate"]


def test_counts_of_numpy_are_whole_numbers():
    rule = C.predicate(lambda labels, tokens: np.int64(1), penalty=1.0, name="one")
    solution = ilpinfer.decode(random_trellis(0, T=3), [rule])
    assert solution.violations == {"one": 1} and solution.penalty == 1.0


@pytest.mark.parametrize("penalty", [math.inf, UNIT, 1.0])
@seeds(12, 1)
def test_the_first_of_many_ties_is_found(seed, penalty):
    """All labellings have the same score, but not their prefixes, so that a beam search meets others than the first."""
    rng, K, T = np.random.default_rng(seed), 3, 6
    ahead = np.vstack([rng.integers(-3, 4, (T - 1, K)), np.zeros(K)])
    trellis = ilpinfer.Trellis(
        ahead[0], ahead[1:, None, :] - ahead[:-1, :, None], labels=list("abc"), tokens=list("xyzxyz")
    )
    every = ["".join(each) for each in product("abc", repeat=T)]
    kept = {each for each in every[rng.integers(100, 300) :] if rng.random() < 0.3}
    prefixes = {each[:t] for each in kept for t in range(T + 1)}

    def breaks(labels, tokens):
        return int("".join(labels) not in prefixes)

    rule = C.predicate(breaks, penalty=penalty, prefix=breaks)
    wanted = sorted(kept) + [each for each in every if each not in kept and penalty < math.inf]
    assert "".join(ilpinfer.decode(trellis, [rule]).labels) == wanted[0]
    for top in (2, 4, 7):
        found = ilpinfer.decode(trellis, [rule], top=top)
        assert ["".join(each.labels) for each in found] == wanted[:top]
