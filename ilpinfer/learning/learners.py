"""Learners of models from estimated labels, for constraint-driven learning."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import floor
from typing import Any, Protocol

import numpy as np

from formulations import LabelSet
from formulations.arguments import one_of
from formulations.dtypes import Floats, Integers
from ilpinfer.learning.expectation import Estimate, WeightedLabellings
from ilpinfer.learning.perceptron import perceptron
from ilpinfer.models.chain import Chain, summed
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.training import sorted_labels
from ilpinfer.models.hmm import HMM, SecondOrderHMM
from ilpinfer.models.hmm.emissions import Emissions, words_of
from ilpinfer.models.hmm.model import of_weights
from ilpinfer.models.hmm.smoothing import as_smoothing
from ilpinfer.models.training import KINDS

PERCEPTRON = "averaged-perceptron"
"""The perceptron among CRFsuite's algorithms."""
Model = HMM | SecondOrderHMM | CRF | Chain
Texts = Sequence[Sequence[str]]
Learn = Callable[[Iterable[Estimate]], Model]
"""Makes a model from estimates of the texts that the learner was prepared for."""
M_STEPS: Mapping[str, str] = {
    "likelihood": "smoothed counts; for a crf, the algorithm of its options",
    "perceptron": "the averaged perceptron, for an hmm from the scores of its counts on",
}


class Learner(Protocol):
    """A way to learn models of one kind, and to mix two of them."""

    @property
    def fractions(self) -> bool:
        """Whether it learns from probabilities of labels."""
        ...

    def prepare(self, labels: LabelSet, texts: Texts) -> Learn:
        """A function that learns from estimates; their `place` is an index into the texts."""
        ...

    def mix(self, supervised: Any, pool: Any, gamma: float) -> Model:
        """γ times the supervised model plus 1 - γ times the pool model, for γ strictly between 0 and 1."""
        ...


@dataclass(frozen=True)
class CountingLearner:
    """Maximum likelihood for hidden Markov models: weighted, smoothed counts of the words of all texts."""

    kind: type[HMM] | type[SecondOrderHMM]
    arguments: Mapping[str, Any]
    fractions: bool = True

    def prepare(self, labels: LabelSet, texts: Texts) -> Learn:
        vocabulary = self.arguments["vocabulary"]
        words, rows = words_of(texts, vocabulary)
        smoothing = as_smoothing(self.arguments.get("emissions", "witten-bell"))
        empty = Emissions(words, np.zeros((0, 0)), smoothing, vocabulary)
        return partial(self._count, labels, rows, empty)

    def _count(
        self, labels: LabelSet, rows: Sequence[Integers], empty: Emissions, estimates: Iterable[Estimate]
    ) -> HMM | SecondOrderHMM:
        K, smoothing = len(labels), as_smoothing(self.arguments.get("transitions", self.kind.TRANSITIONS))
        weighted = (
            (rows[each.place], each.nodes(K), each.steps(self.kind.shape(K), self.kind.steps))
            for each in estimates
        )
        return of_weights(self.kind, labels, empty, weighted, smoothing)

    def mix(self, supervised: Any, pool: Any, gamma: float) -> Model:
        """The model of the counts (γ·c / C + (1 - γ)·c' / C')·(C + C'), where C and C' are the tokens that each model counted."""
        sizes = supervised.emissions.counts.sum(), pool.emissions.counts.sum()
        shares = zip((gamma, 1 - gamma), sizes, strict=True)
        weights = [share * sum(sizes) / size for share, size in shares]

        def mixed(first: Floats, second: Floats) -> Floats:
            return np.asarray(weights[0] * first + weights[1] * second)

        result: HMM | SecondOrderHMM = replace(
            supervised,
            **{
                name: mixed(getattr(supervised, name), getattr(pool, name))
                for name in ("start", "end", "transitions")
            },
            emissions=replace(
                supervised.emissions, counts=mixed(supervised.emissions.counts, pool.emissions.counts)
            ),
        )
        return result


@dataclass(frozen=True)
class PerceptronLearner:
    """The averaged perceptron, started from the scores of a hidden Markov model counted on the same labellings."""

    counting: CountingLearner
    fractions: bool = False

    def prepare(self, labels: LabelSet, texts: Texts) -> Learn:
        return partial(self._learn, self.counting.prepare(labels, texts), texts)

    def _learn(self, count: Learn, texts: Texts, estimates: Iterable[Estimate]) -> Chain:
        labellings = [each for each in estimates if isinstance(each, WeightedLabellings)]
        counted = count(labellings)
        assert isinstance(counted, HMM)
        return perceptron(Chain.of(counted), texts, labellings)

    def mix(self, supervised: Any, pool: Any, gamma: float) -> Model:
        """The sum of the weighted scores."""
        return summed([supervised, pool], [gamma, 1 - gamma])


@dataclass(frozen=True)
class DiscriminativeLearner:
    """Conditional random fields by CRFsuite, which has no sequence weights: labellings are repeated in proportion instead."""

    arguments: Mapping[str, Any] = field(default_factory=dict)
    copies: int = 10
    fractions: bool = False

    def prepare(self, labels: LabelSet, texts: Texts) -> Learn:
        return partial(self._learn, labels, texts)

    def _learn(self, labels: LabelSet, texts: Texts, estimates: Iterable[Estimate]) -> CRF:
        result = [each for each in estimates if isinstance(each, WeightedLabellings)]
        copies = self.copies if any(len(each.paths) > 1 for each in result) else 1
        pairs = [
            (texts[each.place], [labels.names[k] for k in path])
            for each in result
            for path, times in zip(each.paths, repetitions(each.weights, copies), strict=True)
            for _ in range(times)
        ]
        crf = CRF.train(pairs, scheme=labels.notation, **self.arguments)
        return replace(crf, labels=labels, learnt=sorted_labels(crf.learnt, labels.names))

    def mix(self, supervised: Any, pool: Any, gamma: float) -> Model:
        """The sum of the weighted scores."""
        return summed([Chain.of(supervised), Chain.of(pool)], [gamma, 1 - gamma])


def repetitions(weights: Floats, copies: int) -> list[int]:
    """Integers near weights · copies with the sum `copies`; the first ones are rounded up."""
    wanted = weights * copies
    result = [floor(times + 1e-9) for times in wanted.tolist()]
    left = sorted(range(len(result)), key=lambda i: (round(result[i] - wanted[i], 9), i))
    for place in left[: copies - sum(result)]:
        result[place] += 1
    return result


def learner_of(kind: str, options: Mapping[str, Any], m_step: str = "likelihood") -> Learner:
    one_of(kind, "kind of model", KINDS)
    one_of(m_step, "M-step", M_STEPS)
    if kind != "crf" and "iterations" in options:
        raise ValueError(
            "iterations are those of a training with unknown labels, which CODL labels in cycles: leave the option out"
        )
    steps = m_step == "perceptron"
    if steps and kind == "crf":
        if options.get("algorithm", PERCEPTRON) != PERCEPTRON:
            raise ValueError(
                f"the M-step perceptron of a crf is the algorithm {PERCEPTRON}, not {options['algorithm']}; "
                "leave algorithm or the M-step out"
            )
        options = {**options, "algorithm": PERCEPTRON}
    arguments = KINDS[kind].arguments(options)
    if kind == "crf":
        return DiscriminativeLearner(arguments)
    if steps and kind == "hmm2":
        raise ValueError("hmm2 has no perceptron: take the kind hmm or crf, or the M-step likelihood")
    counting = CountingLearner(HMM if kind == "hmm" else SecondOrderHMM, arguments)
    return PerceptronLearner(counting) if steps else counting
