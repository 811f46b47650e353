"""A comparison of methods on the same sequences: its frame, tables and files."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from formulations import RuleSet
from formulations.problem.digest import digest
from ilpinfer.comparison import statistics
from ilpinfer.comparison.columns import COLUMNS
from ilpinfer.comparison.frame import REMEDY, RunError, frame_of, kinds_of, read_frame, reference_of, rows_of
from ilpinfer.comparison.plan import RESULTS, SUMMARY, ComparisonData, Plan, shown_names
from ilpinfer.comparison.plots import WIDTH, axes_with, write_plots
from ilpinfer.comparison.report import SUPPORT, report_of
from ilpinfer.comparison.rows import check_agreement
from ilpinfer.comparison.tables import Layout, write_tables
from ilpinfer.errors import describe
from ilpinfer.system.files import write_atomically

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(ComparisonData):
    """Methods compared on N sequences; two comparisons of the same sequences are joined by `+`.

    Parameters
    ----------
    frame : DataFrame
        The result: a line for each sequence, method and seed, grouped by sequence, as in `results.jsonl`, with `optimum`, the score that
        a method has proved optimal for the sequence; `gap`, optimum - score in nats; `solved`, whether there is a labelling that keeps
        the hard rules; `infeasible`, whether there is proved to be none; and `violated`, the number of violations.
    cap : float
        Gap in nats that stands for a missing labelling, in means over all sequences.
    about : mapping of str to object
        Source, number of sequences, name, number and digest of the rules, version, and `limits`, the options of each method.
    cases : sequence of ScoredExample, optional
        The sequences, for pictures; none if the comparison was loaded.
    rules : RuleSet, optional
        The rules.

    Examples
    --------
    >>> import ilpinfer
    >>> from ilpinfer import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> result = ilpinfer.compare([trellis], [C.requires_present("a", "b", penalty=0.75)])
    >>> list(result.frame.method)
    ['auto', 'viterbi', 'beam']
    """

    def __repr__(self) -> str:
        return f"Comparison({self.about['sequences']} sequences, methods {', '.join(self.kinds)})"

    @property
    def kinds(self) -> dict[str, str]:
        """ "exact", "heuristic" or "predictions" by method. Losses are measured against the first exact method."""
        return kinds_of(self.frame)

    @classmethod
    def load(cls, path: str | Path) -> "Comparison":
        """Load a comparison from the folder of `ilpinfer compare --output` or `save`.

        The folder does not contain the sequences; the report then has no pictures of sequences.

        Parameters
        ----------
        path : str or Path
            The folder.

        Returns
        -------
        Comparison
            The comparison.

        Raises
        ------
        ValueError
            For missing files, and for a damaged row.
        """
        place = Path(path, SUMMARY)
        try:
            record = json.loads(place.read_text("utf-8"))
            about, cap = {name: record[name] for name in ABOUT}, record["cap"]
        except KeyError as error:
            raise RunError(f"{place}: has no {error.args[0]}; {REMEDY}") from None
        except (OSError, ValueError, TypeError) as error:
            raise RunError(f"{place}: cannot be read ({describe(error)}); {REMEDY}") from None
        return cls(read_frame(Path(path, RESULTS), about["sequences"], about["limits"]), cap, about)

    def __add__(self, other: "Comparison") -> "Comparison":
        """Join comparisons of the same sequences and rules; an exact reference in both is taken from the first."""
        import pandas as pd

        for name, words in (("rules_digest", "rules"), ("sequences", "numbers of sequences")):
            if self.about[name] != other.about[name]:
                raise RunError(f"two comparisons with different {words} cannot be joined")
        if self.cap != other.cap:
            raise RunError(f"the cap is {self.cap:g} nats in one comparison and {other.cap:g} in the other")
        reference = reference_of(self.kinds)
        shared = [reference] if reference and reference == reference_of(other.kinds) else []
        twice = [method for method in self.kinds if method in other.kinds and method not in shared]
        if twice:
            raise RunError(f"{', '.join(twice)}: in both comparisons; give other names in one of them")
        both = pd.concat([self.frame, other.frame]).sort_values("sequence", kind="stable")
        for sequence, rows in both.groupby("sequence"):
            if rows.digest.nunique() > 1:
                raise RunError(
                    f"sequence {sequence} differs between the comparisons in its scores, tokens or gold labels; compare the same sequences"
                )
            if len(rows.loc[rows.method.isin(shared), ["status", "score"]].drop_duplicates()) > 1:
                raise RunError(
                    f"sequence {sequence}: {reference} has another result in the second comparison"
                )
            check_agreement(rows_of(rows), f"sequence {sequence}")
        frame = frame_of(rows_of(both.drop_duplicates(["sequence", "method", "seed"])))
        about = {**other.about, **self.about, "limits": {**other.about["limits"], **self.about["limits"]}}
        return Comparison(frame, self.cap, about, self.cases or other.cases, self.rules or other.rules)

    def renamed(self, names: Mapping[str, str]) -> "Comparison":
        """The comparison with other names for some methods.

        Parameters
        ----------
        names : mapping of str to str
            New names by method.

        Returns
        -------
        Comparison
            The same lines under the new names.

        Raises
        ------
        ValueError
            For an unknown method, and for a name that two methods would share.
        """
        shown, limits = shown_names(self.kinds, names), self.about["limits"]
        options = {
            name: limits[method] if name == method else {"method": method, **limits[method]}
            for method, name in shown.items()
        }
        frame = self.frame.assign(method=self.frame.method.map(shown))
        return replace(self, frame=frame, about={**self.about, "limits": options})

    def summary(self) -> "pd.DataFrame":
        """A line for each method, in the order in which they are given: solved sequences, loss against the proved optimum, time.

        The last line is a bare Viterbi pass: compiled, over the same scores without rules, without the construction of its tables. Its
        labellings break rules; it therefore has no gap, only a time and measures against gold.

        Shares and means are over sequences and seeds. `failed` counts sequences on which the method failed. These are neither
        solved nor proved; all other figures exclude them. Unknown figures are NaN. `infeasible` counts sequences that are
        proved to have no labelling; `sequences` does not include them. `accuracy`,
        `label_accuracy` and `f1` count missing labellings as wrong. `f1_loss` and `accuracy_loss` are what the method loses against the
        reference, the first exact method, on the sequences on which neither failed. Columns in `_low` and `_high` are 95 %
        intervals by the bootstrap over sequences, paired for losses, with the same draws for all methods.

        Returns
        -------
        DataFrame
            One line for each method.
        """
        return statistics.summarise(self.frame, self.cap)

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
        return statistics.matches(self.frame)

    def field_gains(self) -> "pd.DataFrame":
        """Precision, recall and F1 of each method and field, and the gain over Viterbi without rules on the same sequences.

        Returns
        -------
        DataFrame
            One line for each method and field.
        """
        return statistics.field_gains(self.frame)

    def stages(self) -> "pd.DataFrame":
        """The stages of the method `auto`: the number of sequences that each stage ended, and its time.

        Returns
        -------
        DataFrame
            One line for each stage; none if the method is not compared.
        """
        return statistics.stage_costs(self.frame)

    def rules_broken(self) -> "pd.DataFrame":
        """The rules that the labellings of each method break: numbers of sequences and of violations.

        Returns
        -------
        DataFrame
            One line for each method and broken rule, most violations first.
        """
        return statistics.rules_broken(self.frame)

    def lines(self) -> dict[str, "pd.DataFrame"]:
        """The tables of `summary`, `matches`, `field_gains`, `stages` and `rules_broken`, by name.

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

    def write_tables(
        self,
        folder: str | Path,
        format: str = "csv",  # noqa: A002
        *,
        columns: Sequence[str] | None = None,
        digits: int | None = None,
        preset: str = "",
        caption: str = "",
        label: str = "",
        position: str = "",
    ) -> list[Path]:
        """Write all tables into a folder, such as `summary.csv`, or one table with chosen columns.

        CSV and Parquet have all columns of each table. Markdown and LaTeX have columns that fit a page, with intervals in the cells, and
        leave out columns and lines without any value.

        Parameters
        ----------
        folder : str or Path
            Folder of the files; it is created if necessary.
        format : str, default "csv"
            "csv", "markdown", "latex" (booktabs), or "parquet", which needs `ilpinfer[parquet]`. In CSV, names that
            begin like a formula (=, +, -, @), or with an apostrophe, are prefixed by an apostrophe.
        columns : sequence of str, optional
            Columns of `summary()`, such as "method", "f1" and "mean_gap", for one table of methods.
        digits : int, optional
            Decimal places of all numbers except counts; if not given, the default of each unit.
        preset : str, optional
            One table for one column of a two-column paper, with short heads, units, intervals and a caption. "paper": F1, its loss, gap
            and time. "gaps": gap, search errors, model errors, sequences solved to the optimum, and time.
        caption : str, optional
            A caption, as text of LaTeX or Markdown. A LaTeX table with a caption floats.
        label : str, optional
            Label of one table in LaTeX; the name of the file, as in `tab:summary`, if not given.
        position : str, optional
            Placement of a floating table in LaTeX, such as "tb"; "t" if not given.

        Returns
        -------
        list of Path
            The paths of the files.

        Raises
        ------
        ValueError
            For another format or preset, an unknown column, and a place that cannot be written to.
        MissingLibrary
            If the library of the format is not installed.
        """
        return write_tables(
            self.lines(), folder, format, Layout(columns, digits, caption, preset, label, position)
        )

    def plot(self, name: str, ax: Any = None) -> Any:
        """Draw one of the plots.

        Parameters
        ----------
        name : str
            "gaps", "anytime", "profile" or "lengths".
        ax : Axes, optional
            Axes of matplotlib to draw on; if not given, axes of a new figure.

        Returns
        -------
        Axes
            The axes.

        Raises
        ------
        ValueError
            For another name, and for a plot without data.
        MissingLibrary
            Without the extra `compare`.

        Examples
        --------
        >>> import ilpinfer
        >>> from ilpinfer import Trellis
        >>> result = ilpinfer.compare([Trellis([0.0, 1.0], [], labels=["a", "b"])])
        >>> result.plot("gaps").get_xlabel()
        'gap to the optimum (nats), at most'
        """
        return axes_with(self, name, ax)

    def write_plots(
        self,
        folder: str | Path,
        format: str = "pdf",  # noqa: A002
        *,
        width: float = WIDTH,
        only: Sequence[str] | None = None,
    ) -> list[Path]:
        """Write the plots as files, such as `gaps.pdf`.

        Parameters
        ----------
        folder : str or Path
            Folder of the files; it is created if necessary.
        format : str, default "pdf"
            "pdf" (with TrueType fonts), "svg" or "png".
        width : float, default WIDTH
            Width of each file in inches. Below 4 inches, the font size is 8 points: a figure of 3.3 inches fits the column of a paper
            without being scaled.
        only : sequence of str, optional
            Names of plots, "gaps", "anytime", "profile" and "lengths"; all of them if not given.

        Returns
        -------
        list of Path
            The paths of the files; plots without data are left out.

        Raises
        ------
        ValueError
            For another format or name, and for a place that cannot be written to.
        MissingLibrary
            Without the extra `compare`.
        """
        return write_plots(self, folder, format, width=width, only=only)

    def report(self, path: str | Path, *, support: int = SUPPORT) -> None:
        """Write a self-contained HTML page with a summary in sentences, plots, sortable tables and example sequences.

        Parameters
        ----------
        path : str or Path
            Path of the page, such as "report.html"; its folder is created if necessary.
        support : int, default SUPPORT
            Smallest number of gold fields for a field to be named in a sentence.

        Raises
        ------
        ValueError
            For a place that cannot be written to.
        MissingLibrary
            Without the extra `compare`.
        """
        write_atomically(path, report_of(self, self.lines(), support))

    def save(self, folder: str | Path) -> None:
        """Write `results.jsonl` and `summary.json` into a folder, for `load`.

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
        return str(self.summary().to_html(index=False))


ABOUT = ("source", "rules", "rule_count", "rules_digest", "sequences", "version", "limits")
"""Keys of `Comparison.about`."""


def save_rows(comparison: Comparison, folder: str | Path, inputs: Iterable[str | Path | None] = ()) -> None:
    """Write `results.jsonl` into a folder, but not over an input."""
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows_of(comparison.frame))
    write_atomically(Path(folder, RESULTS), lines, inputs)


def record_of(comparison: Comparison, lines: Mapping[str, "pd.DataFrame"]) -> dict[str, Any]:
    """The content of `summary.json`; unknown figures are None."""
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
