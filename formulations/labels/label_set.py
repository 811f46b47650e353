"""Labels, and the fields that a scheme reads from their names."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Any, Protocol, overload

import numpy as np

from formulations.arguments import items, text
from formulations.arguments import names as frozen_names
from formulations.caches import MOST_LABEL_SETS
from formulations.dtypes import Booleans, Integers, LabelIds
from formulations.labels import schemes
from formulations.labels.names import by_id, label_names
from formulations.labels.schemes import OUTSIDE, remark
from formulations.labels.selectors import EACH_FIELD, Group, Selector, holds
from formulations.labels.selectors import selector as check_selector
from formulations.messages import brief, counted, suggestion

NONE = frozenset[str]()
MOST_LABELS = 2**13  # labels of a set; tables of steps are quadratic


@dataclass(frozen=True)
class Field:
    """A field, label or group: its labels (K,), and the steps [previous, next] that begin its runs (K+1, K), START first."""

    name: str
    member: Booleans = field(repr=False)
    begins: Booleans = field(repr=False)


@dataclass(frozen=True, repr=False)
class LabelSet:
    """K label names, read under a scheme.

    Parameters
    ----------
    names : tuple of str
        K different, non-empty names: a list, an array, or a mapping from ids to names. A set is an error, since it has no order.
    scheme : str, optional
        "plain", "io", "bio" (or "iob2"), "iob1", "iobes" (or "bioes"), "bilou" (or "biluo"), "bmes", "bmewo",
        "bmewo+" or "paths"; case is ignored. By default, it is inferred from the names; IOB1 is never inferred, since it has the
        names of BIO. Labels are written `B-x`, or in another form: with the mark after the field, with `:`, `_` or a space,
        in lower case. The form is also inferred, or given as in "bio x-B".
    optional_fields : frozenset of str, optional
        Fields without a label that rules may name; they count as absent. With scheme "spans", for candidates of one text, all
        unknown fields count as absent.
    never : frozenset of str, optional
        Labels that are never predicted, such as `[PAD]`. They belong to no field; the scheme is that of the other labels.

    Attributes
    ----------
    notation : str
        The scheme, with the form of its labels unless it is `B-x`, such as "bio x-B".
    notice : str
        Notice about a scheme that was inferred from ambiguous or unusual names; empty if there is none.

    Raises
    ------
    ValueError
        For no names, names without an order, a name given twice, an empty name, an unknown scheme, a name that
        does not fit it, and a name in `never` that is no label.

    Examples
    --------
    >>> labels = LabelSet(("B-title", "I-title", "B-author", "I-author", "O"))
    >>> labels
    LabelSet(5 labels: B-title, I-title, B-author, I-author, …; scheme bio)
    >>> list(labels.fields)
    ['title', 'author', 'O']
    >>> labels.field("title").member.tolist()
    [True, True, False, False, False]
    >>> LabelSet(("O", "PER-B", "PER-I", "[PAD]"), never=("[PAD]",)).notation
    'bio x-B'
    """

    names: tuple[str, ...]
    scheme: str = ""
    optional_fields: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    notation: str = field(init=False, default="", repr=False)
    notice: str = field(init=False, default="", compare=False, repr=False)
    _inferred: bool = field(init=False, default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        names = label_names(self.names, "names")
        if not names:
            raise ValueError("a label set needs at least one label")
        check_label_count(len(names))
        never = frozen_names(self.never, "never")
        check_never(never, names)
        scheme = schemes.scheme_name(text(self.scheme, "scheme"))
        if scheme and schemes.scheme_of(scheme) not in schemes.SCHEMES:
            raise ValueError(f"no scheme {self.scheme!r}; choose from {', '.join(schemes.SCHEMES)}")
        kept = [name for name in names if name not in never]
        notation = schemes.resolve(kept, scheme) if scheme else schemes.infer(kept)
        schemes.check(kept, notation)
        values = {
            "names": names,
            "optional_fields": frozen_names(self.optional_fields, "optional_fields"),
            "never": never,
            "scheme": schemes.scheme_of(notation),
            "notation": notation,
            "notice": "" if scheme else remark(kept, notation),
            "_inferred": not scheme,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        names = ", ".join(self.names[:4]) + (", …" if len(self) > 4 else "")
        never = f"; never {', '.join(sorted(self.never))}" if self.never else ""
        return f"LabelSet({counted(len(self), 'label')}: {names}; scheme {self.notation}{never})"

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    @overload
    def __getitem__(self, k: int) -> str: ...

    @overload
    def __getitem__(self, k: slice) -> tuple[str, ...]: ...

    def __getitem__(self, k: int | slice) -> str | tuple[str, ...]:
        return self.names[k]

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def with_optional_fields(self, fields: Iterable[str]) -> "LabelSet":
        """Add optional fields.

        Parameters
        ----------
        fields : iterable of str
            Names of fields without a label that rules may name.

        Returns
        -------
        LabelSet
            The same labels, with these fields added to `optional_fields`.
        """
        wanted = self.optional_fields | frozen_names(fields, "fields")
        if wanted == self.optional_fields:
            return self
        return self._like(wanted, self.never)

    def with_never(self, never: Iterable[str]) -> "LabelSet":
        """Add labels that are never predicted; an inferred scheme is inferred again from the other labels.

        Parameters
        ----------
        never : iterable of str
            Names of labels.

        Returns
        -------
        LabelSet
            The same labels, with these added to `never`.

        Raises
        ------
        ValueError
            For a name that is no label, and if no label is left.

        Examples
        --------
        >>> LabelSet(("O", "B-x", "I-x", "[PAD]")).with_never(["[PAD]"])
        LabelSet(4 labels: O, B-x, I-x, [PAD]; scheme bio; never [PAD])
        """
        wanted = self.never | frozen_names(never, "never")
        return self if wanted == self.never else self._like(self.optional_fields, wanted)

    def _like(self, optional_fields: frozenset[str], never: frozenset[str]) -> "LabelSet":
        scheme = "" if self._inferred else self.notation
        return kept_label_set(self.names, scheme, optional_fields, never)

    def ids(self, labelling: Iterable[object]) -> Integers:
        """Label ids (T,) of a labelling given as ids or names.

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
            For an unknown label.
        """
        each = labelling if isinstance(labelling, str) else items(labelling, "labelling", "labels")
        return np.array([self._id(label, t) for t, label in enumerate(each)], np.int64)

    def runs(self, path: LabelIds) -> list[tuple[str, int, int]]:
        """The runs of all fields of all levels, except `O`.

        Parameters
        ----------
        path : ndarray of int, shape (T,)
            Label ids.

        Returns
        -------
        list of tuple of (str, int, int)
            Field, first token, and the token after the last one.
        """
        before, result = np.append(0, path[:-1] + 1), list[tuple[str, int, int]]()
        for each in self.each_field:
            inside, begins = each.member[path], each.begins[before, path]
            stays = np.append(inside[1:] & ~begins[1:], False)
            first, last = np.flatnonzero(begins), np.flatnonzero(inside & ~stays)
            result += [(each.name, f, e + 1) for f, e in zip(first.tolist(), last.tolist(), strict=True)]
        return result

    def _id(self, label: object, position: int) -> int:
        if isinstance(label, str):
            if label not in self._index:
                raise ValueError(f"token {position}: no label {brief(label)}{suggestion(label, self.names)}")
            return self._index[label]
        if isinstance(label, int | np.integer) and not isinstance(label, bool) and 0 <= label < len(self):
            return int(label)
        expected = f"neither a label name nor an id from 0 to {len(self) - 1}"
        raise ValueError(f"token {position}: {brief(label)} is {expected}")

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.names)}

    def levels(self, name: str) -> schemes.Path:
        """The field and the role of each level of a label.

        Parameters
        ----------
        name : str
            A label name.

        Returns
        -------
        tuple of tuple of (str, str)
            Field and role, outermost level first. The role is "B", "I", "E" or "S"; empty for labels without a mark. A label
            that is never predicted has no levels.
        """
        return () if name in self.never else schemes.levels(name, self.notation)

    def strip(self, name: str) -> str:
        """The innermost field of a label.

        Parameters
        ----------
        name : str
            A label name.

        Returns
        -------
        str
            The field; the label itself if it is never predicted.
        """
        return name if name in self.never else schemes.strip(name, self.notation)

    @cached_property
    def _read(self) -> tuple[schemes.Path, ...]:
        return tuple(map(self.levels, self.names))

    @cached_property
    def outside(self) -> str | None:
        """The first label of the field `O`; None if there is none."""
        return next(
            (n for n, p in zip(self.names, self._read, strict=True) if p and p[-1][0] == OUTSIDE), None
        )

    @cached_property
    def never_ids(self) -> Integers:
        """The ids of the labels that are never predicted."""
        return np.array([k for k, name in enumerate(self.names) if name in self.never], np.int64)

    @cached_property
    def nothing_to_keep(self) -> str:
        """The reason why a rule on the scheme has nothing to check; empty otherwise."""
        return schemes.nothing_to_keep([name for name in self.names if name not in self.never], self.notation)

    @cached_property
    def _levels(self) -> schemes.Levels:
        return schemes.Levels.of(self._read)

    @cached_property
    def fields(self) -> dict[str, Field]:
        """All fields of labels, including `O`, in order of first appearance."""
        return {name: Field(name, *arrays) for name, *arrays in self._levels.fields()}

    @cached_property
    def each_field(self) -> tuple[Field, ...]:
        """The fields of "each field": all except `O`."""
        return tuple(f for f in self.fields.values() if f.name != OUTSIDE)

    @property
    def field_names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.each_field)

    @cached_property
    def change(self) -> Booleans:
        """(K+1, K) steps that begin a run of any field or enter `O`; START changes nothing."""
        return self._levels.change()

    @cached_property
    def joins(self) -> Booleans:
        """(K, K) steps that continue the same run of every field."""
        return self._levels.alike() & ~self.change[1:]

    @cached_property
    def run_forms(self) -> Integers:
        """(K, 6): see `schemes.run_forms`."""
        return schemes.run_forms(self._read, self.scheme)

    @cached_property
    def invalid(self) -> tuple[Booleans, Booleans]:
        """Steps (K+1, K) and last labels (K,) that break the scheme."""
        return schemes.invalid(self._levels, self.scheme)

    def field(self, selector: Selector) -> Field:
        """The field, label or group that a rule names.

        A run of a group is a maximal stretch of its labels, split where one of its fields begins a run.

        Parameters
        ----------
        selector : str, Group or list of str
            A field, label, group or list of these.

        Returns
        -------
        Field
            The labels that belong to it, and the steps that begin its runs.

        Raises
        ------
        ValueError
            For a name that is neither field nor label nor declared, with the nearest known name.
        """
        if isinstance(selector, Group):
            return self._group(selector)
        if not isinstance(selector, str):
            selector = check_selector(selector, "field")
            if isinstance(selector, str | Group):
                return self.field(selector)
            name = brief(" or ".join(map(str, selector)), quoted=False) or "nothing"
            return self._group(Group(name, tuple(selector)))
        if selector in self.fields:
            return self.fields[selector]
        if selector == EACH_FIELD:
            raise ValueError(f'"{EACH_FIELD}" does not fit here: name a field, or a list of them')
        member = np.zeros(len(self), bool)
        if selector in self._index:
            member[self._index[selector]] = True
        elif selector not in self.optional_fields and self.scheme not in schemes.OPEN:
            known = [*self.fields, *self.names, *self.optional_fields]
            raise ValueError(f'no field "{selector}"{suggestion(selector, known)}')
        return Field(selector, member, _maximal(member))

    def _group(self, group: Group) -> Field:
        if not group.members:
            raise ValueError("a group without a member: name at least one field")
        fields = {name: self.field(name) for name in sorted(group.names)}
        member: Booleans = holds(group, lambda name: fields[name].member, partial(np.any, axis=0))
        if group.complement:
            return Field(group.name, member, _maximal(member))
        begins = _maximal(member)
        for inner in (fields[leaf] for leaf in group.leaves if isinstance(leaf, str)):
            begins[1:] |= inner.begins[1:] & inner.member[:, None] & inner.member[None, :]
        return Field(group.name, member, begins)


class Labelled(Protocol):
    """An object with a label set, such as a trellis or a decoder."""

    @property
    def labels(self) -> LabelSet: ...


def label_set(value: object) -> LabelSet:
    """The label set of a label set, a trellis, or K names; ValueError for anything else."""
    if isinstance(value, LabelSet):
        return value
    inner = getattr(value, "labels", None)
    if isinstance(inner, LabelSet):
        return inner
    return kept_label_set(label_names(value), "", NONE, NONE)


def named_labels(
    labels: LabelSet | Iterable[str] | Mapping[Any, str] | None,
    K: int,
    scheme: str = "",
    never: Iterable[str] = (),
) -> LabelSet:
    """The label set of K names (`0`, `1`, … for None), with a scheme and labels that are never predicted; cached by names."""
    if isinstance(labels, LabelSet):
        names: tuple[str, ...] = labels.names
    elif labels is None:
        names = tuple(map(str, range(K)))
    else:
        each = [*by_id(labels, "labels")] if isinstance(labels, Mapping) else labels
        plain = isinstance(each, list | tuple) and {*map(type, each)} == {str}
        names = tuple(each) if plain else label_names(each)
    if len(names) != K:
        raise ValueError(f"{counted(len(names), 'label name')} for scores of {counted(K, 'label')}")
    out = frozen_names(never, "never") if not isinstance(never, tuple) or never else NONE
    scheme = schemes.scheme_name(text(scheme, "scheme")) if type(scheme) is not str or scheme else ""
    if not isinstance(labels, LabelSet):
        return kept_label_set(names, scheme, NONE, out)
    if scheme and scheme not in (labels.scheme, labels.notation):
        return kept_label_set(names, scheme, labels.optional_fields, labels.never | out)
    return labels.with_never(out) if out else labels


@lru_cache(MOST_LABEL_SETS)
def kept_label_set(
    names: tuple[str, ...], scheme: str, optional_fields: frozenset[str], never: frozenset[str]
) -> LabelSet:
    """A label set, from a cache if possible."""
    return LabelSet(names, scheme, optional_fields, never)


def check_never(never: Collection[str], names: Collection[str]) -> None:
    """Raise ValueError for a name that is no label, and if no label is left."""
    unknown = next((name for name in sorted(never) if name not in names), None)
    if unknown is not None:
        raise ValueError(f"never: no label {brief(unknown)}{suggestion(unknown, names)}")
    if never and len(never) == len(names):
        raise ValueError("never: every label is named; leave at least one to predict")


def check_label_count(labels: int) -> None:
    """Raise ValueError for too many labels."""
    if labels > MOST_LABELS:
        raise ValueError(
            f"{counted(labels, 'label')}; expected at most {MOST_LABELS}, as steps between them are tables"
        )


def _maximal(member: Booleans) -> Booleans:
    """(K+1, K) steps that begin a maximal stretch of member labels."""
    before = np.concatenate([[False], member])
    return ~before[:, None] & member[None, :]
