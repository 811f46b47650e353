"""Weights from labels of some tokens: completions by enumeration, counts at known tokens, and learning end to end."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from support.scored import RULES, activation, labellings, learnt_items, named, scored, spans

from formulations import RuleSet, Trellis
from formulations import constraints as C
from ilpinfer import Decoder
from ilpinfer.learning import ScoredExample, WeightLearner
from ilpinfer.learning.all_features import AllFeatures
from ilpinfer.learning.fitting import Fitting
from ilpinfer.learning.training_set import TrainingSet
from ilpinfer.learning.updates import Update
from ilpinfer.learning.ways import Way
from ilpinfer.models.hmm import HMM

GAPS = [{1}, {0, 3}, {0, 1, 2}, {0, 1, 2, 3}]
NOTHING = RuleSet(())


def with_gaps(example, unknown):
    gold = tuple(None if t in unknown else name for t, name in enumerate(example.gold))
    return replace(example, gold=gold)


def completions(example, names):
    """Every labelling with the known labels, by counting up."""
    return list(product(*[names if name is None else (name,) for name in example.gold]))


def worth(example, names):
    """The score of a labelling minus what it pays; minus infinity where it breaks a hard rule."""
    tokens, labels = list(example.trellis.tokens), example.trellis.labels
    if any(each.violations(list(names), tokens=tokens, labels=labels) for each in RULES.rules if each.hard):
        return -np.inf
    own = [item.weight if hasattr(item, "weight") else item.penalty for item in learnt_items(RULES)]
    paid = sum(w * activation(i, names, tokens) for w, i in zip(own, learnt_items(RULES), strict=True))
    return example.trellis.score(names) + paid


@pytest.mark.parametrize("unknown", GAPS)
@pytest.mark.parametrize("seed", range(4))
def test_unknown_labels_are_those_of_the_best_completion_under_the_rules(seed, unknown):
    example = with_gaps(scored(seed), unknown)
    data = TrainingSet([scored(9), example], RULES)
    assert data.gold[0] == scored(9).gold and data.known[0].all()
    assert data.gold[1] == max(completions(example, "abc"), key=lambda names: worth(example, names))
    assert set(np.flatnonzero(~data.known[1])) == unknown
    again = data.with_rules(NOTHING)
    assert (again.gold, [*map(list, again.known)]) == (data.gold, [*map(list, data.known)])


def test_a_known_label_that_the_scores_lack_stays():
    example = ScoredExample(scored(0).trellis, ("q", None, "a", None))
    gold = TrainingSet([example], NOTHING).gold[0]
    every = [names for names in product("abc", repeat=4) if names[2] == "a"]
    assert gold == ("q", *max(every, key=example.trellis.score)[1:])


def test_completions_keep_the_scheme_as_far_as_known_labels_do():
    def completion(*gold):
        scores = [[0.0, 0.0, 9.0]] * len(gold)
        trellis = Trellis.from_emissions(scores, np.zeros((3, 3)), labels=["O", "B-x", "I-x"])
        return TrainingSet([ScoredExample(trellis, gold)], NOTHING).gold[0]

    assert completion("O", None, None) == ("O", "B-x", "I-x")
    assert completion("O", "I-x", None) == ("O", "I-x", "I-x")


@pytest.mark.parametrize("unknown", GAPS)
def test_errors_are_counted_at_known_tokens(unknown):
    example = with_gaps(scored(2), unknown)
    data, kept = TrainingSet([example], RULES), [t for t in range(4) if t not in unknown]
    gold = spans([example.gold[t] for t in kept]) if kept else set()
    for ids in labellings(example):
        names = [named(example, ids)[t] for t in kept]
        found = spans(names) if kept else set()
        right = sum(example.gold[t] == name for t, name in zip(kept, names, strict=True))
        expected = [len(kept), right, len(found), len(gold), len(found & gold), found == gold]
        assert data.counts(0, np.array(ids)) == expected
        data.see(0, np.array(ids))
    wrong = [sum(example.gold[t] != named(example, ids)[t] for t in kept) for ids in labellings(example)]
    assert data.pool(0).wrong.tolist() == wrong


@pytest.mark.parametrize("margin", [0.0, 0.8])
@pytest.mark.parametrize("unknown", GAPS)
def test_steps_lead_to_the_completion_where_a_known_label_is_wrong(unknown, margin):
    example, weights = with_gaps(scored(5), unknown), np.zeros(len(learnt_items(RULES)))
    data = TrainingSet([example], RULES)
    data.prepare(weights, [0], margin)
    gold, items = data.gold[0], learnt_items(RULES)
    found = [(named(example, ids), example.trellis.score(ids)) for ids in data.labellings(0)]
    known = [t for t in range(4) if t not in unknown]
    lead = [score + margin * sum(names[t] != gold[t] for t in known) for names, score in found]
    best = found[int(np.argmax(lead))][0]
    move = data.move(0, weights, margin)
    if all(best[t] == gold[t] for t in known):
        assert move is None
        return
    count = [[activation(i, y, example.trellis.tokens) for i in items] for y in (gold, best)]
    change = np.zeros(len(items))
    change[move.where] = move.change
    assert change.tolist() == (np.array(count[0]) - count[1]).tolist()
    assert move.behind == pytest.approx(max(lead) - example.trellis.score(gold) if margin else 0.0)


PAIRS = [
    (["red", "7", "green", "8"], ["a", "b", "a", "b"]),
    (["red", "8", "blue", "7"], ["a", "b", "c", "b"]),
    (["blue", "green", "7"], ["c", "a", "b"]),
    (["green", "blue"], ["a", "c"]),
    (["blue", "7", "red"], ["c", "b", "a"]),
    (["red", "green", "8"], ["a", "a", "b"]),
]
PARTLY = [*PAIRS, (["red", "8", "blue"], [None, "b", None]), (["7", "8"], [None, None])]


def test_all_weights_move_only_where_a_known_label_is_wrong():
    model = HMM.train(PAIRS)
    texts, rules = [tokens for tokens, _ in PARTLY], NOTHING
    data = TrainingSet([ScoredExample(model.trellis(tuple(x)), tuple(y)) for x, y in PARTLY], rules)
    completed = list(zip(texts, data.gold, strict=True))
    task, whole = (AllFeatures(completed, model, rules, known=known) for known in (data.known, None))
    random = np.random.default_rng(3)
    moved = set()
    for _ in range(40):
        weights = random.normal(size=task.size, scale=3.0)
        for place, gold in enumerate(data.gold):
            found = Decoder((), model=task.corrected(weights)).decode_tokens(texts[place])
            differs = [name != y for name, y in zip(found.labels, gold, strict=True)]
            expected = any(np.array(differs) & data.known[place])
            assert (task.move(place, weights, 0.0) is not None) == expected
            assert (whole.move(place, weights, 0.0) is not None) == any(differs)
            moved |= {place} if expected else set()
    assert moved == set(range(7))


@pytest.mark.parametrize("ways", [None, ["all weights"]])
def test_partly_labelled_sequences_are_learnt_from(ways):
    rules = RuleSet((C.at_most_runs("b", 1, penalty=0.7), C.requires_before("a", "b", penalty=0.9)))
    seen = []

    def train(pairs):
        seen.append(pairs)
        return HMM.train(pairs)

    result = WeightLearner(folds=2, epochs=2, ways=ways).fit_model(PARTLY, train, rules)
    assert result.sequences == 8 and all(each.measured for each in result.tried)
    wanted = [list(labels) for _, labels in PARTLY]
    assert [list(labels) for _, labels in seen[-1]] == wanted
    assert all(list(labels) in wanted for pairs in seen for _, labels in pairs)


@pytest.mark.parametrize("update", ["counts", "perceptron", "margin", "risk"])
def test_each_update_takes_partly_labelled_examples(update):
    examples = [with_gaps(scored(n), GAPS[n % 3]) for n in range(6)]
    learnt = WeightLearner(update, ways=["penalties"], folds=2, epochs=2).fit(examples, RULES)
    assert learnt.sequences == 6


def test_known_labels_that_no_labelling_keeps():
    example = ScoredExample(scored(0).trellis, ("b", None, None, "b"))
    with pytest.raises(
        ValueError, match=r"sequence 1, .* has no labelling with its known labels that keeps the hard"
    ):
        TrainingSet([scored(1), example], RuleSet((C.starts_with("a"),)))


def test_a_completion_with_a_label_that_only_the_fold_has_is_left_out():
    """Without the first sequence no model has the label d, and the second one gets it by the model of its own fold."""
    pairs = [(["x", "7"], ["d", "b"]), (["x", "7"], [None, "b"]), *PAIRS]
    scorers = [HMM.train(PAIRS), *[HMM.train(pairs)] * 7]
    examples = [
        ScoredExample(m.trellis(tuple(x)), tuple(y)) for m, (x, y) in zip(scorers, pairs, strict=True)
    ]
    fitting = Fitting(examples, NOTHING, scorers, HMM.train)
    assert fitting.data.gold[1] == ("d", "b")
    way = Way(update=Update("perceptron", epochs=1), together=True)
    assert (fitting.fit(way, [0]).unscored, fitting.fit(way, []).unscored) == (1, 1)
