"""Weights of models and rules together: against plain loops with brute force, and the choice on folds against fits by hand."""

import json
from collections import Counter, defaultdict
from itertools import product

import numpy as np
import pytest
from support.scored import activation

from formulations import LabelSet, RuleSet
from formulations import constraints as C
from ilpinfer import Decoder
from ilpinfer.learning import JointLearner, JointSearch
from ilpinfer.learning.perceptron import LARGEST
from ilpinfer.models.crf import CRF
from ilpinfer.models.files import load_model
from ilpinfer.models.hmm import HMM

NAMES = ("a", "b", "c")
RULES = RuleSet(
    (
        C.at_most_runs("b", 1, penalty=0.7),
        C.feature(label="c", weight=-0.4),
        C.requires_before("a", "b", penalty=0.9),
        C.feature(from_="a", to="b", weight=0.9),
    )
)
HARD = C.at_most_tokens("c", 3)
WORDS = ["red", "green", "blue", "7", "8"]


def corpus(seed, number=8):
    """Random words; labels lean on the word, and are often of another."""
    rng = np.random.default_rng(seed)
    pairs = [(list(NAMES), list(NAMES))]
    while len(pairs) < number:
        words = [str(word) for word in rng.choice(WORDS, rng.integers(1, 5))]
        pairs.append((words, [NAMES[(WORDS.index(w) + int(rng.random() < 0.4)) % 3] for w in words]))
    return pairs


def attributes(model, words):
    """The names of what a model reads at each token."""
    if isinstance(model, CRF):
        return [[name for name in each if name in model.learnt.attributes] for each in model.features(words)]
    known = [model.emissions.vocabulary.word(word) for word in words]
    return [[word] if word in model.words else [] for word in known]


def phi(model, words, names):
    """What a labelling counts, by plain names."""
    result = Counter()
    result["start", names[0]] += 1
    result["end", names[-1]] += 1
    for before, after in zip(names, names[1:], strict=False):
        result["step", before, after] += 1
    for each, name in zip(attributes(model, words), names, strict=True):
        for attribute in each:
            result["attribute", attribute, name] += 1
    labels = LabelSet(NAMES)
    for number, item in enumerate(RULES):
        result["item", number] += activation(item, names, words, labels)
    return result


def plain(pairs, model, *, update, rate, epochs, margin, seed):
    """Figure of the docstring in dictionaries; the best labelling is found by enumeration."""
    rng = np.random.default_rng(seed)
    weights = defaultdict(float)
    for number, item in enumerate(RULES):
        weights["item", number] = getattr(item, "penalty", None) or item.weight
    total, steps = defaultdict(float), []

    def score(words, names):
        own = phi(model, words, names)
        return model.trellis(words).score(list(names)) + sum(weights[key] * own[key] for key in own)

    for _ in range(epochs):
        steps.append(0)
        for place in rng.permutation(len(pairs)).tolist():
            words, gold = pairs[place]
            worth = {}
            for names in product(NAMES, repeat=len(words)):
                if names.count("c") <= 3:
                    wrong = sum(x != y for x, y in zip(names, gold, strict=True))
                    worth[names] = score(words, names) + (margin * wrong if update == "margin" else 0)
            best = max(worth, key=worth.get)
            if list(best) != gold:
                one, other = phi(model, words, gold), phi(model, words, best)
                change = {key: one[key] - other[key] for key in {*one, *other} if one[key] != other[key]}
                step = rate
                if update == "margin":
                    behind = worth[best] - score(words, gold)
                    behind = 0.0 if behind < 1e-5 else behind
                    step = min(rate, behind / max(1, sum(value**2 for value in change.values())))
                for key, value in change.items():
                    weights[key] += step * value
                    if key[0] == "item" and hasattr(list(RULES)[key[1]], "penalty"):
                        weights[key] = min(max(weights[key], 0.0), LARGEST)
                steps[-1] += step > 0
            for key, value in weights.items():
                total[key] += value
    return {key: value / (epochs * len(pairs)) for key, value in total.items()}, tuple(steps)


def weights_of(learnt, model):
    """The same weights, read from the result."""
    found, names = learnt.model, learnt.model.labels.names
    result = {}
    for k, name in enumerate(names):
        result["start", name], result["end", name] = found.start[k], found.end[k]
        result |= {("step", name, other): found.transitions[k, j] for j, other in enumerate(names)}
    known = model.words if isinstance(model, HMM) else model.learnt.attributes
    for row, attribute in enumerate(known):
        result |= {("attribute", attribute, name): found.attributes[row, k] for k, name in enumerate(names)}
    return result


