"""Notations of schemes (the mark before or after the field, separator, case), and inference of schemes from names.

A *notation* is the name of a scheme, followed by the form of labels unless it is `B-x`: `bio`, `bio x-B`, `iobes b_x`.
"""

from collections.abc import Iterable, Sequence

from formulations.caches import remembered

MARKS = {
    "io": {"I": "I"},
    "bio": {"B": "B", "I": "I"},
    "iob1": {"B": "B", "I": "I"},
    "iobes": {"B": "B", "I": "I", "E": "E", "S": "S"},
    "bilou": {"B": "B", "I": "I", "L": "E", "U": "S"},
    "bmes": {"B": "B", "M": "I", "E": "E", "S": "S"},
    "bmewo": {"B": "B", "M": "I", "E": "E", "W": "S"},
    "bmewo+": {"B": "B", "M": "I", "E": "E", "W": "S"},
    "paths": {"B": "B", "I": "I"},
    "spans": {"B": "B", "I": "I", "E": "E", "S": "S"},
}
"""Roles of the letters of each scheme: B begins a run, I continues it, E ends it, S is a run of one token."""
SCHEMES = ("plain", *MARKS)
CLOSED = ("iobes", "bilou", "bmes", "bmewo", "bmewo+", "spans")  # schemes that mark the ends of runs
WRITABLE = ("bio", "iob1", "iobes", "bilou", "bmes", "bmewo")
"""Schemes of one level with marks; labellings can be converted between them."""
OPEN = ("spans",)
"""Schemes of labels that are created for one text; all other fields are absent."""
ALIASES = {"iob2": "bio", "bioes": "iobes", "biluo": "bilou", "bmew": "bmewo"}  # other names of schemes
OUTSIDE = "O"
OUTSIDES = ("O", "o")
EDGES = ("BOS", "EOS")  # in BMEWO+: `O` after the start, and before the end of the sequence

USUAL = "B-x"
FORMS = tuple(
    form
    for letter in "Bb"
    for separator in "-:_ "
    for form in (f"{letter}{separator}x", f"x{separator}{letter}")
)
"""Forms in which a scheme is recognised, in the order of trials."""
BARE = ("B", "b")  # marks without a field, only if the scheme is given: runs of one nameless field
NAMELESS = "_"
_INFERRED = ("io", "bio", "iobes", "bilou", "bmes", "bmewo", "bmewo+")


def scheme_name(scheme: str) -> str:
    """The canonical notation: `bilou` for `biluo` and `BILOU`; unknown names are unchanged."""
    if not isinstance(scheme, str):
        return scheme
    name, _, form = scheme.partition(" ")
    name = ALIASES.get(name.lower(), name.lower())
    if name not in SCHEMES or (form and (name in ("plain", "paths", "spans") or form not in (*FORMS, *BARE))):
        return scheme
    return notation(name, form or USUAL)


def notation(scheme: str, form: str) -> str:
    return scheme if form == USUAL else f"{scheme} {form}"


def scheme_of(written: str) -> str:
    """The scheme of a notation."""
    return written.partition(" ")[0]


def form_of(written: str) -> str:
    return written.partition(" ")[2] or USUAL


def write(mark: str, field: str, form: str) -> str:
    """The label of a field with a mark, given as a capital."""
    mark = mark if "B" in form else mark.lower()
    if form in BARE:
        return mark
    return f"{field}{form[1]}{mark}" if form[0] == "x" else f"{mark}{form[1]}{field}"


def split(name: str, form: str) -> tuple[str, str] | None:
    """Mark, as a capital, and field of a label in a form; None if it has another form."""
    if form in BARE:
        mark, field, separator = name, NAMELESS, ""
    elif form[0] == "x":
        field, separator, mark = name[:-2], name[-2:-1], name[-1:]
    else:
        mark, separator, field = name[:1], name[1:2], name[2:]
    capital = mark.upper() if "b" in form else mark
    if separator != form[1:2] or not field or (mark == capital) != ("B" in form) or len(capital) != 1:
        return None
    return capital, field


@remembered
def levels(name: str, written: str) -> tuple[tuple[str, str], ...]:
    """(field, role) of each level of a label, outermost first; the role is B, I, E or S; empty without a mark.

    In BMEWO+, the role of a label of `O` is `>x` before a run of x, and `<x` after it.
    """
    scheme = scheme_of(written)
    if scheme == "plain":
        return ((name, ""),)
    if name in OUTSIDES:
        return ((OUTSIDE, ""),)
    roles, form = MARKS[scheme], form_of(written)
    if scheme == "paths":
        result: list[tuple[str, str]] = []
        for component in name.split("/"):
            parent = result[-1][0] + "/" if result else ""
            result.append((parent + component[2:], roles[component[0]]))
        return tuple(result)
    if scheme == "bmewo+" and (neighbour := _beside(name, form)):
        return ((OUTSIDE, neighbour),)
    mark, field = split(name, form) or ("", name)
    return ((field.partition("/")[0] if scheme == "spans" else field, roles[mark]),)


