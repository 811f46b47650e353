"""Semantics of formulas: values of variables, groundings of the outermost "for all", and names of fields."""

from collections.abc import Iterator

from formulations import time_limits
from formulations.labels.label_set import LabelSet
from formulations.labels.selectors import Selector, names_in
from formulations.labels.selectors import holds as belongs
from formulations.logic import ast
from formulations.logic.ast import Environment, Formula, Value

MOST = 3_000_000
"""Largest number of groundings, and of gates, of a formula with its subformulas on one sequence."""


def too_many(length: int) -> ValueError:
    """The error for a formula with more than `MOST` groundings on a sequence of that length."""
    return ValueError(
        f"a formula of more than {MOST} groundings on {length} tokens: use fewer nested quantifiers, or bound their "
        "ranges"
    )


def innermost(label: str, selector: Selector, labels: LabelSet) -> bool:
    """Whether a label's innermost field is this field, or in this group."""
    name = labels.strip(label)
    return bool(belongs(selector, lambda word: word == name))


def labels_as_fields(read: Formula | ast.Inequality, labels: LabelSet) -> Iterator[str]:
    """Names after `field(t) =` that are labels but not fields; the comparison is never true."""
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


def values(binder: ast.Binder, labels: LabelSet, length: int, environment: Environment) -> list[Value]:
    time_limits.check()
    if isinstance(binder, ast.PositionBinder):
        low, high = (bound.at(environment, length) for bound in (binder.low, binder.high))
        excluded = binder.unequal.at(environment, length) if binder.unequal else None
        return [t for t in range(max(low, 0), min(high, length - 1) + 1) if t != excluded]
    if binder.domain == "fields":
        return [*labels.field_names]
    return list(labels.names if binder.domain == "labels" else binder.alternatives)


def front(formula: Formula) -> tuple[list[ast.Binder], Formula]:
    """The variables of the outermost "for all" of the text, and the inner formula."""
    binders, block = list[ast.Binder](), getattr(formula, "block", None)
    while isinstance(formula, ast.Quantified) and formula.universal and formula.block == block:
        binders.append(formula.binder)
        formula = formula.inner
    return binders, formula


def groundings(formula: Formula, labels: LabelSet, length: int) -> list[tuple[dict[str, Value], Formula]]:
    """The groundings of the outermost "for all" of the text; the formula itself if there is none."""
    binders, inner = front(formula)
    environments: list[dict[str, Value]] = [{}]
    for number, binder in enumerate(binders):
        extended: list[dict[str, Value]] = []
        for environment in environments:
            options = values(binder, labels, length, environment)
            extended += [{**environment, binder.name: value} for value in options]
            if len(extended) * (1 + number // 4) > MOST:
                raise too_many(length)
        environments = extended
    return [(environment, inner) for environment in environments]
