"""Weights of models and rules together: against plain loops with brute force, and the choice on folds against fits by hand."""

import math
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, settings
from hypothesis import given as drawn
from hypothesis import strategies as st
from support.effort import examples
from support.scored import activation, firings
from support.strategies import LABEL_SETS, TOKENS, Case, cases

from formulations import Feature, LabelSet, RuleSet
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer import Decoder
from ilpinfer.learning import WeightLearner
from ilpinfer.learning.all_features import AllFeatures
from ilpinfer.learning.minimum_risk import Risk
from ilpinfer.learning.task import LARGEST
from ilpinfer.learning.updates import Update
from ilpinfer.models.chain import Chain
from ilpinfer.models.crf import CRF
from ilpinfer.models.hmm import HMM
from ilpinfer.pipelines.cross_validation import make_folds

NAMES = ("a", "b", "c")
RULES = RuleSet(
    (
        C.at_most_runs("b", 1, penalty=0.7),
        C.feature(label="c", weight=-0.4),
        C.requires_before("a", "b", penalty=0.9),
        C.feature(from_="a", to="b", weight=0.9),
    )
)
ITEMS = [(item, lambda y, x, item=item: activation(item, y, x, LabelSet(NAMES))) for item in RULES]
SETTINGS = {"rate": 0.3, "epochs": 3, "margin": 0.8}
STEPS = {"start": 1.0, "decay": 0.0}
"""Steps begin with the given penalties, and their rate stays."""
WORDS = ["red", "green", "blue", "7", "8"]


def train(kind, pairs):
    return HMM.train(pairs) if kind == "hmm" else CRF.train(pairs, parameters={"max_iterations": 2})


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


def phi(model, scorer, words, names, items):
    """What a labelling counts, by plain names; items are those learnt, each beside what it adds."""
    result = Counter()
    result["start", names[0]] += 1
    result["end", names[-1]] += 1
    for before, after in zip(names, names[1:], strict=False):
        result["step", before, after] += 1
    known = model.words if isinstance(model, HMM) else model.learnt.attributes
    for each, name in zip(attributes(scorer, words), names, strict=True):
        for attribute in each:
            result["attribute", attribute, name] += attribute in known
    for number, (_, added) in enumerate(items):
        result["item", number] += added(names, words)
    return result


def plain(pairs, model, items, kept, *, update, rate, epochs, margin, seed, scorers=()):
    """Figure of the docstring in dictionaries; the best labelling is found by enumeration of those that are kept.

    Weights, steps, sequences without a labelling, and the least distance to another choice, nats.
    """
    rng, scorers = np.random.default_rng(seed), scorers or [model] * len(pairs)
    weights = defaultdict(float)
    for number, (item, _) in enumerate(items):
        weights["item", number] = item.weight if isinstance(item, Feature) else min(item.penalty, LARGEST)
    total, steps, unproved, apart = defaultdict(float), [], 0, math.inf
    known = [{*scorer.labels.names} for scorer in scorers]
    scored = [place for place, (_, gold) in enumerate(pairs) if {*gold} <= known[place]]

    def score(trellis, names):
        own = phi(model, scorers[place], trellis.tokens, names, items)
        return trellis.score(list(names)) + sum(weights[key] * own[key] for key in own)

    for _ in range(epochs):
        steps.append(0)
        for place in rng.permutation(scored).tolist():
            words, gold = pairs[place]
            trellis, worth = scorers[place].trellis(words), {}
            for names in product(model.labels.names, repeat=len(words)):
                if {*names} <= known[place] and kept(list(names), words):
                    wrong = sum(x != y for x, y in zip(names, gold, strict=True))
                    worth[names] = score(trellis, names) + (margin * wrong if update == "margin" else 0)
            unproved += not worth
            best = max(worth, key=worth.get, default=tuple(gold))
            first, *others = sorted(worth.values(), reverse=True)[:2] or [0.0]
            apart = min([apart, *(first - other for other in others)])
            if list(best) != gold:
                one, other = (phi(model, scorers[place], words, names, items) for names in (gold, best))
                change = {key: one[key] - other[key] for key in {*one, *other} if one[key] != other[key]}
                step = rate
                if update == "margin":
                    behind = worth[best] - score(trellis, gold)
                    apart = min(apart, abs(behind))
                    behind = 0.0 if behind < 1e-5 else behind
                    step = min(rate, behind / max(1, sum(value**2 for value in change.values())))
                before = {key: weights[key] for key in change}
                for key, value in change.items():
                    weights[key] += step * value
                    if key[0] == "item":
                        least = -LARGEST if isinstance(items[key[1]][0], Feature) else 0.0
                        weights[key] = min(max(weights[key], least), LARGEST)
                steps[-1] += any(weights[key] != value for key, value in before.items())
            for key, value in weights.items():
                total[key] += value
    means = {key: value / (epochs * len(scored)) for key, value in total.items()}
    return means, tuple(steps), unproved, apart


