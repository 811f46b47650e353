"""Rules that are functions, against brute force over all labellings."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from support.checks import check_optimum, of_any_order
from support.effort import STRICT
from support.strategies import UNIT, Case
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


COUNTS = (changes, palindrome, no_repeat, lambda labels, tokens: len(labels) % 2)
PENALTIES = st.sampled_from((math.inf, UNIT, 0.3, 2.0, 9.0))


@settings(max_examples=5000 if STRICT else 60)
@drawn(
    corrected(of_any_order()), st.lists(st.tuples(st.sampled_from(COUNTS), PENALTIES), min_size=1, max_size=2)
)
def test_the_best_labelling_under_functions(case, chosen):
    problem, told = case
    predicates = [C.predicate(f, penalty=p, name=f"function {n}") for n, (f, p) in enumerate(chosen)]
    cases = [Case(rule, rule.function) for rule in predicates]
    under = problem._replace(cases=[*problem.cases, *(_counting(each) for each in cases)])
    rules = [*predicates, *problem.rules]
    solution = ilpinfer.decode(problem.trellis, rules, given=told)
    check_optimum(under, solution)
    assert ilpinfer.verify(problem.trellis, rules, solution).proved
    read = type(solution).from_dict(solution.to_dict())
    assert ilpinfer.verify(problem.trellis, rules, read).proved
    if solution.has_labelling:
        check_forgeries(problem.trellis, rules, solution)


def _counting(case):
    """The case with a distance, as rules have one."""

    class Counting(Case):
        def violations(self, names, tokens):
            return self.count(names, tokens)

    return Counting(case.rule, case.count)


def check_forgeries(trellis, rules, solution):
    certificate = solution.certificate
    for forged in (
        replace(
            solution, score=solution.score + 1, model_score=solution.model_score + 1, bound=solution.bound + 1
        ),
        replace(solution, bound=solution.bound - UNIT, score=solution.score - UNIT),
        replace(solution, violations={**solution.violations, "function 0": 7}),
        replace(solution, certificate=Certificate("none")),
        replace(solution, certificate=replace(certificate, make_digest=lambda: "0" * 64)),
    ):
        assert not ilpinfer.verify(trellis, rules, forged).proved


def test_a_list_that_leaves_out_a_better_labelling_is_refused():
    trellis, rule = random_trellis(1, T=5), C.predicate(changes, penalty=3.0)
    solution = ilpinfer.decode(trellis, [rule])
    listed = solution.certificate.excluded
    above = [path for path in listed if trellis.score(path) > solution.score]
    assert above and solution.status == "optimal"
    for path in above:
        few = tuple(each for each in listed if each != path)
        forged = replace(solution, certificate=replace(solution.certificate, excluded=few))
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
    assert solution.reason == "every labelling breaks a hard predicate"
    assert ilpinfer.verify(trellis, never, solution).proved
    assert not ilpinfer.verify(trellis, [C.predicate(lambda labels, tokens: 0, name="never")], solution).ok
    assert ilpinfer.decode(trellis, [*never, C.starts_with("a"), C.starts_with("b")]).status == "infeasible"
    assert ilpinfer.decode(random_trellis(0, T=40), never, time_limit=0.2).status == "unknown"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: C.predicate(3), "function is 3; expected a function of label names and texts"),
        (lambda: C.predicate(changes, penalty=0), "predicate 'changes': penalty is 0; expected nats above 0"),
        (lambda: C.predicate(changes, penalty="1"), "predicate 'changes': penalty is '1'; expected nats"),
        (
            lambda: C.predicate(changes, penalty=1e-9),
            "predicate 'changes': penalty is 1e-09 nats, which is 0",
        ),
        (lambda: _decoded(lambda labels, tokens: True), "returned True; expected a number of violations"),
        (lambda: _decoded(lambda labels, tokens: -1), "returned -1; expected a number of violations"),
        (lambda: _decoded(lambda labels, tokens: 0.5), "returned 0.5; expected a number of violations"),
        (lambda: _decoded(changes, method="beam"), "predicates are for the method auto"),
        (lambda: _decoded(changes, top=3), "predicates are for the method auto"),
        (lambda: _decoded(changes, changes), "two predicates are named 'changes'"),
        (lambda: ilpinfer.Decoder([C.predicate(changes)]), "rule 1 is Predicate.*; expected a rule"),
    ],
)
def test_what_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def _decoded(*functions, **options):
    return ilpinfer.decode(random_trellis(0, T=4), [C.predicate(each) for each in functions], **options)


def test_names_are_apart_from_those_of_rules():
    rules = [C.at_most_runs("a", 1, name="changes"), C.predicate(changes)]
    with pytest.raises(ValueError, match="predicate 'changes' has the name of another rule"):
        ilpinfer.decode(random_trellis(0, T=4), rules)


def test_counts_of_numpy_are_whole_numbers():
    rule = C.predicate(lambda labels, tokens: np.int64(1), penalty=1.0, name="one")
    solution = ilpinfer.decode(random_trellis(0, T=3), [rule])
    assert solution.violations == {"one": 1} and solution.penalty == 1.0
