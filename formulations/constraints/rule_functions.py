"""Functions that make rules: one for each template, with its parameters and those of every rule."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, cast, overload

from formulations.constraints.rule import COMMON, Rule
from formulations.constraints.template import TEMPLATES, Template
from formulations.messages import brief, suggestion
from formulations.parameters import parameter_types

INTERNAL = ("named", "arguments", "template")
"""Parameters of statements that are not for users."""
HEADING = "Parameters\n----------\n"
"""The heading of the parameters in a docstring."""
Parameters = ParamSpec("Parameters")


@overload
def maker(statement: str) -> Callable[..., Rule]: ...
@overload
def maker(statement: Callable[Parameters, Template]) -> Callable[Parameters, Rule]: ...
def maker(statement: str | Callable[..., Template]) -> Callable[..., Rule]:
    """The function that makes rules of a template.

    Its parameters are those of the template, then those of `Rule` by keyword.

    Parameters
    ----------
    statement : str or callable
        Class of the template, from which type checkers know the parameters; or its name.

    Returns
    -------
    callable
        A function that returns a `Rule`.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.maker("at_most_runs")("title", 2)
    Rule('at_most_runs(title, 2)', hard)
    """
    if isinstance(statement, str) and statement not in TEMPLATES:
        raise ValueError(f"no template {brief(statement)}{suggestion(statement, TEMPLATES)}")
    template = TEMPLATES[statement] if isinstance(statement, str) else cast(type[Template], statement)
    if (
        not isinstance(template, type)
        or not issubclass(template, Template)
        or not hasattr(template, "rule_name")
    ):
        raise ValueError(f"statement is {brief(template)}; expected the name or the class of a template")

    def make(*arguments: Any, **parameters: Any) -> Rule:
        common = pop_common(parameters)
        return Rule(_statement(template, arguments, parameters), **common)

    make.__name__ = make.__qualname__ = template.rule_name
    make.__module__ = template.__module__
    make.__doc__ = _documentation(template)
    make.__signature__ = _signature(template)  # type: ignore[attr-defined]
    return make


def _documentation(statement: type[Template]) -> str:
    """The docstring of a template, with the descriptions of inherited parameters, and the value that is returned."""
    summary, _, others = inspect.cleandoc(statement.__doc__ or "").partition(HEADING)
    descriptions: dict[str, str] = {}
    for ancestor in statement.__mro__:
        section = inspect.cleandoc(ancestor.__doc__ or "").partition(HEADING)[2].partition("\n\n")[0]
        for entry in re.split(r"\n(?=\S)", section):
            for name in entry.partition(" : ")[0].split(", "):
                descriptions.setdefault(name, entry)
    own = [p for p in inspect.signature(statement).parameters if p in descriptions and p not in INTERNAL]
    entries = [
        *dict.fromkeys(descriptions[name] for name in own),
        f"{', '.join(COMMON)}\n    {_OF_EVERY_RULE}",
    ]
    if not others:
        summary, examples, rest = summary.partition("\n\nExamples\n")
        others = f"\n\n{examples.strip()}\n{rest}" if examples else ""
    _, blank, rest = others.partition("\n\n")
    returns = f"\n\nReturns\n-------\nRule\n    {_RETURNED}"
    return f"{summary.strip()}\n\n{HEADING}" + "\n".join(entries) + returns + blank + rest


_OF_EVERY_RULE = "Parameters of every rule, by keyword; see `Rule`."
_RETURNED = "The rule; it is hard if no penalty is given."


def _signature(statement: type[Template]) -> inspect.Signature:
    annotations = parameter_types(statement)
    own = [
        parameter.replace(annotation=annotations.get(name, parameter.annotation))
        for name, parameter in inspect.signature(statement).parameters.items()
        if name not in INTERNAL
    ]
    rule = inspect.signature(Rule).parameters
    common = [rule[name].replace(kind=inspect.Parameter.KEYWORD_ONLY) for name in COMMON]
    return inspect.Signature([*own, *common], return_annotation=Rule)


def pop_common(parameters: dict[str, Any]) -> dict[str, Any]:
    """Remove and return the parameters that every rule has."""
    return {name: parameters.pop(name) for name in COMMON if name in parameters}


def _statement(
    statement: type[Template], arguments: Sequence[Any], parameters: Mapping[str, Any]
) -> Template:
    """The statement; errors name the template."""
    name = statement.rule_name
    try:
        return statement(*arguments, **parameters)
    except TypeError as error:
        raise TypeError(f"{name}: {str(error).replace(f'{statement.__name__}.__init__()', 'it')}") from None
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
