"""The averaged perceptron (Collins 2002) on weighted labellings, started from the scores of a chain."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from formulations import Trellis
from formulations.dtypes import Floats, Integers
from formulations.grid import is_forbidden
from ilpinfer.exact.viterbi import viterbi
from ilpinfer.learning.expectation import WeightedLabellings
from ilpinfer.models.chain import Chain
from ilpinfer.models.crf.weights import Weights

RATE, EPOCHS = 0.3, 5
"""Step size in nats for a labelling of weight 1, and number of passes over all labellings."""


@dataclass
class ChainScores:
    """Scores of starts and ends (K,), steps (K, K) and attributes (A, K)."""

    start: Floats
    end: Floats
    steps: Floats
    attributes: Floats

    @classmethod
    def of(cls, chain: Chain) -> "ChainScores":
        learnt, K = chain.learnt, len(chain.labels)
        attributes = np.zeros((len(learnt.attributes), K))
        attributes[np.repeat(np.arange(len(attributes)), np.diff(learnt.begins)), learnt.targets] = (
            learnt.weights
        )
        return cls(chain.start.copy(), chain.end.copy(), learnt.transitions.copy(), attributes)

    def zeros(self) -> "ChainScores":
        return ChainScores(*(np.zeros_like(part) for part in vars(self).values()))

    def add(self, rows: Integers, path: Integers, amount: float) -> None:
        """Add to the scores of all features of a labelling; `rows` has the attribute of each token."""
        self.start[path[0]] += amount
        self.end[path[-1]] += amount
        np.add.at(self.steps, (path[:-1], path[1:]), amount)
        np.add.at(self.attributes, (rows, path), amount)


def perceptron(
    chain: Chain, texts: Sequence[Sequence[str]], estimates: Sequence[WeightedLabellings]
) -> Chain:
    """The chain after w ← w + rate · weight · (φ(y) - φ(ŷ)) for each labelling y, where ŷ is the best one under w; the mean of all w.

    Each token has one attribute, as in the chain of a hidden Markov model. Rules are not used.
    """
    index = {name: row for row, name in enumerate(chain.learnt.attributes)}
    rows = {
        each.place: np.array([index[name] for [name] in chain.features(texts[each.place])], np.int64)
        for each in estimates
    }
    labelled = [
        (rows[each.place], np.asarray(path), RATE * weight)
        for each in estimates
        for path, weight in zip(each.paths, each.weights.tolist(), strict=True)
    ]
    now = ChainScores.of(chain)
    total, done, random = now.zeros(), 0, np.random.default_rng(0)
    for _ in range(EPOCHS):
        for place in random.permutation(len(labelled)).tolist():
            own, path, step = labelled[place]
            found = _best(now, own, chain)
            if found is not None and not np.array_equal(found, path):
                for scores, amount in ((now, step), (total, done * step)):
                    scores.add(own, path, amount)
                    scores.add(own, found, -amount)
            done += 1
    parts = zip(vars(now).values(), vars(total).values(), strict=True)
    mean = ChainScores(*(part - sums / done for part, sums in parts))
    learnt = Weights.of(chain.labels.names, chain.learnt.attributes, mean.attributes, mean.steps)
    return replace(chain, start=mean.start, end=mean.end, learnt=learnt)


def _best(scores: ChainScores, rows: Integers, chain: Chain) -> Integers | None:
    """The best labelling of a text by its attributes; None if there is none."""
    trellis = Trellis.from_emissions(
        scores.attributes[rows], scores.steps, start=scores.start, end=scores.end, labels=chain.labels
    )
    value, path = viterbi(trellis.lattice)
    return None if is_forbidden(value) else path
