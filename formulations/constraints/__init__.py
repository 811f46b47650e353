# ruff: noqa: F403
"""Rules and features. `from formulations import constraints as C`, then `C.at_most_runs("title", 1)`.

There is a function for every template. Users can define further templates: classes registered by
`@C.template("name")`, with a function for their rules from `C.maker(TheClass)`, or formulas with parameters, by
`C.define`.
"""

from formulations.automata.component import Component
from formulations.constraints.consistency import *
from formulations.constraints.counting import *
from formulations.constraints.defining import define
from formulations.constraints.feature import Feature, feature
from formulations.constraints.formulas import *
from formulations.constraints.item_numbers import *
from formulations.constraints.lengths import *
from formulations.constraints.lexical import *
from formulations.constraints.local import *
from formulations.constraints.order import *
from formulations.constraints.patterns import *
from formulations.constraints.presence import *
from formulations.constraints.rule import Rule
from formulations.constraints.rule_functions import maker
from formulations.constraints.run_order import *
from formulations.constraints.scheme import *
from formulations.constraints.template import TEMPLATES, Template, Trial, template
from formulations.labels.selectors import EACH_FIELD, Group, group, other_than
from formulations.tokens.token_pattern import PUNCTUATION, TOKEN_CLASSES, TokenPattern, tokens

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
    "maker",
    "other_than",
    "template",
    "tokens",
    *TEMPLATES,
]