@pytest.mark.parametrize("kind", ["hmm", "crf"])
@pytest.mark.parametrize("update", ["perceptron", "margin"])
@pytest.mark.parametrize("seed", range(4))
def test_updates_are_those_of_plain_loops_with_brute_force(kind, update, seed):
    pairs = corpus(seed)
    model = HMM.train(pairs) if kind == "hmm" else CRF.train(pairs, parameters={"max_iterations": 2})
    settings = {"update": update, "rate": 0.3, "epochs": 3, "margin": 0.8, "seed": seed}
    expected, steps = plain(pairs, model, **settings)
    learnt = JointLearner(**settings).fit(pairs, model, RuleSet((*RULES, HARD)))
    assert (learnt.steps, learnt.unproved) == (steps, 0)
    assert sum(steps) > 0
    for key, value in weights_of(learnt, model).items():
        assert value == pytest.approx(expected.get(key, 0.0), abs=1e-5), key
    own = {item.name or str(item.title): item for item in learnt.rules}
    for number, item in enumerate(RULES):
        kept = own.get(item.name or str(item.title))
        value = 0.0 if kept is None else getattr(kept, "penalty", None) or kept.weight
        assert value == pytest.approx(expected["item", number], abs=2e-4)
    assert HARD in [item for item in learnt.rules if getattr(item, "hard", False)]


@pytest.mark.parametrize("kind", ["hmm", "crf"])
def test_the_corrected_model_is_read_back_with_its_scores(kind, tmp_path):
    pairs = corpus(1)
    model = HMM.train(pairs) if kind == "hmm" else CRF.train(pairs, parameters={"max_iterations": 2})
    learnt = JointLearner("perceptron", epochs=2).fit(pairs, model, RULES)
    learnt.model.save(tmp_path / "model.json")
    read = load_model(tmp_path / "model.json")
    for words in (["red", "8"], ["new"], ["blue", "new", "7"]):
        assert np.array_equal(read.trellis(words).edges, learnt.model.trellis(words).edges)
        assert np.array_equal(read.trellis(words).start, learnt.model.trellis(words).start)


def test_the_best_of_the_folds_is_taken_and_an_interrupted_search_goes_on():
    pairs = corpus(5, 20)
    search = JointSearch("tokens", folds=3, rate=0.3, epochs=2)
    rows, again = [], []
    result = search.fit(
        pairs, HMM.train, RULES, checkpoint=lambda row: rows.append(json.loads(json.dumps(row)))
    )
    assert [each.algorithm for each in result.candidates] == ["apart", "perceptron", "margin"]
    folds = [[place for place in range(20) if place in fold] for fold in places(search)]
    for candidate in result.candidates:
        right = total = 0
        for fold in folds:
            seen = [pair for place, pair in enumerate(pairs) if place not in fold]
            model, rules = HMM.train(seen), RULES
            if candidate.algorithm != "apart":
                model, rules, *_ = JointLearner(candidate.algorithm, 0.3, 2).fit(seen, model, rules)
            for place in fold:
                words, gold = pairs[place]
                found = Decoder(rules, model=model).decode_tokens(words).labels
                right += sum(x == y for x, y in zip(found, gold, strict=True))
                total += len(gold)
        assert candidate.measures.accuracy == pytest.approx(right / total)
    best = max(result.candidates, key=lambda each: each.measures.accuracy)
    assert result.chosen == best.algorithm
    resumed = search.fit(pairs, HMM.train, RULES, resume=rows[:2], checkpoint=again.append)
    assert (again, resumed.candidates) == (rows[2:], result.candidates)
    assert resumed.rules == result.rules


def places(search):
    from ilpinfer.pipelines.cross_validation import make_folds

    return make_folds(range(20), search.folds, search.seed)


def test_sequences_that_no_labelling_satisfies_are_left_out_and_counted():
    pairs = corpus(2)
    learnt = JointLearner(epochs=2).fit(pairs, HMM.train(pairs), [C.at_least_tokens("b", 3)])
    assert learnt.unproved == 2 * sum(len(words) < 3 for words, _ in pairs)
