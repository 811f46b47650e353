"""Templates that are texts: inequalities over counts, and first-order formulas."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from formulations.automata.circuit import FALSE, Gates, by_token, components_of
from formulations.automata.components import LATER, Component, StepChoice, UnboundComponent
from formulations.automata.lattice import StepTable
from formulations.automata.sums import bounded
from formulations.caches import MOST_LABEL_SETS, RecentValues
from formulations.constraints.rule_functions import template
from formulations.constraints.steps import sum_component
from formulations.constraints.template import Groups, Template, Trial
from formulations.dtypes import Booleans, Integers
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.selectors import Group, Selector, selector, substitute
from formulations.logic import ast, semantics
from formulations.logic.evaluation import Evaluator
from formulations.logic.grounding import Grounder
from formulations.logic.syntax import mentions, read
from formulations.logic.texts import FormulaError, NamedFormula
from formulations.messages import counted

Arguments = tuple[tuple[str, Selector], ...]


class Text(Template):
    """A template that is a text about fields; unused groups and formulas are removed."""

    text: Annotated[str, "The inequality or the formula."]
    groups: Groups = ()
    named: tuple[NamedFormula, ...] = ()
    arguments: Arguments = ()
    template: NamedFormula | None = None
    """The user's template with this text; the arguments are values of its parameters."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.template is not None:
            object.__setattr__(self, "rule_name", self.template.name)
        words, called = self._mentions
        groups = {group.name: group for group in self.groups}
        object.__setattr__(self, "groups", tuple(groups[word] for word in sorted(words) if word in groups))
        named = sorted((f for f in self.named if f.name in called), key=lambda f: f.name)
        object.__setattr__(self, "named", tuple(named))

    @property
    def _mentions(self) -> tuple[tuple[str, ...], frozenset[str]]:
        return mentions(self.form, self.text, self.named, tuple(name for name, _ in self.arguments))

    def read(self, known: LabelSet | None = None) -> Any:
        """Parse the text; FormulaError also for a name that is not in the labels, if these are given."""
        return self._readings.get(known, lambda: _read(self, known))

    @cached_property
    def _readings(self) -> RecentValues[Any]:
        return RecentValues(MOST_LABEL_SETS)

    @property
    def names(self) -> list[str]:
        groups = {group.name for group in self.groups}
        words = [word for word in self._mentions[0] if word not in groups]
        return list(dict.fromkeys([*super().names, *words]))

    def check_names(self, labels: LabelSet, more: LabelSet) -> None:
        self.read(labels)

    def bind(self, names: Mapping[str, Selector]) -> Template:
        groups = tuple(substitute(group, names) for group in self.groups)
        arguments = tuple((name, substitute(value, names)) for name, value in self.arguments)
        free = () if self.template else names.items()
        return replace(self, groups=groups, arguments=(*arguments, *free))

    @property
    def selectors(self) -> list[Selector]:
        return [*(value for _, value in self.arguments), *self.groups]

    @property
    def sentence(self) -> str:
        """The text on one line; for a user's template, its name with the arguments."""
        if self.template is not None:
            return f"{self.rule_name}({', '.join(str(value) for _, value in self.arguments)})"
        arguments = ", ".join(f"{name} = {value}" for name, value in self.arguments)
        return " ".join(self.text.split()) + (f" with {arguments}" if arguments else "")


def _read(statement: Text, known: LabelSet | None) -> Any:
    by_name = {group.name: group for group in statement.groups}

    def resolve(word: str) -> Selector:
        result: Selector = by_name.get(word, word)
        if known is not None:
            known.field(result)
        return result

    named = {formula.name: formula for formula in statement.named}
    result = read(statement.form, statement.text, resolve, named, dict(statement.arguments))
    if known is not None:
        for name in semantics.labels_as_fields(result, known):
            field = known.strip(name)
            message = (
                f'"{name}" is a label, not a field; write label(t) = "{name}", or name its field, "{field}"'
            )
            raise FormulaError(message, statement.text, max(0, statement.text.find(name)))
    return result


