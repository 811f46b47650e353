"""Notices about label names that are ambiguous or odd under the scheme that was inferred from them."""

import re
from collections.abc import Sequence

from formulations.labels.schemes import CLOSED, MARKS, OUTSIDE, levels

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
