"""The trellis: what a sequence model hands over, and nothing about rules."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from formulations.compiled.lattice import Lattice, pair_lattice
from formulations.grid import Grid, add, check_total, nats, snap
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
        first, pool = _start(start), snap(edges, "edges")
        K = len(first)
        if pool.shape == (0,):
            pool = pool.reshape(0, K, K)
        if pool.ndim != 3 or pool.shape[1:] != (K, K):
            hint = "; Trellis.second_order takes edges [before, previous, next]" if pool.ndim == 4 else ""
            raise ValueError(
                f"edges has shape {pool.shape}; expected (T-1, {K}, {K}), as start has {K} labels{hint}"
            )
        T = len(pool) + 1
        node = np.zeros((T, K), np.int64)
        node[0] = first
        check_total([("start", first, 1), ("edges", pool, np.ones(T - 1, np.int64))])
        self._set(Lattice(node, pool, np.arange(T - 1)), labels, tokens, scheme)

    @classmethod
    def second_order(
        cls,
        start: ArrayLike,
        first: ArrayLike | None,
        edges: ArrayLike,
        labels: LabelSet | Sequence[str] | None = None,
        tokens: Sequence[str] | None = None,
        *,
        scheme: str = "",
    ) -> "Trellis":
        """A trellis whose scores look at two labels before (Thede and Harper 1999).

        ``score(y) = start[y_0] + first[y_0, y_1] + Σ_{t=2}^{T-1} edges[t-2, y_{t-2}, y_{t-1}, y_t]``, in nats.

        Parameters
        ----------
        start : (K,) log score of label k at token 0, that token's own score included
        first : (K, K) label i at token 0, then j at token 1, token 1's own score included; None or empty for T = 1
        edges : (T-2, K, K, K) label h at t-2, i at t-1, then j at t, token t's own score included; -inf forbids
        labels, tokens, scheme : as in `Trellis`

        Examples
        --------
        >>> trellis = Trellis.second_order([0.0, -1.0], [[0.0, -1.0], [-2.0, 0.5]], [])
        >>> trellis.score([1, 1])
        -0.5
        """
        begin, step, pool = _start(start), snap([] if first is None else first, "first"), snap(edges, "edges")
        K = len(begin)
        T = len(pool) + 2 if step.size else 1
        if step.size and step.shape != (K, K):
            raise ValueError(f"first has shape {step.shape}; expected ({K}, {K}), as start has {K} labels")
        if pool.shape == (0,):
            pool = pool.reshape(0, K, K, K)
        if pool.ndim != 4 or pool.shape[1:] != (K, K, K):
            raise ValueError(
                f"edges has shape {pool.shape}; expected (T-2, {K}, {K}, {K}), as start has {K} labels"
            )
        if T == 1 and len(pool):
            raise ValueError(
                f"first is empty, which is for one token, but there are edges for {len(pool) + 2} tokens; expected "
                f"first ({K}, {K})"
            )
        node = np.zeros((T, K), np.int64)
        node[0] = begin
        check_total([("start", begin, 1), ("first", step, 1), ("edges", pool, np.ones(len(pool), np.int64))])
        first_step = step if T > 1 else np.zeros((K, K), np.int64)
        lattice = pair_lattice(node, first_step, pool, np.arange(len(pool)))
        return cls._from(lattice, labels, tokens, scheme)

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
        first: ArrayLike | None = None,
    ) -> "Trellis":
        """A trellis whose transition scores are the same at every token; the parts are kept apart.

        Parameters
        ----------
        emissions : (T, K) log score of label k at token t
        transitions : (K, K) from, to; or (K, K, K) before, from, to for second order
        start, end : (K,) log score of the first and the last label, or None
        labels, tokens, scheme : as in `Trellis`
        first : (K, K) from, to: the transition into token 1 for second order, where there is no label before; None for 0
        """
        node, pool = snap(emissions, "emissions"), snap(transitions, "transitions")
        if node.ndim != 2 or node.size == 0:
            raise ValueError(f"emissions has shape {node.shape}; expected (T, K) with at least one token")
        T, K = node.shape
        order = 2 if pool.ndim == 3 else 1
        shapes = {"transitions": (K,) * (order + 1), "first": (K, K), "start": (K,), "end": (K,)}
        given = {"first": first, "start": start, "end": end}
        extra = {name: snap(x, name) for name, x in given.items() if x is not None}
        for name, x in {"transitions": pool, **extra}.items():
            if x.shape != shapes[name]:
                raise ValueError(
                    f"{name} has shape {x.shape}; expected {shapes[name]}, as emissions has {K} labels"
                )
        if first is not None and order == 1:
            raise ValueError(f"first goes with transitions of shape {(K,) * 3}; those given have {(K,) * 2}")
        check_total(
            [
                ("emissions", node, np.ones(T, np.int64)),
                ("transitions", pool, max(T - order, 0)),
                *((name, x, min(T - 1, 1) if name == "first" else 1) for name, x in extra.items()),
            ]
        )
        node = node.copy()
        for t, name in ((0, "start"), (-1, "end")):
            node[t] = add(node[t], extra.get(name, np.zeros(K, np.int64)))
        if order == 1:
            lattice = Lattice(node, pool[None], np.zeros(T - 1, np.int64))
        else:
            step = extra.get("first", np.zeros((K, K), np.int64))
            lattice = pair_lattice(node, step, pool[None], np.zeros(max(T - 2, 0), np.int64))
        return cls._from(lattice, labels, tokens, scheme)

    @classmethod
    def _from(
        cls,
        lattice: Lattice,
        labels: LabelSet | Sequence[str] | None,
        tokens: Sequence[str] | None,
        scheme: str,
    ) -> "Trellis":
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
        order = "" if self.order == 1 else ", second order"
        return f"Trellis({T} tokens, {K} labels, {self.labels.scheme}{order})"

    @property
    def order(self) -> int:
        """How many labels before its own a score looks at, 1 or 2."""
        return 2 if self.lattice.is_second_order else 1

    def ids(self, labelling: Iterable[object]) -> NDArray[np.int64]:
        """Label ids (T,) of a labelling given as names or ids."""
        ids = self.labels.ids(labelling)
        if len(ids) != len(self):
            raise ValueError(f"the labelling has {len(ids)} labels, but there are {len(self)} tokens")
        return ids

    def score(self, labelling: Iterable[object]) -> float:
        """Score of a labelling, given as names or ids, in nats; -inf where it takes a forbidden step."""
        return nats(self.lattice.score(self.ids(labelling)))


def _start(scores: ArrayLike) -> Grid:
    start = snap(scores, "start")
    if start.ndim != 1 or not start.size:
        raise ValueError(f"start has shape {start.shape}; expected (K,), one score for each label")
    return start
