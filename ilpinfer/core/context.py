"""What a solution was decoded from, for questions about it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from formulations import Rule, Trellis
from formulations.constraints.template import Trial
from formulations.dtypes import LabelIds
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.problem.compiled_rules import unique_names
from formulations.problem.problem import Problem
from ilpinfer.core.infeasibility import Infeasibility
from ilpinfer.core.rule_compiler import RuleCompiler


def trials_of(rule: Rule, reading: Reading, lost: set[int]) -> list[Trial]:
    """The trials of a rule, except those at tokens where an earlier rule has priority."""
    return [t for t in rule.trials(reading) if not (lost and t.tokens and t.tokens[0] in lost)]


class Questions(Protocol):
    """Searches that explanations need, within the time limit of the call that is explained."""

    def conflict(self, context: "Context", known: Infeasibility | None) -> Infeasibility:
        """The conflict if no labelling is feasible: the known one, unless there is more time for a search now."""

    def changes(self, context: "Context", path: LabelIds, token: int | None) -> tuple[Any, ...]:
        """The runs of labels that are not Viterbi's, or the answer for one token, each a `Change`."""


@dataclass(frozen=True)
class Context:
    """What a solution was decoded from."""

    rules: RuleCompiler
    trellis: Trellis
    decode: Callable[[RuleCompiler], Any]
    questions: Questions
    known_problem: Problem | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "known_problem": None}

    @property
    def problem(self) -> Problem:
        return self.rules.quietly(self.trellis) if self.known_problem is None else self.known_problem

    @property
    def digest(self) -> str:
        """Digest of trellis and rules; see `Certificate`."""
        return self.rules.compiled(self.trellis.labels).digest_of(self.trellis)

    @property
    def labels(self) -> LabelSet:
        """With the fields that the rules declare."""
        return self.trellis.labels.with_optional_fields(self.rules.rules.fields)

    def named(self) -> dict[str, Rule]:
        """Rules by their unique names, without features."""
        pairs = zip(unique_names(self.rules), self.rules, strict=True)
        return {name: rule for name, rule in pairs if isinstance(rule, Rule)}

    def overruled(self) -> dict[str, list[int]]:
        """For each rule, the tokens where an earlier rule has priority over it."""
        return self.rules.compiled(self.trellis.labels).overruled(self.trellis.tokens)

    def broken(self, name: str, labels: Sequence[str]) -> list[Trial]:
        """The trials in which a labelling breaks a rule, by the plain checker."""
        reading = Reading(labels, self.trellis.tokens, self.labels)
        lost = set(self.overruled().get(name, ()))
        return [trial for trial in trials_of(self.named()[name], reading, lost) if trial.amount]

    def places(self, name: str, labels: Sequence[str]) -> tuple[int, ...]:
        return tuple(sorted({t for trial in self.broken(name, labels) for t in trial.tokens}))
