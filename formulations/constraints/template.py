"""Templates: the statements of rules, each with a compiled form and a plain count."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from importlib import import_module
from inspect import get_annotations
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, dataclass_transform

from formulations.automata.components import Component, Condition, UnboundComponent, Window
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.selectors import EACH_FIELD, Group, Selector, names_in, substitute
from formulations.parameters import Words, check_parameters, kinds
from formulations.tokens.token_pattern import TokenPattern

AnyField = Annotated[Selector, "Field, label or group."]
CheckedField = Annotated[Selector, "The field whose runs are checked."]
EveryField = Annotated[
    Selector, 'A field, label or group; "each field" applies the rule to every field separately.'
]
Groups = Annotated[Sequence[Group], "Groups that it may name."]


@dataclass(frozen=True)
class Trial:
    """One place of a labelling at which a rule applies.

    Parameters
    ----------
    tokens : tuple of int
        The tokens of the place.
    amount : int
        Number of violations; 0 where the rule holds.

    Examples
    --------
    >>> from ilpinfer import constraints as C
    >>> C.Trial((2, 3), 1).amount
    1
    """

    tokens: tuple[int, ...]
    amount: int


if TYPE_CHECKING:

    @dataclass(frozen=True, kw_only=True)
    class _Common:
        """Parameters of every rule, for type checkers."""

        penalty: float = math.inf
        distance: str = "count"
        name: str = ""
        scope: str = ""
        partial: str = ""
        reason: str = ""

else:
    _Common = object


BUILT_IN = {
    "counting": (
        *("all_different", "at_least_runs", "at_least_tokens", "at_most_in_window", "at_most_runs"),
        *("at_most_tokens", "between_runs", "between_tokens", "exactly_runs", "exactly_tokens", "max_gap"),
        *("max_run_length", "min_run_length"),
    ),
    "formulas": ("linear", "logic"),
    "lexical": (
        *("consistent", "contains_only", "numbers_continue", "right_before", "tag_at", "tag_phrases"),
        "tag_sequence",
    ),
    "local": (
        *("adjacency", "changes_never_after", "changes_only_after", "directly_after", "ends_with"),
        *("forbidden_transition", "should_be_tagged", "should_not_precede", "starts_with"),
    ),
    "order": ("inside", "precedence", "presence_precedence", "requires_before", "state_change"),
    "patterns": ("matches", "valid_scheme"),
    "presence": (
        *("alternation", "begin_end", "never_together", "next_field", "requires_present"),
        *("sequence_implies_sequence", "tag_implies_tag"),
    ),
}
"""The templates of the package by module; modules are imported at first use."""


class Templates(MutableMapping[str, type["Template"]]):
    """Templates by name: those of the package, and templates registered by `template`."""

    def __init__(self) -> None:
        self.modules = {
            name: f"formulations.constraints.{module}" for module, names in BUILT_IN.items() for name in names
        }
        self._made: dict[str, type[Template]] = {}

    def __getitem__(self, name: str) -> type["Template"]:
        if name in self.modules and name not in self._made:
            import_module(self.modules[name])
        return self._made[name]

    def __setitem__(self, name: str, made: type["Template"]) -> None:
        self._made[name] = made

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self.modules, **self._made})

    def __len__(self) -> int:
        return len({**self.modules, **self._made})


TEMPLATES = Templates()
FORMULAS = ("linear", "logic")
"""Templates that are texts."""
LONGEST_NAME = 160  # characters of a name that is made from a statement


@dataclass_transform(frozen_default=True)
class Template(ABC, _Common):
    """Base class of templates, the statements of rules.

    Subclasses are frozen dataclasses of parameters; `template` returns the functions for their rules. A subclass has two
    definitions of its violations, which must agree: `components` or `ground`, for programs and searches, and `trials`, in
    plain Python that is easy to check. Override `components` if conditions depend on a token and its neighbours only;
    override `ground` if they depend on the whole sequence.

    Examples
    --------
    >>> from ilpinfer import constraints as C
    >>> issubclass(C.TEMPLATES["at_most_runs"], C.Template)
    True
    """

    rule_name: ClassVar[str]
    """The name in rule files, and of the function for rules."""
    form: ClassVar[str] = "template"

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        super().__init_subclass__()
        if get_annotations(cls) or not is_dataclass(cls):  # others inherit methods
            dataclass(frozen=True, kw_only=kw_only)(cls)

    def __post_init__(self) -> None:
        check_parameters(self)

    def components(self, labels: LabelSet) -> list[UnboundComponent] | None:
        """The components for any sequence, whose violations add up; None if they depend on the sequence.

        Parameters as for `ground`.

        Returns
        -------
        list of UnboundComponent or None
            The components, or None.
        """
        return None

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Component]:
        """The components for one sequence.

        Parameters
        ----------
        labels : LabelSet
            The labels of the trellis.
        tokens : sequence of str
            T texts.

        Returns
        -------
        iterable of Component
            Machines, sums and circuits.
        """
        components = self.components(labels)
        if components is None:
            raise NotImplementedError(f"{type(self).__name__} has neither components nor ground")
        window = Window(tokens)
        return [component.on(window) for component in components]

    @abstractmethod
    def trials(self, reading: Reading) -> Iterable[Trial]:
        """The places of a labelling at which the statement applies, with numbers of violations.

        Parameters
        ----------
        reading : Reading
            A labelling with its tokens.

        Returns
        -------
        iterable of Trial
            One trial for each place.
        """

    def check_names(self, labels: LabelSet, more: LabelSet) -> None:
        """Raise ValueError for a name in a text that the rule file does not declare.

        Parameters
        ----------
        labels : LabelSet
            The fields that the file declares.
        more : LabelSet
            The same, and a further label.
        """

    @property
    def required_field(self) -> tuple[Condition, Selector] | None:
        """A condition and a field: tokens at which the condition holds must belong to the field. None for other templates."""
        return None

    def required_fields(self, tokens: Sequence[str]) -> Mapping[int, Selector]:
        """The field of each token that must belong to one, see `required_field`. Parameters as for `ground`.

        Returns
        -------
        mapping of int to str, Group or list of str
            Fields by token number.
        """
        required = self.required_field
        return {} if required is None else dict.fromkeys(Window(tokens).positions(required[0]), required[1])

    def remark(self, labels: LabelSet) -> str:
        """A notice about the statement with these labels, for example that no labelling can satisfy it.

        Parameters as for `ground`.

        Returns
        -------
        str
            The notice; empty if there is none.
        """
        return ""

    def vacuous(self, labels: LabelSet) -> str:
        """The reason why there is nothing to check with these labels: an error for a hard rule, a notice for a soft rule.

        Parameters as for `ground`.

        Returns
        -------
        str
            The reason; empty if there is something to check.
        """
        return ""

    def bind(self, names: Mapping[str, Selector]) -> "Template":
        """The same statement with placeholders replaced by fields.

        Parameters
        ----------
        names : mapping of str to str, Group or list of str
            Field for each placeholder.

        Returns
        -------
        Template
            The statement with the placeholders replaced.
        """
        values = {
            f.name: substitute(getattr(self, f.name), names)
            for f in fields(self)
            if kinds(type(self))[f.name].names_fields
        }
        return replace(self, **values) if values else self

    @property
    def selectors(self) -> list[Selector]:
        """The fields, labels and groups that the statement names."""
        result = (getattr(self, f.name) for f in fields(self) if kinds(type(self))[f.name].names_fields)
        return [value for value in result if value is not None]

    @property
    def names(self) -> list[str]:
        """The names of fields and labels in the statement, including members of groups and placeholders."""
        return names_in(self.selectors)

    @property
    def sentence(self) -> str:
        """The statement as text, such as `at_most_runs(title, 1)`."""
        return self._sentence("")

    @property
    def quoted_sentence(self) -> str:
        """The statement as text, with words in quotes to distinguish them from fields and parameters."""
        return self._sentence('"')

    def _sentence(self, quotes: str) -> str:
        shown = ", ".join(
            _text(getattr(self, f.name), quotes)
            for f in sorted(fields(self), key=lambda f: bool(f.kw_only))
            if f.name != "groups"
            and (getattr(self, f.name) != f.default or kinds(type(self))[f.name].always_shown)
        )
        return f"{self.rule_name}({shown})"


def each_field(statement: Template, names: Iterable[str]) -> list[Template]:
    """Repeat the statement for every field if it contains EACH_FIELD."""
    if EACH_FIELD not in names_in(statement.selectors):
        return [statement]
    return [statement.bind({EACH_FIELD: name}) for name in names]


def _text(value: Any, quotes: str) -> str:
    if isinstance(value, Words | TokenPattern):
        return value.shown(quotes)
    if isinstance(value, tuple | list):
        return " or ".join(_text(each, quotes) for each in value)
    return value.name if isinstance(value, Group) else str(value)
