"""The labelling schemes: the fields and the role of a label, by its name, and notices about ambiguous or odd names."""

import re
from collections.abc import Sequence
from itertools import product

import numpy as np

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
OPEN = ("spans",)
"""Schemes of labels that are made for one text, with the fields that it has; all other fields are absent there."""
ALIASES = {"iob2": "bio", "bioes": "iobes", "biluo": "bilou"}  # other names of schemes
OUTSIDE = "O"


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


def field_arrays(names: Sequence[str], field: str, scheme: str) -> tuple[Booleans, Booleans]:
    """`member` (K,) and `begins` (K+1, K) of a field; row 0 of begins is START."""
    read, depth = [levels(name, scheme) for name in names], field.count("/") + 1 if scheme == "paths" else 1
    member = np.array([field in dict(path) for path in read])
    opens = np.array([any(role in ("B", "S") for _, role in path[:depth]) for path in read])
    open_before = [False, *(dict(path).get(field, "E") not in ("E", "S") for path in read)]
    return member, member & (opens | ~np.array(open_before)[:, None])


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


def invalid(names: Sequence[str], scheme: str) -> tuple[Booleans, Booleans]:
    """Steps (K+1, K) [START and labels, next] and last labels (K,) that break the scheme; `valid_scheme` says how."""
    K = len(names)
    step, last = np.zeros((K + 1, K), bool), np.zeros(K, bool)
    if scheme == "plain":
        return step, last
    read = [levels(name, scheme) for name in names]
    breaks = _closed_breaks if scheme in CLOSED else _iob1_breaks if scheme == "iob1" else _bio_breaks
    for j, after in enumerate(read):
        for i, before in enumerate([(), *read]):
            step[i, j] = breaks(before, after)
    if scheme in CLOSED:
        last[:] = [path[-1][1] in ("B", "I") for path in read]
    return step, last


_Path = tuple[tuple[str, str], ...]


def _bio_breaks(before: _Path, after: _Path) -> bool:
    fields = {field for field, _ in before}
    begins_here = False
    for field, role in after:
        if role == "I" and (begins_here or field not in fields):
            return True
        begins_here |= role == "B"
    return False


def _iob1_breaks(before: _Path, after: _Path) -> bool:
    field, role = after[-1]
    return role == "B" and field not in {other for other, _ in before}


def _closed_breaks(before: _Path, after: _Path) -> bool:
    open_field = before[-1][0] if before and before[-1][1] in ("B", "I") else None
    field, role = after[-1]
    continued = field if role in ("I", "E") else None
    return open_field != continued


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
