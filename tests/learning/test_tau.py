"""The choice of tau, against decoding with each."""

import numpy as np
import pytest
from support.trellises import random_trellis

import ilpinfer
from formulations import constraints as C
from ilpinfer.learning import TauSearch
from ilpinfer.pipelines.cross_validation import make_folds

RULES = [C.at_most_runs("a", 1, penalty=1.0), C.requires_before("a", "b", penalty=0.5)]
TAUS = (1.0, 0.9, 0.6, 0.2)


def corpus(count=12):
    gold = np.random.default_rng(3).choice(["a", "b", "O"], (count, 5)).tolist()
    return [random_trellis(seed, 5) for seed in range(count)], gold


def right(given, gold, tau, bound):
    """(N,) right tokens of each sequence."""
    labels = [ilpinfer.decode_two_phase(t, RULES, tau, bound).labels for t in given]
    return np.array([sum(map(str.__eq__, p, g)) for p, g in zip(labels, gold, strict=True)])


@pytest.mark.parametrize("bound", ["relative", "odds"])
def test_the_best_tau_is_chosen_and_measured_on_other_parts(bound):
    given, gold = corpus()
    counts = {tau: right(given, gold, tau, bound) for tau in TAUS}
    choice = TauSearch(TAUS, bound, folds=3, seed=1).fit(given, gold, RULES)
    assert [row.tau for row in choice.table] == list(TAUS)
    assert [row.accuracy for row in choice.table] == pytest.approx([counts[t].sum() / 60 for t in TAUS])
    assert choice.tau == max(TAUS, key=lambda tau: (counts[tau].sum(), tau))
    assert all(row.proved == len(given) for row in choice.table)
    held, taus = 0, []
    for part in make_folds(range(len(given)), 3, 1):
        others = [n for n in range(len(given)) if n not in part]
        taus.append(max(TAUS, key=lambda tau: (counts[tau][others].sum(), tau)))
        held += counts[taus[-1]][part].sum()
    assert choice.folds == tuple(taus)
    assert choice.held_out["accuracy"] == pytest.approx(held / 60)


def test_of_equal_taus_the_nearest_to_1_is_chosen():
    given, _ = corpus(4)
    gold = [["O"] * 5] * 4
    nothing = TauSearch(TAUS).fit(given, gold, [C.at_most_runs("a", 9, penalty=1.0)])
    assert nothing.tau == 1.0 and nothing.folds == (1.0, 1.0)


def test_the_same_seed_gives_the_same_choice():
    given, gold = corpus(6)
    one, other = (TauSearch(TAUS, seed=5).fit(given, gold, RULES).to_dict() for _ in range(2))
    assert one == other


def test_costs_fall_with_tau():
    given, gold = corpus(6)
    costs = [row.cost for row in TauSearch(TAUS).fit(given, gold, RULES).table]
    assert costs == sorted(costs, reverse=True) and costs[0] > costs[-1]
