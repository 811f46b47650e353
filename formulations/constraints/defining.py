"""User-defined templates: formulas with parameters, and Python functions of a labelling."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from formulations.arguments import function as checked_function
from formulations.arguments import instances, text, texts
from formulations.automata.components import Count, FunctionCount, call_count
from formulations.constraints.formulas import apply_template
from formulations.constraints.rule import COMMON, Rule
from formulations.constraints.rule_functions import pop_common
from formulations.constraints.template import TEMPLATES, Template, Trial
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.selectors import Group, Selector
from formulations.logic.parser import POSITIONS
from formulations.logic.resolver import ATOMS
from formulations.logic.syntax import check_body, check_named_formulas
from formulations.logic.texts import NamedFormula
from formulations.messages import brief, counted

RESERVED = (*ATOMS, *POSITIONS, "true", "false", "count", "runs", "tokens", "changes", "steps", "at")
KEYS = ("template", "linear", "logic", *COMMON)  # parameters of every rule


def check_definition(
    formula: NamedFormula, kind: str, resolve: Callable[[str], Selector], named: Sequence[NamedFormula] = ()
) -> None:
    """Check a named formula, which may call others; ValueError for a name that is in use, and for an invalid text."""
    name, parameters = formula.name, formula.parameters
    for what, word in (("template", name), *(("parameter", p) for p in parameters)):
        if not isinstance(word, str) or not word.isidentifier():
            raise ValueError(f"{brief(word)} is no name for a {what}: use letters, digits and _")
        if word in RESERVED or word in (TEMPLATES if what == "template" else KEYS):
            raise ValueError(f"{word!r} is a reserved word; choose another name for the {what}")
    if len(set(parameters)) < len(parameters):
        raise ValueError(f"two parameters of {name} have the same name")
    check_named_formulas([formula], "inequality" if kind == "linear" else "formula")
    check_body(formula, kind, resolve, {f.name: f for f in named})


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
        A formula, as in the template `logic`.
    linear : str, optional
        An inequality, as in the template `linear`; give either `linear` or `logic`.
    groups : sequence of Group, optional
        Groups that the text may name.

    Returns
    -------
    callable
        A function that returns a rule; it takes a field for each parameter, then the parameters of every rule by keyword.

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
    formula = NamedFormula(name, parameters, linear or logic)
    check_definition(formula, kind, lambda word: by_name.get(word, word))
    usage = formula.usage

    def make(*values: Selector, **arguments: Any) -> Rule:
        common = pop_common(arguments)
        rest = parameters[len(values) :]
        if sorted(rest) != sorted(arguments):
            received = ", ".join([*map(str, values), *arguments])
            raise ValueError(
                f"{counted(len(values) + len(arguments), 'argument')} ({received}); expected {usage}"
            )
        arguments_in_order = (*values, *(arguments[parameter] for parameter in rest))
        named = (formula,) if kind == "logic" else ()
        return Rule(apply_template(formula, arguments_in_order, tuple(groups), named, kind), **common)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"{usage}: {linear or logic}"
    return make


class Predicate(Template):
    """A statement whose violations a Python function counts (Chang, Ratinov and Roth 2007, section 7); see `predicate`."""

    function: Count
    prefix: Count | None = None

    rule_name: ClassVar[str] = "predicate"
    form: ClassVar[str] = "function"

    def __post_init__(self) -> None:
        checked_function(self.function, "function", "of label names and texts")
        if self.prefix is not None:
            checked_function(self.prefix, "prefix", "of the label names so far and texts, or None")

    @property
    def sentence(self) -> str:
        own = getattr(self.function, "__name__", "")
        return own if own.isidentifier() else "predicate"

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[FunctionCount]:
        texts = tokens if type(tokens) is tuple else ("",) * len(tokens)  # empty if all texts are empty
        return [FunctionCount(self.sentence, self.function, self.prefix, labels.names, texts)]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        labels, tokens = list(reading.names), tuple(reading.tokens)
        yield Trial((), call_count(self.function, self.sentence, labels, tokens))

    @property
    def selectors(self) -> list[Selector]:
        return []

    def bind(self, names: Mapping[str, Selector]) -> "Predicate":
        return self


def predicate(
    function: Count,
    *,
    penalty: float = math.inf,
    prefix: Count | None = None,
    name: str = "",
    reason: str = "",
) -> Rule:
    """A rule whose violations a Python function counts, for methods that evaluate labellings and for `ilpinfer.verify`.

    Parameters
    ----------
    function : callable
        Deterministic function of T label names and T texts that returns the number of violations, a whole number from 0.
    penalty : float, default inf
        Cost of a violation, nats; positive. inf makes the rule hard.
    prefix : callable, optional
        Function of the label names so far and T texts that returns a lower bound on the violations of every
        labelling that begins with these labels. It must not fall when a label is added. Searches use it.
    name : str, optional
        Name in `violations` and messages; that of the function if not given.
    reason : str, optional
        Explanation of the rule, for readers.

    Returns
    -------
    Rule
        The rule.

    Raises
    ------
    ValueError
        For an object that is no function, and for a penalty that is not positive or rounds to 0.

    Examples
    --------
    >>> from ilpinfer import constraints as C
    >>> rule = C.predicate(lambda labels, tokens: labels.count("a") % 2, penalty=2.0, name="even")
    >>> rule, rule.violations(["a", "b"])
    (Rule('even', penalty=2), 1)
    """
    return Rule(Predicate(function, prefix), penalty=penalty, name=name, reason=reason)
