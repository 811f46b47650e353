"""`compare`: methods on the same sequences, and the record of what each one loses."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from formulations import RuleSet, Trellis
from ilpinfer.comparison.fields import FieldGain, field_gains
from ilpinfer.comparison.frame import frame_of
from ilpinfer.comparison.pairs import Match, matches
from ilpinfer.comparison.plan import Case, Labelling, Plan, plan_of
from ilpinfer.comparison.report import html_of, report_of
from ilpinfer.comparison.running import Baseline, RowList, Rows, Run, cases_of
from ilpinfer.comparison.summary import CAP, Summary, summarise
from ilpinfer.comparison.table_files import write_tables
from ilpinfer.comparison.tables import table_of
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.decoding.failures import OnError, check_on_error
from ilpinfer.system.checkpoint import Row
from ilpinfer.system.files import write_atomically

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Comparison:
    """Methods compared on N sequences.

    Parameters
    ----------
    store : the rows, one for each sequence, method and seed, as in `results.jsonl`
    plan : methods with their options and seeds
    cases, rules : sequences, and the rules for them
    baseline : Viterbi without rules on them
    cap : nats that a missing labelling counts in means over all sequences
    about : what the report says of the input, such as `source` and `rules`
    """

    store: Rows
    plan: Plan
    cases: Sequence[Case]
    rules: RuleSet
    baseline: Baseline
    cap: float
    about: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"Comparison({len(self.cases)} sequences, methods {', '.join(self.plan.kinds)})"

    def rows(self) -> Iterable[Row]:
        """Every row, those of a sequence together and in the order of the plan."""
        return self.store.rows()

    def to_pandas(self) -> "pd.DataFrame":
        """One line a row: status, score, bound, seconds, violations, gap, and counts against gold; see `frame_of`."""
        return frame_of(self.rows())

    def summary(self) -> list[Summary]:
        """One line a method, in their order."""
        return summarise(self.to_pandas(), self.plan.kinds, self.baseline.seconds, self.cap)

    def matches(self) -> list[Match]:
        """Every two methods: wins, ties, losses, and a sign test."""
        return matches(self.to_pandas(), list(self.plan.kinds))

    def field_gains(self) -> list[FieldGain]:
        """Every method and field: precision, recall and F1, and what they gain over Viterbi without rules."""
        return field_gains(self.rows(), self.baseline.fields)

    def table(self, name: str) -> "pd.DataFrame":
        """A table with names and units in its columns, shares in percent and times in milliseconds.

        Parameters
        ----------
        name : "summary", "gaps", "errors", "matches" or "fields"

        Raises
        ------
        ValueError
            for another name.
        """
        return table_of(self, name)

    def write_tables(self, folder: str | Path, format: str = "csv") -> list[Path]:  # noqa: A002
        """Write every table into a folder, such as `summary.csv`, and return the files.

        Parameters
        ----------
        folder : made where need be
        format : "csv", "markdown", "latex" (booktabs), or "parquet", which needs `ilpinfer[parquet]`

        Raises
        ------
        ValueError
            for another format, where pyarrow is missing, and for a place that cannot be written to.
        """
        return write_tables(self, folder, format)

    def report(self, path: str | Path) -> None:
        """Write sentences, tables that sort, pictures, and single sequences as one HTML page that needs nothing else.

        Parameters
        ----------
        path : such as "report.html"; its folder is made where need be

        Raises
        ------
        ValueError
            for a place that cannot be written to.
        MissingLibrary
            without the extra `plots`.
        """
        write_atomically(path, report_of(self))

    def _repr_html_(self) -> str:
        return html_of(self)


def compare(
    trellises: Iterable[Trellis],
    rules: Rules = (),
    methods: Iterable[str | Callable[..., Any]] = ("auto", "viterbi", "beam"),
    *,
    gold: Iterable[Sequence[str] | None] | None = None,
    seeds: int | Iterable[int] = 1,
    time_limit: float | None = None,
    predictions: Mapping[str, Sequence[Labelling]] | None = None,
    cap: float = CAP,
    on_error: OnError = "row",
    watch: Callable[[Row, Case], None] = lambda row, case: None,
) -> Comparison:
    """Decode every trellis with every method, and compare what they lose against the proved optimum.

    Parameters
    ----------
    trellises : N of them
    rules : for all of them
    methods : names, with options behind them where they have some: "auto", "beam:width=50", "lds:variant=published",
        "cbc:time_limit=10", "package:decoder"; registered decoders by name, and decoders of one's own as functions.
        Gaps are known where one of the methods proves the optimum, as "auto" does
    gold : label names of each trellis, or None for those without
    seeds : of methods that draw at random: how many, from 0, or which
    time_limit : seconds a sequence, of methods that have none of their own
    predictions : by name, label names of each trellis, None for those without: methods without code
    cap : nats that a missing labelling counts in means over all sequences
    on_error : "row" keeps an error of a method as a row without a labelling, "raise" ends the comparison
    watch : called with each row and its sequence, such as to show progress

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        for unknown methods and options, and where gold or predictions do not fit the trellises.
    Disagreement
        where two exact methods cannot both be right.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> result = compare([trellis], [C.requires_present("a", "b", penalty=0.75)], ["auto", "viterbi"])
    >>> [(line.method, line.reaches, line.mean_gap) for line in result.summary()]
    [('auto', 1.0, 0.0), ('viterbi', 0.0, 0.25)]
    """
    check_on_error(on_error)
    check_cap(cap)
    cases, compiler = cases_of(trellises, gold), compiler_of(rules)
    plan = plan_of(methods, time_limit=time_limit, seeds=seeds, predictions=predictions)
    check_predictions(cases, predictions or {})
    store = RowList()
    baseline = Run(cases, compiler, plan, on_error, watch=watch).fill(store)
    about = {"source": "", "rules": compiler.rules.name, "limits": plan.to_dict()}
    return Comparison(store, plan, cases, compiler.rules, baseline, cap, about)


def check_cap(cap: float) -> None:
    """Raise ValueError unless the cap is a positive number of nats."""
    if isinstance(cap, bool) or not isinstance(cap, int | float) or not 0 < cap < float("inf"):
        raise ValueError(f"cap is {cap!r}; expected nats above 0")


def check_predictions(cases: Sequence[Case], predictions: Mapping[str, Sequence[Labelling]]) -> None:
    """Raise ValueError where predictions are not for these sequences."""
    for name, labellings in predictions.items():
        if len(labellings) != len(cases):
            raise ValueError(f"{name} has {len(labellings)} labellings, but there are {len(cases)} sequences")
        for number, (case, labels) in enumerate(zip(cases, labellings, strict=True)):
            if case.trellis is None or labels is None:
                continue
            if isinstance(labels, str) or len(labels) != len(case.trellis):
                raise ValueError(
                    f"{name}, sequence {number}: {len(labels)} labels for {len(case.trellis)} tokens"
                )
