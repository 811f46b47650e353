"""Rules and features. `from formulations import constraints as C`, then `C.at_most_runs("title", 1)`.

There is a function for every template. Templates of one's own are classes registered by `@C.template("name")`, whose
rules `C.maker("name")` makes, or formulas with parameters, from `C.define`.
"""

from formulations.automata.component import Component
from formulations.constraints import (  # noqa: F401 - registers the templates
    consistency,
    counting,
    formulas,
    item_numbers,
    lengths,
    lexical,
    local,
    order,
    patterns,
    presence,
    scheme,
)
from formulations.constraints.defining import define
from formulations.constraints.feature import Feature, feature
from formulations.constraints.rule import Rule, maker
from formulations.constraints.template import TEMPLATES, Template, Trial, template
from formulations.labels.label_set import EACH_FIELD, Group, group, other_than
from formulations.tokens.token_pattern import PUNCTUATION, TOKEN_CLASSES, TokenPattern, tokens

adjacency = maker("adjacency")
all_different = maker("all_different")
alternation = maker("alternation")
at_least_runs = maker("at_least_runs")
at_least_tokens = maker("at_least_tokens")
at_most_in_window = maker("at_most_in_window")
at_most_runs = maker("at_most_runs")
at_most_tokens = maker("at_most_tokens")
begin_end = maker("begin_end")
between_runs = maker("between_runs")
between_tokens = maker("between_tokens")
changes_never_after = maker("changes_never_after")
changes_only_after = maker("changes_only_after")
consistent = maker("consistent")
contains_only = maker("contains_only")
directly_after = maker("directly_after")
ends_with = maker("ends_with")
exactly_runs = maker("exactly_runs")
exactly_tokens = maker("exactly_tokens")
forbidden_transition = maker("forbidden_transition")
inside = maker("inside")
linear = maker("linear")
logic = maker("logic")
matches = maker("matches")
max_gap = maker("max_gap")
max_run_length = maker("max_run_length")
min_run_length = maker("min_run_length")
never_together = maker("never_together")
numbers_continue = maker("numbers_continue")
precedence = maker("precedence")
presence_precedence = maker("presence_precedence")
requires_before = maker("requires_before")
requires_present = maker("requires_present")
right_before = maker("right_before")
sequence_implies_sequence = maker("sequence_implies_sequence")
should_be_tagged = maker("should_be_tagged")
should_not_precede = maker("should_not_precede")
starts_with = maker("starts_with")
state_change = maker("state_change")
tag_at = maker("tag_at")
tag_implies_tag = maker("tag_implies_tag")
tag_phrases = maker("tag_phrases")
tag_sequence = maker("tag_sequence")
valid_scheme = maker("valid_scheme")

__all__ = [
    "EACH_FIELD",
    "PUNCTUATION",
    "TEMPLATES",
    "TOKEN_CLASSES",
    "Feature",
    "Group",
    "Component",
    "Rule",
    "Template",
    "TokenPattern",
    "Trial",
    "define",
    "feature",
    "group",
    "maker",
    "other_than",
    "template",
    "tokens",
    *TEMPLATES,
]
