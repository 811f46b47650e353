"""The labelling schemes: fields and runs of label names, the steps that break a scheme, and notices about odd names."""

import re
from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np

from formulations.dtypes import Booleans, Integers
from formulations.labels import notation
from formulations.labels.notation import (
    ALIASES,
    CLOSED,
    MARKS,
    OUTSIDE,
    OUTSIDES,
    SCHEMES,
    WRITABLE,
    check,
    fits,
    form_of,
    infer,
    levels,
    resolve,
    scheme_name,
    scheme_of,
)
from formulations.messages import brief

__all__ = [
    "ALIASES",
    "CLOSED",
    "MARKS",
    "OUTSIDE",
    "OUTSIDES",
    "SCHEMES",
    "WRITABLE",
    "check",
    "form_of",
    "infer",
    "levels",
    "resolve",
    "scheme_name",
    "scheme_of",
]

Path = tuple[tuple[str, str], ...]
"""Field and role of each level of a label, outermost first; empty for a label that belongs to no field."""


def strip(name: str, written: str) -> str:
    """The innermost field of a label: `I-title` is `title`."""
    return levels(name, written)[-1][0]


def field_names(read: Iterable[Path]) -> list[str]:
    """Fields in order of first appearance, each prefix path of a hierarchical label included."""
    return list(dict.fromkeys(field for path in read for field, _ in path))


def field_arrays(read: Sequence[Path], field: str, scheme: str) -> tuple[Booleans, Booleans]:
    """`member` (K,) and `begins` (K+1, K) of a field; row 0 of begins is START."""
    depth = field.count("/") + 1 if scheme == "paths" else 1
    member = np.array([field in dict(path) for path in read])
    opens = np.array([any(role in ("B", "S") for _, role in path[:depth]) for path in read])
    open_before = [False, *(dict(path).get(field, "E") not in ("E", "S") for path in read)]
    return member, member & (opens | ~np.array(open_before)[:, None])


def labels_of(field: str, written: str) -> list[str]:
    """The labels of a field, or of the field of a label."""
    scheme, form = scheme_of(written), form_of(written)
    if scheme == "plain" or field in OUTSIDES:
        return [field]
    field = strip(field, written) if fits(field, written) else field
    parts = field.split("/") if scheme == "paths" else [field]
    return [
        "/".join(notation.write(mark, part, form) for mark, part in zip(marks, parts, strict=True))
        for marks in product(MARKS[scheme], repeat=len(parts))
    ]


def run_forms(read: Sequence[Path], scheme: str) -> Integers:
    """(K, 6) ids of the labels that a run's first, inner, last and only token have, and its first and only token directly
    after another run of the field; a label itself where there is none.

    At the levels of `paths` above the innermost, a run is assumed to continue.
    """
    known = {path: k for k, path in reversed(list(enumerate(read)))}
    role_order = ("B", "I", "EI", "SB", "B", "SB")
    if scheme == "iob1":
        role_order = ("IB", "IB", "IB", "IB", "BI", "BI")
    forms = np.empty((len(read), len(role_order)), np.int64)
    for k, path in enumerate(read):
        outer, (field, role) = tuple((f, "I") for f, _ in path[:-1]), path[-1] if path else ("", "")
        for place, roles in enumerate(role_order):
            candidates = roles if role else ""
            result = (known.get((*above, (field, r))) for r in candidates for above in (outer, path[:-1]))
            forms[k, place] = next((j for j in result if j is not None), k)
    return forms


def write_labels(fields: Sequence[str], begins: Sequence[bool], written: str) -> tuple[str, ...]:
    """Label names (T,) in a scheme of one level, given the field of each token, `O` for none, and where runs begin."""
    scheme, form = scheme_of(written), form_of(written)
    letters = {role: letter for letter, role in MARKS[scheme].items()}
    names = []
    for t, (field, begins_here) in enumerate(zip(fields, begins, strict=True)):
        again = t > 0 and fields[t - 1] == field
        ended = t + 1 == len(fields) or begins[t + 1] or fields[t + 1] != field
        role = ("S" if ended else "B") if begins_here else "E" if ended else "I"
        if scheme not in CLOSED:
            role = "B" if begins_here and (again or scheme == "bio") else "I"
        outside = OUTSIDE if "B" in form else OUTSIDE.lower()
        names.append(outside if field == OUTSIDE else notation.write(letters[role], field, form))
    return tuple(names)


