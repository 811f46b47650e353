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
    label_names : tuple of str, optional
        K names, or None where they have none.
    emissions : ndarray of float, shape (T, K), optional
        Scores of labels at tokens, nats.
    transitions : ndarray of float, shape (K, K), optional
        Scores of steps [from, to] in nats, or (K, K, K) for second order.
    edges : ndarray of float, shape (T-1, K, K), optional
        Scores of steps [t-1, from, to] in nats, or (T-2, K, K, K) for second order.
    start, end : ndarray of float, shape (K,), optional
        Scores of the first and of the last label, nats.
    first : ndarray of float, shape (K, K), optional
        Scores of the first step in second order, nats.
    scheme : str, optional
        Scheme of the labels; inferred from their names where empty.
    optional_fields : tuple of str, optional
        Fields that the labels may lack.

    Examples
    --------
    >>> import numpy as np
    >>> Scores(("a", "b"), np.zeros((3, 2)), np.zeros((2, 2))).length
    3
    """

    label_names: tuple[str, ...] | None = None
    emissions: Floats | None = None
    transitions: Floats | None = None
    edges: Floats | None = None
    start: Floats | None = None
    end: Floats | None = None
    first: Floats | None = None
    scheme: str = ""
    optional_fields: tuple[str, ...] = ()

    def trellis(
        self, labels: LabelSet | Sequence[str] | None, tokens: Sequence[str] | None, scheme: str = ""
    ) -> Trellis:
        """The trellis of these scores.

        Parameters
        ----------
        labels : LabelSet, sequence of str or None
            K names, or a label set; the scores' own names if None.
        tokens : sequence of str or None
            T texts that rules may look at.
        scheme : str, optional
            Scheme of the labels; inferred where not given.

        Returns
        -------
        Trellis
            The trellis.

        Raises
        ------
        ValueError
            If the shapes do not fit together.
        """
        scheme = scheme or self.scheme
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
            )
        assert self.start is not None
        if self.first is None:
            return Trellis(self.start, self.edges, labels, tokens=tokens, scheme=scheme)
        return Trellis.second_order(self.start, self.first, self.edges, labels, tokens=tokens, scheme=scheme)

    @property
    def length(self) -> int:
        """T tokens, as far as the shapes tell, which need not be right yet."""
        if self.emissions is not None:
            return len(self.emissions) if self.emissions.ndim else 0
        if self.edges is None or not self.edges.ndim:
            return 0
        return len(self.edges) + (1 if self.first is None else 2)

    def to_plain(self) -> dict[str, Any]:
        """Names and scores as plain values.

        Returns
        -------
        dict of str to object
            Values for JSON.
        """
        return {name: x.tolist() if isinstance(x, np.ndarray) else x for name, x in vars(self).items()}

    def __repr__(self) -> str:
        arrays = {name: value for name, value in vars(self).items() if name != "label_names"}
        shapes = ", ".join(f"{name} {x.shape}" for name, x in arrays.items() if x is not None)
        return f"Scores({shapes})"
