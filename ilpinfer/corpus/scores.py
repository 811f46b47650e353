"""Scores that come with a sequence, in nats."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from formulations import LabelSet, Trellis
from formulations.dtypes import Floats


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of T tokens and K labels: `emissions` and `transitions`, or `start` and `edges`.

    Parameters
    ----------
    label_names : K names, or None where they have none
    emissions : (T, K) nats
    transitions : (K, K) nats [from, to], or (K, K, K) for second order
    edges : (T-1, K, K) nats [t-1, from, to], or (T-2, K, K, K) for second order
    start, end : (K,) nats of the first and the last label, or None
    first : (K, K) nats of the first step of second order, or None
    """

    label_names: tuple[str, ...] | None = None
    emissions: Floats | None = None
    transitions: Floats | None = None
    edges: Floats | None = None
    start: Floats | None = None
    end: Floats | None = None
    first: Floats | None = None

    def trellis(
        self, labels: LabelSet | Sequence[str] | None, tokens: Sequence[str] | None, scheme: str = ""
    ) -> Trellis:
        """The trellis of these scores; ValueError where shapes do not fit.

        Examples
        --------
        >>> import numpy as np
        >>> Scores(emissions=np.zeros((3, 2)), transitions=np.zeros((2, 2))).trellis(["a", "b"], None)
        Trellis(3 tokens, 2 labels, plain)
        """
        if self.edges is None:
            assert self.emissions is not None
            assert self.transitions is not None
            return Trellis.from_emissions(
                self.emissions,
                self.transitions,
                self.start,
                self.end,
                labels,
                tokens,
                scheme=scheme,
                first=self.first,
            )
        assert self.start is not None
        if self.first is None:
            return Trellis(self.start, self.edges, labels, tokens, scheme=scheme)
        return Trellis.second_order(self.start, self.first, self.edges, labels, tokens, scheme=scheme)

    @property
    def length(self) -> int:
        """T tokens, as far as the shapes tell, which need not be right yet."""
        if self.emissions is not None:
            return len(self.emissions) if self.emissions.ndim else 0
        if self.edges is None or not self.edges.ndim:
            return 0
        return len(self.edges) + (1 if self.first is None else 2)

    def to_plain(self) -> dict[str, Any]:
        """Names and lists of numbers."""
        return {name: x.tolist() if isinstance(x, np.ndarray) else x for name, x in vars(self).items()}

    def __repr__(self) -> str:
        arrays = {name: value for name, value in vars(self).items() if name != "label_names"}
        shapes = ", ".join(f"{name} {x.shape}" for name, x in arrays.items() if x is not None)
        return f"Scores({shapes})"
