"""Labels, the fields that rules speak of, and the schemes that map one to the other."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from formulations.dtypes import Booleans, Integers
from formulations.labels import schemes
from formulations.labels.scheme_notices import remark
from formulations.messages import brief, suggestion

OUTSIDE = "O"
MOST_LABELS = 2**11
"""Labels of a set; tables of steps grow with their square."""
EACH_FIELD = "each field"
"""In place of a field: one ground rule for every field but `O`."""
DEEPEST = 100
"""How deep groups may lie inside one another."""


@dataclass(frozen=True, eq=False, repr=False)
class Group:
    """Named labels or fields that a rule treats as one: "any kind of description tag".

    Groups of equal names and members are equal. However often groups share a member, each is looked at once.

    Parameters
    ----------
    name : shown in rule names and messages
    members : names of fields, labels or other groups
    complement : the group is every label that is *not* a member

    Raises
    ------
    ValueError
        for a member that is neither a name nor a group, and groups that lie too deep inside one another.
    """

    name: str
    members: tuple["str | Group", ...]
    complement: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"group {brief(self.name)}: a name is a non-empty text")
        if isinstance(self.members, str | Group) or not isinstance(self.members, Iterable):
            raise ValueError(
                f"group {self.name!r}: members is {brief(self.members)}; expected a list of names"
            )
        members = tuple(self.members)
        for member in members:
            if not isinstance(member, str | Group) or not member:
                raise ValueError(f"group {self.name!r}: member {brief(member)} is neither a name nor a group")
        members = tuple(dict.fromkeys(members))
        depth = 1 + max((member._depth for member in members if isinstance(member, Group)), default=0)
        if depth > DEEPEST:
            raise ValueError(f"group {self.name!r}: groups lie more than {DEEPEST} deep inside one another")
        object.__setattr__(self, "members", members)
        object.__setattr__(self, "complement", bool(self.complement))
        object.__setattr__(self, "_depth", depth)
        object.__setattr__(self, "_key", self._digest())

    _depth: int = field(init=False, default=1)
    _key: bytes = field(init=False, default=b"")

    def _digest(self) -> bytes:
        digest = hashlib.sha256(
            f"{self.complement} {len(self.name)} {self.name}".encode("utf-8", "surrogatepass")
        )
        for member in self.members:
            if isinstance(member, Group):
                digest.update(b"group" + member._key)
            else:
                digest.update(b"name." + hashlib.sha256(member.encode("utf-8", "surrogatepass")).digest())
        return digest.digest()

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, Group) else NotImplemented

    def __hash__(self) -> int:
        return int.from_bytes(self._key[:8])

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        members = ", ".join(map(str, self.members[:6])) + (", …" if len(self.members) > 6 else "")
        return f"Group({self.name!r}, {'not ' * self.complement}[{members}])"

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name in the group and in those inside it."""
        inner = (member.names if isinstance(member, Group) else {member} for member in self.members)
        return frozenset().union(*inner)

    @cached_property
    def parts(self) -> tuple["str | Group", ...]:
        """Names and complements that make up the group, groups inside it written out; for a complement, itself."""
        if self.complement:
            return (self,)
        inner = (member.parts if isinstance(member, Group) else (member,) for member in self.members)
        return tuple(dict.fromkeys(part for parts in inner for part in parts))


Selector = str | Group | Sequence[str | Group]
"""What rules name: a field or label, a group, or several of them."""


def holds(selector: Selector, test: Callable[[str], bool]) -> bool:
    """Whether something belongs to the field, label or group, given the names that it has; each group counts once."""
    known: dict[Group, bool] = {}

    def result(selector: Selector) -> bool:
        if isinstance(selector, str):
            return test(selector)
        if not isinstance(selector, Group):
            return any(map(result, selector))
        if selector not in known:
            known[selector] = any(map(result, selector.members)) != selector.complement
        return known[selector]

    return result(selector)