def _beside(name: str, form: str) -> str:
    """The role of a label of `O` in BMEWO+ that names the adjacent run, or the start or end; empty for other labels."""
    outside = "O" if "B" in form else "o"
    if len(name) < 3 or form in BARE:
        return ""
    if name.startswith(outside + form[1]):
        return f">{name[2:]}"
    return f"<{name[:-2]}" if name.endswith(form[1] + outside) else ""


def fits(name: str, written: str) -> bool:
    scheme, form = scheme_of(written), form_of(written)
    if scheme == "paths":
        return all(_fits_form(level, scheme, USUAL) for level in name.split("/"))
    return _fits_form(name, scheme, form) or (scheme == "bmewo+" and bool(_beside(name, form)))


def _fits_form(name: str, scheme: str, form: str) -> bool:
    read = split(name, form)
    return read is not None and read[0] in MARKS[scheme]


def infer(names: Sequence[str]) -> str:
    """The notation that fits the names; `plain` if none fits.

    Preferred are BIO, paths for nested levels, and IO if no label begins a run. A form other than `B-x` requires evidence (`evident`),
    since names such as `e-mail` or `grade_b` have no marks.
    """
    inside = [name for name in names if name not in OUTSIDES]
    if not inside or set(OUTSIDES) <= set(names):
        return "plain"
    for form in FORMS:
        for scheme in _INFERRED if form == USUAL else _INFERRED[1:]:
            written = notation(scheme, form)
            if not all(fits(name, written) for name in inside):
                continue
            if form != USUAL or scheme == "bmewo+":
                if evident(inside, written) and ("B" in form or len(inside) < len(names)):
                    return written
                continue
            nested = scheme in ("io", "bio") and any("/" in name for name in inside)
            return "paths" if nested and all(fits(name, "paths") for name in inside) else written
    return "plain"


def resolve(names: Sequence[str], scheme: str) -> str:
    """The notation of names with a known scheme: the form that fits; `B-x` if none fits."""
    if form_of(scheme) != USUAL or scheme in ("plain", "paths", "spans"):
        return scheme
    inside = [name for name in names if name not in OUTSIDES]
    fitting = [
        written
        for written in (notation(scheme, form) for form in (*FORMS, *BARE))
        if all(fits(name, written) for name in inside)
    ]
    if not fitting or fitting[0] == scheme:
        return scheme
    return next((written for written in fitting if evident(inside, written)), fitting[0])


def evident(inside: Iterable[str], written: str) -> bool:
    """Whether some field has labels that continue runs, and each such field also has a label that begins runs."""
    if form_of(written) in BARE:
        return False
    roles = roles_by_field(inside, written)
    fields = {field for field in roles if field != OUTSIDE}
    beside = {role[1:] for role in roles.get(OUTSIDE, ()) if role}
    if not beside <= fields | set(EDGES) | {edge.lower() for edge in EDGES}:
        return False
    several = [field for field in fields if roles[field] & {"I", "E"}]
    return bool(several) and all("B" in roles[field] for field in several)


def roles_by_field(names: Iterable[str], written: str) -> dict[str, set[str]]:
    """The roles of the labels of each innermost field."""
    result: dict[str, set[str]] = {}
    for name in names:
        field, role = levels(name, written)[-1]
        result.setdefault(field, set()).add(role)
    return result


def never_advice(helpers: Sequence[str]) -> str:
    """The parameter and the option that name helper labels."""
    listed = ", ".join(f'"{name}"' for name in helpers[:3]) + (", …" if len(helpers) > 3 else "")
    return f"never=[{listed}] (--never on the command line)"


def check(names: Iterable[str], written: str) -> None:
    """Raise ValueError for a name that cannot be read in a notation."""
    scheme, form = scheme_of(written), form_of(written)
    if scheme == "plain":
        return
    for name in names:
        if name not in OUTSIDES and not fits(name, written):
            marks = ", ".join(write(mark, "", form) for mark in MARKS[scheme])
            kind = "suffix" if form[0] == "x" else "prefix"
            outside = "O" if "B" in form else "o"
            way_out = "" if split(name, form) else f"; if it is a helper label, give {never_advice([name])}"
            raise ValueError(
                f"label {name!r} does not fit scheme {scheme}: expected {outside} or a {kind} of {marks}{way_out}"
            )
