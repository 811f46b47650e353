"""Rules about the whole labelling: regular expressions over labels, and the labelling scheme."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Annotated, Literal

import numpy as np

from formulations.automata.components import LAST, UnboundComponent
from formulations.automata.machine import Automaton
from formulations.caches import MOST_LABEL_SETS, RecentValues
from formulations.constraints.rule_functions import template
from formulations.constraints.steps import automaton_component, everywhere, only_at, violations_at
from formulations.constraints.template import Groups, Template, Trial
from formulations.dtypes import Integers
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.selectors import Group, Selector, alternatives, substitute
from formulations.logic import label_regex as regular
from formulations.logic.texts import FormulaError, in_quotes


class Matches(Template):
    """The fields, token by token or run by run, match a regular expression; one violation if they do not.

    Example: `matches("author+ title+ (journal | booktitle)* O*")`. A sequence of names matches tokens in order; `.` matches any
    token, `!author` any token outside author, and `|`, `*`, `+`, `?`, `{2,3}` and parentheses have their usual meaning. A name
    without a label matches no token, and neither does `!author` if every label belongs to author. If the expression then
    matches no labelling, a notice says so.

    >>> C.matches("author+ title+ O*").violations(["author", "title", "author"])
    1
    """

    regex: Annotated[str, "Over fields, labels and groups; names other than plain words are quoted."]
    over: Annotated[
        Literal["tokens", "runs"],
        '"tokens", a name for each token, or "runs", a name for token 0 and for each token at which a change happens.',
    ] = "tokens"
    groups: Groups = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        groups = {group.name: group for group in self.groups}
        named = sorted({name for name, _ in regular.names(self._expression)})
        object.__setattr__(self, "groups", tuple(groups[name] for name in named if name in groups))

    @cached_property
    def _expression(self) -> regular.Expression:
        return regular.parse(self.regex)

    @cached_property
    def _names(self) -> dict[str, Selector]:
        by_name = {group.name: group for group in self.groups}
        return {name: by_name.get(name, name) for name, _ in regular.names(self._expression)}

    @cached_property
    def _automata(self) -> RecentValues[tuple[Integers, Automaton]]:
        return RecentValues(MOST_LABEL_SETS)

    def _automaton(self, labels: LabelSet) -> tuple[Integers, Automaton]:
        return self._automata.get(labels, lambda: _automaton(self, labels))

    def check(self, labels: LabelSet) -> None:
        for name, offset in regular.names(self._expression):
            try:
                labels.field(self._names[name])
            except ValueError as error:
                raise FormulaError(f"{error}{in_quotes(self.regex, offset)}", self.regex, offset) from None

    def check_names(self, labels: LabelSet, more: LabelSet) -> None:
        self.check(labels)
        list(self.ground(more, ["", "", ""]))

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        symbols, automaton = self._automaton(labels)
        if self.over == "tokens":
            return [automaton_component(automaton, everywhere(symbols[None, :]))]
        stays = np.arange(automaton.states)[:, None]
        next_state = np.concatenate([automaton.next_state, stays], axis=1)
        begins = np.concatenate([np.ones((1, len(labels)), bool), labels.change[1:]])
        steps = everywhere(np.where(begins, symbols[None, :], next_state.shape[1] - 1))
        return [automaton_component(Automaton(next_state, 0 * next_state, automaton.final), steps)]

    def remark(self, labels: LabelSet) -> str:
        _, automaton = self._automaton(labels)
        if automaton.states == 1 and automaton.final.all():
            return f"{self.regex!r} can match nothing with these labels: every labelling breaks it"
        return ""

    def trials(self, reading: Reading) -> Iterable[Trial]:
        positions = range(len(reading)) if self.over == "tokens" else [0, *reading.changes()]
        ends = _reader(self, reading, positions)
        yield Trial((), int(len(positions) not in ends(frozenset([0]))))

    def bind(self, names: Mapping[str, Selector]) -> Template:
        known = ((name, value) for name, value in names.items() if name in self._names)
        bindings = (Group(name, alternatives(value)) for name, value in known)
        return replace(self, groups=(*(substitute(g, names) for g in self.groups), *bindings))

    @property
    def selectors(self) -> list[Selector]:
        return [*self._names.values()]


def _automaton(statement: Matches, labels: LabelSet) -> tuple[Integers, Automaton]:
    """The symbol of each label (K,), and the automaton over symbols."""
    statement.check(labels)
    names = statement._names
    rows = np.array([labels.field(s).member for s in names.values()], bool).reshape(len(names), len(labels))
    patterns, symbols = np.unique(rows, axis=1, return_inverse=True)
    letters = {name: np.flatnonzero(row).tolist() for name, row in zip(names, patterns, strict=True)}
    try:
        automaton = regular.automaton(statement._expression, letters, patterns.shape[1])
    except ValueError as error:
        raise FormulaError(str(error), statement.regex, 0) from None
    return symbols.reshape(-1).astype(np.int64), automaton


Places = frozenset[int]  # sets of places between the letters of a word


def _reader(statement: Matches, reading: Reading, positions: Sequence[int]) -> Callable[[Places], Places]:
    """A function from the set of places where the expression may begin to the set of places where it may end."""
    selectors, stack = statement._names, list[Callable[[Places], Places]]()
    for step in statement._expression:
        if isinstance(step, regular.Letter):
            name, negated = step.name, step.negated
            fits = [name is None or reading.has(t, selectors[name]) != negated for t in positions]
            stack.append(partial(_after_letter, fits))
        elif isinstance(step, regular.Join):
            components = stack[len(stack) - step.operands :]
            del stack[len(stack) - step.operands :]
            stack.append(partial(_after_any if step.union else _after_all, components))
        else:
            stack.append(partial(_after_repeats, stack.pop(), step.low, step.high))
    return stack.pop()


def _after_letter(fits: Sequence[bool], places: Places) -> Places:
    return frozenset(i + 1 for i in places if i < len(fits) and fits[i])


def _after_any(components: Sequence[Callable[[Places], Places]], places: Places) -> Places:
    return frozenset[int]().union(*(component(places) for component in components))


def _after_all(components: Sequence[Callable[[Places], Places]], places: Places) -> Places:
    for component in components:
        places = component(places)
    return places


def _after_repeats(body: Callable[[Places], Places], low: int, high: int | None, places: Places) -> Places:
    for _ in range(low):
        before, places = places, body(places)
        if places == before:
            break
    result, new = set(places), places
    left = -1 if high is None else high - low
    while new and left:
        new = body(new) - result
        result |= new  # a copy for each repeat would take quadratic time
        left -= 1
    return frozenset(result)


matches = template(Matches)


class ValidScheme(Template):
    """The labelling follows its scheme. Each invalid step, and an entity left open at the end, is one violation.

    BIO: I-x only after B-x or I-x. IOB1: B-x only after B-x or I-x, since I-x begins a run elsewhere. IOBES, BILOU,
    BMES, BMEWO: an entity that begins with B continues with I (BMES, BMEWO: M) and ends with E (BILOU: L). BMEWO+: O-x
    only before a run of x, x-O only after it. Paths: BIO at every level; if a level begins a run, so do the levels below.
    Plain labels and IO, which has no label that begins a run, leave nothing to check: a hard rule is then an error, a soft
    rule a notice.

    >>> C.valid_scheme().violations(["O", "I-title", "B-title"])
    1
    """

    def vacuous(self, labels: LabelSet) -> str:
        return labels.nothing_to_keep

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        step, last = labels.invalid
        return [violations_at(everywhere(step)), violations_at(only_at(last[None, :], LAST))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        scheme = reading.labels.scheme
        if scheme in ("plain", "io"):
            return
        labels = [_levels(name, reading.labels) for name in reading.names]
        known = {"bio": _broken_levels, "paths": _broken_levels, "iob1": _broken_begins}
        broken = known.get(scheme, _broken_entities)
        where = broken(labels)
        for t in range(len(reading) + (broken is _broken_entities)):
            yield Trial((min(t, len(reading) - 1),), int(t in where))


_MARKS = {"bilou": {"L": "E", "U": "S"}, "bmes": {"M": "I"}, "bmewo": {"M": "I", "W": "S"}}
"""Letters of other schemes, and the IOBES letters that they stand for."""


def _levels(name: str, labels: LabelSet) -> list[tuple[str, str]]:
    """(prefix, path) of each level, parsed from the name, independently of `labels.notation`."""
    if name in ("O", "o") or name in labels.never:
        return []
    scheme, _, form = labels.notation.partition(" ")
    marks = _MARKS.get(scheme.removesuffix("+"), {})
    if scheme == "bmewo+" and name[:2].upper() == f"O{(form or 'B-x')[1]}":
        return [(">", name[2:])]
    if scheme == "bmewo+" and name[-2:].upper() == f"{(form or 'B-x')[1]}O":
        return [("<", name[:-2])]
    if len(form) == 1:
        return [(marks.get(name.upper(), name.upper()), "_")]
    if form.startswith("x"):
        return [(marks.get(name[-1].upper(), name[-1].upper()), name[:-2])]
    components = name.split("/") if scheme == "paths" else [name]
    return [
        (marks.get(mark, mark), "/".join(p[2:] for p in components[: i + 1]))
        for i, mark in enumerate(component[0].upper() for component in components)
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
    broken, entity, before = set[int](), "", ("", "")
    for t, label in enumerate([*labelling, []]):
        prefix, field = here = label[0] if label else ("O", "")
        promised = before[0] == ">" and here not in (("B", before[1]), ("S", before[1]))
        if promised and before[1].upper() == "EOS":
            promised = t < len(labelling)
        recalled = prefix == "<" and before not in (("E", field), ("S", field))
        if recalled and field.upper() == "BOS":
            recalled = t > 0
        if entity != (field if prefix in "IE" else "") or promised or recalled:
            broken.add(t)
        entity, before = field if prefix in "BI" else "", here
    return broken


valid_scheme = template(ValidScheme)
