"""Second-order trellises beside the numbers that they are made of, and first-order ones in two forms."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from support import oracles
from support.strategies import FORBIDDING, LABEL_SETS, NEAR_TIES, TOKENS, Instance, cases

from formulations import LabelSet, Rule, Trellis


@dataclass(frozen=True)
class Second(Instance):
    """A second-order trellis and the numbers whose sum a labelling's score is."""

    numbers: Callable[[tuple[int, ...]], list[float]]

    def units(self, labelling: tuple[int, ...]) -> int | None:
        result = [oracles.snap(x) for x in self.numbers(labelling)]
        return None if None in result else sum(result)


def _dense_numbers(start, first, edges, y: tuple[int, ...]) -> list[float]:
    result = [start[y[0]]]
    result += [first[y[0]][y[1]]] if len(y) > 1 else []
    return result + [edges[t - 2][y[t - 2]][y[t - 1]][y[t]] for t in range(2, len(y))]


def _factored_numbers(emissions, transitions, start, end, first, y: tuple[int, ...]) -> list[float]:
    result = [emissions[t][k] for t, k in enumerate(y)]
    result += [] if start is None else [start[y[0]]]
    result += [] if end is None else [end[y[-1]]]
    result += [first[y[0]][y[1]]] if first is not None and len(y) > 1 else []
    return result + [transitions[y[t - 2]][y[t - 1]][y[t]] for t in range(2, len(y))]


@st.composite
def instances(draw: st.DrawFn, scores: st.SearchStrategy[float] = FORBIDDING, longest: int = 4) -> Second:
    scheme, names = draw(st.sampled_from(LABEL_SETS))
    K = len(names)
    T = draw(st.integers(1, longest + (K < 4)))

    def array(*shape: int) -> list:
        size = math.prod(shape)
        return np.reshape(draw(st.lists(scores, min_size=size, max_size=size)), shape).tolist()

    tokens = draw(st.lists(st.sampled_from(TOKENS), min_size=T, max_size=T))
    named = {"labels": LabelSet(names, scheme), "tokens": tokens}
    if draw(st.booleans()):
        start, first, edges = array(K), array(K, K) if T > 1 else [], array(max(T - 2, 0), K, K, K)
        trellis = Trellis.second_order(start, first, edges, **named)
        return Second(trellis, [], [], scheme, lambda y: _dense_numbers(start, first, edges, y))
    emissions, transitions = array(T, K), array(K, K, K)
    start, end, first = (array(*shape) if draw(st.booleans()) else None for shape in ((K,), (K,), (K, K)))
    trellis = Trellis.from_emissions(emissions, transitions, start=start, end=end, first=first, **named)
    parts = emissions, transitions, start, end, first
    return Second(trellis, [], [], scheme, lambda y: _factored_numbers(*parts, y))


@st.composite
def twins(draw: st.DrawFn) -> tuple[Trellis, Trellis, list[Rule]]:
    """The same scores as a first-order trellis and as a second-order one, with rules."""
    scheme, names = draw(st.sampled_from(LABEL_SETS))
    K, T = len(names), draw(st.integers(1, 4))
    size = K + (T - 1) * K * K
    scores = draw(st.sampled_from((FORBIDDING, NEAR_TIES)))
    flat = np.array(draw(st.lists(scores, min_size=size, max_size=size)))
    start, edges = flat[:K], flat[K:].reshape(T - 1, K, K)
    tokens = draw(st.lists(st.sampled_from(TOKENS), min_size=T, max_size=T))
    named = {"labels": LabelSet(names, scheme), "tokens": tokens}
    rules = [case.rule for case in draw(st.lists(cases(named["labels"]), max_size=4))]
    first = edges[0] if T > 1 else None
    later = np.repeat(edges[1:, None], K, axis=1)
    return Trellis(start, edges, **named), Trellis.second_order(start, first, later, **named), rules
