"""How many runs or tokens a field may or must have (Stokman 2011, section 5.3; Chang et al. 2007, Table 1)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from formulations.compiled import machine
from formulations.compiled.machine import Machine
from formulations.constraints.reading import Reading
from formulations.constraints.rule import Template, template
from formulations.constraints.steps import begins, expand, members
from formulations.labels import LabelSet, Selector


@dataclass(frozen=True)
class _Counting(Template):
    field: Selector
    n: int = 1
    _runs: ClassVar[bool]
    _at_most: ClassVar[bool]

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Machine]:
        steps = begins if self._runs else members
        build = machine.at_most if self._at_most else machine.at_least
        return [build(steps(f, len(tokens)), self.n) for f in expand(labels, self.field)]

    def count(self, reading: Reading) -> int:
        found = reading.run_starts if self._runs else reading.positions
        sign = 1 if self._at_most else -1
        return sum(max(0, sign * (len(found(f)) - self.n)) for f in reading.each(self.field))


class AtMostRuns(_Counting):
    """At most n runs of a field. Each run more is a violation.

    Parameters
    ----------
    field : a field, label, group, or "each field" for every field by itself
    n : runs allowed
    """

    _runs, _at_most = True, True


class AtLeastRuns(_Counting):
    """At least n runs of a field. Each run missing is a violation.

    Parameters
    ----------
    field : a field, label, group, or "each field" for every field by itself
    n : runs required
    """

    _runs, _at_most = True, False


class AtMostTokens(_Counting):
    """At most n tokens of a field. Each token more is a violation.

    Parameters
    ----------
    field : a field, label, group, or "each field" for every field by itself
    n : tokens allowed
    """

    _runs, _at_most = False, True


class AtLeastTokens(_Counting):
    """At least n tokens of a field. Each token missing is a violation.

    Parameters
    ----------
    field : a field, label, group, or "each field" for every field by itself
    n : tokens required
    """

    _runs, _at_most = False, False


at_most_runs = template("at_most_runs", AtMostRuns)
at_least_runs = template("at_least_runs", AtLeastRuns)
at_most_tokens = template("at_most_tokens", AtMostTokens)
at_least_tokens = template("at_least_tokens", AtLeastTokens)
