"""Rules: a template with its parameters, the penalty of a violation, and the measure of violations."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import permutations

from formulations import time_limits
from formulations.arguments import items, real, text, texts
from formulations.automata.circuit import Circuit
from formulations.automata.components import Component, FunctionCount, UnboundComponent, call_count
from formulations.automata.hamming import MOST_PLACES, HammingDistance
from formulations.automata.machine import TooManyStates
from formulations.automata.windows import WindowCount
from formulations.caches import MOST_LABEL_SETS, RecentValues
from formulations.constraints.conditions import condition
from formulations.constraints.template import LONGEST_NAME, Template, Trial, each_field
from formulations.errors import InferenceError
from formulations.grid import snap_weight
from formulations.labels import schemes
from formulations.labels.label_set import Labelled, LabelSet, label_set
from formulations.labels.reading import Reading
from formulations.labels.selectors import EACH_FIELD
from formulations.messages import brief, counted, cut, suggestion

DISTANCES = ("count", "binary", "hamming")
SCOPES = {"": (), "each label": ("X",), "each pair": ("X", "Y")}
"""The placeholders of fields in each scope."""
PARTIAL = ("", "forced")


@dataclass(frozen=True, repr=False)
class Rule:
    """A template that is either hard or costs `penalty` nats for each violation.

    Parameters
    ----------
    statement : Template
        The template with its parameters.
    penalty : float, default inf
        Cost of a violation, nats; positive. inf makes the rule hard.
    distance : str, default "count"
        Measure of violations: "count" for the count that the template defines, "binary" for 1 if there is any
        violation, "hamming" for the least number of tokens to relabel until the rule holds (T if no labelling
        of T tokens keeps it).
    name : str, optional
        Name in `violations` and messages; made from the statement if not given.
    scope : str, optional
        "each label" repeats the rule for every field X except `O`, "each pair" for every two different fields X, Y.
    partial : str, optional
        "forced" lets searches evaluate the rule on prefixes even if solutions are lost (marked by hand in Stokman 2011,
        section 4.1); by default, the form of the rule decides.
    reason : str, optional
        Explanation of the rule, for readers.
    when : str, optional
        Condition on the metadata of a sequence, such as "intent = flight"; see `RuleSet.of`.

    Raises
    ------
    ValueError
        For a penalty that is not positive or rounds to 0, for an unknown distance, scope or value of `partial`, and for an
        invalid condition.

    Examples
    --------
    >>> from ilpinfer import constraints as C
    >>> rule = C.requires_before("author", "title", penalty=2)
    >>> rule
    Rule('requires_before(author, title)', penalty=2)
    >>> rule.violations(["title", "author", "title"])
    1
    >>> rule.statement.field
    'title'
    """

    statement: Template
    penalty: float = math.inf
    distance: str = "count"
    name: str = ""
    scope: str = ""
    partial: str = ""
    reason: str = ""
    when: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.statement, Template):
            raise ValueError(f"statement is {brief(self.statement)}; expected a template")
        for parameter in ("name", "distance", "scope", "partial", "reason", "when"):
            text(getattr(self, parameter), parameter)
        where = f"rule {self.title!r}: penalty"
        if not real(self.penalty):
            raise ValueError(f"{where} is {brief(self.penalty)}: give nats, or inf for a hard rule")
        if self.penalty <= 0:
            shown = f"{self.penalty:g}" if isinstance(self.penalty, float) else str(self.penalty)
            raise ValueError(f"{where} is {shown}: a penalty is positive; to reward something, use a feature")
        snap_weight(self.penalty, where, allow_inf=True)
        object.__setattr__(self, "penalty", float(self.penalty))
        if self.when:
            condition(self.when)
        self._one_of("distance", DISTANCES)
        self._one_of("scope", SCOPES)
        for place in SCOPES[self.scope]:
            if place not in self.statement.names:
                way = f"name {place} in place of a field, or leave scope out"
                raise ValueError(
                    f"rule {self.title!r}: scope {self.scope!r} is for rules that name {place}; {way}"
                )
        self._one_of("partial", PARTIAL)
        if self.partial and (self.statement.form == "logic" or self.distance == "hamming"):
            raise ValueError(
                f'rule {self.title!r}: partial "forced" is for templates and linear rules that count; remove '
                "it, as formulas and Hamming distances do not need it"
            )

    def _one_of(self, what: str, known: Iterable[str]) -> None:
        value = getattr(self, what)
        if value not in known:
            options = [option for option in known if option]
            one = len(options) == 1
            hint = suggestion(str(value), options) if one else f"; choose from {', '.join(options)}"
            raise ValueError(f"rule {self.title!r}: no {what} {brief(value)}{hint}")

    def __repr__(self) -> str:
        cost = "hard" if self.hard else f"penalty={float(self.penalty):g}"
        return f"Rule({self.title!r}, {cost})"

    @property
    def title(self) -> str:
        """The given name, or the statement."""
        scope = f" for {self.scope}" if self.scope else ""
        return self.name or cut(self.statement.sentence, LONGEST_NAME) + scope

    @property
    def hard(self) -> bool:
        return self.penalty == math.inf

    @cached_property
    def units(self) -> int:
        """The penalty on the score grid; `HARD` for a hard rule."""
        return snap_weight(self.penalty, "penalty", allow_inf=True)

    def statements(self, names: tuple[str, ...]) -> list[Template]:
        """Expand the scope and "each field", given the names of the fields except `O`.

        Parameters
        ----------
        names : tuple of str
            Names of the fields without `O`.

        Returns
        -------
        list of Template
            One statement for each field, or pair of fields, of the scope.
        """
        return self._statements.get(names, lambda: self._expand_scope(names))

    @cached_property
    def _statements(self) -> RecentValues[list[Template]]:
        return RecentValues(MOST_LABEL_SETS)

    def _expand_scope(self, names: tuple[str, ...]) -> list[Template]:
        places = SCOPES[self.scope]
        for place in (place for place in places if place in names):
            raise ValueError(
                f"scope {self.scope!r} uses {place!r} as a placeholder, but a field has this name; rename the field"
            )
        choices = permutations(names, len(places))
        scoped = [self.statement.bind(dict(zip(places, c, strict=True))) for c in choices if places]
        return [each for s in (scoped if places else [self.statement]) for each in each_field(s, names)]

    def components(self, labels: LabelSet) -> tuple[UnboundComponent, ...] | None:
        """The components of the statements for any sequence; None if some depend on the sequence.

        Parameters and errors as for `ground`.

        Returns
        -------
        tuple of UnboundComponent or None
            The components, or None.
        """
        labels = label_set(labels)
        result = []
        for statement in self.statements(labels.field_names):
            time_limits.check()
            result.append(statement.components(labels))
        if any(components is None for components in result):
            return None
        return tuple(component for components in result for component in components or ())

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> tuple[Component, ...]:
        """The components on these tokens; their violations add up to those of the rule.

        Parameters
        ----------
        labels : LabelSet
            The labels of the trellis.
        tokens : sequence of str
            T texts.

        Returns
        -------
        tuple of Component
            Machines, sums and circuits.

        Raises
        ------
        ValueError
            For an unknown field, and for distance "hamming" without a small machine.
        """
        labels = label_set(labels)
        if isinstance(tokens, str | bytes) or not isinstance(tokens, Sequence):
            raise ValueError(f"tokens is {brief(tokens)}; expected a list of texts")
        statements = self.statements(labels.field_names)
        components = tuple(component for s in statements for component in s.ground(labels, tokens))
        if self.statement.form == "function":
            return tuple(replace(p, rule=self.title) for p in components if isinstance(p, FunctionCount))
        if self.hard or self.distance != "count":
            components = tuple(
                replace(p, once=True) if isinstance(p, Circuit | WindowCount) else p for p in components
            )
        components = tuple(
            part for p in components for part in (p.parts if isinstance(p, WindowCount) else (p,))
        )
        if self.distance != "hamming" or not components:
            return components
        return (self._nearest(components, len(labels), len(tokens)),)

    def _nearest(self, components: Sequence[Component], labels: int, length: int) -> HammingDistance:
        machines = [component.machines for component in components]
        if None in machines:
            what = "rules with a small automaton, which this rule does not have"
            raise ValueError(f'distance "hamming" is for {what}: use "count"')
        regular = [machine for each in machines for machine in each or ()]
        try:
            result = HammingDistance(regular, labels, length, self.hard)
            result.feasible  # noqa: B018 - raises where there are too many places
            return result
        except TooManyStates:
            raise ValueError(
                f'distance "hamming" would need more than {MOST_PLACES} states for a token: use "count"'
                + (", or a rule for one field" if self.scope or len(components) > 1 else "")
            ) from None

    def trials(self, reading: Reading) -> list[Trial]:
        """The places of a labelling at which the rule applies, with the violations there, by the plain checker.

        Parameters
        ----------
        reading : Reading
            A labelling with its tokens.

        Returns
        -------
        list of Trial
            One trial for each place at which the rule applies; none on an empty labelling.
        """
        if not len(reading):
            return []
        if self.statement.form == "function":
            counts = self.ground(reading.labels, tuple(reading.tokens))
            return [
                Trial((), call_count(each.count, each.rule, list(reading.names), each.tokens))
                for each in counts
                if isinstance(each, FunctionCount)
            ]
        try:
            result = [t for s in self.statements(reading.fields) for t in s.trials(reading)]
        except InferenceError:
            raise
        except ValueError as error:
            raise ValueError(f"{self.title}: {error}") from None
        if self.distance != "hamming":
            return result
        labels = reading.labels
        components = replace(self, distance="count").ground(labels, reading.tokens)
        if not components:
            return [Trial((), 0)] if result else []
        distance = self._nearest(components, len(labels), len(reading))
        amount, changed = distance.nearest(labels.ids(reading.names))
        return [Trial(tuple(changed), amount)] if result or amount else []

    def violations(
        self,
        labelling: Sequence[str] | Sequence[int],
        *,
        tokens: Sequence[str] | None = None,
        labels: LabelSet | Labelled | Sequence[str] | None = None,
    ) -> int:
        """Count the violations of a labelling.

        Parameters
        ----------
        labelling : sequence of str or sequence of int
            T label names; with `labels`, also ids.
        tokens : sequence of str, optional
            T texts; empty by default.
        labels : LabelSet, Labelled or sequence of str, optional
            The labels and their scheme: a label set, a trellis, or names. By default, the labels in the labelling and
            in the rule; "each field", scopes and the distance "hamming" then ignore other labels. Give the labels of
            the trellis to count as `ilpinfer.decode` does.

        Returns
        -------
        int
            The number of violations, as `distance` measures them.

        Raises
        ------
        ValueError
            For an unknown field or label, and for another number of tokens.

        Examples
        --------
        >>> from ilpinfer import constraints as C
        >>> rule = C.at_most_tokens("title", 1, distance="hamming")
        >>> rule.violations(["title", "title", "title"])
        3
        >>> rule.violations(["title", "title", "title"], labels=["title", "author"])
        2
        """
        given = texts(labelling, "labelling") if labels is None else items(labelling, "labelling")
        view = self._labels_of(given) if labels is None else label_set(labels)
        names = [view.names[k] for k in view.ids(given)]
        if self.hard and (why := self.statement.vacuous(view)):
            raise ValueError(f"{self.title}: {why}")
        words = [""] * len(names) if tokens is None else texts(tokens, "tokens")
        if len(words) != len(names):
            raise ValueError(f"{counted(len(words), 'token')} for {counted(len(names), 'label')}")
        result = sum(trial.amount for trial in self.trials(Reading(names, words, view)))
        return min(result, 1) if self.distance == "binary" else result

    def _labels_of(self, labelling: Sequence[str]) -> LabelSet:
        """The labels of a labelling, and labels for the fields in the rule."""
        own = LabelSet(tuple(dict.fromkeys(labelling)))
        known = (*own.fields, *own.names, EACH_FIELD, *SCOPES[self.scope])
        absent = [name for name in self.statement.names if name not in known]
        more = (label for name in absent for label in schemes.labels_of(name, own.notation))
        return LabelSet(tuple(dict.fromkeys((*own.names, *more))), own.notation) if absent else own


COMMON = tuple(f.name for f in fields(Rule) if f.name != "statement")
"""Parameters of every rule, except its statement."""
