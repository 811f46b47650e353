"""Rules and features. `from formulations import constraints as C`, then `C.at_most_runs("title", 1)`.

There is a function for every template. Users can define further templates: classes, whose functions `C.template` makes,
and formulas with parameters, by `C.define`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from formulations.automata.components import Component
from formulations.constraints.feature import Feature, feature
from formulations.constraints.rule import Rule
from formulations.constraints.rule_functions import template
from formulations.constraints.template import TEMPLATES, Template, Trial
from formulations.labels.selectors import EACH_FIELD, Group, group, other_than
from formulations.tokens.token_pattern import PUNCTUATION, TOKEN_CLASSES, TokenPattern, tokens

if TYPE_CHECKING:
    from formulations.constraints.counting import all_different as all_different
    from formulations.constraints.counting import at_least_runs as at_least_runs
    from formulations.constraints.counting import at_least_tokens as at_least_tokens
    from formulations.constraints.counting import at_most_in_window as at_most_in_window
    from formulations.constraints.counting import at_most_runs as at_most_runs
    from formulations.constraints.counting import at_most_tokens as at_most_tokens
    from formulations.constraints.counting import between_runs as between_runs
    from formulations.constraints.counting import between_tokens as between_tokens
    from formulations.constraints.counting import exactly_runs as exactly_runs
    from formulations.constraints.counting import exactly_tokens as exactly_tokens
    from formulations.constraints.counting import max_gap as max_gap
    from formulations.constraints.counting import max_run_length as max_run_length
    from formulations.constraints.counting import min_run_length as min_run_length
    from formulations.constraints.defining import define as define
    from formulations.constraints.defining import predicate as predicate
    from formulations.constraints.formulas import linear as linear
    from formulations.constraints.formulas import logic as logic
    from formulations.constraints.lexical import consistent as consistent
    from formulations.constraints.lexical import contains_only as contains_only
    from formulations.constraints.lexical import numbers_continue as numbers_continue
    from formulations.constraints.lexical import right_before as right_before
    from formulations.constraints.lexical import tag_at as tag_at
    from formulations.constraints.lexical import tag_phrases as tag_phrases
    from formulations.constraints.lexical import tag_sequence as tag_sequence
    from formulations.constraints.local import adjacency as adjacency
    from formulations.constraints.local import changes_never_after as changes_never_after
    from formulations.constraints.local import changes_only_after as changes_only_after
    from formulations.constraints.local import directly_after as directly_after
    from formulations.constraints.local import ends_with as ends_with
    from formulations.constraints.local import forbidden_transition as forbidden_transition
    from formulations.constraints.local import should_be_tagged as should_be_tagged
    from formulations.constraints.local import should_not_precede as should_not_precede
    from formulations.constraints.local import starts_with as starts_with
    from formulations.constraints.order import inside as inside
    from formulations.constraints.order import precedence as precedence
    from formulations.constraints.order import presence_precedence as presence_precedence
    from formulations.constraints.order import requires_before as requires_before
    from formulations.constraints.order import state_change as state_change
    from formulations.constraints.patterns import matches as matches
    from formulations.constraints.patterns import valid_scheme as valid_scheme
    from formulations.constraints.presence import alternation as alternation
    from formulations.constraints.presence import begin_end as begin_end
    from formulations.constraints.presence import never_together as never_together
    from formulations.constraints.presence import next_field as next_field
    from formulations.constraints.presence import requires_present as requires_present
    from formulations.constraints.presence import sequence_implies_sequence as sequence_implies_sequence
    from formulations.constraints.presence import tag_implies_tag as tag_implies_tag

__all__ = [
    "EACH_FIELD",
    "PUNCTUATION",
    "TEMPLATES",
    "TOKEN_CLASSES",
    "Component",
    "Feature",
    "Group",
    "Rule",
    "Template",
    "TokenPattern",
    "Trial",
    "define",
    "feature",
    "group",
    "other_than",
    "predicate",
    "template",
    "tokens",
    *TEMPLATES,
]
_MODULES = TEMPLATES.modules | dict.fromkeys(("define", "predicate"), "formulations.constraints.defining")


if not TYPE_CHECKING:  # so that type checkers report unknown names

    def __getattr__(name: str) -> object:
        """Import a function, and keep it."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value: object = getattr(import_module(_MODULES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
