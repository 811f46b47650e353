"""How many runs or tokens a field may or must have (Stokman 2011, section 5.3; Chang et al. 2007, Table 1)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from formulations.compiled import machine
from formulations.compiled.machine import Machine
from formulations.constraints.reading import Reading
from formulations.constraints.rule import Template, template
from formulations.constraints.steps import begins, expand, members
from formulations.labels import LabelSet, Selector


@dataclass(frozen=True)
class AtMostRuns(Template):
    """At most n runs of a field. Each run more is a violation.

    Parameters
    ----------
    field : a field, label, group, or "each field" for every field by itself
    n : runs allowed
    """

    field: Selector
    n: int = 1

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Machine]:
        return [machine.at_most(begins(f, len(tokens)), self.n) for f in expand(labels, self.field)]

    def count(self, reading: Reading) -> int:
        return sum(max(0, len(reading.run_starts(f)) - self.n) for f in reading.each(self.field))


at_most_runs = template("at_most_runs", AtMostRuns)


@dataclass(frozen=True)
class AtLeastRuns(Template):
    """At least n runs of a field. Each run missing is a violation.

    Parameters
    ----------
    field : a field, label, group, or "each field" for every field by itself
    n : runs required
    """

    field: Selector
    n: int = 1

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Machine]:
        return [machine.at_least(begins(f, len(tokens)), self.n) for f in expand(labels, self.field)]

    def count(self, reading: Reading) -> int:
        return sum(max(0, self.n - len(reading.run_starts(f))) for f in reading.each(self.field))


at_least_runs = template("at_least_runs", AtLeastRuns)


@dataclass(frozen=True)
class AtMostTokens(Template):
    """At most n tokens of a field. Each token more is a violation.

    Parameters
    ----------
    field : a field, label, group, or "each field" for every field by itself
    n : tokens allowed
    """

    field: Selector
    n: int

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Machine]:
        return [machine.at_most(members(f, len(tokens)), self.n) for f in expand(labels, self.field)]

    def count(self, reading: Reading) -> int:
        return sum(max(0, len(reading.positions(f)) - self.n) for f in reading.each(self.field))


at_most_tokens = template("at_most_tokens", AtMostTokens)


@dataclass(frozen=True)
class AtLeastTokens(Template):
    """At least n tokens of a field. Each token missing is a violation.

    Parameters
    ----------
    field : a field, label, group, or "each field" for every field by itself
    n : tokens required
    """

    field: Selector
    n: int

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Machine]:
        return [machine.at_least(members(f, len(tokens)), self.n) for f in expand(labels, self.field)]

    def count(self, reading: Reading) -> int:
        return sum(max(0, self.n - len(reading.positions(f))) for f in reading.each(self.field))


at_least_tokens = template("at_least_tokens", AtLeastTokens)
