"""The labelling schemes plain, BIO, IOBES and paths: how a label name says which runs it begins or continues."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Booleans = NDArray[np.bool_]

SCHEMES = ("plain", "bio", "iobes", "paths")
_PREFIXES = {"bio": "BI", "iobes": "BIES", "paths": "BI"}
OUTSIDE = "O"


def infer(names: Sequence[str]) -> str:
    """The scheme that fits the names: paths if a level separator is seen, IOBES if E- or S- is, BIO, plain."""
    inside = [name for name in names if name != OUTSIDE]
    if inside and all(_fits(name, "bio") for name in inside):
        nested = all(_fits(name, "paths") for name in inside) and any("/" in name for name in inside)
        return "paths" if nested else "bio"
    if inside and all(_fits(name, "iobes") for name in inside):
        return "iobes"
    return "plain"


def check(names: Sequence[str], scheme: str) -> None:
    """Raise ValueError where a name cannot be read under the scheme."""
    if scheme == "plain":
        return
    for name in names:
        if name != OUTSIDE and not _fits(name, scheme):
            marks = ", ".join(f"{p}-" for p in _PREFIXES[scheme])
            raise ValueError(
                f"label {name!r} does not fit scheme {scheme}: expected O or a prefix of {marks}"
            )


def _fits(name: str, scheme: str) -> bool:
    levels = name.split("/") if scheme == "paths" else [name]
    return all(len(level) > 2 and level[1] == "-" and level[0] in _PREFIXES[scheme] for level in levels)


@lru_cache(maxsize=4096)
def levels(name: str, scheme: str) -> tuple[tuple[str, str], ...]:
    """(field, prefix) of each level of a label, outermost first; the prefix is empty where there is none."""
    if scheme == "plain" or name == OUTSIDE:
        return ((name, ""),)
    if scheme != "paths":
        return ((name[2:], name[0]),)
    found: list[tuple[str, str]] = []
    for part in name.split("/"):
        parent = found[-1][0] + "/" if found else ""
        found.append((parent + part[2:], part[0]))
    return tuple(found)


def strip(name: str, scheme: str) -> str:
    """The innermost field of a label: `I-title` is `title`."""
    return levels(name, scheme)[-1][0]


def field_names(names: Sequence[str], scheme: str) -> list[str]:
    """Fields in order of first appearance, each prefix path of a hierarchical label included."""
    return list(dict.fromkeys(field for name in names for field, _ in levels(name, scheme)))


def field_arrays(names: Sequence[str], field: str, scheme: str) -> tuple[Booleans, Booleans]:
    """`member` (K,) and `begins` (K+1, K) of a field; row 0 of begins is START."""
    prefixes = [dict(levels(name, scheme)) for name in names]
    member = np.array([field in p for p in prefixes])
    before = np.concatenate([[False], member])
    begins = ~before[:, None] & member[None, :]
    if scheme in ("bio", "iobes"):
        begins |= np.array([p.get(field) in ("B", "S") for p in prefixes])[None, :]
    if scheme == "iobes":
        ended = np.array([False] + [p.get(field) in ("E", "S") for p in prefixes])
        begins |= ended[:, None] & member[None, :]
    if scheme == "paths":
        parts = field.split("/")
        above = ["/".join(parts[: i + 1]) for i in range(len(parts))]
        begins |= np.array(
            [f and any(p.get(a) == "B" for a in above) for f, p in zip(member, prefixes, strict=True)]
        )
    return member, begins


def run_forms(names: Sequence[str], scheme: str) -> NDArray[np.int64]:
    """(K, 4) ids of the labels that a run's first, inner, last and only token have; a label itself where there is none.

    At the levels of `paths` above the innermost, a run is taken to go on.
    """
    read = [levels(name, scheme) for name in names]
    known = {path: k for k, path in reversed(list(enumerate(read)))}
    forms = np.empty((len(names), 4), np.int64)
    for k, path in enumerate(read):
        outer, (field, prefix) = tuple((f, "I") for f, _ in path[:-1]), path[-1]
        for place, wanted in enumerate(("B", "I", "EI", "SB") if prefix else ("", "", "", "")):
            found = (known.get((*above, (field, p))) for p in wanted for above in (outer, path[:-1]))
            forms[k, place] = next((j for j in found if j is not None), k)
    return forms


def invalid(names: Sequence[str], scheme: str) -> tuple[Booleans, Booleans]:
    """Steps (K+1, K) [START and labels, next] and last labels (K,) that break the scheme.

    BIO: I-x follows B-x or I-x only. IOBES: B-x and I-x are followed by I-x or E-x, and nothing else is.
    Paths: the BIO rule at every level, and a level that begins anew makes those below it begin anew.
    """
    K = len(names)
    step, last = np.zeros((K + 1, K), bool), np.zeros(K, bool)
    if scheme == "plain":
        return step, last
    read = [levels(name, scheme) for name in names]
    for j, after in enumerate(read):
        for i, before in enumerate([(), *read]):
            step[i, j] = _iobes_breaks(before, after) if scheme == "iobes" else _bio_breaks(before, after)
    if scheme == "iobes":
        last[:] = [path[-1][1] in ("B", "I") for path in read]
    return step, last


_Path = tuple[tuple[str, str], ...]


def _bio_breaks(before: _Path, after: _Path) -> bool:
    fields = {field for field, _ in before}
    begun = False
    for field, prefix in after:
        if prefix == "I" and (begun or field not in fields):
            return True
        begun |= prefix == "B"
    return False


def _iobes_breaks(before: _Path, after: _Path) -> bool:
    open_field = before[-1][0] if before and before[-1][1] in ("B", "I") else None
    field, prefix = after[-1]
    continued = field if prefix in ("I", "E") else None
    return open_field != continued
