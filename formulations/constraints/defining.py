"""Templates that users define as formulas with parameters."""

import math
from collections.abc import Callable, Sequence

from formulations.constraints.formulas import Defined
from formulations.constraints.rule import Rule
from formulations.constraints.template import TEMPLATES
from formulations.labels import Group, Selector
from formulations.language.syntax import NamedFormula, check_named


def named_formula(name: str, parameters: Sequence[str], text: str, kind: str) -> NamedFormula:
    """A named formula.

    Raises
    ------
    ValueError
        for a name that a template has, or a text that cannot be used.
    """
    if not name.isidentifier():
        raise ValueError(f"{name!r} is no name for a template: use letters, digits and _")
    if name in TEMPLATES:
        raise ValueError(f"there is a template {name!r} already")
    for parameter in parameters:
        if not isinstance(parameter, str) or not parameter.isidentifier():
            raise ValueError(f"{parameter!r} is no name for a parameter: use letters, digits and _")
    if len(set(parameters)) < len(parameters):
        raise ValueError(f"two parameters of {name} have the same name")
    made = NamedFormula(name, tuple(parameters), text)
    check_named([made], "inequality" if kind == "linear" else "formula")
    return made


def define(
    name: str,
    parameters: Sequence[str],
    *,
    logic: str = "",
    linear: str = "",
    groups: Sequence[Group] = (),
) -> Callable[..., Rule]:
    """A template made of a formula: `define("a_before_b", ["A", "B"], logic="forall t: B(t) -> exists s < t: A(s)")`.

    Returns the function that makes its rules: fields for the parameters, then what every rule has by keyword.

    Raises
    ------
    ValueError
        for a name that is taken, or a text that cannot be used.
    """
    if bool(logic) == bool(linear):
        raise ValueError(f"{name}: give either logic or linear")
    kind = "linear" if linear else "logic"
    made = named_formula(name, parameters, linear or logic, kind)

    def make(
        *values: Selector,
        penalty: float = math.inf,
        distance: str = "count",
        name: str = "",
        scope: str = "",
        partial: str = "",
        reason: str = "",
    ) -> Rule:
        statement = Defined(made, values, tuple(groups), (made,), kind)
        return Rule(statement, penalty, distance, name, scope, partial, reason)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"{name}({', '.join(parameters)}): {linear or logic}"
    return make
