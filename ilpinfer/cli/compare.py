"""`ilpinfer compare`."""

import json
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from ilpinfer.cli.command import command
from ilpinfer.cli.compare_options import TABLE_OPTIONS, CompareOptions
from ilpinfer.cli.failure import Failure, Findings
from ilpinfer.cli.inputs import prepare, raise_interrupt
from ilpinfer.cli.outputs import check_streams, resumable, rows_output
from ilpinfer.cli.progress import progress
from ilpinfer.cli.screen import print_json
from ilpinfer.cli.show import show_comparison
from ilpinfer.cli.streams import notice
from ilpinfer.comparison.columns import COLUMNS
from ilpinfer.comparison.frame import check_row
from ilpinfer.comparison.plan import CAP, RESULTS, SUMMARY, Plan
from ilpinfer.comparison.plots import PLOTS, check_plots
from ilpinfer.comparison.tables import PRESETS, SUFFIXES, Layout, write_tables
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.corpus.conversion import iob1_remark
from ilpinfer.corpus.examples import InputError
from ilpinfer.corpus.helper_labels import tell_helpers
from ilpinfer.errors import traceback_wanted
from ilpinfer.evaluation.pictures import FORMATS
from ilpinfer.pipelines.trellises import ScoredExample, read_predictions
from ilpinfer.system.checkpoint import Position, Row, RowCheckpoint
from ilpinfer.system.extras import MissingLibrary
from ilpinfer.system.files import digest, write_atomically
from ilpinfer.system.output_paths import check_folder, output_path, write_errors

if TYPE_CHECKING:
    import pandas as pd

    from ilpinfer.comparison.comparison import Comparison
    from ilpinfer.comparison.running import OnError

REPORT = "report.html"
FILES = (RESULTS, SUMMARY, REPORT)
"""Files of every comparison."""


@command(
    "ilpinfer compare test.tsv --model hmm.json --rules citations --methods auto,beam:width=50,cbc --output report",
    "ilpinfer compare report --join other --output both --name Beam=beam:width=50 --format latex --preset gaps",
)
def compare(options: CompareOptions) -> None:
    """Decode with several methods, and report how far each stays below the proved optimum; INPUT may be the folder of an earlier run."""
    from ilpinfer.comparison.comparison import save_rows

    inputs, layout = _inputs(options), options.layout
    check_streams(False, [], inputs)
    check_folder(options.output)
    rows_output(Path(options.output, RESULTS), inputs)
    for name in (SUMMARY, REPORT, *_tables(options, layout), *_plots(options)):
        output_path(Path(options.output, name), inputs)
    files, findings = Files(options, layout, inputs, _report_possible()), Findings(compared=True)
    if Path(options.input.source).is_dir():
        comparison = _join_folders(options)
        save_rows(comparison, options.output, inputs)
        summary, record = files.write(comparison)
    elif options.join:
        raise InputError(
            f"--join: {options.input.source} is not a folder of results; run ilpinfer compare on the sequences first"
        )
    else:
        summary, record = _compare_sequences(options, files, findings)
    if options.as_json:
        print_json(record)
    else:
        show_comparison(summary)
    if not summary.optimum_known.any() and (summary.sequences > 0).any():
        notice("no method proved an optimum, so gaps are unknown; add auto to --methods")
    findings.check()


@dataclass(frozen=True)
class Files:
    """The output files in addition to the rows; none replaces an input."""

    options: CompareOptions
    layout: Layout
    inputs: Sequence[str]
    with_report: bool

    def write(self, comparison: "Comparison") -> tuple["pd.DataFrame", Row]:
        """Write summary, report, tables and plots; return the lines of the methods and the summary."""
        from ilpinfer.comparison.comparison import record_of
        from ilpinfer.comparison.report import report_of

        options, lines = self.options, comparison.lines()
        names = [*([REPORT] if self.with_report else []), *_tables(options, self.layout), *_plots(options)]
        record, folder = {**record_of(comparison, lines), "files": names}, options.output
        for name in sorted(_files_of_summary(folder) - {*names}):
            _remove(Path(folder, name), self.inputs)
        write_atomically(Path(folder, SUMMARY), json.dumps(record, indent=2) + "\n", self.inputs)
        if self.with_report:
            page = report_of(comparison, lines, options.support)
            write_atomically(Path(folder, REPORT), page, self.inputs)
        for kind in options.tables:
            write_tables(lines, folder, kind, self.layout.of(kind), self.inputs)
        options.write_plots(comparison, self.inputs)
        return lines["summary"], record


def _inputs(options: CompareOptions) -> list[str]:
    files = [*options.input.files, *options.prediction_files.values()]
    folders = [options.input.source, *options.join] if Path(options.input.source).is_dir() else []
    return [*files, *(str(Path(folder, name)) for folder in folders for name in FILES)]


