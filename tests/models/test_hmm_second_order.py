"""Second-order hidden Markov models, and the estimates around one labelling."""

import itertools
import json
import math

import numpy as np
import pytest

import ilpinfer
from ilpinfer.models.hmm import HMM
from ilpinfer.models.hmm.second_order import READINGS, SecondOrderHMM
from ilpinfer.models.hmm.smoothing import AMOUNTS

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
