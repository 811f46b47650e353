"""Tokens that have to agree wherever they stand: all methods against brute force, and documents of several sequences."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import template_oracles as more
from support.checks import GENERAL_METHODS, check_optimum, ranking
from support.effort import examples
from support.strategies import (
    FORBIDDING,
    NEAR_PENALTIES,
    NEAR_TIES,
    PENALTIES,
    UNIT,
    Case,
    Problem,
    instances,
)

import ilpinfer
from benchmarks.data.hard import instance
from formulations import LabelSet, Trellis, dump_rules, join, parse_rules
from formulations import constraints as C


@st.composite
def documents(draw, scores=FORBIDDING, penalties=PENALTIES, longest=5):
    """A trellis whose tokens repeat, the rule, and perhaps a second one that has nothing to do with it."""
    instance = draw(instances(scores, longest, words=("x", "X", "y", ".")))
    scheme, fields = instance.trellis.labels.scheme, list(instance.trellis.labels.fields)
    same, distance = draw(st.sampled_from(["token", "lower"])), draw(st.sampled_from(["count", "binary"]))
    rule = C.consistent(same=same, penalty=draw(penalties), distance=distance)
    lower = same == "lower"
    cases = [Case(rule, lambda y, x: more.consistent(y, x, lambda token: token != ".", scheme, lower))]
    field, n = draw(st.sampled_from(fields)), draw(st.integers(0, 2))
    most, least = (make(field, n, penalty=draw(penalties)) for make in (C.at_most_tokens, C.at_least_runs))
    others = [
        Case(most, lambda y, x: more.between_tokens(y, x, field, 0, n, scheme)),
        Case(least, lambda y, x: more.between_runs(y, x, field, n, math.inf, scheme)),
    ]
    cases += draw(st.sampled_from([[], [], others[:1], others[1:]]))
    return Problem(instance, cases)


def check(problem, method):
    solution = ilpinfer.decode(*problem.given, method=method)
    verdict = ilpinfer.verify(*problem.given, solution)
    assert verdict.ok and (verdict.proved or method != "auto"), verdict.reasons
    check_optimum(problem, solution, first=method == "auto")


@pytest.mark.parametrize("method", ["auto", "cbc", "cp-sat", "highs", "scip"])
@settings(max_examples=examples(200, 8))
@given(problem=documents() | documents(NEAR_TIES, NEAR_PENALTIES))
def test_exact_methods_find_the_optimum(method, problem):
    check(problem, method)


def test_a_rule_that_no_labelling_obeys_is_infeasible_by_equal_tokens():
    """The lattice still has a labelling, with tokens that differ: `I-b I-a I-a`."""
    no = -math.inf
    start = [no, no, no, 0.0]
    edges = [
        [[0.0, no, no, 0.0], [0.0, no, 0.0, no], [0.0, no, no, no], [no, 0.0, no, no]],
        [[0.0, 0.0, no, 0.0], [no, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [no, no, no, 0.0]],
    ]
    labels = LabelSet(["B-a", "I-a", "B-b", "I-b"], "bio")
    trellis = Trellis(start, edges, labels=labels, tokens=["x", "x", "x"])
    solution = ilpinfer.decode(trellis, [C.consistent(same="token")])
    assert solution.status == "infeasible"
    assert "decomposition" in solution.method


@settings(max_examples=examples(60))
@given(problem=documents(longest=4), method=st.sampled_from([m.name for m in GENERAL_METHODS]))
def test_no_method_claims_too_much(problem, method):
    expected, _ = problem.best()
    options = {"seed": 1} if method in ("evolutionary", "hybrid") else {}
    solution = ilpinfer.decode(*problem.given, method=method, time_limit=0.2, **options)
    assert solution.score <= (-math.inf if expected is None else expected * UNIT) <= solution.bound
    assert ilpinfer.verify(*problem.given, solution).ok


@settings(max_examples=examples(40))
@given(documents(longest=4), st.floats(0, 1))
def test_two_phases_and_several_labellings_agree_with_their_proofs(problem, tau):
    phases = ilpinfer.decode_two_phase(*problem.given, tau=tau)
    assert ilpinfer.verify(*problem.given, phases).ok
    few = ilpinfer.decode(*problem.given, top=4)
    assert ilpinfer.verify(*problem.given, few, top=4).ok
    assert ranking(few) == problem.top(4)


def test_a_rule_in_a_file_is_the_same():
    text = 'fields = ["a"]\n[[rule]]\ntemplate = "consistent"\nsame = "lower"\ntoken_class = "capitalised"\n'
    rules = parse_rules(text)
    assert (
        list(rules)
        == list(parse_rules(dump_rules(rules)))
        == [C.consistent(same="lower", token_class="capitalised")]
    )
    assert rules.rules[0].title == "consistent(lower, capitalised)"
    with pytest.raises(ValueError, match="same is 'stem'; choose from lower, token"):
        C.consistent(same="stem")


def test_explanations_name_the_tokens():
    trellis = Trellis.from_emissions(
        [[0, 2.0], [1, 0], [3.0, 0]], np.zeros((2, 2)), labels=["a", "O"], tokens=["Ada", "and", "Ada"]
    )
    solution = ilpinfer.decode(trellis, [C.consistent(penalty=1.0)])
    assert solution.violations == {"consistent()": 1}
    assert "Ada" in str(solution.explain())


@settings(max_examples=examples(60))
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2]), st.booleans())
def test_the_score_of_a_document_is_the_sum_of_its_sequences(seed, order, apart):
    generator, names = np.random.default_rng(seed), ["B-a", "I-a", "O"]
    sentences = []
    for T in generator.integers(1, 4, size=generator.integers(1, 4)).tolist():
        emissions = generator.integers(-3, 3, size=(T, 3)).astype(float)
        steps = generator.integers(-3, 3, size=(3,) * (order + 1)).astype(float)
        steps[generator.random(steps.shape) < 0.1] = -math.inf
        first = generator.integers(-3, 3, size=(3, 3)).astype(float) if order == 2 else None
        start, end = generator.integers(-3, 3, size=(2, 3)).astype(float)
        words = generator.choice(["x", "y"], T).tolist()
        sentences.append(
            Trellis.from_emissions(
                emissions, steps, start=start, end=end, labels=names, tokens=words, first=first
            )
        )
    document = join(sentences) if apart else join(sentences, None)
    assert document.split(document.trellis.tokens) == [list(s.tokens) for s in sentences]
    labels = [generator.choice(names, len(s)).tolist() for s in sentences]
    between = ["O"] if apart else []
    whole = [label for each in labels for label in [*between, *each]][len(between) :]
    assert document.split(whole) == labels
    parts = [s.score(each) for s, each in zip(sentences, labels, strict=True)]
    assert document.trellis.score(whole) == sum(parts)
    if apart and len(sentences) > 1:
        assert (
            document.trellis.score(["B-a" if t == len(labels[0]) else x for t, x in enumerate(whole)])
            == -math.inf
        )
    solution = ilpinfer.decode(document.trellis, [C.consistent()])
    if solution.has_labelling:
        fields = {}
        for sentence, each in zip(sentences, document.split(solution.labels), strict=True):
            for word, label in zip(sentence.tokens, each, strict=True):
                fields.setdefault(word, set()).add(label[-1])
        assert all(len(result) == 1 for result in fields.values())


def test_the_engine_and_a_solver_agree_on_generated_documents():
    one, other = (instance("consistency", number, smallest=True) for number in (0, 1))
    assert one.document.tokens != other.document.tokens
    for each in (one, other):
        auto, solver = (ilpinfer.decode(each.trellis(), each.rules, method=m) for m in ("auto", "cp-sat"))
        assert auto.status == solver.status == "optimal"
        assert auto.score == solver.score
