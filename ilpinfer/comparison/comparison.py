"""A comparison of methods on the same sequences: its rows, tables and files."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from formulations import RuleSet
from formulations.problem.digest import digest
from ilpinfer.comparison import statistics
from ilpinfer.comparison.columns import COLUMNS
from ilpinfer.comparison.frame import frame_of
from ilpinfer.comparison.joining import join_rows, read_run, under_names
from ilpinfer.comparison.plan import RESULTS, SUMMARY, ComparisonData, Plan, shown_names
from ilpinfer.comparison.plots import write_plots
from ilpinfer.comparison.report import SUPPORT, html_of, report_of
from ilpinfer.comparison.tables import Layout, with_titles, write_tables
from ilpinfer.system.files import write_atomically

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Comparison(ComparisonData):
    """Methods compared on N sequences; two comparisons of the same sequences are joined by `+`.

    Parameters
    ----------
    rows : callable
        Function that gives all rows, one for each sequence, method and seed as in `results.jsonl`, grouped by sequence.
    kinds : mapping of str to str
        "exact", "heuristic" or "predictions" by method. Losses are measured against the first exact method.
    cap : float
        Gap in nats that stands for a missing labelling, in means over all sequences.
    about : mapping of str to object
        Source, number of sequences, name, number and digest of the rules, version, and `limits`, the options of each method.
    cases : sequence of Case, optional
        The sequences, for pictures of single ones; none where the comparison was loaded.
    rules : RuleSet, optional
        Their rules.

    Examples
    --------
    >>> import ilpinfer
    >>> from formulations import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> result = ilpinfer.compare([trellis], [C.requires_present("a", "b", penalty=0.75)])
    >>> list(result.summary().method)
    ['auto', 'viterbi', 'beam']
    """

    def __repr__(self) -> str:
        return f"Comparison({self.about['sequences']} sequences, methods {', '.join(self.kinds)})"

    @classmethod
    def load(cls, path: str | Path) -> "Comparison":
        """The comparison that `ilpinfer compare --output` or `save` has written into a folder.

        Its sequences are not there, so that its report has no pictures of single ones.

        Parameters
        ----------
        path : str or Path
            The folder.

        Returns
        -------
        Comparison
            The comparison, whose rows are read when they are needed.

        Raises
        ------
        ValueError
            For a folder without its files, and for a damaged row.
        """
        rows, record = read_run(path, (*ABOUT, "cap", "methods"))
        kinds = {line["method"]: line["kind"] for line in record["methods"]}
        about = {name: record[name] for name in ABOUT}
        return cls(rows, kinds, record["cap"], about)

    def __add__(self, other: "Comparison") -> "Comparison":
        """Both, where they have the same sequences and rules; an exact reference in both comes from the first."""
        about = {**other.about, **self.about, "limits": {**other.about["limits"], **self.about["limits"]}}
        return replace(
            self,
            rows=join_rows(self, other),
            kinds={**self.kinds, **other.kinds},
            about=about,
            cases=self.cases or other.cases,
            rules=self.rules or other.rules,
        )

    def renamed(self, names: Mapping[str, str]) -> "Comparison":
        """The comparison with other names for some methods.

        Parameters
        ----------
        names : mapping of str to str
            New names by method.

        Returns
        -------
        Comparison
            The same rows under the new names.

        Raises
        ------
        ValueError
            For an unknown method, and for a name that two methods would share.
        """
        shown = shown_names(self.kinds, names)
        limits = self.about["limits"]
        options = {
            name: limits[method] if name == method else {"method": method, **limits[method]}
            for method, name in shown.items()
        }
        return replace(
            self,
            rows=partial(under_names, self.rows, shown),
            kinds={shown[method]: kind for method, kind in self.kinds.items()},
            about={**self.about, "limits": options},
        )

    def to_pandas(self) -> "pd.DataFrame":
        """The rows as a table with status, score, bound, seconds, violations, gap and counts against gold.

        Returns
        -------
        DataFrame
            A frame with one line for each row; see `frame_of`.
        """
        return frame_of(self.rows())

    def summary(self) -> "pd.DataFrame":
        """A line for each method, in the order in which they are given: solved sequences, loss against the proved optimum, time.

        Shares and means are over sequences, and over seeds where there are several. Sequences on which the method failed are
        counted by `failed`. They are neither solved nor proved; all other figures leave them out. Figures are NaN where nothing is
        known. Sequences that are proved to have no labelling are counted by `infeasible`, and not by `sequences`. `accuracy`,
        `label_accuracy` and `f1` count missing labellings as wrong. `f1_loss` and `accuracy_loss` are what the method loses against the
        reference, the first exact method, on the sequences on which neither failed. Columns in `_low` and `_high` are 95 %
        intervals by the bootstrap over sequences, paired for losses, with the same draws for all methods. Methods that solve the same
        share with the same mean gap have one rank.

        Returns
        -------
        DataFrame
            One line for each method.
        """
        return statistics.summarise(self.to_pandas(), self.kinds, self.cap)

    def matches(self) -> "pd.DataFrame":
        """Wins, ties, losses and a sign test for each pair of methods.

        A labelling that keeps the hard rules is better than none; of two the higher score is better. With several seeds, the
        share solved is compared, then the mean score. Sequences on which one of the two failed are counted by `failed` only.
        `holm` is p, corrected for the number of pairs (Holm 1979).

        Returns
        -------
        DataFrame
            One line for each pair.
        """
        return statistics.matches(self.to_pandas(), list(self.kinds))

    def field_gains(self) -> "pd.DataFrame":
        """Precision, recall and F1 of each method and field, and the gain over Viterbi without rules on the same sequences.

        Returns
        -------
        DataFrame
            One line for each method and field.
        """
        return statistics.field_gains(self.rows(), self.kinds)

    def stages(self) -> "pd.DataFrame":
        """The stages of the method `auto`: the sequences that each one ended, and its time.

        Returns
        -------
        DataFrame
            One line for each stage; none where the method is not compared.
        """
        return statistics.stage_costs(self.rows())

    def rules_broken(self) -> "pd.DataFrame":
        """The rules that the labellings of each method break: on how many sequences, and how often in all.

        Returns
        -------
        DataFrame
            One line for each method and rule, most violations first; none for rules that a method keeps everywhere.
        """
        return statistics.rules_broken(self.rows())

    def lines(self) -> dict[str, "pd.DataFrame"]:
        """The lines of all tables by name, each as `summary`, `matches`, `field_gains`, `stages` or `rules_broken` has them.

        Returns
        -------
        dict of str to DataFrame
            Frames by name of the table.
        """
        others = {
            "matches": self.matches(),
            "fields": self.field_gains(),
            "stages": self.stages(),
            "rules": self.rules_broken(),
        }
        summary = self.summary()
        return {name: others.get(name, summary) for name in COLUMNS}

    def table(self, name: str) -> "pd.DataFrame":
        """A table with names and units in its columns, shares in percent and times in milliseconds.

        Parameters
        ----------
        name : str
            "summary", "gaps", "gold", "errors", "matches", "fields", "stages" or "rules".

        Returns
        -------
        DataFrame
            The table.

        Raises
        ------
        ValueError
            For another name.
        """
        if name not in COLUMNS:
            raise ValueError(f"table is {name!r}; expected one of {', '.join(COLUMNS)}")
        return with_titles(self.lines()[name], COLUMNS[name])

    def write_tables(
        self,
        folder: str | Path,
        format: str = "csv",  # noqa: A002
        *,
        columns: Sequence[str] | None = None,
        digits: int | None = None,
        caption: str = "",
        preset: str = "",
    ) -> list[Path]:
        """Write all tables into a folder, such as `summary.csv`, or one table with chosen columns.

        Parameters
        ----------
        folder : str or Path
            Folder of the files; it is created if necessary.
        format : str, default "csv"
            "csv", "markdown", "latex" (booktabs), or "parquet", which needs `ilpinfer[parquet]`. In CSV, an
            apostrophe stands before names that begin like a formula: with =, +, -, @ or an apostrophe.
        columns : sequence of str, optional
            Columns of `summary()`, such as "method", "f1" and "mean_gap", for one table of methods.
        digits : int, optional
            Decimals of numbers that are no counts; those of each unit if not given.
        caption : str, optional
            A caption, as text of LaTeX or Markdown. A LaTeX table with a caption has a label, too, such as `tab:summary`.
        preset : str, optional
            "paper": one table of at most five columns with short heads and intervals, for one column of a two-column paper.

        Returns
        -------
        list of Path
            The paths of the files.

        Raises
        ------
        ValueError
            For another format or preset, an unknown column, and a place that cannot be written to.
        MissingLibrary
            Where the library of the format is not installed.
        """
        return write_tables(self.lines(), folder, format, Layout(columns, digits, caption, preset))

    def write_plots(self, folder: str | Path, format: str = "pdf") -> list[Path]:  # noqa: A002
        """Write the plots of the report as files, such as `gaps.pdf`.

        Parameters
        ----------
        folder : str or Path
            Folder of the files; it is created if necessary.
        format : str, default "pdf"
            "pdf", "svg" or "png".

        Returns
        -------
        list of Path
            The paths of the files; plots without data are left out.

        Raises
        ------
        ValueError
            For another format, and for a place that cannot be written to.
        MissingLibrary
            Without the extra `compare`.
        """
        return write_plots(self, folder, format)

    def report(self, path: str | Path, *, support: int = SUPPORT) -> None:
        """Write a self-contained HTML page with a sentence for each method, pictures, sortable tables and single sequences.

        Parameters
        ----------
        path : str or Path
            Path of the page, such as "report.html"; its folder is created if necessary.
        support : int, default SUPPORT
            Smallest number of gold fields with which a sentence names a field.

        Raises
        ------
        ValueError
            For a place that cannot be written to.
        MissingLibrary
            Without the extra `compare`.
        """
        write_atomically(path, report_of(self, self.lines(), support))

    def save(self, folder: str | Path) -> None:
        """Write `results.jsonl` and `summary.json` into a folder, from which `load` reads them.

        Parameters
        ----------
        folder : str or Path
            The folder; it is created if necessary.

        Raises
        ------
        ValueError
            For a place that cannot be written to.
        """
        save_rows(self, folder)
        record = record_of(self, self.lines())
        write_atomically(Path(folder, SUMMARY), json.dumps(record, indent=2) + "\n")

    def _repr_html_(self) -> str:
        return html_of(self)


ABOUT = ("source", "rules", "rule_count", "rules_digest", "sequences", "version", "limits")
"""The names of what a comparison is about."""


def save_rows(comparison: Comparison, folder: str | Path, inputs: Iterable[str | Path | None] = ()) -> None:
    """Write `results.jsonl` into a folder, but over none of the inputs."""
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in comparison.rows())
    write_atomically(Path(folder, RESULTS), lines, inputs)


def record_of(comparison: Comparison, lines: Mapping[str, "pd.DataFrame"]) -> dict[str, Any]:
    """The content of `summary.json`; None stands for figures that are not known."""
    tables = {"methods": lines["summary"], "matches": lines["matches"], "fields": lines["fields"]}
    plain = {name: table.astype(object).where(table.notna(), None) for name, table in tables.items()}
    records = {name: table.to_dict("records") for name, table in plain.items()}
    return {**comparison.about, "cap": comparison.cap, **records}


def about_of(source: str, rules: RuleSet, sequences: int, plan: Plan) -> dict[str, Any]:
    values = (
        source,
        rules.name or None,
        len(rules.items),
        digest(rules),
        sequences,
        metadata.version("ilpinfer"),
        plan.to_dict(),
    )
    return dict(zip(ABOUT, values, strict=True))
