"""Gold and predicted labels in one notation; all reports compare labels through this module."""

from collections.abc import Sequence

from formulations import LabelSet
from formulations.labels import schemes
from formulations.labels.notation import MARKS, never_advice, write
from formulations.labels.schemes import (
    CLOSED,
    OUTSIDE,
    OUTSIDES,
    bare_scheme,
    form_of,
    helpers,
    scheme_of,
)
from formulations.messages import brief, distinct
from ilpinfer.corpus.conversion import (
    convert,
    convert_all,
    convertible,
    in_form,
    iob1_remark,
    shown_scheme,
    sound,
    strip,
)

Side = list[tuple[str, ...] | None]
"""Labellings of all sequences, None for a sequence without a labelling."""


def read_alike(sides: Sequence[Side], scheme: str = "") -> tuple[list[Side], LabelSet | None, list[str]]:
    """The sides, gold first, in one notation; their label set, None if there are no labels; and notices.

    `scheme="plain"` removes prefixes; so does a side without prefixes if another has some. If another side has a scheme that marks
    the ends of runs, BIO is read as that scheme. Sides in different forms, such as `B-x` and `x-B`, get the form of the first. Bare
    marks, such as `B I O`, are runs of one field. Helper labels, such as `[PAD]`, are separate fields. ValueError for labels
    that do not fit the scheme.
    """
    scheme = schemes.scheme_name(scheme)
    names = sorted(set[str]().union(*map(_names, sides)))
    read = [(side, "") if scheme else _with_fields(side, names) for side in sides]
    sides = [side for side, _ in read]
    used = [side for side in sides if _names(side) - {*OUTSIDES}]
    shown = [shown_scheme(_known(side)) for side in used]
    bare = [bare_scheme(sorted(_names(side))) for side in used]
    target, reading, notices = scheme, scheme, list[str]()
    if scheme:
        target = in_form(scheme, next((each for each in shown if each != "plain"), scheme))
        reading = target
    elif used and all(bare):
        reading = max(bare, key=len)  # BIO rather than IO, for example if predictions begin no run
        notices = [
            f"labels {', '.join(sorted(set().union(*map(_names, used)) - {*OUTSIDES}))} are prefixes without a field: counted as runs "
            'of one field, "_"'
        ]
    elif convertible(*shown):
        target, notices = _common(shown, iob1_remark(_known(sides[0]), ""))
    elif set(shown) != {"plain"} and schemes.infer(sorted(set().union(*map(_names, used)))) == "plain":
        target = reading = "plain"
        sides = [_with_usual_outside(side) for side in sides]
        notices = ["some labels have prefixes and others have none: compared without prefixes"]
    notices = [*distinct(notice for _, notice in read), *notices]
    result = [_as(side, target) for side in sides] if target else list(sides)
    known = tuple(sorted(set[str]().union(*map(_names, result))))
    labels = LabelSet(known, reading) if known else None
    return result, labels, notices or ([labels.notice] if labels is not None and labels.notice else [])


def _common(shown: list[str], gold: str) -> tuple[str, list[str]]:
    """The common notation to convert these notations to, empty for no conversion, and notices; `gold` is the remark on gold."""
    known = list(dict.fromkeys(shown))
    ends = [each for each in known if scheme_of(each) in CLOSED]
    forms = list(dict.fromkeys(map(form_of, shown)))
    notices = list[str]()
    if len(forms) > 1:
        notices.append(f"labels are written in different ways, {' and '.join(forms)}: compared as {forms[0]}")
    names = list(dict.fromkeys(map(scheme_of, known)))
    if len(set(map(scheme_of, ends))) > 1:
        closed = list(dict.fromkeys(map(scheme_of, ends)))
        notices.append(f"labels of different schemes, {' and '.join(closed)}: compared as {closed[0]}")
    elif ends and len(names) > 1:
        notices.append(
            f"labels of different schemes, {' and '.join(names)}: compared as {scheme_of(ends[0])}"
        )
    elif not ends and len(names) > 1:
        how = "all as bio" if len(forms) > 1 else "as they are; --scheme bio writes all as bio"
        notices.append(f"some labels look like bio, others like iob1: compared {how}")
    elif gold and not ends:
        notices.append(gold)
    if len(known) < 2 or (len(forms) == 1 and not ends):
        return "", notices
    scheme = scheme_of(ends[0]) if ends else "bio"
    return in_form(scheme, shown[0]), notices


def _as(side: Side, target: str) -> Side:
    known = _known(side)
    if target == "plain":
        result = iter(strip(known))
    else:
        source = shown_scheme(known)
        if form_of(source) != form_of(target) and convertible(source, target) and sound(known):
            result = iter([convert(labels, source, target) for labels in known])
        else:
            result = iter(convert_all(known, target))
    return [None if labels is None else next(result) for labels in side]


def _with_fields(side: Side, names: list[str]) -> tuple[Side, str]:
    """A side in which each helper label among labels of a scheme is a label of a separate field; and a notice.

    `names` are the labels of all sides: a side with few labels may not determine its scheme.
    """
    own = sorted(_names(side))
    if schemes.infer(own) != "plain" or (found := helpers(own) or helpers(names)) is None:
        return side, ""
    written, odd = found[0], [name for name in own if name in found[1]]
    fields = {schemes.strip(name, written) for name in own if name not in odd and name not in OUTSIDES}
    if not odd or not fields or fields.intersection(odd):
        return side, ""
    letters = {role: letter for letter, role in MARKS[scheme_of(written)].items()}
    mark = letters.get("S") or letters.get("B") or letters["I"]
    known = {name: write(mark, name, form_of(written)) for name in odd}
    verb = "does" if len(odd) == 1 else "do"
    notice = (
        f"{', '.join(map(brief, odd))} {verb} not fit the scheme {written} of other labels: counted as fields; "
        f"give {never_advice(odd)} to leave these tokens out"
    )
    return [None if each is None else tuple(known.get(x, x) for x in each) for each in side], notice


def _with_usual_outside(side: Side) -> Side:
    """A lower-case side, in which `o` is no field, with `O` in place of `o`."""
    if OUTSIDE in _names(side):
        return side
    return [
        None if labels is None else tuple(OUTSIDE if name in OUTSIDES else name for name in labels)
        for labels in side
    ]


def _known(side: Side) -> list[tuple[str, ...]]:
    return [labels for labels in side if labels is not None]


def _names(side: Side) -> set[str]:
    return {name for labels in side for name in labels or ()}