def begins(labels: Sequence[str], written: str) -> list[bool]:
    """For each of T labels of a scheme of one level whether a run, or a stretch of `O`, begins."""
    read = [levels(name, written)[0] for name in labels]
    return [
        t == 0 or read[t - 1][0] != field or role in ("B", "S") or read[t - 1][1] in ("E", "S")
        for t, (field, role) in enumerate(read)
    ]


def invalid(read: Sequence[Path], scheme: str) -> tuple[Booleans, Booleans]:
    """Steps (K+1, K) [START and labels, next] and last labels (K,) that break the scheme; `valid_scheme` says how."""
    K = len(read)
    step, last = np.zeros((K + 1, K), bool), np.zeros(K, bool)
    if scheme == "plain":
        return step, last
    breaks = _closed_breaks if scheme in CLOSED else _iob1_breaks if scheme in ("io", "iob1") else _bio_breaks
    for j, after in enumerate(read):
        for i, before in enumerate([(), *read]):
            step[i, j] = bool(after) and breaks(before, after)
    if scheme in CLOSED:
        last[:] = [bool(path) and (path[-1][1] in ("B", "I") or _waits(path[-1][1])) for path in read]
    return step, last


def _bio_breaks(before: Path, after: Path) -> bool:
    fields = {field for field, _ in before}
    begins_here = False
    for field, role in after:
        if role == "I" and (begins_here or field not in fields):
            return True
        begins_here |= role == "B"
    return False


def _iob1_breaks(before: Path, after: Path) -> bool:
    field, role = after[-1]
    return role == "B" and field not in {other for other, _ in before}


def _closed_breaks(before: Path, after: Path) -> bool:
    field, role = after[-1]
    other, role_before = before[-1] if before else ("", "BOS")
    open_field = other if role_before in ("B", "I") else None
    continued = field if role in ("I", "E") else None
    if open_field != continued:
        return True
    beside = role_before[1:] if role_before.startswith(">") else ""
    if beside and (beside.upper() == "EOS" or (field, role) not in ((beside, "B"), (beside, "S"))):
        return True
    beside = role[1:] if role.startswith("<") else ""
    if beside.upper() == "BOS":
        return role_before != "BOS"
    return bool(beside) and (other, role_before) not in ((beside, "E"), (beside, "S"))


def _waits(role: str) -> bool:
    """Whether a label of `O` of BMEWO+ stands before a run, which has to follow."""
    return role.startswith(">") and role[1:].upper() != "EOS"


_PREFIXED = re.compile(r"[BILUMES][-_].", re.DOTALL)
_NESTED = re.compile(r"[BILUMES]-[^/]+(/[BILUMES]-[^/]+)+")
_ALONE = ("bio", "iobes", "bilou", "bmes", "bmewo")


def remark(names: Sequence[str], written: str) -> str:
    """One line about how ambiguous or odd names were read in the notation that was inferred from them; empty where there are none."""
    scheme = scheme_of(written)
    if scheme == "plain":
        return _plain(names)
    inside = [name for name in names if name not in OUTSIDES]
    if written not in ("paths", "io") and any(_NESTED.fullmatch(name) for name in inside):
        name = next(name for name in inside if _NESTED.fullmatch(name))
        return (
            f"label {name!r} looks nested, but levels are read with the prefixes B- and I- only: taken as {scheme}, with a "
            f"field {levels(name, written)[0][0]!r}"
        )
    return "" if scheme in ("paths", "iob1", "io") else _unfinished(inside, written)


def bare_scheme(names: Iterable[str]) -> str:
    """The notation of marks without a field, such as `B I O`; empty for other names."""
    inside = [name for name in names if name not in OUTSIDES]
    for form in notation.BARE:
        marks = {name.upper() for name in inside}
        if marks == {"I"} and all(fits(name, notation.notation("io", form)) for name in inside):
            return notation.notation("io", form)
        for scheme in _ALONE:
            here = notation.notation(scheme, form)
            if "B" in marks and len(marks) > 1 and all(fits(name, here) for name in inside):
                return here
    return ""