def weight_of(item):
    return item.weight if isinstance(item, Feature) else item.penalty


def fit(task, *, update, **settings):
    return Update(update, **{**STEPS, **settings}).fit(task, task.places)


def vector(task, weights):
    """Weights by name, in the order of the task."""
    names = task.model.labels.names
    keys = [("start", name) for name in names] + [("end", name) for name in names]
    keys += [("step", one, other) for one in names for other in names]
    for attribute in task.attributes:
        keys += [("attribute", attribute.removeprefix("word "), name) for name in names]
    keys += [("item", number) for number in range(len(task.data.items))]
    return dict(zip(keys, weights.tolist(), strict=True))


def check(task, learnt, expected):
    """The weights, and that the model and rules have them."""
    found = vector(task, learnt.weights)
    assert set(expected) <= set(found)
    for key, value in found.items():
        assert value == pytest.approx(expected.get(key, 0.0), abs=1e-5), key
    model, rules = task.corrected(learnt.weights), task.rules(learnt.weights)
    words = tuple(dict.fromkeys(word for each in task.data.trellises for word in each.tokens))
    names = task.model.labels.names
    for labels in ((names[0],) * len(words), (names * len(words))[: len(words)]):
        own = phi(task.model, task.model, words, labels, [])
        corrections = sum(found[key] * times for key, times in own.items() if times)
        before = task.model.trellis(words).score(list(labels))
        assert model.trellis(words).score(list(labels)) == pytest.approx(before + corrections, abs=1e-4)
    kept = [weight_of(item) for item in rules if weight_of(item) != math.inf]
    items = [value for key, value in found.items() if key[0] == "item" and abs(value) >= 1e-4]
    assert kept == pytest.approx(items)


@pytest.mark.parametrize("update", ["perceptron", "margin"])
@pytest.mark.parametrize("kind", ["hmm", "crf"])
def test_scorers_may_lack_labels_of_the_model_or_have_more(kind, update):
    pairs = corpus(4, 12)
    model, fewer = train(kind, pairs), train(kind, [pair for pair in pairs if "c" not in pair[1]])
    scorers = [fewer] * 7 + [train(kind, [*pairs[:4], (["9"], ["d"])])] * 5
    assert (fewer.labels.names, scorers[-1].labels.names[-1]) == (("a", "b"), "d")
    settings = {**SETTINGS, "update": update, "seed": 2}
    expected, steps, *_ = plain(pairs, model, ITEMS, lambda y, x: "d" not in y, scorers=scorers, **settings)
    task = AllFeatures(pairs, model, RULES, scorers)
    learnt, unscored = fit(task, **settings), len(pairs) - len(task.places)
    assert (learnt.steps, unscored) == (steps, sum("c" in gold for _, gold in pairs[:7]))
    assert sum(steps) and unscored
    assert steps != fit(AllFeatures(pairs, model, RULES), **settings).steps
    check(task, learnt, expected)


def test_where_no_scorer_knows_the_labels_nothing_is_learnt():
    pairs = [(["red"], ["a"]), (["blue"], ["b"])]
    scorers = [HMM.train(pairs[1:]), HMM.train(pairs[:1])]
    rules = RuleSet((C.at_most_runs("b", 1, penalty=0.7),))
    task = AllFeatures(pairs, HMM.train(pairs), rules, scorers)
    learnt = fit(task, update="margin", epochs=2)
    assert (task.places, learnt.steps, task.rules(learnt.weights)) == ([], (0, 0), rules)
    assert not learnt.weights[: task.size].any()


@st.composite
def problems(draw):
    """A few sequences, a model of them, rules with their meanings, and settings."""
    names = draw(st.sampled_from([names for scheme, names in LABEL_SETS if scheme == "plain"]))
    some = st.lists(st.tuples(st.sampled_from(TOKENS), st.sampled_from(names)), min_size=1, max_size=3)
    pairs = [(list(TOKENS[: len(names)]), list(names))]
    pairs += [tuple(map(list, zip(*each, strict=True))) for each in draw(st.lists(some, max_size=3))]
    iterations = {"max_iterations": draw(st.integers(1, 9))}
    model = HMM.train(pairs) if draw(st.integers(0, 3)) else CRF.train(pairs, parameters=iterations)
    rules = [
        Case(replace(case.rule, name=f"rule {number}"), case.count)
        for number, case in enumerate(draw(st.lists(cases(model.labels), max_size=3)))
    ]
    weights = draw(st.dictionaries(st.sampled_from(names), st.floats(0.1, 2), max_size=1))
    features = [C.feature(label=name, weight=-weight, name="feature") for name, weight in weights.items()]
    settings = {"update": draw(st.sampled_from(["perceptron", "margin"])), "seed": draw(st.integers(0, 9))}
    settings |= {"rate": draw(st.floats(0.01, 3)), "margin": draw(st.floats(0.01, 2))}
    return pairs, model, rules, features, {**settings, "epochs": draw(st.integers(1, 2))}


