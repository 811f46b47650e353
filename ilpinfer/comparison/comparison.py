"""`compare`: a comparison of methods on the same sequences."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from formulations import Trellis
from formulations.arguments import positive
from formulations.problem.trellis import Given
from ilpinfer.comparison.plan import Case, Labelling, plan_of
from ilpinfer.comparison.report import html_of, report_of
from ilpinfer.comparison.results import Results
from ilpinfer.comparison.running import ComparisonRun, OnError, RowList, cases_of
from ilpinfer.comparison.summary import CAP
from ilpinfer.comparison.table_files import write_tables
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.decoding.given import given_to_each
from ilpinfer.system.checkpoint import Row
from ilpinfer.system.files import write_atomically


@dataclass(frozen=True, repr=False)
class Comparison(Results):
    """Methods compared on N sequences.

    Parameters
    ----------
    store : Rows
        The rows, one for each sequence, method and seed, as in `results.jsonl`.
    plan : Plan
        Methods with their options and seeds.
    cases, rules : sequence of Case or RuleSet
        The sequences, and the rules for them.
    baseline : Baseline
        Results of Viterbi without rules.
    cap : float
        Gap in nats that stands for a missing labelling, in means over all sequences.
    about : mapping of str to object
        Description of the input for the report, such as `source` and `rules`.

    Examples
    --------
    >>> import ilpinfer
    >>> from formulations import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> result = ilpinfer.compare([trellis], [C.requires_present("a", "b", penalty=0.75)])
    >>> [line.method for line in result.summary()]
    ['auto', 'viterbi', 'beam']
    """

    def __repr__(self) -> str:
        return f"Comparison({len(self.cases)} sequences, methods {', '.join(self.plan.kinds)})"

    def write_tables(self, folder: str | Path, format: str = "csv") -> list[Path]:  # noqa: A002
        """Write all tables into a folder, such as `summary.csv`.

        Parameters
        ----------
        folder : str or Path
            Folder of the files; it is created if necessary.
        format : str, default "csv"
            "csv", "markdown", "latex" (booktabs), or "parquet", which needs `ilpinfer[parquet]`. In CSV, an
            apostrophe stands before names that begin like a formula: with =, +, -, @ or an apostrophe.

        Returns
        -------
        list of Path
            The paths of the files.

        Raises
        ------
        ValueError
            For another format, where pyarrow is missing, and for a place that cannot be written to.
        """
        return write_tables(self, folder, format)

    def report(self, path: str | Path) -> None:
        """Write a self-contained HTML page with sortable tables, pictures and single sequences.

        Parameters
        ----------
        path : str or Path
            Path of the page, such as "report.html"; its folder is created if necessary.

        Raises
        ------
        ValueError
            For a place that cannot be written to.
        MissingLibrary
            Without the extra `compare`.
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
    on_error: OnError = "raise",
    watch: Callable[[Row, Case], None] = lambda row, case: None,
    given: Iterable[Given | None] | None = None,
) -> Comparison:
    """Decode every trellis with every method, and compare their losses against the proved optimum.

    Parameters
    ----------
    trellises : iterable of Trellis
        N sequences.
    rules : Rules, optional
        Rules for all of them.
    methods : iterable of str or callable, optional
        Names, with options if necessary: "auto", "beam:width=50", "lds:variant=published",
        "cbc:time_limit=10", "package:decoder"; names of registered decoders; or decoders as functions. Gaps
        are known if one of the methods proves the optimum, as "auto" does.
    gold : iterable of sequence of str or None, optional
        Label names of each trellis, or None for a trellis without gold labels.
    seeds : int or iterable of int, default 1
        Seeds of randomised methods: their number, counted from 0, or a list of them.
    time_limit : float, optional
        Time limit in seconds for each sequence, for methods that have none of their own.
    predictions : mapping of str to sequence of Labelling, optional
        Predictions of other programs by name: label names of each trellis, or None where there are none.
    cap : float, default CAP
        Gap in nats that stands for a missing labelling, in means over all sequences. Gaps of labellings are
        never cut.
    on_error : OnError, default "raise"
        "raise" ends the comparison where a method raises an error. "record" records the error as a failure and
        goes on: failures are counted for themselves, and are in no mean, no test and no account against gold.
    watch : callable, optional
        Function that is called with each row and its sequence, for example to show progress.
    given : iterable of (mapping of int to str or int) or None, optional
        Known labels of each trellis, or None for a trellis without any.

    Returns
    -------
    Comparison
        The rows, with tables and a report.

    Raises
    ------
    ValueError
        For unknown methods and options, and for gold labels or predictions that do not fit the trellises.
    MethodError
        If a method raises an error, with `on_error="raise"`.
    Contradiction
        If two exact methods contradict each other.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> result = compare([trellis], [C.requires_present("a", "b", penalty=0.75)], ["auto", "viterbi"])
    >>> [(line.method, line.reaches, line.mean_gap) for line in result.summary()]
    [('auto', 1.0, 0.0), ('viterbi', 0.0, 0.25)]
    """
    if on_error not in get_args(OnError):
        expected = " or ".join(map(repr, get_args(OnError)))
        raise ValueError(f"on_error is {on_error!r}; expected {expected}")
    positive(cap, "cap", "nats")
    cases, compiler = cases_of(given_to_each(trellises, given), gold), compiler_of(rules)
    plan = plan_of(methods, time_limit=time_limit, seeds=seeds, predictions=predictions)
    check_predictions(cases, predictions or {})
    store = RowList()
    baseline = ComparisonRun(cases, compiler, plan, on_error, watch=watch).fill(store)
    about = {"source": "", "rules": compiler.rules.name, "limits": plan.to_dict()}
    return Comparison(store, plan, cases, compiler.rules, baseline, cap, about)


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