def renamed(selector: Selector, names: Mapping[str, Selector]) -> Selector:
    """The selector with names replaced; each group is made anew once."""
    known: dict[Group, Group] = {}

    def made(value: Selector) -> Selector:
        if isinstance(value, str):
            return names.get(value, value)
        if not isinstance(value, Group):
            return tuple(one for member in value for one in listed(made(member)))
        if value.names.isdisjoint(names):
            return value
        if value not in known:
            members = tuple(one for member in value.members for one in listed(made(member)))
            known[value] = Group(value.name, members, value.complement)
        return known[value]

    return made(selector)


def listed(selector: Selector) -> tuple["str | Group", ...]:
    """The names and groups of a selector."""
    return (selector,) if isinstance(selector, str | Group) else tuple(selector)


def group(name: str, members: Iterable["str | Group"]) -> Group:
    """A named group of labels or fields."""
    return Group(name, tuple(members))


def other_than(*members: "str | Group") -> Group:
    """Every label that belongs to none of the members."""
    return Group(f"other than {', '.join(map(str, members))}", members, complement=True)


@dataclass(frozen=True)
class Field:
    """What a rule counts, as two arrays over K labels.

    member : (K,) whether a label belongs to the field
    begins : (K+1, K) whether a step [previous, next] begins a run; row 0 is START, row k+1 label k
    """

    name: str
    member: Booleans = field(repr=False)
    begins: Booleans = field(repr=False)


