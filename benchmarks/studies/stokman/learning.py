"""Weights learnt from held-out scores of training items, in place of those chosen by hand (section 7.1)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchmarks.studies.stokman import decoding
from benchmarks.studies.stokman.corpora import GENERATED, PREDICTED, corpus
from benchmarks.study import Row, Sources
from ilpinfer.learning import PenaltyLearner, held_out_examples
from ilpinfer.models.hmm import HMM

LEARNING = "learning"
ALGORITHMS = ("perceptron", "perceptron-given", "conservative", "conservative-given", "cross-validated")
START = decoding.ONE_ORGANIZATION
"""The rule set whose weights are learnt: two rules and three features."""


@dataclass(frozen=True)
class Learning:
    """An algorithm that learns weights, from which all test documents are decoded exactly."""

    part: str
    algorithm: str


def cells(sources: Sources, part: str) -> Iterator[Learning]:
    return (Learning(part, name) for name in ALGORITHMS[: sources(smoke=1, sample=5, full=5)])


def measure(sources: Sources, cell: Learning) -> Iterator[Row]:
    chosen = corpus(GENERATED, sources)
    examples = held_out_examples(chosen.items_of(chosen.train), HMM.train)
    learner = PenaltyLearner(cell.algorithm, folds=2, prune=False)
    learnt = learner.fit(examples, chosen.rules(START))
    weights = {verdict.name: verdict.learnt for verdict in learnt.verdicts}
    given = {verdict.name: verdict.given for verdict in learnt.verdicts}
    yield {"weights": weights, "given": given, "sequences": learnt.sequences}
    setting: Row = {"corpus": GENERATED, "segmentation": PREDICTED, "rules": cell.algorithm}
    setting |= {"method": decoding.OPTIMUM, "limit": decoding.LIMIT}
    own = decoding.Cell(LEARNING, **setting, chunk=0)
    for chunk in range(-(-len(chosen.test) // decoding.CHUNK)):
        for row in decoding.decoded(sources, replace(own, chunk=chunk), learnt.rules):
            yield row | setting