def _join_folders(options: CompareOptions) -> "Comparison":
    """The comparison of existing result folders; InputError for options that concern sequences."""
    from ilpinfer.comparison.comparison import Comparison

    for record in (options.input, options):
        for each in fields(record):
            given = getattr(record, each.name) or None
            if (
                each.default is not MISSING
                and each.name not in TABLE_OPTIONS
                and given != (each.default or None)
            ):
                option = each.name.replace("_", "-")
                what = f"an option for sequences, and {options.input.source} is a folder of results"
                raise InputError(f"--{option}: {what}; leave it out")
    first, *others = (Comparison.load(folder) for folder in (options.input.source, *options.join))
    return sum(others, first).renamed(options.names)


def _compare_sequences(
    options: CompareOptions, outputs: Files, findings: Findings
) -> tuple["pd.DataFrame", Row]:
    """The comparison of the sequences of a file."""
    from ilpinfer.comparison.comparison import Comparison, about_of
    from ilpinfer.comparison.frame import frame_of
    from ilpinfer.comparison.rows import Contradiction
    from ilpinfer.comparison.running import ComparisonRun, check_predictions

    files = options.prediction_files
    options.plan(dict.fromkeys(files, ()))
    scored, rules, content = prepare(options.input, options.first, fit=True)
    _remark(scored, options.input.scheme, rules.never)
    predictions = {
        name: read_predictions(path, scored, options.input.scheme, notice, rules.never)
        for name, path in files.items()
    }
    check_predictions(scored, predictions)
    plan = options.plan(predictions)
    about = about_of(options.input.source, rules, len(scored), plan)
    job = digest(about["version"], content, plan.to_dict(), predictions)
    rows = RowCheckpoint(Path(options.output, RESULTS), job, _positions(plan), outputs.inputs)
    with resumable(rows) as checkpoint:
        with progress("comparing", len(scored) * len(plan.entries)) as advance:

            def watch(row: Row, case: ScoredExample) -> None:
                findings.add(row, case.where)
                advance()

            errors: OnError = "raise" if traceback_wanted() else "record"
            run = ComparisonRun(scored, compiler_of(rules), plan, errors, raise_interrupt, watch)
            try:
                for row in run.new_rows(checkpoint.rows()):
                    checkpoint.write([row])
            except Contradiction as error:
                raise Failure(f"{error}; the rows are in {checkpoint.place.part}", 1) from None
        comparison = Comparison(frame_of(checkpoint.rows()), CAP, about, scored, rules)
        return outputs.write(comparison)


def _report_possible() -> bool:
    from ilpinfer.comparison.report import check_report

    try:
        check_report()
    except MissingLibrary as error:
        notice(f"{error}; the other files are written")
        return False
    return True


def _tables(options: CompareOptions, layout: Layout) -> list[str]:
    return [name + SUFFIXES[kind] for kind in options.tables for name in layout.names]


def _files_of_summary(folder: str) -> set[str]:
    """Report, tables and plots of an earlier run in a folder, as listed in its summary."""
    tables = {name + suffix for name in (*COLUMNS, *PRESETS) for suffix in SUFFIXES.values()}
    plots = {f"{name}.{kind}" for name in PLOTS for kind in FORMATS}
    try:
        listed = json.loads(Path(folder, SUMMARY).read_text("utf-8"))["files"]
        return {REPORT, *tables, *plots}.intersection(listed)
    except (OSError, ValueError, KeyError, TypeError):  # no summary of this form
        return set()


def _remove(path: Path, inputs: Sequence[str]) -> None:
    """Remove a file of an earlier run, unless it is an input or a link."""
    if path.is_file() and not path.is_symlink():
        place = output_path(path, inputs)
        with write_errors(place.name):
            place.target.unlink()


def _plots(options: CompareOptions) -> list[str]:
    """The files of the plots; ValueError for an unknown format or name."""
    only = options.only_plots
    for kind in options.plots:
        check_plots(kind, only, options.plot_width)
    return [f"{name}.{kind}" for kind in options.plots for name in only or PLOTS]


def _remark(scored: Sequence[ScoredExample], scheme: str, never: Sequence[str]) -> None:
    """Notices about gold labels."""
    every = [item.gold for item in scored if item.gold]
    tell_helpers(every, never, notice, absent=True, what="gold labels that are not counted")
    golden = [
        item.gold
        for item in scored
        if item.gold and item.trellis is not None and item.trellis.labels.scheme == "bio"
    ]
    notice(iob1_remark(golden, scheme))


def _positions(plan: Plan) -> Callable[[Row], Position]:
    """The position of a row; each row is a group, ordered by sequence and plan."""
    places = {(entry.name, entry.seed): number for number, entry in enumerate(plan.entries)}

    def position(row: Row) -> Position:
        check_row(row)
        return row["sequence"] * len(places) + places[row["method"], row["seed"]], 0, 1

    return position