@dataclass(frozen=True)
class LabelSet:
    """K label names, read under a scheme.

    Parameters
    ----------
    names : K different, non-empty names
    scheme : "plain", "bio" (or "iob2"), "iob1", "iobes" (or "bioes"), "bilou" (or "biluo"), "bmes" or "paths", in letters
        of any case; inferred from the names where not given, and then never IOB1, whose names are those of BIO
    declared : fields that rules may name although no label carries them; they count as absent
    notice : what was taken where the scheme was inferred from names that are ambiguous or odd; else empty

    Raises
    ------
    ValueError
        for no names, a name given twice, an empty name, an unknown scheme or a name that does not fit it.
    """

    names: tuple[str, ...]
    scheme: str = ""
    declared: frozenset[str] = frozenset()
    notice: str = field(init=False, default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        names = tuple(self.names)
        if not names:
            raise ValueError("a label set needs at least one label")
        check_number(len(names))
        for position, name in enumerate(names):
            if not isinstance(name, str) or not name:
                raise ValueError(f"label {position} is {name!r}: a label is a non-empty text")
            if name in names[:position]:
                raise ValueError(f"label {name!r} is given twice: names must differ")
        object.__setattr__(self, "names", names)
        scheme = schemes.named(self.scheme) or schemes.infer(names)
        if scheme not in schemes.SCHEMES:
            raise ValueError(f"no scheme {scheme!r}; there are {', '.join(schemes.SCHEMES)}")
        object.__setattr__(self, "notice", "" if self.scheme else remark(names, scheme))
        object.__setattr__(self, "scheme", scheme)
        schemes.check(names, scheme)

    def __len__(self) -> int:
        return len(self.names)

    def declaring(self, fields: Iterable[str]) -> "LabelSet":
        """The same labels, with more fields that may be absent."""
        return _label_set(self.names, self.scheme, self.declared | frozenset(fields))

    def ids(self, labelling: Iterable[object]) -> Integers:
        """Label ids (T,) of a labelling given as ids or names."""
        return np.array([self._id(label, t) for t, label in enumerate(labelling)], np.int64)

    def _id(self, label: object, position: int) -> int:
        if isinstance(label, str):
            if label not in self._index:
                raise ValueError(f"token {position}: no label {label!r}{suggestion(label, self.names)}")
            return self._index[label]
        if isinstance(label, int | np.integer) and 0 <= int(label) < len(self):
            return int(label)
        raise ValueError(
            f"token {position}: {label!r} is neither a label name nor an id from 0 to {len(self) - 1}"
        )

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.names)}

    @cached_property
    def fields(self) -> dict[str, Field]:
        """Every field that a label carries, in order of first appearance; `O` among them."""
        return {
            name: Field(name, *schemes.field_arrays(self.names, name, self.scheme))
            for name in schemes.field_names(self.names, self.scheme)
        }

    @cached_property
    def each_field(self) -> tuple[Field, ...]:
        """What "each field" stands for: every field but `O`."""
        return tuple(f for f in self.fields.values() if f.name != OUTSIDE)

    @cached_property
    def change(self) -> Booleans:
        """(K+1, K) steps that begin a run of any field or enter `O`; START changes nothing."""
        steps = np.any([f.begins for f in self.fields.values()], axis=0)
        steps[0] = False
        return steps

    @cached_property
    def joins(self) -> Booleans:
        """(K, K) steps that go on in the same run of every field."""
        member = np.array([f.member for f in self.fields.values()])
        same: Booleans = (member[:, :, None] == member[:, None, :]).all(axis=0)
        return same & ~self.change[1:]

    @cached_property
    def run_forms(self) -> Integers:
        """(K, 6) labels of the first, an inner, the last and the only token of a run of the kind of each label, and of the
        first and the only token directly after another run of the field."""
        return schemes.run_forms(self.names, self.scheme)

    @cached_property
    def invalid(self) -> tuple[Booleans, Booleans]:
        """Steps (K+1, K) and last labels (K,) that the scheme itself rules out."""
        return schemes.invalid(self.names, self.scheme)

    def field(self, selector: "Selector | Group") -> Field:
        """The field, label or group that a rule names.

        A run of a group is a maximal stretch of its labels, cut where one of its fields begins anew.

        Raises
        ------
        ValueError
            for a name that is neither field nor label nor declared, with the nearest known name.
        """
        if isinstance(selector, Group):
            return self._group(selector)
        if not isinstance(selector, str):
            return self._group(
                Group(brief(" or ".join(map(str, selector)), quoted=False) or "nothing", tuple(selector))
            )
        if selector in self.fields:
            return self.fields[selector]
        if selector == EACH_FIELD:
            raise ValueError(f'"{EACH_FIELD}" does not fit here: name a field, or a list of them')
        member = np.zeros(len(self), bool)
        if selector in self._index:
            member[self._index[selector]] = True
        elif selector not in self.declared:
            known = [*self.fields, *self.names, *self.declared]
            raise ValueError(f'no field "{selector}"{suggestion(selector, known)}')
        return Field(selector, member, _maximal(member))

    def _members(self, group: Group, fields: Mapping[str, Field]) -> Booleans:
        """(K,) the labels of a group."""
        known: dict[Group, Booleans] = {}

        def result(member: str | Group) -> Booleans:
            if isinstance(member, str):
                return fields[member].member
            if member not in known:
                known[member] = np.any([result(m) for m in member.members], axis=0) != member.complement
            return known[member]

        return result(group)

    def _group(self, group: Group) -> Field:
        if not group.members:
            raise ValueError("a group without a member: name at least one field")
        fields = {name: self.field(name) for name in sorted(group.names)}
        member = self._members(group, fields)
        if group.complement:
            return Field(group.name, member, _maximal(member))
        parts = [fields[part] for part in group.parts if isinstance(part, str)]
        begins = _maximal(member)
        for part in parts:
            begins[1:] |= part.begins[1:] & part.member[:, None] & part.member[None, :]
        return Field(group.name, member, begins)


def check_number(labels: int) -> None:
    """Raise ValueError for more labels than tables of steps can be made for."""
    if labels > MOST_LABELS:
        raise ValueError(f"{labels} labels; expected at most {MOST_LABELS}, as steps between them are tables")


@lru_cache(maxsize=64)
def _label_set(names: tuple[str, ...], scheme: str, declared: frozenset[str]) -> LabelSet:
    return LabelSet(names, scheme, declared)


def _maximal(member: Booleans) -> Booleans:
    """Begins of maximal stretches of member labels, (K+1, K)."""
    before = np.concatenate([[False], member])
    return ~before[:, None] & member[None, :]
