"""Labelling schemes: fields and runs of label names, invalid steps, and notices about unusual names."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from formulations import blocks
from formulations.blocks import of_kinds
from formulations.dtypes import Booleans, Integers
from formulations.labels import notation
from formulations.labels.notation import (
    ALIASES,
    CLOSED,
    MARKS,
    OPEN,
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
    "OPEN",
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
_ROLES = ("B", "I", "E", "S")
_B, _I, _E, _S = range(len(_ROLES))
_OTHER = len(_ROLES)
_OTHER_FIELD = -2


def strip(name: str, written: str) -> str:
    """The innermost field of a label: `I-title` is `title`."""
    return levels(name, written)[-1][0]


def field_names(read: Iterable[Path]) -> list[str]:
    """Fields in order of first appearance, including each prefix path of a hierarchical label."""
    return list(dict.fromkeys(field for path in read for field, _ in path))


_BEGINS = np.array([[False, True, True], [False, False, True]])
"""Whether a step begins a run. Row: whether the previous label leaves a run open; column: next label of another field, continuing, beginning."""


@dataclass(frozen=True)
class Levels:
    """The levels (D, K) of K labels, outermost first: numbers of fields (-1 below the innermost level), and roles."""

    names: list[str]
    field: Integers
    begins: Booleans  # roles B and S
    continues: Booleans  # roles I and E
    open: Booleans  # a run of the field may continue after the label, also without a prefix
    beside: dict[int, str]  # labels of `O` in BMEWO+, with ">" or "<" and the adjacent field

    @classmethod
    def of(cls, read: Sequence[Path]) -> "Levels":
        numbers = {name: n for n, name in enumerate(field_names(read))}
        field, role = np.full((2, max(1, *map(len, read)), len(read)), -1, np.int64)
        beside = {}
        for k, path in enumerate(read):
            for d, (name, mark) in enumerate(path):
                field[d, k], role[d, k] = numbers[name], _ROLES.index(mark) if mark in _ROLES else _OTHER
                if mark.startswith((">", "<")):
                    beside[k] = mark
        begins, continues = np.isin(role, (_B, _S)), np.isin(role, (_I, _E))
        return cls(list(numbers), field, begins, continues, (field >= 0) & ~np.isin(role, (_E, _S)), beside)

    def fields(self) -> Iterator[tuple[str, Booleans, Booleans]]:
        """Each field, its labels `member` (K,), and the steps `begins` (K+1, K) that begin its runs, START first."""
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
    """(K, 6) label ids of the first, inner, last and only token of a run, and of the first and only token directly
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
    """Label names (T,) in a scheme of one level, given the field of each token (`O` for none), and the begins of runs."""
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
    """For each of T labels of a scheme of one level, whether a run or a stretch of `O` begins."""
    read = [levels(name, written)[0] for name in labels]
    return [
        t == 0 or read[t - 1][0] != field or role in ("B", "S") or read[t - 1][1] in ("E", "S")
        for t, (field, role) in enumerate(read)
    ]


def invalid(read: Levels, scheme: str) -> tuple[Booleans, Booleans]:
    """Steps (K+1, K) [START and labels, next] and last labels (K,) that break the scheme; see `valid_scheme`."""
    K = read.field.shape[1]
    step, last = np.zeros((K + 1, K), bool), np.zeros(K, bool)
    if scheme in CLOSED:
        field, begins, continues, is_open = (
            each[-1] for each in (read.field, read.begins, read.continues, read.open)
        )
        opened = np.where(is_open & (begins | continues), field, -1)
        step[:] = np.append(-1, opened)[:, None] != np.where(continues, field, -1)
        last = opened >= 0
        for k, mark in read.beside.items():
            here = field == (read.names.index(mark[1:]) if mark[1:] in read.names else _OTHER_FIELD)
            if mark[0] == ">":
                step[k + 1] |= ~(here & begins)
                last[k] = mark[1:].upper() != "EOS"
            else:
                at_start = mark[1:].upper() == "BOS"
                step[:, k] |= ~np.append(at_start, here & ~is_open)
    elif scheme in ("io", "iob1"):
        step[:] = read.begins[-1] & (np.append(-1, read.field[-1])[:, None] != read.field[-1])
    elif scheme != "plain":
        begun = np.zeros(K, bool)
        for field, begins, continues in zip(read.field, read.begins, read.continues, strict=True):
            step |= continues & (begun | (np.append(-1, field)[:, None] != field))
            begun |= begins
    return step & (read.field[0] >= 0), last


