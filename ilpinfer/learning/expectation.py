"""The E-step: labels of texts, estimated by a model under rules."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np

from formulations import Trellis
from formulations.automata.machine import TooManyStates
from formulations.dtypes import Floats, Integers
from formulations.grid import nats
from formulations.problem.problem import GroundRule
from ilpinfer.core.rule_compiler import RuleCompiler
from ilpinfer.core.solution import Solution
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.exact.product import product_of
from ilpinfer.models.forward_backward import by_label, sums
from ilpinfer.models.sequence_model import SequenceModel

Places = Callable[[Integers], tuple[Integers, ...]]
"""Indices of the steps of a labelling (T,) in a model's transitions, such as `HMM.steps`."""


@dataclass(frozen=True, eq=False)
class WeightedLabellings:
    place: int
    paths: Integers  # (n, T)
    weights: Floats

    @classmethod
    def alike(cls, place: int, paths: Integers) -> "WeightedLabellings":
        """Weight 1/n each, as Figure 2 of CODL has it."""
        return cls(place, paths, np.full(len(paths), 1 / len(paths)))

    @property
    def best(self) -> Integers:
        """(T,) label ids that represent the estimate."""
        return np.asarray(self.paths[0])

    def nodes(self, K: int) -> Floats:
        """(T, K) weight of each label at each token; each row adds up to 1."""
        n, T = self.paths.shape
        result = np.zeros((T, K))
        np.add.at(result, (np.tile(np.arange(T), n), self.paths.ravel()), np.repeat(self.weights, T))
        return result

    def steps(self, shape: tuple[int, ...], places: Places) -> Floats:
        """Weights of steps between labels, in the shape of a model's transitions."""
        result = np.zeros(shape)
        for path, weight in zip(self.paths, self.weights, strict=True):
            np.add.at(result, places(path), weight)
        return result


@dataclass(frozen=True, eq=False)
class Expectations:
    place: int
    labels: Floats  # (T, K)
    edges: Floats

    @property
    def best(self) -> Integers:
        return np.asarray(self.labels.argmax(axis=1))

    def nodes(self, K: int) -> Floats:
        return self.labels

    def steps(self, shape: tuple[int, ...], places: Places) -> Floats:
        return self.edges


Estimate = WeightedLabellings | Expectations
"""A sequence whose labels are estimated."""
E_STEPS: Mapping[str, str] = {
    "top-k": "the K best labellings, exactly, with weight 1/K each",
    "posterior": "probabilities p(y) ∝ exp(score(y)) under the rules, exactly",
}
NO_LABELLING = "no labelling"
WEIGHTED = "weighted-top-k"
"""Replaces a posterior that can neither be summed nor sampled: the best labellings, weighted in proportion to exp(score)."""
MOST_WEIGHTED = 10