class Linear(Text):
    """An inequality over counts: `2*runs(title) - tokens(note) <= 3`. Each unit of excess or shortfall is a violation.

    Terms are `runs(F)`, `tokens(F)`, `changes()`, `steps(F, G)` from one field to another, `at(F, 3)` for one token (negative
    numbers count from the end), and `count(t: …)`, the number of tokens for which a formula about t and t-1 is true. Each
    term has an integer coefficient. Relations are <=, <, >=, > and =. For =, the absolute difference counts; in eq. 56 of Stokman
    2011, a negative difference would be a reward. Table 2 there has constraints of this form.

    >>> C.linear("2*runs(title) - tokens(note) <= 3").violations(["title", "note", "title"])
    0
    """

    form: ClassVar[str] = "linear"

    def components(self, labels: LabelSet) -> list[UnboundComponent] | None:
        inequality: ast.Inequality = self.read(labels)
        if not all(isinstance(t.formula, _UNIFORM) for t in inequality.terms):
            return None
        steps = self._steps(labels, ("", ""), inequality).values
        chosen = StepChoice(steps, (LATER,)) if len(steps) == 2 else StepChoice(steps)
        return [sum_component(chosen, inequality.low, inequality.high)]

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Component]:
        if self.components(labels) is not None:
            return super().ground(labels, tokens)
        inequality: ast.Inequality = self.read(labels)
        return [bounded(self._steps(labels, tokens, inequality), inequality.low, inequality.high)]

    def check_names(self, labels: LabelSet, more: LabelSet) -> None:
        super().check_names(labels, more)
        list(self.ground(more, ["", "", ""]))

    def _steps(self, labels: LabelSet, tokens: Sequence[str], inequality: ast.Inequality) -> StepTable:
        """The contribution of each step to the sum."""
        K, grounder = len(labels), Grounder(labels, tokens, Gates(len(labels)))
        total: dict[int, Integers] = {}
        for token in range(len(tokens)):
            total[token] = np.zeros((K if token else 1, K), np.int64)
            for term in inequality.terms:
                total[token] += term.times * self._truth(grounder, term, token)
        return by_token(total, K, len(tokens))

    def _truth(self, grounder: Grounder, term: ast.Term, token: int) -> Booleans:
        gates = grounder.gates
        node = grounder.node(term.formula, {term.variable: token})
        if node == FALSE:
            return np.zeros((1, 1), bool)
        near = token - 1 <= gates.first[node] and gates.last[node] <= token
        if node > 1 and not (near and gates.is_local(node)):
            message = "count(…) looks beyond the tokens t and t-1: state it as a logic rule"
            raise FormulaError(message, self.text, max(0, self.text.find("count")))
        return gates.truth(node, token)

    def trials(self, reading: Reading) -> Iterable[Trial]:
        inequality: ast.Inequality = self.read(reading.labels)
        total, where, truth = 0, set[int](), Evaluator(reading)
        for term in inequality.terms:
            tokens = range(len(reading))
            result = [t for t in tokens if truth.holds(term.formula, {term.variable: t})]
            total += term.times * len(result)
            where.update(result)
        low, high = inequality.low, inequality.high
        away = max(0, 0 if low is None else low - total, 0 if high is None else total - high)
        yield Trial(tuple(sorted(where)), away)


_UNIFORM = (ast.Member, ast.Begins, ast.Change, ast.Edge)


class Logic(Text):
    """A first-order formula: `forall t: title(t) -> exists s < t: author(s)`. Each failing grounding is a violation.

    Groundings are those of the outermost "forall" of the text; any other formula counts 0 or 1. Formulas are compiled to
    shared gates of one polarity each, so that programs grow linearly with the ground formula. Conjunctive normal form (Stokman
    2011, section 4.1.1) may grow exponentially.

    >>> rule = C.logic("forall t: title(t) -> exists s < t: author(s)")
    >>> rule.violations(["title", "author", "title"])
    1
    """

    form: ClassVar[str] = "logic"

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Component]:
        gates = Gates(len(labels))
        grounder = Grounder(labels, tokens, gates)
        found = grounder.groundings(self.read(labels))
        return components_of(gates, [root for root, *_ in found], len(tokens), lambda: grounder.parts(found))

    def trials(self, reading: Reading) -> Iterable[Trial]:
        for environment, kept in Evaluator(reading).trials(self.read(reading.labels)):
            places = {value for value in environment.values() if isinstance(value, int)}
            yield Trial(tuple(sorted(places)), int(not kept))


def apply_template(
    formula: NamedFormula,
    values: Sequence[Selector],
    groups: tuple[Group, ...],
    named: tuple[NamedFormula, ...],
    kind: str,
) -> Text:
    """The statement of a user's template, with a field, label or group for each parameter."""
    if len(values) != len(formula.parameters):
        raise ValueError(f"{counted(len(values), 'argument')}; expected {formula.usage}")
    arguments = tuple((p, selector(v, p)) for p, v in zip(formula.parameters, values, strict=True))
    return (Linear if kind == "linear" else Logic)(formula.text, groups, named, arguments, formula)


linear = template(Linear)
logic = template(Logic)
