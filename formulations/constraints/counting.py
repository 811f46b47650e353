"""How many runs or tokens a field may or must have (Stokman 2011, section 5.3; Chang et al. 2007, Table 1)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from formulations.compiled.machine import Counter, Machine, counting
from formulations.constraints.reading import Reading
from formulations.constraints.rule import Template, template
from formulations.constraints.steps import begins, expand, members
from formulations.labels import LabelSet, Selector


@dataclass(frozen=True)
class _Counting(Template):
    field: Selector
    n: int = 1
    _runs: ClassVar[bool]
    _at_least: ClassVar[bool]
    _at_most: ClassVar[bool]

    @property
    def _counter(self) -> Counter:
        return Counter(self.n if self._at_least else None, self.n if self._at_most else None)

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Machine]:
        steps = begins if self._runs else members
        return [counting(steps(f, len(tokens)), self._counter) for f in expand(labels, self.field)]

    def count(self, reading: Reading) -> int:
        found = reading.run_starts if self._runs else reading.positions
        return sum(self._away(len(found(field))) for field in reading.each(self.field))

    def _away(self, found: int) -> int:
        if found < self.n:
            return self.n - found if self._at_least else 0
        return found - self.n if self._at_most else 0


class AtMostRuns(_Counting):
    """At most n runs of a field. Each run more is a violation.

    Parameters
    ----------
    field : a field, label, group, or "each field" for every field by itself
    n : runs allowed
    """

    _runs, _at_least, _at_most = True, False, True


class AtLeastRuns(_Counting):
    """At least n runs of a field. Each run missing is a violation.

    Parameters
    ----------
    field : a field, label, group, or "each field" for every field by itself
    n : runs required
    """

    _runs, _at_least, _at_most = True, True, False


class ExactlyRuns(_Counting):
    """Exactly n runs of a field. Each run more, or missing, is a violation.

    Parameters
    ----------
    field : a field, label, group, or "each field" for every field by itself
    n : runs required
    """

    _runs, _at_least, _at_most = True, True, True


class AtMostTokens(_Counting):
    """At most n tokens of a field. Each token more is a violation.

    Parameters
    ----------
    field : a field, label, group, or "each field" for every field by itself
    n : tokens allowed
    """

    _runs, _at_least, _at_most = False, False, True


class AtLeastTokens(_Counting):
    """At least n tokens of a field. Each token missing is a violation.

    Parameters
    ----------
    field : a field, label, group, or "each field" for every field by itself
    n : tokens required
    """

    _runs, _at_least, _at_most = False, True, False


class ExactlyTokens(_Counting):
    """Exactly n tokens of a field. Each token more, or missing, is a violation.

    Parameters
    ----------
    field : a field, label, group, or "each field" for every field by itself
    n : tokens required
    """

    _runs, _at_least, _at_most = False, True, True


at_most_runs = template("at_most_runs", AtMostRuns)
at_least_runs = template("at_least_runs", AtLeastRuns)
exactly_runs = template("exactly_runs", ExactlyRuns)
at_most_tokens = template("at_most_tokens", AtMostTokens)
at_least_tokens = template("at_least_tokens", AtLeastTokens)
exactly_tokens = template("exactly_tokens", ExactlyTokens)
