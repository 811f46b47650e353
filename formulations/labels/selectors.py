"""Selectors: fields, labels and groups in rules."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from formulations.arguments import flag, instances, items, iterable, text
from formulations.messages import brief
from formulations.parameters import KINDS, ParameterError, ParameterType, each

EACH_FIELD = "each field"
"""Placeholder of a field: one ground rule for every field except `O`."""
DEEPEST = 100  # largest depth of nested groups


@dataclass(frozen=True, eq=False, repr=False)
class Group:
    """Labels or fields that a rule treats as one field: "any kind of description tag".

    Groups with equal names and members are equal. A member of several groups is evaluated once.

    Parameters
    ----------
    name : str
        Name in rule names and messages.
    members : sequence of str or Group
        Names of fields, labels or other groups.
    complement : bool, default False
        The group is every label that is *not* a member.

    Raises
    ------
    ValueError
        For a member that is neither a name nor a group, and for groups that are nested too deeply.

    Examples
    --------
    >>> venue = Group("venue", ("journal", "booktitle"))
    >>> venue
    Group('venue', [journal, booktitle])
    >>> sorted(Group("source", (venue, "editor")).names)
    ['booktitle', 'editor', 'journal']
    >>> from ilpinfer import constraints as C
    >>> C.at_most_runs(C.group("venue", ["journal", "booktitle"]), 1)
    Rule('at_most_runs(venue, 1)', hard)
    """

    name: str
    members: Sequence["str | Group"]
    complement: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"group {brief(self.name)}: a name is a non-empty text")
        text(self.name, "the name of a group")
        members = tuple(items(self.members, f"group {self.name!r}: members", "names"))
        for member in members:
            if not isinstance(member, str | Group) or not member:
                raise ValueError(f"group {self.name!r}: member {brief(member)} is neither a name nor a group")
            if isinstance(member, str):
                text(member, f"group {self.name!r}: a member")
        members = tuple(dict.fromkeys(members))
        depth = 1 + max((member._depth for member in members if isinstance(member, Group)), default=0)
        if depth > DEEPEST:
            raise ValueError(f"group {self.name!r}: groups lie more than {DEEPEST} deep inside one another")
        object.__setattr__(self, "members", members)
        object.__setattr__(self, "complement", flag(self.complement, f"group {self.name!r}: complement"))
        object.__setattr__(self, "_depth", depth)
        object.__setattr__(self, "_key", self._digest())

    _depth: int = field(init=False, default=1)
    _key: bytes = field(init=False, default=b"")

    def _digest(self) -> bytes:
        head = f"{self.complement} {len(self.name)} {self.name}"
        digest = hashlib.sha256(head.encode("utf-8", "surrogatepass"))
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
        inner = (member.names if isinstance(member, Group) else {member} for member in self.members)
        return frozenset().union(*inner)

    @cached_property
    def leaves(self) -> tuple["str | Group", ...]:
        """The names and complements in the group and its inner groups; a complement is its own leaf."""
        if self.complement:
            return (self,)
        inner = (member.leaves if isinstance(member, Group) else (member,) for member in self.members)
        return tuple(dict.fromkeys(leaf for leaves in inner for leaf in leaves))


group = Group
Selector = str | Group | Sequence[str | Group]
"""A field, a label, a group, or several of them."""


def holds(selector: Selector, test: Callable[[str], Any], either: Callable[[list[Any]], Any] = any) -> Any:
    """Test the names of a selector, each group once; `either` combines two results, such as arrays."""
    known: dict[Group, Any] = {}

    def result(selector: Selector) -> Any:
        if isinstance(selector, str):
            return test(selector)
        if not isinstance(selector, Group):
            return either([*map(result, selector)])
        if selector not in known:
            known[selector] = either([*map(result, selector.members)]) != selector.complement
        return known[selector]

    return result(selector)


def substitute(selector: Any, names: Mapping[str, Selector]) -> Any:
    """Replace names in a selector (None stays None); each group is rebuilt once."""
    known: dict[Group, Group] = {}

    def result(value: Any) -> Any:
        if isinstance(value, str):
            return names.get(value, value)
        if not isinstance(value, Group):
            return None if value is None else members(value)
        if value.names.isdisjoint(names):
            return value
        if value not in known:
            known[value] = Group(value.name, members(value.members), value.complement)
        return known[value]

    def members(values: Iterable[str | Group]) -> tuple[str | Group, ...]:
        return tuple(one for value in values for one in alternatives(result(value)))

    return result(selector)


def alternatives(selector: Selector) -> tuple["str | Group", ...]:
    return (selector,) if isinstance(selector, str | Group) else tuple(selector)


def names_in(selectors: Iterable[Selector | None]) -> list[str]:
    members = [member for each in selectors for member in alternatives(each or ())]
    names = (sorted(member.names) if isinstance(member, Group) else [member] for member in members)
    return list(dict.fromkeys(name for each in names for name in each))


def other_than(*members: "str | Group") -> Group:
    """Every label that belongs to none of the members.

    Parameters
    ----------
    *members : str or Group
        Names of fields, labels or groups.

    Returns
    -------
    Group
        The group of all other labels.

    Examples
    --------
    >>> from ilpinfer import constraints as C
    >>> C.starts_with(C.other_than("O")).violations(["O", "title"])
    1
    """
    return Group(f"other than {', '.join(map(str, members))}", members, complement=True)


def selector(value: Any, what: str) -> Selector:
    """Check a field, label or group, or a list of them, which becomes a tuple."""
    if isinstance(value, Group):
        return value
    if isinstance(value, str) and value:
        return text(value, what)
    expected = "a field, a label, a group, or a list of them"
    inner = each(iterable(value, what, expected), lambda member: selector(member, what))
    result = tuple(one for member in inner for one in alternatives(member))
    if not result:
        raise ParameterError(f"{what} is an empty list; expected at least one field")
    return result


def _groups(value: Any, what: str) -> tuple[Group, ...]:
    return tuple(instances(value, Group, what, "a group"))


KINDS[Selector] = ParameterType(
    selector,
    {"$ref": "#/definitions/selector"},
    "str, Group or list of str",
    names_fields=True,
    always_shown=True,
)
KINDS[Sequence[Group]] = KINDS[tuple[Group, ...]] = ParameterType(_groups, {}, "sequence of Group")
