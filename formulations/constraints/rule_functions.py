"""Functions that return rules: one for each template, with its parameters and the parameters of every rule."""

import inspect
import re
from collections.abc import Callable
from importlib import import_module
from types import new_class
from typing import Any, ParamSpec

from formulations.constraints.rule import COMMON, Rule
from formulations.constraints.template import TEMPLATES, Template
from formulations.messages import brief
from formulations.parameters import described, plain_signature

INTERNAL = ("named", "arguments", "template")  # parameters of statements that are not for users
_COMMON = f"{', '.join(COMMON)}\n    Parameters of every rule, by keyword; see `Rule`."
_RETURNS = """Returns
-------
Rule
    The rule; it is hard if no penalty is given."""
_EXAMPLE = "\n\nExamples\n--------\n>>> from ilpinfer import constraints as C\n"
Parameters = ParamSpec("Parameters")


def template(
    statement: Callable[Parameters, Template], name: str | None = None, text: str = "", **variant: Any
) -> Callable[Parameters, Rule]:
    """Register a template, and return the function for its rules.

    The function has the parameters of the template, then the parameters of `Rule` by keyword. Its docstring is that of the class
    plus the parameters, which are described by the texts of annotated types.

    Parameters
    ----------
    statement : callable
        Class of the template.
    name : str, optional
        Name of the template and the function; by default from the class, such as `never_seen` for `NeverSeen`.
    text : str, optional
        Docstring of a further template of the class with other attributes.
    **variant : object
        The other attributes.

    Returns
    -------
    callable
        A function that returns a `Rule`.

    Raises
    ------
    ValueError
        If the name is in use, and for anything but a template class.

    Examples
    --------
    See `docs/` for a complete template.

    >>> from typing import Annotated
    >>> from ilpinfer import constraints as C
    >>> class NeverSeen(C.Template):
    ...     "No token of a field. Each token of it is a violation."
    ...
    ...     field: Annotated[str, "The field."]
    ...
    ...     def trials(self, reading):
    ...         return [C.Trial((t,), 1) for t in reading.positions(self.field)]
    >>> never_seen = C.template(NeverSeen)
    >>> never_seen("note").violations(["note", "title", "note"])
    2
    >>> del C.TEMPLATES["never_seen"]
    """
    if not isinstance(statement, type) or not issubclass(statement, Template):
        raise ValueError(f"statement is {brief(statement)}; expected the class of a template")
    if name is None:
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", statement.__name__).lower()
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"{brief(name)} is no name for a template: use letters, digits and _")
    if name in TEMPLATES:
        raise ValueError(f"there is a template {name!r} already: {TEMPLATES[name].__qualname__}")
    made: type[Template] = statement
    if text or "rule_name" in vars(statement):
        attributes = {"__doc__": text or statement.__doc__, "__module__": statement.__module__, **variant}
        attributes["__reduce__"] = _pickled
        title = name.title().replace("_", "")
        made = new_class(title, (statement,), exec_body=lambda body: body.update(attributes))
    made.rule_name = name
    made.__doc__ = _documentation(made.__doc__, statement)
    plain_signature(statement)
    TEMPLATES[name] = made
    taken = inspect.signature(made)

    def make(*arguments: Any, **parameters: Any) -> Rule:
        common = pop_common(parameters)
        try:
            taken.bind(*arguments, **parameters)
            stated = made(*arguments, **parameters)
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        return Rule(stated, **common)

    make.__name__ = make.__qualname__ = name
    make.__module__ = made.__module__
    make.__doc__ = made.__doc__
    own = [each for key, each in taken.parameters.items() if key not in INTERNAL]
    signature = inspect.Signature([*own, *_COMMON_PARAMETERS], return_annotation=Rule)
    make.__signature__ = signature  # type: ignore[attr-defined]
    return make


def _pickled(statement: Template) -> Any:
    """Pickle a statement whose class is not an attribute of its module."""
    kind = type(statement)
    return _blank, (kind.__module__, kind.rule_name), vars(statement)


def _blank(module: str, rule_name: str) -> Template:
    import_module(module)
    return object.__new__(TEMPLATES[rule_name])


def pop_common(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: parameters.pop(name) for name in COMMON if name in parameters}


def _documentation(text: str | None, statement: type[Template]) -> str:
    """The docstring of a template with sections for parameters and the returned rule."""
    text = inspect.cleandoc(text or "")
    if "Parameters\n---" in text:
        return text
    said, prompt, example = text.partition(">>> ")
    text = f"{said.rstrip()}\n\n{_RETURNS}" + (_EXAMPLE + prompt + example if prompt else "")
    return described(statement, text, _COMMON, internal=INTERNAL)


_COMMON_PARAMETERS = [
    parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
    for name, parameter in inspect.signature(Rule).parameters.items()
    if name in COMMON
]
