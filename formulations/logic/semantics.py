"""The semantics of formulas: whether one holds for a labelling, in plain Python. Compiled formulas are tested against it."""

from collections.abc import Iterator

from formulations import time_limits
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.selectors import Selector, names_in
from formulations.labels.selectors import holds as belongs
from formulations.logic import ast
from formulations.logic.ast import Environment, Formula, Value

MOST = 3_000_000
"""Largest number of groundings of a formula and its subformulas on one sequence, and of gates for them."""


def too_many(length: int) -> ValueError:
    """The error for a formula with more than `MOST` groundings on a sequence of that length."""
    return ValueError(
        f"a formula of more than {MOST} groundings on {length} tokens: use fewer nested quantifiers, or bound their "
        "ranges"
    )


def holds(formula: Formula, reading: Reading, environment: Environment) -> bool:
    """Whether a formula is true of a labelling; atoms about tokens outside the sequence are false."""
    T = len(reading)
    match formula:
        case ast.Constant(value):
            return value
        case ast.Not(inner):
            return not holds(inner, reading, environment)
        case ast.And(left, right):
            return holds(left, reading, environment) and holds(right, reading, environment)
        case ast.Or(left, right):
            return holds(left, reading, environment) or holds(right, reading, environment)
        case ast.Iff(left, right):
            return holds(left, reading, environment) == holds(right, reading, environment)
        case ast.Quantified(universal, binder, inner, _):
            options = values(binder, reading.labels, T, environment)
            result = (holds(inner, reading, {**environment, binder.name: value}) for value in options)
            return all(result) if universal else any(result)
        case ast.Compare(relation, left, right):
            a, b = left.at(environment, T), right.at(environment, T)
            return a < b if relation == "<" else a <= b if relation == "<=" else a == b
        case ast.SameName(left, right):
            return left.of(environment) == right.of(environment)
        case ast.Atom():
            tokens = formula.tokens(environment, T)
            return bool(tokens) and _atom_holds(formula, reading, environment, *tokens)
    raise TypeError(f"{type(formula).__name__} is no formula")


def _atom_holds(atom: ast.Atom, reading: Reading, environment: Environment, t: int, other: int = 0) -> bool:
    """Whether an atom about the token t, and the other one where it is about two, is true."""
    match atom:
        case ast.Member(field):
            return reading.has(t, field.of(environment))
        case ast.Innermost(field):
            return innermost(reading.names[t], field.of(environment), reading.labels)
        case ast.Begins(field):
            return reading.begins(t, field.of(environment))
        case ast.Ends(field):
            return any(last == t for _, last in reading.runs(field.of(environment)))
        case ast.Change():
            return t in reading.changes()
        case ast.Edge(before, after):
            inside = t > 0 and reading.has(t - 1, before.of(environment))
            return inside and reading.has(t, after.of(environment))
        case ast.Same(what):
            return _same(what, t, other, reading)
        case ast.TokenIs(pattern):
            return pattern.matches(reading.tokens[t])
        case ast.SameToken():
            return reading.tokens[t] == reading.tokens[other]
    raise TypeError(f"{type(atom).__name__} is no formula")


def innermost(label: str, selector: Selector, labels: LabelSet) -> bool:
    """Whether a label's innermost field is the one named, or one of the group."""
    name = labels.strip(label)
    return bool(belongs(selector, lambda word: word == name))


def labels_as_fields(read: Formula | ast.Inequality, labels: LabelSet) -> Iterator[str]:
    """Names after `field(t) =` that are labels but not fields, so that the comparison is never true."""
    stack: list[Formula] = [t.formula for t in read.terms] if isinstance(read, ast.Inequality) else [read]
    visited: set[int] = set()
    while stack:
        formula = stack.pop()
        if id(formula) in visited:
            continue
        visited.add(id(formula))
        stack += [child for child in formula.children() if isinstance(child, Formula)]
        if isinstance(formula, ast.Innermost) and not formula.field.variable:
            names = names_in([formula.field.selector])
            yield from (name for name in names if name in labels.names and name not in labels.fields)


def _same(what: str, s: int, t: int, reading: Reading) -> bool:
    names = reading.names
    if what == "label":
        return names[s] == names[t]
    if what == "edge":
        return s == t or (s > 0 and t > 0 and names[s - 1 : s + 1] == names[t - 1 : t + 1])
    return reading.labels.strip(names[s]) == reading.labels.strip(names[t])


def values(binder: ast.Binder, labels: LabelSet, length: int, environment: Environment) -> list[Value]:
    time_limits.check()
    if isinstance(binder, ast.PositionBinder):
        low, high = (bound.at(environment, length) for bound in (binder.low, binder.high))
        excluded = binder.unequal.at(environment, length) if binder.unequal else None
        return [t for t in range(max(low, 0), min(high, length - 1) + 1) if t != excluded]
    if binder.domain == "fields":
        return [*labels.field_names]
    return list(labels.names if binder.domain == "labels" else binder.alternatives)


def groundings(formula: Formula, labels: LabelSet, length: int) -> list[tuple[dict[str, Value], Formula]]:
    """The groundings of the outermost "for all", as it was written; the formula itself where there is none."""
    front: list[tuple[dict[str, Value], Formula]] = [({}, formula)]
    if isinstance(formula, ast.Quantified) and formula.universal:
        while front and isinstance(now := front[0][1], ast.Quantified) and now.block == formula.block:
            extended: list[tuple[dict[str, Value], Formula]] = []
            for environment, _ in front:
                options = values(now.binder, labels, length, environment)
                extended += [({**environment, now.binder.name: value}, now.inner) for value in options]
                if len(extended) * (1 + len(environment) // 4) > MOST:
                    raise too_many(length)
            front = extended
    return front
