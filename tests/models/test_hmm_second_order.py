"""The second-order hidden Markov model, and smoothing."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import ilpinfer
from ilpinfer.models.hmm import HMM
from ilpinfer.models.hmm.second_order import READINGS, SecondOrderHMM
from ilpinfer.models.hmm.smoothing import AMOUNTS, Smoothing, smooth

PAIRS = [
    (tuple("abcab"), tuple("xyzxy")),
    (tuple("aab"), tuple("xxy")),
    (tuple("c"), tuple("z")),
    (tuple("bcca"), tuple("yzzx")),
]
TOKENS = tuple("abca")


@pytest.mark.parametrize("transitions", sorted(AMOUNTS))
def test_the_probabilities_of_all_sequences_of_a_length_and_of_longer_ones_add_up(transitions):
    hmm = SecondOrderHMM.train(PAIRS, transitions=transitions)
    p = hmm.parameters
    assert np.isclose(np.exp(p.start).sum(), 1)
    assert np.allclose(np.exp(p.transitions).sum(axis=2), 1)
    assert np.allclose(np.exp(p.stay) + np.exp(p.end), 1)


def expected_score(hmm, tokens, y, before):
    """log P(tokens, y), where the label before the last comes from another function of the position."""
    p, e = hmm.parameters, hmm.emissions.scores(tokens)
    total = p.start[y[0]] + e[0, y[0]]
    for t in range(1, len(y)):
        h, i = before(t)
        total += p.transitions[h, i, y[t]] + p.stay[i] + e[t, y[t]]
    return total + p.end[y[-1]]


@pytest.mark.parametrize("T", [1, 2, 3, 4])
def test_the_trellis_scores_every_labelling_by_its_own_labels(T):
    hmm = SecondOrderHMM.train(PAIRS)
    trellis = hmm.trellis(TOKENS[:T])
    for y in itertools.product(range(3), repeat=T):
        own = expected_score(hmm, TOKENS[:T], y, lambda t, y=y: (y[t - 2] + 1 if t > 1 else 0, y[t - 1]))
        assert math.isclose(trellis.score(y), own, abs_tol=1e-4)


@pytest.mark.parametrize("T", [1, 2, 3, 4])
@pytest.mark.parametrize("reading", READINGS)
def test_estimates_take_labels_before_from_the_labelling_they_are_made_around(reading, T):
    hmm = SecondOrderHMM.train(PAIRS)
    best = (2, 0, 1, 1)[:T]
    trellis = hmm.estimate(TOKENS[:T], best, reading)
    assert trellis.order == 1
    for y in itertools.product(range(3), repeat=T):

        def before(t, y=y):
            return best[t - 2] + 1 if t > 1 else 0, (best if reading == "printed" else y)[t - 1]

        assert math.isclose(trellis.score(y), expected_score(hmm, TOKENS[:T], y, before), abs_tol=1e-4)
    assert math.isclose(trellis.score(best), hmm.trellis(TOKENS[:T]).score(best), abs_tol=1e-4)


def test_an_estimate_is_never_better_than_the_exact_pair_trellis():
    hmm = SecondOrderHMM.train(PAIRS)
    exact = hmm.trellis(TOKENS)
    best = ilpinfer.decode(exact)
    for reading in READINGS:
        result = ilpinfer.decode(hmm.estimate(TOKENS, best.ids, reading))
        assert exact.score(result.labels) <= best.score


def test_where_the_label_before_last_says_nothing_both_orders_agree():
    pairs = [(("a", "b") * 3, ("x", "y") * 3)] * 3
    one = HMM.train(pairs, ends=False, transitions="none")
    two = SecondOrderHMM.train(pairs, transitions="none")
    p, q = one.parameters, two.parameters
    seen = two.transitions.sum(axis=2) > 0
    assert np.allclose(np.exp(q.transitions)[seen], np.broadcast_to(np.exp(p.transitions), (3, 2, 2))[seen])
    assert np.array_equal(one.emissions.log_probabilities, two.emissions.log_probabilities)


def test_the_command_line_trains_and_decodes_with_second_order(here, cli):
    text = "\n\n".join("\n".join(f"{a}\t{b}" for a, b in zip(*pair)) for pair in PAIRS)
    (here / "train.tsv").write_text(text + "\n")
    err = cli.done("train train.tsv --kind hmm2 --output m.json").err
    assert "second-order HMM, 3 labels (plain), 3 words, from 4 sequences" in err
    solution = json.loads(cli.done("decode train.tsv --model m.json").out.splitlines()[0])
    assert solution["labels"] == list("xyzxy")


COUNTS = hnp.arrays(np.int64, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=st.integers(0, 5))


@given(COUNTS, st.sampled_from(sorted(AMOUNTS)))
def test_every_method_gives_distributions(counts, method):
    N = counts.shape[1]
    levels = [counts.astype(float), counts.sum(axis=0).astype(float)]
    result = smooth(levels, np.full(N, 1 / N), Smoothing(method))
    assert np.allclose(result.sum(axis=1), 1)
    assert np.all(result >= 0)
    if method != "none":
        assert np.all(result > 0), "nothing is impossible"


COUNT = np.array([[3.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 2.0]])
TOTAL = COUNT.sum(axis=0)
UNIFORM = np.full(3, 1 / 3)


def test_maximum_likelihood():
    result = smooth([COUNT, TOTAL], UNIFORM, Smoothing("none"))
    assert np.allclose(result, [[3 / 4, 1 / 4, 0], UNIFORM, [1 / 4, 1 / 4, 1 / 2]])


def test_additive_adds_to_every_count():
    result = smooth([COUNT, TOTAL], UNIFORM, Smoothing("additive", 0.5))
    expected = [[(c + 0.5) / (sum(row) + 3 * 0.5) for c in row] for row in COUNT.tolist()]
    assert np.allclose(result, expected)
    usual, one = (smooth([COUNT], UNIFORM, Smoothing("additive", *own)) for own in ((), (1,)))
    assert np.allclose(usual, one)


def test_witten_bell_leans_by_different_outcomes():
    lower = [(c + 4 / 3) / (8 + 4) for c in TOTAL]
    result = smooth([COUNT, TOTAL], UNIFORM, Smoothing("witten-bell"))
    assert np.allclose(result[0], [(c + 3 * b) / (4 + 3) for c, b in zip(COUNT[0], lower)])
    assert np.allclose(result[1], lower), "a context without an example has what shorter ones say"
    assert np.allclose(result[2], [(c + 4 * b) / (4 + 4) for c, b in zip(COUNT[2], lower)])


def test_absolute_discounting_hands_down_what_it_takes():
    lower = np.array([(c - 0.25 + 0.75 / 3) / 8 for c in TOTAL])
    result = smooth([COUNT, TOTAL], UNIFORM, Smoothing("absolute-discounting", 0.25))
    assert np.allclose(result[0], (np.array([2.75, 0.75, 0.0]) + 0.5 * lower) / 4)
    assert np.allclose(result[1], lower)
    estimated = smooth([COUNT], UNIFORM, Smoothing("absolute-discounting"))
    once, twice = 3, 1
    D = (once + 0.5) / (once + 2 * twice + 1)
    assert np.allclose(estimated[0], [(3 - D + 2 * D / 3) / 4, (1 - D + 2 * D / 3) / 4, 2 * D / 3 / 4])


def test_deleted_interpolation_votes_with_each_event_left_out():
    votes = [1.0, 1.0, 1.0]
    for row in COUNT:
        for j, c in enumerate(row):
            if c:
                own = (c - 1) / (row.sum() - 1)
                candidates = [own, (TOTAL[j] - 1) / (TOTAL.sum() - 1), 1 / 3]
                votes[candidates.index(max(candidates))] += c
    λ = np.array(votes) / sum(votes)
    result = smooth([COUNT, TOTAL], UNIFORM, Smoothing("interpolation"))
    expected = λ[0] * COUNT[0] / 4 + λ[1] * TOTAL / 8 + λ[2] * UNIFORM
    assert np.allclose(result[0], expected)
    assert np.allclose(result[1], (λ[0] + λ[1]) * TOTAL / 8 + λ[2] * UNIFORM)
