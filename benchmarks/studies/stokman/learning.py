"""Weights learnt from held-out scores of training items, in place of those chosen by hand (section 7.1)."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from benchmarks.data.models import trained
from benchmarks.studies.stokman import decoding
from benchmarks.studies.stokman.corpora import GENERATED, PREDICTED, corpus
from benchmarks.study import Cell, Row, Sources, grid
from formulations import Feature, RuleSet
from formulations.problem.compiled_rules import unique_names
from ilpinfer.learning import JointLearner, PenaltyLearner, ScoredExample, held_out_models
from ilpinfer.learning.training_set import TrainingSet
from ilpinfer.models.hmm import HMM

LEARNING = "learning"
ALGORITHMS = ("perceptron", "perceptron-given", "conservative", "conservative-given", "cross-validated")
SMALL = "perceptron, small steps"
RATES = {SMALL: 0.01}
TOGETHER, OWN, LIKELIHOOD = "all weights", "all weights, own scores", "CRF, rules as given"
WAYS = (*ALGORITHMS, *RATES, TOGETHER, OWN, LIKELIHOOD)
START = decoding.ONE_ORGANIZATION
"""The rule set whose weights are learnt: two rules and three features."""


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """A way to learn weights, with which all test documents are decoded exactly."""
    return grid(part, algorithm=WAYS[: sources(smoke=1, sample=None)])


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    chosen, way = corpus(GENERATED, sources), cell.algorithm
    items, model, rules = chosen.items_of(chosen.train), chosen.tagger, chosen.rules(START)
    given, scorers = weights_of(rules), held_out_models(items, HMM.train)
    examples = [ScoredExample(scorer.trellis(x), y) for scorer, (x, y) in zip(scorers, items, strict=True)]
    data = TrainingSet(examples, rules)
    if way == LIKELIHOOD:
        model = trained("crf", items, template="resume", max_iterations=60)
    elif way in (TOGETHER, OWN):
        used = scorers if way == TOGETHER else ()
        model, rules, *_ = JointLearner().fit(items, HMM.train(items), rules, scorers=used)
    else:
        rate, name = RATES.get(way, PenaltyLearner.rate), way.partition(",")[0]
        rules = PenaltyLearner(name, rate=rate, folds=2, prune=False).fit(examples, rules).rules
    yield {
        "weights": dict.fromkeys(given, 0.0) | weights_of(rules),
        "given": given,
        "counts": dict(zip(data.names, np.abs(data.gold_activations).mean(axis=0).tolist(), strict=True)),
        "sequences": len(items),
    }
    setting: Row = {"corpus": GENERATED, "segmentation": PREDICTED, "rules": way}
    setting |= {"method": decoding.OPTIMUM, "limit": decoding.LIMIT}
    for chunk in range(-(-len(chosen.test) // decoding.CHUNK)):
        own = Cell(part=LEARNING, **setting, chunk=chunk)
        yield from (row | setting for row in decoding.decoded(sources, own, rules, model))


def weights_of(rules: RuleSet) -> dict[str, float]:
    """Penalties and weights by name, nats."""
    items: Any = zip(unique_names(rules), rules, strict=True)
    return {name: item.weight if isinstance(item, Feature) else item.penalty for name, item in items}
