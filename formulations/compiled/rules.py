"""Rules compiled for a label set, once for all sequences."""

from collections.abc import Iterable
from dataclasses import dataclass

from formulations.compiled.problem import Problem, compile_problem
from formulations.constraints.feature import Feature
from formulations.constraints.rule import Rule
from formulations.labels import LabelSet
from formulations.rules import RuleSet
from formulations.trellis import Trellis


@dataclass(frozen=True)
class CompiledRules:
    """Rules and features for one label set: immutable, picklable, and the same for every sequence.

    Parameters
    ----------
    rules : as they were given
    labels : K labels
    """

    rules: RuleSet
    labels: LabelSet

    def problem(self, trellis: Trellis) -> Problem:
        """Scores and ground rules of one sequence.

        Raises
        ------
        ValueError
            for other labels than those the rules were compiled for; as `compile_problem`.
        """
        if trellis.labels != self.labels:
            raise ValueError(
                f"the rules were compiled for the labels {', '.join(self.labels.names[:6])}…, but the trellis has others"
            )
        return compile_problem(trellis, self.rules)


def compile_rules(rules: Iterable[Rule | Feature], labels: LabelSet) -> CompiledRules:
    """Compile rules and features for a label set.

    Raises
    ------
    ValueError
        for an unknown field, and a name given twice.
    """
    return CompiledRules(rules if isinstance(rules, RuleSet) else RuleSet(tuple(rules)), labels)