def _plain(names: Sequence[str]) -> str:
    inside = [name for name in names if name not in OUTSIDES]
    if bare := bare_scheme(names):
        return (
            f"labels {', '.join(inside)} are marks without a field: taken as plain, each a field of its own; "
            f'scheme="{scheme_of(bare)}" reads them as runs of one field, "{notation.NAMELESS}"'
        )
    if others := _helpers(names):
        written, helpers = others
        shown = (
            " and ".join(map(brief, helpers))
            if len(helpers) < 3
            else f"{brief(helpers[0])} and {len(helpers) - 1} more"
        )
        verb = "fits" if len(helpers) == 1 else "fit"
        listed = ", ".join(f'"{name}"' for name in helpers[:3]) + (", …" if len(helpers) > 3 else "")
        return (
            f"{shown} {verb} no scheme, while the other labels are {written}: all are taken as plain, each a field of its own, "
            f"and there is no scheme to keep; never=[{listed}] leaves helper labels out, "
            'scheme="plain" takes all as they are'
        )
    prefixed = [name for name in inside if _PREFIXED.match(name)]
    bare_names = [name for name in inside if name not in prefixed]
    repeats = len({name[2:] for name in prefixed}) < len(prefixed)
    if not prefixed or (bare_names and not repeats and not any(name[0] in "BI" for name in prefixed)):
        return ""
    marks = ", ".join(sorted({name[:2] for name in prefixed}))
    what = (
        f"some labels begin with {marks} and others, such as {bare_names[0]!r}, do not"
        if bare_names
        else f"labels begin with {marks}, which no one scheme has"
    )
    return (
        f"{what}: taken as plain, so that {prefixed[0]!r} is a field of its own and there is no scheme to keep; mend the "
        'labels, or take them as they are with scheme="plain"'
    )


MOST_HELPERS = 5
"""Labels beside those of a scheme that may be more than these."""


def _helpers(names: Sequence[str]) -> tuple[str, list[str]] | None:
    """A notation that most names are evidently of, and the names that do not fit it."""
    best: tuple[str, list[str]] | None = None
    inside = [name for name in names if name not in OUTSIDES]
    for form in notation.FORMS:
        if sum(notation.split(name, form) is not None for name in inside) < 2:
            continue
        for scheme in _ALONE:
            written = notation.notation(scheme, form)
            fitting = [name for name in inside if fits(name, written)]
            left = len(inside) - len(fitting)
            if left > max(len(fitting), MOST_HELPERS) or (best is not None and left >= len(best[1])):
                continue
            if notation.evident(fitting, written):
                best = written, [name for name in inside if not fits(name, written)]
    if best is None or any(_is_marked(name, form_of(best[0])) for name in best[1]):
        return None
    return best


def _is_marked(name: str, form: str) -> bool:
    read = notation.split(name, form)
    return read is not None and any(read[0] in marks for marks in MARKS.values())


def _unfinished(names: list[str], written: str) -> str:
    """A notice about a field of which no run of several tokens can begin, or end."""
    scheme, form = scheme_of(written), form_of(written)
    roles = notation.roles_by_field(names, written)
    letters = {role: letter for letter, role in MARKS[scheme].items()}
    for field, present in roles.items():
        if field == OUTSIDE:
            continue
        seen = " and ".join(notation.write(letters[role], field, form) for role in sorted(present))
        seen = f"there {'are' if len(present) > 1 else 'is'} {seen}"
        if present & {"I", "E"} and "B" not in present:
            begin = notation.write("B", field, form)
            other = '; where I- may begin a run, take scheme="iob1"' if scheme == "bio" else ""
            return f"taken as {scheme}, although {seen} but no {begin}, with which its runs begin{other}"
        if scheme in CLOSED and present & {"B", "I"} and "E" not in present:
            end = notation.write(letters["E"], field, form)
            return f"taken as {scheme}, although {seen} but no {end}, with which its runs end"
    return ""


def nothing_to_keep(names: Sequence[str], written: str) -> str:
    """Why a rule on the scheme of these labels has nothing to check; empty where it has."""
    scheme = scheme_of(written)
    inside = [name for name in names if name not in OUTSIDES]
    if scheme not in ("plain", "io") or not inside:
        return ""
    if scheme == "io":
        return (
            f"labels such as {inside[0]!r} say where a field is, but none begins a run: there is nothing to check; leave the rule "
            'out, or name the scheme in which they are, such as scheme="iob1"'
        )
    odd = _plain(names)
    return odd or (
        f"the labels {brief(list(names))} have no scheme: there is nothing to check; leave the rule out, or name labels in "
        'a scheme, such as "B-x", "I-x"'
    )