@dataclass(frozen=True)
class Expectation:
    name: str
    k: int
    rules: RuleCompiler
    seed: tuple[int, ...] = (0,)
    known: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    """Known label ids by position, for some of the texts."""
    budget: int = 200_000
    """Limit on the joint states of a sequence; sequences above it, and all at least as long, get sampled labellings."""
    samples: int = 100

    def estimates(
        self, model: SequenceModel, texts: Mapping[int, Sequence[str]], advance: Callable[[], None]
    ) -> tuple[dict[int, Estimate], Counter[str]]:
        """Estimates of the texts that have a labelling, by index, and the number of estimates by method."""
        made = dict[int, Estimate]()
        ways = Counter[str]()
        steps = self._posterior(model, texts) if self.name == "posterior" else self._best(model, texts)
        for way, estimate in steps:
            ways[way] += 1
            if estimate is not None:
                made[estimate.place] = estimate
            advance()
        return {place: made[place] for place in texts if place in made}, ways

    def _best(
        self, model: SequenceModel, texts: Mapping[int, Sequence[str]]
    ) -> Iterator[tuple[str, Estimate | None]]:
        decoder = Decoder(self.rules, model=model)
        if self.k == 1:
            known = [dict(self.known.get(place, {})) for place in texts]
            solutions = decoder.decode_texts(texts.values(), given=known if any(known) else None)
            for place, solution in zip(texts, solutions, strict=True):
                yield self._answer(place, [solution])
            return
        for place, text in texts.items():
            yield self._answer(place, decoder.decode(self._trellis(model, place, text), top=self.k))

    def _trellis(self, model: SequenceModel, place: int, text: Sequence[str]) -> Trellis:
        return model.trellis(tuple(text)).with_given(dict(self.known.get(place, {})))

    def _answer(self, place: int, solutions: Sequence[Solution]) -> tuple[str, Estimate | None]:
        paths = [(s.path, s.score) for s in solutions if s.path is not None and s.score > -inf]
        if not paths:
            return NO_LABELLING, None
        if self.name == "top-k":
            return self.name, WeightedLabellings.alike(place, np.array([path for path, _ in paths]))
        shares = _shares([score for _, score in paths])
        return WEIGHTED, WeightedLabellings(place, np.array([path for path, _ in paths]), shares)

    def _posterior(
        self, model: SequenceModel, texts: Mapping[int, Sequence[str]]
    ) -> Iterator[tuple[str, Estimate | None]]:
        """Probabilities if the rules fit the budget of joint states, else sampled or weighted best labellings."""
        decoder = Decoder(self.rules, model=model)
        longest = inf
        for place, text in sorted(texts.items(), key=lambda item: (len(item[1]), item[0])):
            trellis = self._trellis(model, place, text)
            if len(text) < longest:
                try:
                    exact = self._probabilities(place, trellis)
                    yield NO_LABELLING if exact is None else "posterior", exact
                    continue
                except TooManyStates:
                    longest = len(text)
            if (drawn := self._sampled(place, trellis)) is not None:
                yield "sampled", drawn
            else:
                yield self._answer(place, decoder.decode(trellis, top=max(self.k, MOST_WEIGHTED)))

    def _sampled(self, place: int, trellis: Trellis) -> WeightedLabellings | None:
        """WeightedLabellings drawn under the rules that fold, with importance weights exp(-penalty) of the other rules."""
        if trellis.order > 1:
            return None
        problem = self.rules.quietly(trellis).fold()
        product = product_of(replace(problem, rules=()), len(trellis) * len(trellis.labels))
        if product.log_sum == -inf:
            return None
        uniform = np.random.default_rng((*self.seed, place)).random((self.samples, len(trellis)))
        paths, counts = np.unique(product.draw(uniform), axis=0, return_counts=True)
        scores = np.log(counts) - [_cost(problem.rules, path) for path in paths]
        kept = np.flatnonzero(scores > -inf)
        if not len(kept):
            return None
        order = kept[np.argsort(-scores[kept], kind="stable")]
        return WeightedLabellings(place, paths[order], _shares(scores[order]))

    def _probabilities(self, place: int, trellis: Trellis) -> Expectations | None:
        """Exact probabilities; None if no labelling keeps the hard rules."""
        K = len(trellis.labels)
        if trellis.order > 1:
            if self.rules.rules.items:
                raise TooManyStates("probabilities under rules are for first-order trellises")
            result = sums(trellis)
            if result.log_partition == -inf:
                return None
            labels, edges = by_label(result.states(), trellis.lattice), result.edges()
            edges = edges.sum(axis=0).reshape(K + 1, K, K)
        else:
            product = product_of(self.rules.quietly(trellis).fold(), self.budget)
            if product.log_sum == -inf:
                return None
            labels, edges, _ = product.probabilities(edges=True)
            edges = edges.sum(axis=0)
        return Expectations(place, labels, edges)


def _cost(rules: Sequence[GroundRule], path: Integers) -> float:
    """Penalties of a labelling, nats; inf if it breaks a hard rule."""
    result = 0.0
    for rule in rules:
        if count := rule.violations(path):
            result += inf if rule.hard else count * nats(rule.penalty)
    return result


def _shares(scores: Sequence[float] | Floats) -> Floats:
    """Weights in proportion to exp(score), with the sum 1."""
    weights = np.exp(np.asarray(scores) - max(scores))
    return np.asarray(weights / weights.sum())
