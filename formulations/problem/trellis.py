"""The trellis: the scores of a sequence model, without rules."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from formulations.arguments import instances, texts
from formulations.arguments import names as frozen_names
from formulations.automata.lattice import Lattice
from formulations.dtypes import Floats, Integers
from formulations.files import Unreadable, json_bytes, write_whole
from formulations.grid import all_nats, nats
from formulations.labels.label_set import LabelSet, check_label_count, named_labels
from formulations.messages import counted
from formulations.plain_values import positions, read_values, strings, table, text
from formulations.problem import score_arrays as arrays
from formulations.problem.known_labels import (
    Given,
    Known,
    allowed_ids,
    known_names,
    plain_given,
    without_never,
)
from formulations.score_numbers import check_columns

Labels = LabelSet | Sequence[str] | Mapping[Any, str] | None
LARGEST_FILE = 2**31  # largest size of a file in bytes


@dataclass(frozen=True, init=False)
class Trellis:
    """Log scores of every labelling of T tokens with K labels (Stokman 2011, eq. 41; Fersini 2014, eq. 12).

    An empty sequence, T = 0, is created by `from_emissions`; it has the empty labelling of score 0, to which no rule applies.

    ``score(y) = start[y_0] + Σ_{t=1}^{T-1} edges[t-1, y_{t-1}, y_t]``, in nats.

    Parameters
    ----------
    start : array_like of shape (K,)
        Log score of label k at token 0, including the token's own score.
    edges : array_like of shape (T-1, K, K)
        Log score of label i at t-1, then j at t, including the score of token t; -inf forbids.
    labels : LabelSet or sequence of str or mapping of object to str, optional
        K names in the order of the scores, a mapping from ids to names, or a LabelSet; `0`, `1`, … by default.
    tokens : sequence of str, optional
        T texts that rules may look at. On a trellis without tokens, a rule or a feature that looks at tokens is an error.
    scheme : str, optional
        Scheme of the names, as for `LabelSet`; inferred by default.
    never : iterable of str, optional
        Labels that are never predicted, such as `[PAD]`, in addition to those of a label set. They are forbidden at every
        token, and belong to no field; the scheme is that of the other labels.

    Raises
    ------
    ValueError
        For unordered labels, wrong shapes or numbers of labels, NaN, +inf, and totals beyond 2^31 nats.

    Examples
    --------
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> trellis.score(["b", "b"])
    -0.5
    """

    lattice: Lattice
    labels: LabelSet
    tokens: tuple[str, ...]
    token_scores: ClassVar[Any] = None
    """The `TokenScores` from which the lattice is computed at first access; None if the lattice was given."""
    _given: ClassVar[tuple[tuple[int, tuple[int, ...]], ...]] = ()
    """Allowed label ids of some tokens."""

    def __init__(
        self,
        start: ArrayLike,
        edges: ArrayLike,
        labels: Labels = None,
        *,
        tokens: Sequence[str] | None = None,
        scheme: str = "",
        never: Iterable[str] = (),
    ) -> None:
        self.__dict__.update(_attributes(arrays.dense(start, edges), labels, tokens, scheme, never))

    @classmethod
    def second_order(
        cls,
        start: ArrayLike,
        first: ArrayLike | None,
        edges: ArrayLike,
        labels: Labels = None,
        *,
        tokens: Sequence[str] | None = None,
        scheme: str = "",
        never: Iterable[str] = (),
    ) -> "Trellis":
        """A trellis whose scores depend on two previous labels (Thede and Harper 1999).

        ``score(y) = start[y_0] + first[y_0, y_1] + Σ_{t=2}^{T-1} edges[t-2, y_{t-2}, y_{t-1}, y_t]``, in nats.
        Errors as for `Trellis`.

        Parameters
        ----------
        start : array_like of shape (K,)
            Log score of label k at token 0, including the token's own score.
        first : array_like of shape (K, K)
            Log score of label i at token 0, then j at token 1, including the score of token 1; None or empty for T = 1.
        edges : array_like of shape (T-2, K, K, K)
            Log score of label h at t-2, i at t-1, then j at t, including the score of token t; -inf forbids.
        labels, tokens, scheme, never : LabelSet, iterable of str or str, optional
            See `Trellis`.

        Returns
        -------
        Trellis
            The trellis, with `order` 2.

        Examples
        --------
        >>> trellis = Trellis.second_order([0.0, -1.0], [[0.0, -1.0], [-2.0, 0.5]], [])
        >>> trellis.score([1, 1])
        -0.5
        """
        return cls._from(arrays.dense_pairs(start, first, edges), labels, tokens, scheme, never)

    @classmethod
    def from_emissions(
        cls,
        emissions: ArrayLike,
        transitions: ArrayLike,
        *,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
        labels: Labels = None,
        tokens: Sequence[str] | None = None,
        scheme: str = "",
        first: ArrayLike | None = None,
        never: Iterable[str] = (),
    ) -> "Trellis":
        """A trellis from the emission scores of tokens and one table of transition scores.

        The two tables are stored as they are: no (T-1, K, K) array is built. Errors as for `Trellis`.

        Parameters
        ----------
        emissions : array_like of shape (T, K)
            Log score of label k at token t; T may be 0.
        transitions : array_like of shape (K, K) or (K, K, K)
            Scores of steps [from, to], or [before, from, to] for second order.
        start, end : array_like of shape (K,), optional
            Log scores of the first and of the last label; zeros by default.
        labels, tokens, scheme : LabelSet or sequence of str, sequence of str or str, optional
            See `Trellis`.
        first : array_like of shape (K, K), optional
            Scores of the step into token 1 [from, to] for second order; zeros by default.
        never : iterable of str, optional
            Labels that are never predicted; see `Trellis`.

        Returns
        -------
        Trellis
            The trellis, of second order if `transitions` has three axes.

        Examples
        --------
        >>> trellis = Trellis.from_emissions([[0.0, 1.0], [2.0, 0.0]], [[0.5, 0.0], [0.0, 0.5]], labels=["a", "b"])
        >>> trellis.score(["b", "a"])
        3.0
        """
        lattice = arrays.factored(emissions, transitions, start, end, first)
        result = cls._from(lattice, labels, tokens, scheme, never)
        check_columns(emissions, result.labels.names, "emissions")
        return result

    @classmethod
    def joined(cls, trellises: Sequence["Trellis"]) -> "Trellis":
        """Concatenate trellises of the same labels and order.

        The score of the result is the sum of the scores of its parts.

        Parameters
        ----------
        trellises : sequence of Trellis
            At least one trellis.

        Returns
        -------
        Trellis
            The trellis of all tokens.

        Raises
        ------
        ValueError
            If there are none, if they differ in labels or order, and for totals beyond 2^31 nats.
        """
        trellises = instances(trellises, Trellis, "trellises", "a Trellis")
        if not trellises:
            raise ValueError("no trellis to join")
        first = trellises[0]
        for number, each in enumerate(trellises):
            if (each.labels, each.order) != (first.labels, first.order):
                raise ValueError(f"trellis {number} differs from the first one in its labels or its order")
        parts = [each for each in trellises if len(each)] or [first]
        lattice = arrays.joined([each.lattice for each in parts])
        result = cls._from(lattice, first.labels, [word for each in parts for word in each.tokens], "")
        begins = [0, *accumulate(map(len, trellises))]
        known = {
            begin + t: ids for begin, each in zip(begins, trellises, strict=False) for t, ids in each._given
        }
        return result.with_given(known)

    def with_given(self, given: Given | None) -> "Trellis":
        """Restrict tokens to known labels, or to sets of labels (Liao et al. 2009, section 2).

        All other labels of these tokens are forbidden; scores do not change. If the scores forbid all known labels of a token, no
        labelling is left.

        Parameters
        ----------
        given : mapping of int to str, int or set, or None
            Label names or ids by position, from 0, or sets of allowed labels (also as lists or tuples), such as
            ``{3: {"title", "author"}, 7: "O"}``. They are intersected with earlier known labels.

        Returns
        -------
        Trellis
            The trellis, with these labels as `given`.

        Raises
        ------
        ValueError
            For a position out of range, an unknown label, and a token without a label left.

        Examples
        --------
        >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
        >>> known = trellis.with_given({0: "b"})
        >>> known.given, known.score(["a", "a"]), known.score(["b", "b"])
        ({0: 'b'}, -inf, -0.5)
        """
        before = dict(self._given)
        allowed = allowed_ids(given, self.labels, len(self), before)
        if not allowed:
            return self
        every = tuple(sorted((before | allowed).items()))
        return self._of(
            lattice=self.lattice.only(allowed), labels=self.labels, tokens=self.tokens, _given=every
        )

    def with_never(self, never: Iterable[str], *, absent: bool = False) -> "Trellis":
        """Add labels that are never predicted, such as `[PAD]`.

        They are forbidden at every token and belong to no field; an inferred scheme is inferred again from the other labels.

        Parameters
        ----------
        never : iterable of str
            Label names.
        absent : bool, default False
            Whether to ignore names that are no labels.

        Returns
        -------
        Trellis
            The trellis without these labels.

        Raises
        ------
        ValueError
            For an unknown label, and if no label is left in the set or among the known labels of a token.

        Examples
        --------
        >>> trellis = Trellis([0.0, 1.0, 9.0], [], labels=["a", "b", "[PAD]"]).with_never(["[PAD]"])
        >>> trellis.start.tolist(), list(trellis.labels.fields)
        ([0.0, 1.0, -inf], ['a', 'b'])
        """
        wanted = frozen_names(never, "never")
        labels = self.labels.with_never(name for name in wanted if not absent or name in self.labels)
        if labels is self.labels:
            return self
        given = tuple((t, without_never(t, ids, labels)) for t, ids in self._given)
        if self.token_scores is not None and "lattice" not in self.__dict__:
            return self._of(token_scores=self.token_scores.of(labels), labels=labels, tokens=self.tokens)
        lattice = self.lattice.without(labels.never_ids)
        return self._of(lattice=lattice, labels=labels, tokens=self.tokens, _given=given)

    @classmethod
    def _from(
        cls,
        lattice: Lattice,
        labels: Labels,
        tokens: Sequence[str] | None,
        scheme: str,
        never: Iterable[str] = (),
    ) -> "Trellis":
        return cls._of(**_attributes(lattice, labels, tokens, scheme, never))

    @classmethod
    def _of(cls, **attributes: Any) -> "Trellis":
        self = cls.__new__(cls)
        self.__dict__.update(attributes)
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name != "lattice" or self.token_scores is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            lattice = self.__dict__["lattice"] = self.token_scores.lattice(self.tokens)
            return lattice

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "lattice": self.lattice}
        state.pop("token_scores", None)
        return state

    def __len__(self) -> int:
        """Number of tokens, T."""
        return len(self.tokens)

    def __repr__(self) -> str:
        order = "" if self.order == 1 else ", second order"
        known = f", {len(self._given)} known" if self._given else ""
        return f"Trellis({counted(len(self), 'token')}, {counted(len(self.labels), 'label')}, {self.labels.notation}{order}{known})"

    @property
    def given(self) -> dict[int, Known]:
        """Known labels by position, a tuple for several; other labels are forbidden there. See `with_given`."""
        return known_names(self._given, self.labels)

    @property
    def order(self) -> int:
        """The number of previous labels that a score depends on, 1 or 2."""
        return 1 if self.token_scores is not None else self.lattice.order

    @property
    def start(self) -> Floats:
        """(K,) score of each label at token 0, including the token's own score, nats; a new array. ValueError for an empty trellis."""
        if not len(self):
            raise ValueError("an empty trellis has no first token: read emissions and transitions")
        return all_nats(self.lattice.node[0, : len(self.labels)])

    @property
    def edges(self) -> Floats:
        """(T-1, K, K) score of label i at token t, then j at t+1, including the score of token t+1, nats.

        A new array at each access, of 8 · (T-1) · K² bytes. For second order, it is (T-2, K, K, K), and `first` is the step into
        token 1, as in `Trellis.second_order`.
        """
        scores, K = all_nats(self.lattice.edge_scores()), len(self.labels)
        return scores if self.order == 1 else scores[1:, K:].reshape(-1, K, K, K)

    @property
    def first(self) -> Floats | None:
        """(K, K) score of label i at token 0, then j at token 1, nats, for second order; None for first order or one token."""
        if self.order == 1 or len(self) < 2:
            return None
        return all_nats(self.lattice.edge_scores()[0, : len(self.labels)])

    @property
    def emissions(self) -> Floats:
        """(T, K) score of each label at each token, nats, including start and end scores; a new array.

        The score is ``Σ_t emissions[t, y_t] + Σ_t transitions[t, y_t, y_{t+1}]``. If a trellis was created from `start` and `edges`,
        scores of later tokens are in `transitions`.

        Raises
        ------
        ValueError
            For second order; see `start` and `edges`.
        """
        return all_nats(self._of_first_order.node)

    @property
    def transitions(self) -> Floats:
        """(T-1, K, K) score of label i at token t, then j at t+1, nats, read-only.

        A view of K² numbers if all steps have the same table; otherwise a new array at each access, as large as `edges`. Errors as
        for `emissions`.
        """
        lattice = self._of_first_order
        if len(lattice.pool) == 1:
            return np.broadcast_to(all_nats(lattice.pool[0]), (len(lattice.step), *lattice.pool.shape[1:]))
        scores = all_nats(lattice.pool[lattice.step])
        scores.flags.writeable = False
        return scores

    @property
    def _of_first_order(self) -> Lattice:
        if self.order > 1:
            raise ValueError("scores of second order have no table of emissions: read start, first and edges")
        return self.lattice

    def ids(self, labelling: Iterable[object]) -> Integers:
        """Label ids (T,) of a labelling given as names or ids.

        Parameters
        ----------
        labelling : iterable of object
            T label names or ids.

        Returns
        -------
        ndarray of int, shape (T,)
            Label ids.

        Raises
        ------
        ValueError
            For an unknown label or a wrong number of labels.
        """
        ids = self.labels.ids(labelling)
        if len(ids) != len(self):
            raise ValueError(
                f"the labelling has {counted(len(ids), 'label')} for {counted(len(self), 'token')}"
            )
        return ids

    def score(self, labelling: Iterable[object]) -> float:
        """Score of a labelling, given as names or ids, in nats.

        Parameters and errors as for `ids`.

        Returns
        -------
        float
            The score in nats; -inf if the labelling takes a forbidden step.
        """
        return nats(self.lattice.score(self.ids(labelling)))

    def to_dict(self) -> dict[str, Any]:
        """Plain values: `tokens`, `label_names`, `scheme` and scores in nats, None for -inf; see `from_dict`.

        `ilpinfer decode` reads these keys, except for joined trellises.

        Returns
        -------
        dict of str to object
            Values that JSON can represent.
        """
        absent = sorted(self.labels.optional_fields)
        return {
            "tokens": list(self.tokens),
            "label_names": list(self.labels.names),
            "scheme": self.labels.notation,
            **({"never": sorted(self.labels.never)} if self.labels.never else {}),
            **({"optional_fields": absent} if absent else {}),
            **({"given": plain_given(self.given)} if self._given else {}),
            **arrays.plain_scores(self.lattice),
        }

    @classmethod
    def from_dict(cls, values: Any) -> "Trellis":
        """The trellis of values from `to_dict`, exact to the last bit.

        Parameters
        ----------
        values : object
            A dictionary as `to_dict` returns it.

        Returns
        -------
        Trellis
            The trellis.

        Raises
        ------
        ValueError
            For missing or unknown keys, values of another type, and invalid scores.
        """
        about = ("tokens", "label_names", "scheme")
        keys = {key for form in arrays.FORMS for key in form}
        record = table(values, about, "the trellis", ("optional_fields", "never", "given", "first", *keys))
        scores = {key: x for key, x in record.items() if key in keys or key == "first"}
        fields = strings(record.get("optional_fields", []), "optional_fields")
        names, scheme = strings(record["label_names"], "label_names"), text(record["scheme"], "scheme")
        never = frozenset(strings(record.get("never", []), "never"))
        labels = LabelSet(names, scheme, frozenset(fields), never)
        lattice = arrays.lattice_of(scores, "the trellis")
        result = cls._from(lattice, labels, strings(record["tokens"], "tokens"), "")
        return result.with_given(positions(record.get("given", {}), "given"))

    def save(self, path: str | Path) -> None:
        """Write the trellis as a `.json` or `.json.gz` file.

        The file is written atomically. Equal trellises give equal bytes.

        Parameters
        ----------
        path : str or Path
            A path that ends in `.json` or `.json.gz`.

        Raises
        ------
        ValueError
            For another suffix.
        """
        try:
            write_whole(path, json_bytes(path, self.to_dict()))
        except Unreadable as error:
            raise Unreadable(f"{path}: {error}") from None

    @classmethod
    def load(cls, path: str | Path) -> "Trellis":
        """Read a file from `save`.

        Parameters
        ----------
        path : str or Path
            A file from `save`.

        Returns
        -------
        Trellis
            The trellis.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            For an invalid file; the message names file, place and value.
        """
        return read_values(path, LARGEST_FILE, cls.from_dict)


def _attributes(
    lattice: Lattice, labels: Labels, tokens: Sequence[str] | None, scheme: str, never: Iterable[str] = ()
) -> dict[str, Any]:
    """The attributes of a trellis; ValueError if they do not match."""
    T, K = lattice.shape
    check_label_count(K)
    known = named_labels(labels, K, scheme, never)
    words = ("",) * T if tokens is None else texts(tokens, "tokens", counted(T, "token"))
    if len(words) != T:
        raise ValueError(f"{counted(len(words), 'token')} for scores of {counted(T, 'token')}")
    return {"lattice": lattice.without(known.never_ids), "labels": known, "tokens": words}
