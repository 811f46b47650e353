"""Smoothing of counts to probabilities, by five methods."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from formulations.arguments import one_of
from formulations.dtypes import Floats
from ilpinfer.models import plain_values

AMOUNTS: Mapping[str, float | None] = {
    "none": None,
    "additive": 1.0,
    "witten-bell": None,
    "interpolation": None,
    "absolute-discounting": None,
}
"""Methods with their default amounts; None if there is no amount."""


@dataclass(frozen=True)
class Smoothing:
    """A method of smoothing; c is a count, C the total of its context, b the probability in shorter contexts.

    - none: c / C
    - additive: (c + a·N·b) / (C + a·N) for N outcomes and a base distribution b (Lidstone)
    - witten-bell: (c + n·b) / (C + n), where n is one more than the number of distinct outcomes of the context (Witten and Bell 1991)
    - interpolation: Σ λ·(c / C) over all contexts and the base, with the λ of deleted interpolation (Brants 2000, Figure 1)
    - absolute-discounting: (max(c - D, 0) + d·b) / C, where d is the sum of the discounts and D = (n1 + 1/2) / (n1 + 2·n2 + 1);
      n1 and n2 are the numbers of outcomes seen once and twice (Ney, Essen, Kneser 1994)
    """

    method: str = "witten-bell"
    amount: float | None = None

    def __post_init__(self) -> None:
        one_of(self.method, "smoothing", AMOUNTS)
        amount = AMOUNTS[self.method] if self.amount is None else self.amount
        if amount is not None and self.method not in ("additive", "absolute-discounting"):
            raise ValueError(f"smoothing {self.method} takes no amount, but {amount!r} is given")
        limit = 1.0 if self.method == "absolute-discounting" else np.inf
        if amount is not None and not (isinstance(amount, Real) and 0 < float(amount) < limit):
            raise ValueError(
                f"the amount of {self.method} is {amount!r}; expected a number between 0 and {limit:g}"
            )
        object.__setattr__(self, "amount", None if amount is None else float(amount))


def as_smoothing(smoothing: Smoothing | str) -> Smoothing:
    return Smoothing(smoothing) if isinstance(smoothing, str) else smoothing


def read_smoothing(value: Any, what: str) -> Smoothing:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"{what} is {plain_values.kind_of(value)}; expected a method and its amount")
    method, amount = value
    return Smoothing(
        plain_values.text(method, what),
        None if amount is None else plain_values.count(amount, f"{what}: the amount"),
    )


def smooth(levels: Sequence[Floats], base: ArrayLike, smoothing: Smoothing) -> Floats:
    """Probabilities of N outcomes in each context; the shape is that of the first level."""
    longest = np.asarray(levels[0], float)
    probabilities = np.broadcast_to(np.asarray(base, float), longest.shape)
    if smoothing.method == "interpolation":
        return _interpolate(levels, probabilities)
    step = _STEPS[smoothing.method]
    for counts in reversed(levels[:1] if smoothing.method in ("none", "additive") else levels):
        probabilities = step(np.asarray(counts, float), probabilities, smoothing.amount)
    return np.broadcast_to(probabilities, longest.shape)


def relative(counts: Floats, otherwise: Floats) -> Floats:
    """c / C; the other distribution in contexts without examples."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1), otherwise)


def _additive(counts: Floats, lower: Floats, amount: float | None) -> Floats:
    mass = (amount or 0) * counts.shape[-1]
    return np.asarray((counts + mass * lower) / (counts.sum(axis=-1, keepdims=True) + mass))


def _witten_bell(counts: Floats, lower: Floats, amount: float | None) -> Floats:
    different = np.minimum(counts, 1).sum(axis=-1, keepdims=True) + 1
    return np.asarray((counts + different * lower) / (counts.sum(axis=-1, keepdims=True) + different))


def _discount(counts: Floats, lower: Floats, amount: float | None) -> Floats:
    once, twice = ((np.ceil(counts) == times).sum() for times in (1, 2))
    discount = (once + 0.5) / (once + 2 * twice + 1) if amount is None else amount
    rest = np.maximum(counts - discount, 0)
    mass = (counts - rest).sum(axis=-1, keepdims=True)
    return relative(rest + mass * lower, lower)


def _interpolate(levels: Sequence[Floats], base: Floats) -> Floats:
    votes = np.ones(len(levels) + 1)
    longest = np.asarray(levels[0], float)
    occurs = longest > 0
    leaving_one_out = [_without_one(np.asarray(counts, float), longest.shape)[occurs] for counts in levels]
    best = np.argmax([*leaving_one_out, base[occurs]], axis=0)
    np.add.at(votes, best, longest[occurs])
    weights = votes / votes.sum()
    probabilities, mixed = base, weights[-1] * base
    for counts, weight in zip(reversed(levels), weights[-2::-1], strict=True):
        probabilities = relative(np.asarray(counts, float), probabilities)
        mixed = mixed + weight * probabilities
    return np.asarray(mixed)


def _without_one(counts: Floats, shape: tuple[int, ...]) -> Floats:
    """(c - 1) / (C - 1); 0 for a single example."""
    rest = counts.sum(axis=-1, keepdims=True) - 1
    return np.broadcast_to(
        np.where(rest > 0, np.maximum(counts - 1, 0) / np.where(rest > 0, rest, 1), 0), shape
    )


_STEPS: Mapping[str, Callable[[Floats, Floats, float | None], Floats]] = {
    "none": lambda counts, lower, amount: relative(counts, lower),
    "additive": _additive,
    "witten-bell": _witten_bell,
    "absolute-discounting": _discount,
}
