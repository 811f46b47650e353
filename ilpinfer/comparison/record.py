"""The interface of a comparison for reports and tables."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from formulations import RuleSet
from ilpinfer.comparison.fields import FieldGain
from ilpinfer.comparison.pairs import Match
from ilpinfer.comparison.plan import Case, Plan
from ilpinfer.comparison.running import Baseline
from ilpinfer.comparison.summary import Summary
from ilpinfer.system.checkpoint import Row

if TYPE_CHECKING:
    import pandas as pd


class Record(Protocol):
    """A comparison, as `ilpinfer.comparison.comparison.Comparison` is one."""

    @property
    def plan(self) -> Plan:
        """Methods with their options and seeds."""
        ...

    @property
    def cases(self) -> Sequence[Case]:
        """Sequences."""
        ...

    @property
    def rules(self) -> RuleSet:
        """Rules for them."""
        ...

    @property
    def baseline(self) -> Baseline:
        """Viterbi without rules on them."""
        ...

    @property
    def cap(self) -> float:
        """Nats that stand for a missing labelling in means over all sequences."""
        ...

    @property
    def about(self) -> Mapping[str, Any]:
        """Description of the input for the report."""
        ...

    def rows(self) -> Iterable[Row]:
        """Every row, those of a sequence together."""
        ...

    def to_pandas(self) -> "pd.DataFrame":
        """One line a row."""
        ...

    def summary(self) -> list[Summary]:
        """One line a method."""
        ...

    def matches(self) -> list[Match]:
        """Every two methods."""
        ...

    def field_gains(self) -> list[FieldGain]:
        """Every method and field."""
        ...
