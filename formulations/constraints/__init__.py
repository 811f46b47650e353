"""Rules and features. `from formulations import constraints as C`, then `C.at_most_runs("title", 1)`."""

from formulations.constraints.counting import (
    at_least_runs,
    at_least_tokens,
    at_most_runs,
    at_most_tokens,
    exactly_runs,
    exactly_tokens,
)
from formulations.constraints.feature import Feature, feature
from formulations.constraints.local import (
    changes_only_after,
    ends_with,
    forbidden_transition,
    starts_with,
    tag_at,
    valid_scheme,
)
from formulations.constraints.order import requires_before, requires_present
from formulations.constraints.rule import TEMPLATES, Rule
from formulations.constraints.tokens import PUNCTUATION
from formulations.labels import EACH_FIELD, Group, group, other_than

__all__ = [
    "EACH_FIELD",
    "PUNCTUATION",
    "TEMPLATES",
    "Feature",
    "Group",
    "Rule",
    "at_least_runs",
    "at_least_tokens",
    "at_most_runs",
    "at_most_tokens",
    "changes_only_after",
    "ends_with",
    "exactly_runs",
    "exactly_tokens",
    "feature",
    "forbidden_transition",
    "group",
    "other_than",
    "requires_before",
    "requires_present",
    "starts_with",
    "tag_at",
    "valid_scheme",
]
