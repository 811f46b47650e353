"""The tokens that are asked for next, against brute force over all labellings."""

import math

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from support.effort import examples
from support.strategies import NEAR_TIES, UNIT, problems
from support.trellises import random_trellis
from test_given import corrected

import ilpinfer
from formulations import constraints as C

RULES = [C.at_most_runs("a", 1), C.requires_present("a", "b", penalty=1.5)]


def expected(ranked, shape, least=0.0):
    """Probabilities (T, K), entropies and expected changes of labellings, best first, with scores in grid units."""
    T, K = shape
    weights = [math.exp((units - ranked[0][0]) * UNIT) for units, _ in ranked]
    chances = np.zeros(shape)
    for weight, (_, y) in zip(weights, ranked, strict=True):
        chances[np.arange(T), y] += weight / math.fsum(weights)
    entropies = [-sum(p * math.log(p) for p in row if p > 0) for row in chances]
    best, changes = ranked[0][1], []
    for t in range(T):
        others = {k: next(y for _, y in ranked if y[t] == k) for k in range(K) if chances[t, k] > 0}
        distances = {k: sum(a != b for a, b in zip(best, y, strict=True)) for k, y in others.items()}
        changes.append(
            sum(chances[t, k] * (d if chances[t, k] >= least else d > 0) for k, d in distances.items())
        )
    return chances, entropies, changes


@settings(max_examples=examples(5000, 12))
@drawn(
    corrected(problems(st.floats(-5, 5)) | problems(NEAR_TIES)),
    st.sampled_from((0.0, 0.2)),
    st.sampled_from((None, 1, 7)),
)
def test_against_all_labellings(case, least, labellings):
    problem, told = case
    ranked = problem.top(labellings)
    options = {"given": told, "least": least, "labellings": labellings}
    if not ranked:
        with pytest.raises(ValueError, match="no labelling keeps the hard rules"):
            ilpinfer.next_question(*problem.given, **options)
        return
    chances, entropies, changes = expected(ranked, problem.shape, least)
    names, T = problem.trellis.labels.names, len(problem.trellis)
    certain = {t for t, allowed in problem.instance.known.items() if len(allowed) == 1}
    for by, order in (("changes", changes), ("entropy", entropies)):
        questions = ilpinfer.next_question(*problem.given, by=by, top=T + 1, **options)
        assert {each.token for each in questions} >= {t for t in range(T) if entropies[t] > 1e-9}
        assert not {each.token for each in questions} & certain
        found = [order[each.token] for each in questions]
        assert found == pytest.approx(sorted(found, reverse=True), abs=1e-9)
        for each in questions:
            row = [each.chances.get(name, 0.0) for name in names]
            assert row == pytest.approx(chances[each.token], abs=1e-9)
            assert list(each.chances.values()) == sorted(each.chances.values(), reverse=True)
            assert each.entropy == pytest.approx(entropies[each.token], abs=1e-8)
            assert each.changes == pytest.approx(changes[each.token], abs=1e-8)
            assert (each.text, each.label) == (
                problem.trellis.tokens[each.token],
                names[ranked[0][1][each.token]],
            )
        first = ilpinfer.next_question(*problem.given, by=by, **options)
        assert first == (questions[0] if questions else None)


def test_questions_end_when_every_label_is_known():
    trellis, answers, asked = random_trellis(3, T=6), ["b", "a", "a", "O", "O", "b"], {}
    while question := ilpinfer.next_question(trellis, RULES, given=asked):
        assert question.token not in asked
        asked[question.token] = answers[question.token]
    assert ilpinfer.decode(trellis, RULES, given=asked).labels == answers


def test_second_order_by_the_best_labellings():
    trellis = random_trellis(0, 3, ["a", "b"], order=2)
    with pytest.raises(ValueError, match="first-order"):
        ilpinfer.next_question(trellis)
    assert ilpinfer.next_question(trellis, labellings=8).changes > 0