_PREFIXED = re.compile(r"[BILUMES][-_].", re.DOTALL)
_NESTED = re.compile(r"[BILUMES]-[^/]+(/[BILUMES]-[^/]+)+")
_ALONE = ("bio", "iobes", "bilou", "bmes", "bmewo")


def remark(names: Sequence[str], written: str) -> str:
    """A notice about ambiguous or unusual names, and how they were read in the inferred notation; empty if there are none."""
    scheme = scheme_of(written)
    if scheme == "plain":
        return _plain(names)
    inside = [name for name in names if name not in OUTSIDES]
    if written not in ("paths", "io") and any(_NESTED.fullmatch(name) for name in inside):
        name = next(name for name in inside if _NESTED.fullmatch(name))
        return (
            f"label {name!r} looks nested, but nested labels have the prefixes B- and I- only: read as {scheme}, with a "
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
            f"labels {', '.join(inside)} are prefixes without a field: each label is read as a field of its own (plain); "
            f'scheme="{scheme_of(bare)}" reads them as runs of one field, "{notation.NAMELESS}"'
        )
    if others := helpers(names):
        written, odd = others
        shown = " and ".join(map(brief, odd)) if len(odd) < 3 else f"{brief(odd[0])} and {len(odd) - 1} more"
        verb = "does" if len(odd) == 1 else "do"
        return (
            f"{shown} {verb} not fit the scheme {written} of the other labels: each label is read as a field of its own (plain); "
            f'give {notation.never_advice(odd)} for helper labels, or scheme="plain" to keep this reading'
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
        else f"labels begin with {marks}, which are not the prefixes of one scheme"
    )
    return (
        f"{what}: each label is read as a field of its own (plain), such as {prefixed[0]!r}; correct the "
        'labels, or give scheme="plain" to keep this reading'
    )


MOST_HELPERS = 5
"""Number of helper labels that is accepted even if fewer labels fit the scheme."""


def helpers(names: Sequence[str]) -> tuple[str, list[str]] | None:
    """The notation of most names, and the names that do not fit it, such as `[PAD]`; None if all or none fit."""
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
    if best is None or not best[1] or any(_is_marked(name, form_of(best[0])) for name in best[1]):
        return None
    return best


def _is_marked(name: str, form: str) -> bool:
    read = notation.split(name, form)
    return read is not None and any(read[0] in marks for marks in MARKS.values())


def _unfinished(names: list[str], written: str) -> str:
    """A notice about a field without a run of several tokens, since none can begin or end."""
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
            other = '; if I- may begin a run, give scheme="iob1"' if scheme == "bio" else ""
            return f"labels are read as {scheme}, but no run of {field!r} can begin: {seen}, and no {begin}{other}"
        if scheme in CLOSED and present & {"B", "I"} and "E" not in present:
            end = notation.write(letters["E"], field, form)
            return f"labels are read as {scheme}, but no run of {field!r} with several tokens can end: {seen}, and no {end}"
    return ""


def nothing_to_keep(names: Sequence[str], written: str) -> str:
    """The reason why a rule on the scheme of these labels has nothing to check; empty otherwise."""
    scheme = scheme_of(written)
    inside = [name for name in names if name not in OUTSIDES]
    if scheme not in ("plain", "io") or not inside:
        return ""
    if scheme == "plain" and (known := infer(names)) != "plain":
        return f'there is no scheme to check: scheme="plain" is given, although the labels look like {known}; remove the rule, or remove scheme="plain"'
    if scheme == "io":
        return (
            f"there is no scheme to check: no label marks the begin of a run, only {inside[0]!r} and the like; remove the rule, "
            'or give the scheme, such as scheme="iob1"'
        )
    odd = _plain(names)
    return odd or (
        f"there is no scheme to check: the labels are {brief(list(names))}; remove the rule, or use labels of a scheme, such as "
        '"B-x", "I-x"'
    )
