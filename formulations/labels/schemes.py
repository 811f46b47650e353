"""The labelling schemes: the fields and the role of a label, by its name, and notices about ambiguous or odd names."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from formulations import blocks
from formulations.blocks import of_kinds
from formulations.caches import remembered
from formulations.dtypes import Booleans, Integers

MARKS = {
    "bio": {"B": "B", "I": "I"},
    "iob1": {"B": "B", "I": "I"},
    "iobes": {"B": "B", "I": "I", "E": "E", "S": "S"},
    "bilou": {"B": "B", "I": "I", "L": "E", "U": "S"},
    "bmes": {"B": "B", "M": "I", "E": "E", "S": "S"},
    "paths": {"B": "B", "I": "I"},
    "spans": {"B": "B", "I": "I", "E": "E", "S": "S"},
}
"""For each scheme with prefixes the roles of its letters: B begins a run, I continues it, E ends it, S is a run of one token."""
SCHEMES = ("plain", *MARKS)
CLOSED = ("iobes", "bilou", "bmes", "spans")  # schemes that mark the ends of runs, too
WRITABLE = ("bio", "iob1", "iobes", "bilou", "bmes")
"""Schemes of one level with prefixes; labellings can be converted between them."""
ALIASES = {"iob2": "bio", "bioes": "iobes", "biluo": "bilou"}  # other names of schemes
OUTSIDE = "O"
_ROLES = ("B", "I", "E", "S", "")
_B, _I, _E, _S, _ = range(len(_ROLES))


def scheme_name(scheme: str) -> str:
    """The canonical name of a scheme: `bilou` for `biluo` and `BILOU`; an unknown name is returned as it is."""
    low = scheme.lower() if isinstance(scheme, str) else scheme
    return ALIASES.get(low, low if low in SCHEMES else scheme)


def infer(names: Sequence[str]) -> str:
    """The scheme that fits the names: BIO, or paths where levels are nested, else IOBES, BILOU or BMES, else plain."""
    inside = [name for name in names if name != OUTSIDE]
    for scheme in WRITABLE if inside else ():
        if all(_fits(name, scheme) for name in inside):
            nested = scheme == "bio" and any("/" in name for name in inside)
            return "paths" if nested and all(_fits(name, "paths") for name in inside) else scheme
    return "plain"


def check(names: Sequence[str], scheme: str) -> None:
    """Raise ValueError where a name cannot be read under the scheme."""
    if scheme == "plain":
        return
    for name in names:
        if name != OUTSIDE and not _fits(name, scheme):
            expected = f"O or a prefix of {', '.join(f'{p}-' for p in MARKS[scheme])}"
            raise ValueError(f"label {name!r} does not fit scheme {scheme}: expected {expected}")


def _fits(name: str, scheme: str) -> bool:
    levels = name.split("/") if scheme == "paths" else [name]
    return all(len(level) > 2 and level[1] == "-" and level[0] in MARKS[scheme] for level in levels)


@remembered
def levels(name: str, scheme: str) -> tuple[tuple[str, str], ...]:
    """(field, role) of each level of a label, outermost first; the role is B, I, E or S, empty where there is no prefix."""
    if scheme == "plain" or name == OUTSIDE:
        return ((name, ""),)
    roles = MARKS[scheme]
    if scheme != "paths":
        field = name[2:].partition("/")[0] if scheme == "spans" else name[2:]
        return ((field, roles[name[0]]),)
    result: list[tuple[str, str]] = []
    for component in name.split("/"):
        parent = result[-1][0] + "/" if result else ""
        result.append((parent + component[2:], roles[component[0]]))
    return tuple(result)


def strip(name: str, scheme: str) -> str:
    """The innermost field of a label: `I-title` is `title`."""
    return levels(name, scheme)[-1][0]


def field_names(names: Sequence[str], scheme: str) -> list[str]:
    """Fields in order of first appearance, each prefix path of a hierarchical label included."""
    return list(dict.fromkeys(field for name in names for field, _ in levels(name, scheme)))


_BEGINS = np.array([[False, True, True], [False, False, True]])
"""Whether a step begins a run: by whether a run may go on before it; to a label of another field, one that goes on, one that begins."""


@dataclass(frozen=True)
class Levels:
    """The levels (D, K) of K labels, outermost first: numbers of fields, -1 below the innermost level, and their roles."""

    names: list[str]
    field: Integers
    begins: Booleans  # roles B and S
    continues: Booleans  # roles I and E
    open: Booleans  # a run of the field may go on after the label; so it may where there is no prefix

    @classmethod
    def of(cls, names: Sequence[str], scheme: str) -> "Levels":
        read = [levels(name, scheme) for name in names]
        numbers = {name: n for n, name in enumerate(field_names(names, scheme))}
        field, role = np.full((2, max(map(len, read)), len(read)), -1, np.int64)
        for k, path in enumerate(read):
            for d, (name, mark) in enumerate(path):
                field[d, k], role[d, k] = numbers[name], _ROLES.index(mark)
        begins, continues = np.isin(role, (_B, _S)), np.isin(role, (_I, _E))
        return cls(list(numbers), field, begins, continues, (field >= 0) & ~np.isin(role, (_E, _S)))

    def fields(self) -> Iterator[tuple[str, Booleans, Booleans]]:
        """Each field, its labels `member` (K,), and the steps `begins` (K+1, K) that begin its runs; row 0 of these is START."""
        opens = np.logical_or.accumulate(self.begins, axis=0)
        depth = [int(np.flatnonzero((self.field == n).any(axis=1))[0]) for n in range(len(self.names))]
        for n, (name, d) in enumerate(zip(self.names, depth, strict=True)):
            member = self.field[d] == n
            open_before = np.append(False, member & self.open[d])
            if len(member) ** 2 < blocks.LARGE:
                begins = member & (opens[d] | ~open_before[:, None])
            else:
                begins = of_kinds(_BEGINS, open_before, member.astype(np.int64) + (member & opens[d]))
            yield name, member, begins

    def change(self) -> Booleans:
        """(K+1, K) steps that begin a run of any field or enter `O`; START changes nothing."""
        steps = np.zeros((len(self.field[0]) + 1, len(self.field[0])), bool)
        for field, begins, is_open in zip(self.field, self.begins, self.open, strict=True):
            steps[1:] |= (field >= 0) & (begins | ~is_open[:, None] | (field[:, None] != field))
        return steps

    def alike(self) -> Booleans:
        """(K, K) pairs of labels that belong to the same fields."""
        same = np.ones((len(self.field[0]),) * 2, bool)
        for field in self.field:
            same &= field[:, None] == field
        return same


def labels_of(field: str, scheme: str) -> list[str]:
    if scheme == "plain" or field == OUTSIDE:
        return [field]
    field = strip(field, scheme) if _fits(field, scheme) else field
    parts = field.split("/") if scheme == "paths" else [field]
    return [
        "/".join(map("-".join, zip(marks, parts, strict=True)))
        for marks in product(MARKS[scheme], repeat=len(parts))
    ]


def run_forms(names: Sequence[str], scheme: str) -> Integers:
    """(K, 6) ids of the labels that a run's first, inner, last and only token have, and its first and only token directly
    after another run of the field; a label itself where there is none.

    At the levels of `paths` above the innermost, a run is assumed to continue.
    """
    read = [levels(name, scheme) for name in names]
    known = {path: k for k, path in reversed(list(enumerate(read)))}
    role_order = ("B", "I", "EI", "SB", "B", "SB")
    if scheme == "iob1":
        role_order = ("IB", "IB", "IB", "IB", "BI", "BI")
    forms = np.empty((len(names), len(role_order)), np.int64)
    for k, path in enumerate(read):
        outer, (field, role) = tuple((f, "I") for f, _ in path[:-1]), path[-1]
        for place, roles in enumerate(role_order):
            candidates = roles if role else ""
            result = (known.get((*above, (field, r))) for r in candidates for above in (outer, path[:-1]))
            forms[k, place] = next((j for j in result if j is not None), k)
    return forms


def write_labels(fields: Sequence[str], begins: Sequence[bool], scheme: str) -> tuple[str, ...]:
    """Label names (T,) in a scheme of one level, given the field of each token, `O` for none, and where runs begin."""
    letters = {role: letter for letter, role in MARKS[scheme].items()}
    names = []
    for t, (field, begins_here) in enumerate(zip(fields, begins, strict=True)):
        again = t > 0 and fields[t - 1] == field
        ended = t + 1 == len(fields) or begins[t + 1] or fields[t + 1] != field
        role = ("S" if ended else "B") if begins_here else "E" if ended else "I"
        if scheme not in CLOSED:
            role = "B" if begins_here and (again or scheme == "bio") else "I"
        names.append(OUTSIDE if field == OUTSIDE else f"{letters[role]}-{field}")
    return tuple(names)


def begins(labels: Sequence[str], scheme: str) -> list[bool]:
    """For each of T labels of a scheme of one level whether a run, or a stretch of `O`, begins."""
    read = [levels(name, scheme)[0] for name in labels]
    return [
        t == 0 or read[t - 1][0] != field or role in ("B", "S") or read[t - 1][1] in ("E", "S")
        for t, (field, role) in enumerate(read)
    ]


def invalid(read: Levels, scheme: str) -> tuple[Booleans, Booleans]:
    """Steps (K+1, K) [START and labels, next] and last labels (K,) that break the scheme; `valid_scheme` says how."""
    K = read.field.shape[1]
    step, last = np.zeros((K + 1, K), bool), np.zeros(K, bool)
    if scheme in CLOSED:
        field, begins, continues, is_open = (
            each[-1] for each in (read.field, read.begins, read.continues, read.open)
        )
        opened = np.where(is_open & (begins | continues), field, -1)
        step[:] = np.append(-1, opened)[:, None] != np.where(continues, field, -1)
        last = opened >= 0
    elif scheme == "iob1":
        step[:] = read.begins[-1] & (np.append(-1, read.field[-1])[:, None] != read.field[-1])
    elif scheme != "plain":
        begun = np.zeros(K, bool)
        for field, begins, continues in zip(read.field, read.begins, read.continues, strict=True):
            step |= continues & (begun | (np.append(-1, field)[:, None] != field))
            begun |= begins
    return step, last


_PREFIXED = re.compile(r"[BILUMES][-_].", re.DOTALL)
_NESTED = re.compile(r"[BILUMES]-[^/]+(/[BILUMES]-[^/]+)+")
_ALONE = ("BI", "BIES", "BILU", "BMES")


def remark(names: Sequence[str], scheme: str) -> str:
    """One line about how ambiguous or odd names were read in the scheme that was inferred from them; empty where there are none."""
    inside = [name for name in names if name != OUTSIDE]
    if scheme == "plain":
        return _plain(inside)
    if scheme != "paths" and any(_NESTED.fullmatch(name) for name in inside):
        name = next(name for name in inside if _NESTED.fullmatch(name))
        return (
            f"label {name!r} looks nested, but levels are read with the prefixes B- and I- only: taken as {scheme}, with a "
            f"field {levels(name, scheme)[0][0]!r}"
        )
    return "" if scheme in ("paths", "iob1") else _unfinished(inside, scheme)


def _plain(names: list[str]) -> str:
    if any(set(names) == set(marks) for marks in _ALONE):
        return (
            f"labels {', '.join(names)} are prefixes without a field: taken as plain, each a field of its own; write them "
            'as in "B-x"'
        )
    prefixed = [name for name in names if _PREFIXED.match(name)]
    bare = [name for name in names if name not in prefixed]
    repeats = len({name[2:] for name in prefixed}) < len(prefixed)
    if not prefixed or (bare and not repeats and not any(name[0] in "BI" for name in prefixed)):
        return ""
    marks = ", ".join(sorted({name[:2] for name in prefixed}))
    what = (
        f"some labels begin with {marks} and others, such as {bare[0]!r}, do not"
        if bare
        else f"labels begin with {marks}, which no one scheme has"
    )
    return (
        f"{what}: taken as plain, so that {prefixed[0]!r} is a field of its own and there is no scheme to keep; mend the "
        'labels, or take them as they are with scheme="plain"'
    )


def _unfinished(names: list[str], scheme: str) -> str:
    """A notice about a field of which no run of several tokens can begin, or end."""
    roles: dict[str, set[str]] = {}
    for name in names:
        field, role = levels(name, scheme)[0]
        roles.setdefault(field, set()).add(role)
    letters = {role: letter for letter, role in MARKS[scheme].items()}
    for field, present in roles.items():
        seen = " and ".join(f"{letters[role]}-{field}" for role in sorted(present))
        seen = f"there {'are' if len(present) > 1 else 'is'} {seen}"
        if present & {"I", "E"} and "B" not in present:
            other = '; where I- may begin a run, take scheme="iob1"' if scheme == "bio" else ""
            return f"taken as {scheme}, although {seen} but no B-{field}, with which its runs begin{other}"
        if scheme in CLOSED and present & {"B", "I"} and "E" not in present:
            end = letters["E"]
            return f"taken as {scheme}, although {seen} but no {end}-{field}, with which its runs end"
    return ""
