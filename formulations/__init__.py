"""The mathematics of constrained inference for sequence models: problems, rules and integer programs, without solvers."""

import formulations.forks  # noqa: F401 - locks in forked children
from formulations import constraints
from formulations.constraints import Feature, Rule
from formulations.constraints.rule_set import RuleError, RuleSet, join_rules
from formulations.errors import InferenceError
from formulations.labels.label_set import LabelSet
from formulations.labels.selectors import Group
from formulations.problem.documents import Document, join
from formulations.problem.trellis import Trellis
from formulations.programs.kinds import formulate
from formulations.programs.program import Program
from formulations.rulefiles.loading import catalogue, dump_rules, load_rules, parse_rules

__all__ = [
    "Document",
    "Feature",
    "Group",
    "InferenceError",
    "LabelSet",
    "Program",
    "Rule",
    "RuleError",
    "RuleSet",
    "Trellis",
    "catalogue",
    "constraints",
    "dump_rules",
    "formulate",
    "join",
    "join_rules",
    "load_rules",
    "parse_rules",
]
