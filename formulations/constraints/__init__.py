"""Rules and features. `from formulations import constraints as C`, then `C.at_most_runs("title", 1)`."""

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
    from formulations.constraints.counting import *  # noqa: F403
    from formulations.constraints.defining import define as define
    from formulations.constraints.defining import predicate as predicate
    from formulations.constraints.formulas import *  # noqa: F403
    from formulations.constraints.lexical import *  # noqa: F403
    from formulations.constraints.local import *  # noqa: F403
    from formulations.constraints.order import *  # noqa: F403
    from formulations.constraints.patterns import *  # noqa: F403
    from formulations.constraints.presence import *  # noqa: F403

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
