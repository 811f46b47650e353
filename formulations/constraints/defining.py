"""Templates that users define as formulas with parameters."""

from collections.abc import Callable, Sequence
from typing import Any

from formulations.arguments import instances, text, texts
from formulations.constraints.formulas import apply_template
from formulations.constraints.rule import COMMON, Rule
from formulations.constraints.rule_functions import pop_common
from formulations.constraints.template import TEMPLATES
from formulations.labels.selectors import Group, Selector
from formulations.logic.names import POSITIONS, NamedFormula
from formulations.logic.resolver import ATOMS
from formulations.logic.syntax import check_body, check_named_formulas
from formulations.messages import brief

RESERVED = (*ATOMS, *POSITIONS, "true", "false", "count", "runs", "tokens", "changes", "steps", "at")
KEYS = ("template", "linear", "logic", *COMMON)  # parameters of every rule, beside a template's own


def named_formula(
    name: str,
    parameters: Sequence[str],
    formula_text: str,
    kind: str,
    resolve: Callable[[str], Selector],
    named: Sequence[NamedFormula] = (),
) -> NamedFormula:
    """A named formula that may call others; ValueError for a name that means something already, and a text that is no formula."""
    for what, word in (("template", name), *(("parameter", p) for p in parameters)):
        if not isinstance(word, str) or not word.isidentifier():
            raise ValueError(f"{brief(word)} is no name for a {what}: use letters, digits and _")
        if word in RESERVED or word in (TEMPLATES if what == "template" else KEYS):
            raise ValueError(f"{word!r} means something already: choose another name for the {what}")
    if len(set(parameters)) < len(parameters):
        raise ValueError(f"two parameters of {name} have the same name")
    formula = NamedFormula(name, tuple(parameters), formula_text)
    check_named_formulas([formula], "inequality" if kind == "linear" else "formula")
    check_body(formula, kind, resolve, {f.name: f for f in named})
    return formula


def define(
    name: str,
    parameters: Sequence[str],
    *,
    logic: str = "",
    linear: str = "",
    groups: Sequence[Group] = (),
) -> Callable[..., Rule]:
    """Define a template by a formula or an inequality.

    Parameters
    ----------
    name : str
        Name of the template.
    parameters : sequence of str
        Names in the text that stand for fields, labels or groups.
    logic : str, optional
        A formula, as for the template `logic`.
    linear : str, optional
        An inequality, as for the template `linear`; give either this or `logic`.
    groups : sequence of Group, optional
        Groups that the text may name.

    Returns
    -------
    callable
        The function that makes its rules; it takes a field for each parameter, then the parameters of every
        rule by keyword.

    Raises
    ------
    ValueError
        For a name that is already in use, and for an invalid text.

    Examples
    --------
    >>> before = define("before", ["A", "B"], logic="forall t: B(t) -> exists s < t: A(s)")
    >>> before("author", "title", penalty=1.5)
    Rule('before(author, title)', penalty=1.5)
    >>> before("author", "title").violations(["title", "author", "title"])
    1
    """
    parameters = texts(parameters, "parameters", "names")
    groups = instances(groups, Group, "groups", "a group")
    if bool(text(logic, "logic")) == bool(text(linear, "linear")):
        raise ValueError(f"{name}: give either logic or linear")
    kind = "linear" if linear else "logic"
    by_name = {group.name: group for group in groups}
    formula = named_formula(name, parameters, linear or logic, kind, lambda word: by_name.get(word, word))
    usage = formula.usage

    def make(*values: Selector, **arguments: Any) -> Rule:
        common = pop_common(arguments)
        rest = parameters[len(values) :]
        if sorted(rest) != sorted(arguments):
            received = ", ".join([*map(str, values), *arguments])
            raise ValueError(f"{len(values) + len(arguments)} arguments ({received}); expected {usage}")
        arguments_in_order = (*values, *(arguments[parameter] for parameter in rest))
        named = (formula,) if kind == "logic" else ()
        return Rule(apply_template(formula, arguments_in_order, tuple(groups), named, kind), **common)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"{usage}: {linear or logic}"
    return make
