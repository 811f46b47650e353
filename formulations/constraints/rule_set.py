"""Rules and features together, with the fields that they name."""

from collections.abc import Iterator
from dataclasses import dataclass

from formulations.arguments import instance, instances, items, text, texts
from formulations.constraints.feature import Feature
from formulations.constraints.rule import Rule
from formulations.errors import InferenceError
from formulations.labels.label_set import LabelSet, label_set
from formulations.labels.selectors import Group
from formulations.logic.syntax import NamedFormula
from formulations.messages import brief, cut

LONGEST_MESSAGE = 2000
"""Characters of a message about a rule file."""


class RuleError(InferenceError, ValueError):
    """An error in a rule file.

    Parameters
    ----------
    message : str
        One line that names file, rule, value and remedy.
    excerpt : str, optional
        The line of the file, and a caret below the place; empty if there is none.

    Examples
    --------
    >>> from formulations import RuleError, parse_rules
    >>> try:
    ...     parse_rules('fields = ["title"]\\n[[rule]]\\ntemplate = "at_most_runs"\\nfield = "titel"')
    ... except RuleError as error:
    ...     print(error.message)
    rules, rule 1: no field "titel"; did you mean "title"? (line 4, column 9)
    """

    def __init__(self, message: str, excerpt: str = "") -> None:
        super().__init__(message)
        self.message, self.excerpt = cut(" ".join(message.split()), LONGEST_MESSAGE), excerpt

    def __str__(self) -> str:
        return f"{self.message}\n{self.excerpt}" if self.excerpt else self.message


@dataclass(frozen=True, repr=False)
class RuleSet:
    """Rules and features, with the fields that they may name.

    Parameters
    ----------
    items : tuple of Rule or Feature
        Rules and features.
    fields : tuple of str, optional
        Declared fields; one that a model lacks counts as absent.
    name : str, optional
        Name of the file or catalogue entry.
    groups : tuple of Group, optional
        Groups that rules name.
    templates : tuple of tuple of (NamedFormula, str), optional
        (formula, "logic" or "linear") of each template that the file defines.
    title, source : str, optional
        Subject of the rules, and their origin.

    Examples
    --------
    >>> from formulations import RuleSet, constraints as C
    >>> rules = RuleSet((C.at_most_runs("title", 1),), fields=("title",), name="mine")
    >>> rules, len(rules)
    (RuleSet('mine': 1 rules, 0 features, 1 fields), 1)
    """

    items: tuple[Rule | Feature, ...]
    fields: tuple[str, ...] = ()
    name: str = ""
    groups: tuple[Group, ...] = ()
    templates: tuple[tuple[NamedFormula, str], ...] = ()
    title: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        rules = tuple(items(self.items, "items", "rules and features"))
        for position, item in enumerate(rules):
            if not isinstance(item, Rule | Feature):
                raise ValueError(
                    f"rule {position + 1} is {brief(item)}; expected a rule such as at_most_runs(...) or a feature"
                )
        object.__setattr__(self, "items", rules)
        object.__setattr__(self, "fields", texts(self.fields, "fields", "names"))
        object.__setattr__(self, "groups", tuple(instances(self.groups, Group, "groups", "a group")))
        templates = items(self.templates, "templates")
        for place, each in enumerate(templates):
            if not isinstance(each, tuple) or len(each) != 2 or not isinstance(each[0], NamedFormula):
                raise ValueError(f"templates[{place}] is {brief(each)}; expected a formula and its form")
        object.__setattr__(self, "templates", tuple(templates))
        instance(self.name, str, "name", "a text")  # that of a file may have bytes that are no text
        for name in ("title", "source"):
            text(getattr(self, name), name)

    def __repr__(self) -> str:
        counts = f"{len(self.rules)} rules, {len(self) - len(self.rules)} features, {len(self.fields)} fields"
        return f"RuleSet({self.name!r}: {counts})"

    def __iter__(self) -> Iterator[Rule | Feature]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def absent(self, labels: LabelSet) -> list[str]:
        """Declared fields that no label carries.

        Parameters
        ----------
        labels : LabelSet
            The labels of a model.

        Returns
        -------
        list of str
            Names of declared fields that no label carries.
        """
        known = label_set(labels)
        return [f for f in self.fields if f not in known.fields and f not in known.names]

    @property
    def rules(self) -> list[Rule]:
        """The items without the features."""
        return [item for item in self.items if isinstance(item, Rule)]
