"""The mathematics of constrained inference for sequence models: problems, rules and integer programs, without solvers."""

from importlib import import_module
from typing import TYPE_CHECKING

import formulations.forks  # noqa: F401 - locks in forked children

if TYPE_CHECKING:
    from formulations import constraints as constraints
    from formulations.constraints.feature import Feature as Feature
    from formulations.constraints.rule import Rule as Rule
    from formulations.constraints.rule_set import RuleError as RuleError
    from formulations.constraints.rule_set import RuleSet as RuleSet
    from formulations.constraints.rule_set import join_rules as join_rules
    from formulations.errors import InferenceError as InferenceError
    from formulations.labels.label_set import LabelSet as LabelSet
    from formulations.labels.selectors import Group as Group
    from formulations.problem.documents import Document as Document
    from formulations.problem.documents import join as join
    from formulations.problem.trellis import Trellis as Trellis
    from formulations.programs.kinds import formulate as formulate
    from formulations.programs.program import Program as Program
    from formulations.rulefiles.loading import catalogue as catalogue
    from formulations.rulefiles.loading import dump_rules as dump_rules
    from formulations.rulefiles.loading import load_rules as load_rules
    from formulations.rulefiles.loading import parse_rules as parse_rules

_HOMES = {
    "Document": "problem.documents",
    "Feature": "constraints.feature",
    "Group": "labels.selectors",
    "InferenceError": "errors",
    "LabelSet": "labels.label_set",
    "Program": "programs.program",
    "Rule": "constraints.rule",
    "RuleError": "constraints.rule_set",
    "RuleSet": "constraints.rule_set",
    "Trellis": "problem.trellis",
    "catalogue": "rulefiles.loading",
    "dump_rules": "rulefiles.loading",
    "formulate": "programs.kinds",
    "join": "problem.documents",
    "join_rules": "constraints.rule_set",
    "load_rules": "rulefiles.loading",
    "parse_rules": "rulefiles.loading",
}
"""Public names by module; modules are imported at first access."""
__all__ = ["constraints", *_HOMES]


if not TYPE_CHECKING:  # so that type checkers report unknown names

    def __getattr__(name: str) -> object:
        """Import a name, and keep it."""
        if name == "constraints":
            return import_module("formulations.constraints")
        if name not in _HOMES:
            raise AttributeError(f"module 'formulations' has no attribute {name!r}")
        value: object = getattr(import_module(f"formulations.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
