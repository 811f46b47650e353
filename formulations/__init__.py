"""The mathematics of constrained inference for sequence models: it states problems and solves nothing."""

from formulations import constraints
from formulations.constraints import Feature, Rule
from formulations.documents import Document, join
from formulations.labels import Group, LabelSet
from formulations.rules import RuleError, RuleSet, catalogue, dump_rules, load_rules, parse_rules
from formulations.trellis import Trellis

__all__ = [
    "Document",
    "Feature",
    "Group",
    "LabelSet",
    "Rule",
    "RuleError",
    "RuleSet",
    "Trellis",
    "catalogue",
    "constraints",
    "dump_rules",
    "join",
    "load_rules",
    "parse_rules",
]
