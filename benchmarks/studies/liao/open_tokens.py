"""Tokens whose label rules leave open, and the chain between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.dtypes import Booleans, Integers
from formulations.grid import Grid, add
from ilpinfer.models.crf.features import Features, FeatureTemplate
from ilpinfer.models.crf.token_rules import Allowed


@dataclass(frozen=True)
class OpenTokens:
    """The n tokens that rules leave undecided in several sequences with N tokens in all."""

    allowed: Allowed  # of N tokens
    fixed: Integers  # (N,) ids of the labels of the other tokens
    at: Integers  # (n,) their places
    first: Booleans  # (n,) whether one is the first of its sequence
    last: Booleans  # (n,)
    before: Booleans  # (N,) whether a token has one before it in its sequence
    after: Booleans  # (N,)

    @classmethod
    def of(cls, allowed: Sequence[Allowed]) -> "OpenTokens":
        lengths = np.array([len(a) for a in allowed])
        together = list(chain.from_iterable(allowed))
        ends = np.cumsum(lengths)
        before, after = np.ones(len(together), bool), np.ones(len(together), bool)
        before[ends - lengths] = after[ends - 1] = False
        at = np.array([t for t, labels in enumerate(together) if labels & (labels - 1)], np.int64)
        owner = np.repeat(np.arange(len(lengths)), lengths)[at]
        first = np.append(True, owner[1:] != owner[:-1])[: len(at)]
        last = np.append(first[1:], True)[: len(at)]
        fixed = np.array([labels.bit_length() - 1 for labels in together], np.int64)
        return cls(together, fixed, at, first, last, before, after)

    def features(self, template: FeatureTemplate, sequences: Sequence[Sequence[str]]) -> Features:
        """Names of the features of each of the n tokens."""
        result: Features = []
        at, begin, done = self.at.tolist(), 0, 0
        for tokens in sequences:
            end, start = begin + len(tokens), done
            while done < len(at) and at[done] < end:
                done += 1
            here = [t - begin for t in at[start:done]]
            if here:
                features = template.features(tokens, here)
                result += [features[t] for t in here]
            begin = end
        return result

    def lattice(self, node: Grid, transitions: Grid) -> Lattice:
        """The lattice of their scores (n, K) and of transitions (K, K).

        An edge between two of them has the score of the step through the first and the last label that are fixed between them.
        The scores of the steps in between are the same for all labellings, and left out.
        """
        at, fixed, K, node = self.at, self.fixed, len(transitions), node.copy()
        entered = self.first & self.before[at]
        node[entered] = add(node[entered], transitions[fixed[at[entered] - 1]])
        left = self.last & self.after[at]
        node[left] = add(node[left], transitions.T[fixed[at[left] + 1]])
        here, there = at[:-1], at[1:]
        ways = fixed[np.minimum(here + 1, there)] * K + fixed[there - 1]
        ways[there == here + 1] = ADJACENT
        ways[self.first[1:]] = APART
        kinds, step = np.unique(ways, return_inverse=True)
        pool = np.stack([_edges(kind, transitions) for kind in kinds.tolist()] or [transitions])
        return Lattice(node, pool, step.astype(np.int64))


ADJACENT, APART = -1, -2
"""Ways to the next open token: none between, or in another sequence; others go through labels, as first·K + last."""


def _edges(way: int, transitions: Grid) -> Grid:
    """(K, K) scores of steps to the next open token."""
    if way == ADJACENT:
        return transitions
    if way == APART:
        return np.zeros_like(transitions)
    first, last = divmod(way, len(transitions))
    return add(transitions[:, first][:, None], transitions[last][None, :])
