"""Scores that come with a sequence, in nats."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from formulations import LabelSet, Trellis
from formulations.dtypes import Floats


@dataclass(frozen=True, eq=False)
class SequenceScores:
    """Scores of T tokens and K labels, nats: `emissions` and `transitions`, or `start` and `edges`."""

    label_names: tuple[str, ...] | None = None  # K names
    emissions: Floats | None = None  # (T, K)
    transitions: Floats | None = None  # (K, K) [from, to], or (K, K, K) for second order
    edges: Floats | None = None  # (T-1, K, K) [t-1, from, to], or (T-2, K, K, K) for second order
    start: Floats | None = None  # (K,)
    end: Floats | None = None  # (K,)
    first: Floats | None = None  # (K, K) of the first step, in second order
    scheme: str = ""  # inferred from the names where empty
    optional_fields: tuple[str, ...] = ()  # fields that the labels may lack
    never: tuple[str, ...] = ()  # labels that are never predicted

    def trellis(
        self,
        labels: LabelSet | Sequence[str] | None,
        tokens: Sequence[str] | None,
        scheme: str = "",
        never: Iterable[str] = (),
    ) -> Trellis:
        """The trellis of these scores, with their own labels if None are given; ValueError if shapes do not fit together."""
        scheme, out = scheme or self.scheme, (*self.never, *never)
        if self.edges is None:
            assert self.emissions is not None
            assert self.transitions is not None
            return Trellis.from_emissions(
                self.emissions,
                self.transitions,
                start=self.start,
                end=self.end,
                labels=labels,
                tokens=tokens,
                scheme=scheme,
                first=self.first,
                never=out,
            )
        assert self.start is not None
        if self.first is None:
            return Trellis(self.start, self.edges, labels, tokens=tokens, scheme=scheme, never=out)
        return Trellis.second_order(
            self.start, self.first, self.edges, labels, tokens=tokens, scheme=scheme, never=out
        )

    @property
    def length(self) -> int:
        """Number of tokens T by the shapes, which may not be validated yet."""
        if self.emissions is not None:
            return len(self.emissions) if self.emissions.ndim else 0
        if self.edges is None or not self.edges.ndim:
            return 0
        return len(self.edges) + (1 if self.first is None else 2)

    def to_plain(self) -> dict[str, Any]:
        """Names and scores as plain values."""
        return {name: x.tolist() if isinstance(x, np.ndarray) else x for name, x in vars(self).items()}

    def __repr__(self) -> str:
        arrays = {name: value for name, value in vars(self).items() if name != "label_names"}
        shapes = ", ".join(f"{name} {x.shape}" for name, x in arrays.items() if x is not None)
        return f"Scores({shapes})"