@settings(max_examples=examples(240))
@drawn(problems())
def test_updates_under_rules_of_every_kind(problem):
    pairs, model, rules, features, given = problem
    stated = RuleSet((*(case.rule for case in rules), *features))
    for words, _ in pairs:
        compiled = compile_problem(model.trellis(words), stated.rules)
        assume(not any(rule.overruled for rule in compiled.rules))
    hard = [case for case in rules if case.rule.hard]
    items = [
        (case.rule, lambda y, x, case=case: -case.violations(list(y), tuple(x)))
        for case in rules
        if not case.rule.hard
    ]
    items += [(item, lambda y, x, item=item: firings(item, y, x)) for item in features]

    def kept(names, words):
        return not any(case.violations(names, tuple(words)) for case in hard)

    means, steps, unproved, apart = plain(pairs, model, items, kept, **given)
    assume(apart > 1e-4)
    task = AllFeatures(pairs, model, stated)
    learnt = fit(task, **given)
    assert (learnt.steps, task.unproved) == (steps, unproved)
    check(task, learnt, means)
    kept = [item for item in task.rules(learnt.weights) if getattr(item, "hard", False)]
    assert kept == [case.rule for case in hard]


@pytest.mark.parametrize("update", ["perceptron", "margin"])
def test_trials_of_all_weights_are_fits_without_each_fold(update):
    pairs = corpus(5, 20)
    learner = WeightLearner(update, folds=3, rate=0.3, epochs=2, ways=["given", "all weights"])
    result = learner.fit_model(pairs, HMM.train, RULES)
    assert [each.name for each in result.tried] == ["no rules", f"all weights: {update}"]
    assert result.corrected and isinstance(result.model, Chain)
    folds = make_folds(range(20), 3, 0)
    models = [HMM.train([pair for place, pair in enumerate(pairs) if place not in fold]) for fold in folds]
    scorers = {place: model for fold, model in zip(folds, models, strict=True) for place in fold}
    for tried in result.tried:
        right = total = 0
        for fold, base in zip(folds, models, strict=True):
            seen = [place for place in range(20) if place not in fold]
            model, rules = base, ()
            if tried.name != "no rules":
                some, own = [pairs[place] for place in seen], [scorers[place] for place in seen]
                task = AllFeatures(some, base, RULES, own)
                weights = fit(task, update=update, rate=0.3, epochs=2).weights
                model, rules = task.corrected(weights), task.rules(weights)
            for place in fold:
                words, gold = pairs[place]
                found = Decoder(rules, model=model).decode_tokens(words).labels
                right += sum(x == y for x, y in zip(found, gold, strict=True))
                total += len(gold)
        assert tried.measures.accuracy == pytest.approx(right / total)


def test_counts_of_all_features_leave_the_model_as_it_was_trained():
    pairs = corpus(3)
    task = AllFeatures(pairs, HMM.train(pairs), RULES)
    weights = Update("counts").fit(task, task.places).weights
    assert not weights[: task.size].any()
    assert weights[task.size :].tolist() == task.data.counted(range(len(pairs))).tolist()


@pytest.mark.parametrize("kind", ["hmm", "crf"])
def test_risk_of_all_features_is_that_of_all_labellings(kind):
    """With pools of all labellings, against sums over them; and learning lowers it."""
    pairs = corpus(7, 6)
    model = train(kind, pairs)
    task = AllFeatures(pairs, model, RULES)
    task.add_best(task.places, 3**5, math.inf)
    risk, items = Risk(task.pools(task.places), "tokens"), [(item, added) for item, added in ITEMS]
    weights = np.random.default_rng(0).normal(size=len(task.least)) / 3
    named, expected = vector(task, weights), 0.0
    for words, gold in pairs:
        worth, errors = [], []
        for names in product(NAMES, repeat=len(words)):
            own = phi(model, model, words, names, items)
            added = sum(named[key] * times for key, times in own.items() if times)
            worth.append(model.trellis(words).score(list(names)) + added)
            errors.append(sum(x != y for x, y in zip(names, gold, strict=True)))
        shares = np.exp(np.array(worth) - max(worth))
        expected += float(shares @ errors / shares.sum()) / len(pairs)
    assert risk.of(weights)[0] == pytest.approx(expected, abs=1e-4)
    start = task.started(1.0)
    learnt = Update("risk", measure="tokens", start=1.0).fit(task, task.places).weights
    assert risk.of(learnt)[0] < risk.of(start)[0]


def test_sequences_that_no_labelling_satisfies_are_left_out_and_counted():
    pairs = corpus(2)
    rules = RuleSet((C.at_least_tokens("b", 3),))
    task = AllFeatures(pairs, HMM.train(pairs), rules)
    fit(task, update="margin", epochs=2)
    assert task.unproved == 2 * sum(len(words) < 3 for words, _ in pairs)
