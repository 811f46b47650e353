"""Rules that are any Python function of a labelling."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from formulations.arguments import function as checked_function
from formulations.automata.functions import Count, FunctionCount, counted
from formulations.constraints.rule import Rule
from formulations.constraints.template import Template, Trial
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.selectors import Selector


class Predicate(Template):
    """A statement whose violations a Python function counts (Chang, Ratinov and Roth 2007, section 7); `predicate` makes its rules."""

    function: Count
    prefix: Count | None = None

    rule_name: ClassVar[str] = "predicate"
    form: ClassVar[str] = "function"

    def __post_init__(self) -> None:
        checked_function(self.function, "function", "of label names and texts")
        if self.prefix is not None:
            checked_function(self.prefix, "prefix", "of the label names so far and texts, or None")

    def sentence(self) -> str:
        """The name of the function."""
        own = getattr(self.function, "__name__", "")
        return own if own.isidentifier() else "predicate"

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[FunctionCount]:
        texts = tokens if type(tokens) is tuple else ("",) * len(tokens)  # none where all are empty
        return [FunctionCount(self.sentence(), self.function, self.prefix, labels.names, texts)]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        labels, tokens = list(reading.names), tuple(reading.tokens)
        yield Trial((), counted(self.function, self.sentence(), labels, tokens))

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
    """A rule whose violations a Python function counts; methods that evaluate labellings take it, and `ilpinfer.verify`.

    Parameters
    ----------
    function : callable
        Function of T label names and T texts that returns the number of violations, a whole number from 0. It
        has to return the same number each time.
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
    >>> from formulations import constraints as C
    >>> rule = C.predicate(lambda labels, tokens: labels.count("a") % 2, penalty=2.0, name="even")
    >>> rule, rule.violations(["a", "b"])
    (Rule('even', penalty=2), 1)
    """
    return Rule(Predicate(function, prefix), penalty=penalty, name=name, reason=reason)
