"""The rows of a comparison, and the tables that are made of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from formulations import RuleSet
from ilpinfer.comparison.columns import COLUMNS
from ilpinfer.comparison.fields import FieldGain, field_gains
from ilpinfer.comparison.frame import frame_of
from ilpinfer.comparison.pairs import Match, matches
from ilpinfer.comparison.plan import Case, Plan
from ilpinfer.comparison.running import Baseline, Rows
from ilpinfer.comparison.stages import StageCost, stage_costs
from ilpinfer.comparison.summary import Summary, summarise
from ilpinfer.system.checkpoint import Row

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Results:
    """Rows of methods on N sequences; `ilpinfer.comparison.comparison.Comparison` writes them as files."""

    store: Rows
    plan: Plan
    cases: Sequence[Case]
    rules: RuleSet
    baseline: Baseline
    cap: float
    about: Mapping[str, Any]

    def rows(self) -> Iterable[Row]:
        """All rows, grouped by sequence, in the order of the plan.

        Returns
        -------
        iterable of Row
            One row for each sequence, method and seed.
        """
        return self.store.rows()

    def to_pandas(self) -> "pd.DataFrame":
        """The rows as a table with status, score, bound, seconds, violations, gap and counts against gold.

        Returns
        -------
        DataFrame
            A frame with one line for each row; see `frame_of`.
        """
        return frame_of(self.rows())

    def summary(self) -> list[Summary]:
        """A summary of each method, in the order of the plan.

        Returns
        -------
        list of Summary
            One line for each method.
        """
        return summarise(self.to_pandas(), self.plan.kinds, self.baseline.seconds, self.cap)

    def matches(self) -> list[Match]:
        """Wins, ties, losses and a sign test for each pair of methods.

        Returns
        -------
        list of Match
            One line for each pair.
        """
        return matches(self.to_pandas(), list(self.plan.kinds))

    def field_gains(self) -> list[FieldGain]:
        """Precision, recall and F1 of each method and field, and the gain over Viterbi without rules.

        Returns
        -------
        list of FieldGain
            One line for each method and field.
        """
        return field_gains(self.rows(), self.baseline.fields)

    def stages(self) -> list[StageCost]:
        """The stages of the method `auto`: the sequences that each one ended, and its time.

        Returns
        -------
        list of StageCost
            One line for each stage; none where the method is not compared.
        """
        return stage_costs(self.rows())

    def table(self, name: str) -> "pd.DataFrame":
        """A table with names and units in its columns, shares in percent and times in milliseconds.

        Parameters
        ----------
        name : str
            "summary", "gaps", "gold", "errors", "matches", "fields" or "stages".

        Returns
        -------
        DataFrame
            The table.

        Raises
        ------
        ValueError
            For another name.
        """
        return table_of(name, lines_of(self, name))


def lines_of(results: Results, name: str, summary: Sequence[Summary] | None = None) -> Sequence[object]:
    """The records that the lines of a table are made from; ValueError for the name of no table."""
    if name not in COLUMNS:
        raise ValueError(f"table is {name!r}; expected one of {', '.join(COLUMNS)}")
    if name == "matches":
        return results.matches()
    if name == "fields":
        return results.field_gains()
    if name == "stages":
        return results.stages()
    return results.summary() if summary is None else summary


def tables_of(results: Results) -> dict[str, "pd.DataFrame"]:
    summary = results.summary()
    return {name: table_of(name, lines_of(results, name, summary)) for name in COLUMNS}


def table_of(name: str, lines: Sequence[object]) -> "pd.DataFrame":
    """A table of the records of its lines; NaN stands for values that are not known."""
    import pandas as pd

    frame = pd.DataFrame({each.name: [each.value(line) for line in lines] for each in COLUMNS[name]})
    texts = [each.name for each in COLUMNS[name] if each.form == "text"]
    return frame.astype({key: "float64" for key in frame if key not in texts and frame[key].dtype == object})
