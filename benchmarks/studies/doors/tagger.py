"""Sentences of a made-up tagger: planted fields under noise, with transitions, and rules that most planted labellings keep."""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from formulations import Rule, RuleSet, Trellis
from formulations import constraints as C

Scores = NDArray[np.float64]
Ids = NDArray[np.int64]
FIELDS = ("person", "place", "organisation", "date")
LENGTHS, SENTENCES = (8, 33), 2000
LEAD, NOISE, SEED = 3.0, 1.3, 7
"""Nats by which the score of the planted label is larger, and the standard deviation of all."""
LONGEST, IN_ORDER = 3, 0.9
"""Tokens of a run, and the share of sentences whose fields are in their order."""
RULES: tuple[Rule, ...] = (
    C.at_most_runs("date", 1),
    C.presence_precedence("person", "date", penalty=1.0),
    C.max_run_length("person", LONGEST),
    C.at_most_runs("person", 1, penalty=2.0),
    C.presence_precedence("place", "organisation", penalty=1.0),
    C.at_most_runs("place", 1, penalty=2.0),
)


@dataclass(frozen=True)
class Sentences:
    """Emissions (T, K) of each sentence, transitions (K, K), in nats, and planted label ids (T,)."""

    names: list[str]
    emissions: list[Scores]
    transitions: Scores
    planted: list[Ids]

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """(N, T) whether there is a token."""
        lengths = np.array([len(each) for each in self.emissions])
        return np.arange(lengths.max()) < lengths[:, None]

    @cached_property
    def padded(self) -> Scores:
        """(N, T, K)"""
        result = np.zeros((*self.mask.shape, len(self.names)))
        result[self.mask] = np.concatenate(self.emissions)
        return result

    def trellis(self, n: int) -> Trellis:
        return Trellis.from_emissions(self.emissions[n], self.transitions, labels=self.names)

    @cached_property
    def trellises(self) -> list[Trellis]:
        return list(map(self.trellis, range(len(self.emissions))))


def rules_of(number: int) -> RuleSet:
    """The scheme and so many rules."""
    return RuleSet((C.valid_scheme(), *RULES[:number]))


@cache
def sentences(number: int) -> Sentences:
    """So many sentences in which each field has at most one run; the first ones are the same for any number."""
    names = [*(f"{prefix}-{field}" for field in FIELDS for prefix in "BI"), "O"]
    rng, K = np.random.default_rng(SEED), len(names)
    planted = [_planted(int(rng.integers(*LENGTHS)), len(FIELDS), rng) for _ in range(number)]
    emissions: list[Scores] = []
    for ids in planted:
        scores = NOISE * np.random.default_rng([SEED, len(emissions)]).normal(size=(len(ids), K))
        scores[np.arange(len(ids)), ids] += LEAD
        emissions.append(scores)
    return Sentences(names, emissions, _transitions(K), planted)


def _planted(T: int, fields: int, rng: np.random.Generator) -> Ids:
    """Label ids (T,) of some fields, mostly in their order, a run of 1 to 3 tokens each, between tokens outside."""
    runs = int(rng.integers(1, 1 + min(fields, T // 4)))
    lengths = rng.integers(1, 1 + LONGEST, runs)
    gaps = rng.multinomial(T - lengths.sum(), np.full(runs + 1, 1 / (runs + 1)))
    order = rng.permutation(fields)[:runs]
    if rng.random() < IN_ORDER:
        order.sort()
    result, t = np.full(T, 2 * fields), 0
    for field, length, gap in zip(order, lengths, gaps, strict=False):
        t += gap
        result[t : t + length], result[t] = 2 * field + 1, 2 * field
        t += length
    return result


def _transitions(K: int) -> Scores:
    """(K, K) logarithms of probabilities: a step into the inside of another field is rare, but not forbidden."""
    weights, inside = np.ones((K, K)), np.arange(1, K, 2)
    weights[:, inside], weights[:, K - 1] = 0.02, 4.0
    weights[inside, inside] = weights[inside - 1, inside] = 5.0
    result: Scores = np.log(weights / weights.sum(1, keepdims=True))
    return result
