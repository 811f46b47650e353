"""The rule that a labelling follows its scheme."""

from collections.abc import Iterable, Mapping

from formulations.automata.windows import LAST, UnboundComponent
from formulations.constraints.rule_functions import template
from formulations.constraints.steps import everywhere, only_at, violations_at
from formulations.constraints.template import Template, Trial
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading


class ValidScheme(Template):
    """The labelling follows its scheme. Each invalid step, and an entity left open at the end, is one violation.

    BIO: I-x only after B-x or I-x. IOB1: B-x only after B-x or I-x, as I-x begins a run anywhere else. IOBES, BILOU,
    BMES: an entity that begins with B continues with I (BMES: M) and ends with E (BILOU: L). Paths: BIO at every level, and
    where a level begins anew, so do those below it. Plain: every labelling is valid.

    >>> C.valid_scheme().violations(["O", "I-title", "B-title"])
    1
    """

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        step, last = labels.invalid
        return [violations_at(everywhere(step)), violations_at(only_at(last[None, :], LAST))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        scheme = reading.labels.scheme
        if scheme == "plain":
            return
        marks = _MARKS.get(scheme, {})
        labels = [_levels(name, scheme, marks) for name in reading.names]
        known = {"bio": _broken_levels, "paths": _broken_levels, "iob1": _broken_begins}
        broken = known.get(scheme, _broken_entities)
        where = broken(labels)
        for t in range(len(reading) + (broken is _broken_entities)):
            yield Trial((min(t, len(reading) - 1),), int(t in where))


_MARKS = {"bilou": {"L": "E", "U": "S"}, "bmes": {"M": "I"}}
"""Letters that other schemes write in place of those of IOBES."""


def _levels(name: str, scheme: str, marks: Mapping[str, str]) -> list[tuple[str, str]]:
    """(prefix, path) of each level, parsed from the name, independently of `labels.schemes`."""
    if name == "O":
        return []
    components = name.split("/") if scheme == "paths" else [name]
    return [
        (marks.get(component[0], component[0]), "/".join(p[2:] for p in components[: i + 1]))
        for i, component in enumerate(components)
    ]


def _broken_levels(labelling: list[list[tuple[str, str]]]) -> set[int]:
    broken, before = set[int](), set[str]()
    for t, label in enumerate(labelling):
        prefixes = "".join(prefix for prefix, _ in label)
        orphan = any(prefix == "I" and path not in before for prefix, path in label)
        if orphan or "BI" in prefixes:
            broken.add(t)
        before = {path for _, path in label}
    return broken


def _broken_begins(labelling: list[list[tuple[str, str]]]) -> set[int]:
    fields = ["", *(label[0][1] if label else "" for label in labelling)]
    begins = [bool(label) and label[0][0] == "B" for label in labelling]
    return {t for t, begins_run in enumerate(begins) if begins_run and fields[t] != fields[t + 1]}


def _broken_entities(labelling: list[list[tuple[str, str]]]) -> set[int]:
    broken, entity = set[int](), ""
    for t, label in enumerate([*labelling, []]):
        prefix, field = label[0] if label else ("O", "")
        if entity != (field if prefix in "IE" else ""):
            broken.add(t)
        entity = field if prefix in "BI" else ""
    return broken


valid_scheme = template(ValidScheme)
