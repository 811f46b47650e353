"""The trellis: what a sequence model hands over, and nothing about rules."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from formulations.compiled.lattice import Lattice
from formulations.grid import Grid, check_total, nats, snap
from formulations.labels import LabelSet


@dataclass(frozen=True, init=False)
class Trellis:
    """Log scores of every labelling of T tokens with K labels (Stokman 2011, eq. 41; Fersini 2014, eq. 12).

    ``score(y) = start[y_0] + Σ_{t=1}^{T-1} edges[t-1, y_{t-1}, y_t]``, in nats.

    Parameters
    ----------
    start : (K,) log score of label k at token 0, that token's own score included
    edges : (T-1, K, K) label i at t-1, then j at t, token t's own score included; -inf forbids
    labels : K names, or a LabelSet; `0`, `1`, … where not given
    tokens : T texts that rules may look at; empty texts where not given
    scheme : "plain", "bio", "iobes" or "paths"; inferred from the names where not given

    Raises
    ------
    ValueError
        for wrong shapes, NaN, +inf, and totals beyond 2^31 nats.

    Examples
    --------
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> trellis.score(["b", "b"])
    -0.5
    """

    lattice: Lattice
    labels: LabelSet
    tokens: tuple[str, ...]

    def __init__(
        self,
        start: ArrayLike,
        edges: ArrayLike,
        labels: LabelSet | Sequence[str] | None = None,
        tokens: Sequence[str] | None = None,
        *,
        scheme: str = "",
    ) -> None:
        first, pool = snap(start, "start"), snap(edges, "edges")
        if first.ndim != 1 or not first.size:
            raise ValueError(f"start has shape {first.shape}; expected (K,), one score for each label")
        K = len(first)
        if pool.shape == (0,):
            pool = pool.reshape(0, K, K)
        if pool.ndim != 3 or pool.shape[1:] != (K, K):
            raise ValueError(
                f"edges has shape {pool.shape}; expected (T-1, {K}, {K}), as start has {K} labels"
            )
        T = len(pool) + 1
        node = np.zeros((T, K), np.int64)
        node[0] = first
        check_total([("start", first, 1), ("edges", pool, np.ones(T - 1, np.int64))])
        self._set(Lattice(node, pool, np.arange(T - 1)), labels, tokens, scheme)

    @classmethod
    def from_emissions(
        cls,
        emissions: ArrayLike,
        transitions: ArrayLike,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
        labels: LabelSet | Sequence[str] | None = None,
        tokens: Sequence[str] | None = None,
        *,
        scheme: str = "",
    ) -> "Trellis":
        """A trellis whose transition scores are the same at every token; the parts are kept apart.

        Parameters
        ----------
        emissions : (T, K) log score of label k at token t
        transitions : (K, K) from, to
        start, end : (K,) log score of the first and the last label, or None
        """
        node, pool = snap(emissions, "emissions"), snap(transitions, "transitions")
        if node.ndim != 2 or node.size == 0:
            raise ValueError(f"emissions has shape {node.shape}; expected (T, K) with at least one token")
        K = node.shape[1]
        if pool.shape != (K, K):
            raise ValueError(
                f"transitions has shape {pool.shape}; expected ({K}, {K}), as emissions has {K} labels"
            )
        ends = {name: snap(x, name) for name, x in (("start", start), ("end", end)) if x is not None}
        for name, x in ends.items():
            if x.shape != (K,):
                raise ValueError(f"{name} has shape {x.shape}; expected ({K},), as emissions has {K} labels")
        T = len(node)
        parts: list[tuple[str, Grid, int | Grid]] = [
            ("emissions", node, np.ones(T, np.int64)),
            ("transitions", pool, T - 1),
        ]
        check_total([*parts, *((name, x, 1) for name, x in ends.items())])
        lattice = Lattice(node, pool[None], np.zeros(T - 1, np.int64)).plus_ends(**ends)
        self = cls.__new__(cls)
        self._set(lattice, labels, tokens, scheme)
        return self

    def _set(
        self,
        lattice: Lattice,
        labels: LabelSet | Sequence[str] | None,
        tokens: Sequence[str] | None,
        scheme: str,
    ) -> None:
        T, K = lattice.shape
        names = labels.names if isinstance(labels, LabelSet) else labels
        if isinstance(names, str):
            raise ValueError(f"labels is the text {names!r}; expected a list of {K} names")
        names = tuple(str(k) for k in range(K)) if names is None else tuple(names)
        if len(names) != K:
            raise ValueError(f"{len(names)} labels are named, but the scores have {K}")
        scheme = scheme or (labels.scheme if isinstance(labels, LabelSet) else "")
        same = isinstance(labels, LabelSet) and labels.scheme == scheme
        label_set = labels if same and isinstance(labels, LabelSet) else LabelSet(names, scheme)
        if isinstance(tokens, str):
            raise ValueError(f"tokens is the text {tokens!r}; expected a list of {T} tokens")
        words = ("",) * T if tokens is None else tuple(tokens)
        if len(words) != T:
            raise ValueError(f"{len(words)} tokens are given, but the scores cover {T}")
        for t, word in enumerate(words):
            if not isinstance(word, str):
                raise ValueError(f"token {t} is {word!r}: tokens are texts")
        object.__setattr__(self, "lattice", lattice)
        object.__setattr__(self, "labels", label_set)
        object.__setattr__(self, "tokens", words)

    def __len__(self) -> int:
        """Number of tokens, T."""
        return self.lattice.shape[0]

    def __repr__(self) -> str:
        T, K = self.lattice.shape
        return f"Trellis({T} tokens, {K} labels, {self.labels.scheme})"

    def ids(self, labelling: Iterable[object]) -> NDArray[np.int64]:
        """Label ids (T,) of a labelling given as names or ids."""
        ids = self.labels.ids(labelling)
        if len(ids) != len(self):
            raise ValueError(f"the labelling has {len(ids)} labels, but there are {len(self)} tokens")
        return ids

    def score(self, labelling: Iterable[object]) -> float:
        """Score of a labelling, given as names or ids, in nats; -inf where it takes a forbidden step."""
        return nats(self.lattice.score(self.ids(labelling)))
