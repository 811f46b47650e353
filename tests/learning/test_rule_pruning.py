"""The choice of rules against exhaustive search, and what follows from what against all labellings."""

from itertools import combinations, product

import numpy as np
import pytest
from support.effort import seeds

from formulations import LabelSet
from formulations import constraints as C
from formulations.labels.reading import Reading
from ilpinfer.learning.rule_pruning import cover
from ilpinfer.learning.rule_trials import claims, contradict, implies
from ilpinfer.learning.wrong_labellings import CHANGES, corrupt, random_errors


def cheapest(tells, weights):
    """The least weight of rules that tell apart what all of them do."""
    everything = tells.any(axis=0)
    sets = [list(chosen) for n in range(len(tells) + 1) for chosen in combinations(range(len(tells)), n)]
    enough = [chosen for chosen in sets if (tells[chosen].any(axis=0) >= everything).all()]
    return min(sum(weights[i] for i in chosen) for chosen in enough)


@seeds(20)
def test_a_cover_is_the_cheapest(seed):
    random = np.random.default_rng(seed)
    tells = random.random((8, 25)) < random.uniform(0.05, 0.4)
    weights = random.integers(1, 6, 8).tolist()
    result = cover(tells, weights, seed)
    assert result.proved
    assert sum(weights[i] for i in result.chosen) == cheapest(tells, weights)
    assert sum(result.power) == tells.any(axis=0).sum()
    assert list(result.power) == sorted(result.power, reverse=True)
    left = np.ones(25, bool)
    for rule, power in zip(result.chosen, result.power):
        assert power == (tells[rule] & left).sum() == max((tells[i] & left).sum() for i in result.chosen)
        left &= ~tells[rule]


def test_nothing_to_tell_apart_takes_no_rule():
    assert cover(np.zeros((3, 4), bool), [1, 1, 1]).chosen == ()
    assert cover(np.zeros((3, 0), bool), [1, 1, 1]).chosen == ()
    assert cover(np.zeros((0, 3), bool), []).chosen == ()


def test_a_choice_that_is_not_proved_is_said_to_be_so():
    random = np.random.default_rng(0)
    tells = random.random((200, 400)) < 0.03
    weights = random.integers(90, 110, 200).tolist()
    result = cover(tells, weights, limit=1e-6)
    assert not result.proved
    assert (tells[list(result.chosen)].any(axis=0) == tells.any(axis=0)).all()
    assert cover(tells, weights, limit=1e-6) == result


LABELS = LabelSet(("B-a", "I-a/B-x", "B-b", "I-b/B-y", "B-c", "O"), "paths")
FIELDS = ("a", "a/x", "b", "b/y", "c")
PRESENCES = C.requires_present, C.never_together
ORDERS = C.requires_before, C.precedence, C.presence_precedence, C.adjacency, C.begin_end


def test_what_follows_and_what_contradicts_is_true_of_all_labellings():
    pairs = [(one, two) for one in FIELDS for two in FIELDS if one[0] != two[0]]
    statements = [make(one, two).statement for make in PRESENCES + ORDERS for one, two in pairs]
    readings = [
        Reading(names, ("",) * n, LABELS) for n in (1, 2, 3, 4) for names in product(LABELS.names, repeat=n)
    ]
    holds = np.array(
        [[sum(t.amount for t in s.trials(reading)) == 0 for reading in readings] for s in statements]
    )
    denying = "never_together", "presence_precedence"
    asks = np.array([[s.rule_name in denying or any(s.trials(r)) for r in readings] for s in statements])
    known = [claims(s) for s in statements]
    implied = contradictory = 0
    for i, j in product(range(len(statements)), repeat=2):
        if implies(known[i], known[j], nested=True):
            implied += 1
            assert (holds[i] <= holds[j]).all(), (statements[i].sentence, statements[j].sentence)
        if contradict(known[i], known[j], nested=True):
            contradictory += 1
            together = holds[i] & holds[j] & asks[i] & asks[j]
            assert not together.any(), (statements[i].sentence, statements[j].sentence)
    assert implied > 50 and contradictory > 50


@pytest.mark.parametrize(
    "scheme, names",
    [
        ("plain", ("a", "b", "c")),
        ("plain", ("a", "b", "O")),
        ("bio", ("B-a", "I-a", "B-b", "I-b", "O")),
        ("iobes", ("B-a", "I-a", "E-a", "S-a", "B-b", "I-b", "E-b", "S-b", "O")),
        ("paths", ("B-a", "I-a", "I-a/B-x", "I-a/I-x", "B-b", "I-b", "O")),
    ],
)
def test_wrong_labellings_differ_and_follow_the_scheme(scheme, names):
    labels = LabelSet(names, scheme)
    valid = C.valid_scheme() if scheme != "plain" else C.at_most_tokens("a", 9)
    random = np.random.default_rng(1)
    right = []
    while len(right) < 20:
        ids = random.integers(len(labels), size=random.integers(1, 9))
        labelling = [names[k] for k in ids]
        if valid.violations(labelling, labels=labels) == 0:
            right.append(ids)
    wrong = list(corrupt(labels, right, np.random.default_rng(2)))
    assert len(wrong) > 2 * len(right)
    for number, ids in wrong:
        assert len(ids) == len(right[number]) and not np.array_equal(ids, right[number])
        if scheme != "paths":
            assert valid.violations([names[k] for k in ids], labels=labels) == 0
    assert len(wrong) <= len(CHANGES) * len(right)
    again = random_errors(labels, right, 4)
    assert [ids.tolist() for ids in again.ids] == [
        ids.tolist() for ids in random_errors(labels, right, 4).ids
    ]


def test_each_change_is_of_its_kind():
    labels = LabelSet(("B-a", "I-a", "B-b", "I-b", "O"))
    gold = labels.ids(["B-a", "I-a", "I-a", "B-b", "I-b"])
    found = {name: set() for name in (change.__name__ for change in CHANGES)}
    kinds = [0, 2, 4]
    runs = [(0, 3), (2, 2)]
    for seed in range(40):
        for change in CHANGES:
            found[change.__name__].add(tuple(change(runs, kinds, labels, np.random.default_rng(seed))))
    assert found["_swap"] == {((2, 2), (0, 3))}
    assert found["_split"] == {((0, 1), (4, 1), (0, 1), (2, 2))}
    assert found["_drop"] == {((4, 3), (2, 2)), ((0, 3), (4, 2))}
    assert found["_move"] == {((0, n), (2, 5 - n)) for n in (1, 2, 4)}
    assert ((2, 3), (2, 2)) in found["_relabel"] and len(found["_relabel"]) == 4
    changed = corrupt(labels, [gold] * 40, np.random.default_rng(0))
    texts = {tuple(labels.names[k] for k in ids) for _, ids in changed}
    assert ("B-a", "I-a", "I-a", "O", "O") in texts
    assert ("B-b", "I-b", "I-b", "B-b", "I-b") in texts
