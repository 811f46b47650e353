"""`ilpinfer compare`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from formulations.arguments import positive
from ilpinfer.cli import arguments, completion
from ilpinfer.cli.arguments import OPTIONS, Group, output_folder
from ilpinfer.cli.command import command
from ilpinfer.cli.failure import Failure, Findings
from ilpinfer.cli.inputs import (
    InputOptions,
    check_streams,
    method_options,
    parameters,
    prepare,
    raise_interrupt,
)
from ilpinfer.cli.outputs import resumable
from ilpinfer.cli.progress import progress
from ilpinfer.cli.screen import print_json
from ilpinfer.cli.show import show_comparison
from ilpinfer.cli.streams import notice
from ilpinfer.comparison.frame import line_of
from ilpinfer.comparison.plan import Case, Plan, plan_of
from ilpinfer.comparison.plots import PLOTS, check_plots, write_plots
from ilpinfer.comparison.tables import SUFFIXES, Layout, write_tables
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.corpus.conversion import iob1_remark
from ilpinfer.corpus.examples import InputError
from ilpinfer.errors import traceback_wanted
from ilpinfer.pipelines.trellises import ScoredSequence, read_predictions
from ilpinfer.system.checkpoint import Row, RowCheckpoint, RowPosition
from ilpinfer.system.extras import MissingLibrary
from ilpinfer.system.files import digest, write_atomically
from ilpinfer.system.output_paths import OutputError, check_folder, output_path

if TYPE_CHECKING:
    import pandas as pd

    from ilpinfer.comparison.comparison import Comparison
    from ilpinfer.comparison.running import OnError
    from ilpinfer.core.methods import Method

FILES = ("results.jsonl", "summary.json", "report.html")
"""Files of every comparison."""


TABLE_OPTIONS = (
    "name",
    "join",
    "support",
    "tables",
    "preset",
    "columns",
    "digits",
    "caption",
    "plots",
    "as_json",
)
"""Options for what is written of a comparison, which folders of results have, too."""
METHODS, PAPER = Group("Methods"), Group("Tables and plots")


@dataclass(frozen=True)
class CompareOptions:
    input: InputOptions
    output: Annotated[str, output_folder("Folder for results.jsonl, summary.json and report.html.")]
    methods: str = METHODS.option(
        "auto,viterbi,beam",
        "NAMES: Methods, separated by commas, with their options after colons: "
        "auto,beam:width=50,lds:variant=published,cbc:time_limit=10. PACKAGE:DECODER is a decoder of another package.",
        autocompletion=completion.method_lists,
    )
    predictions: Sequence[str] = METHODS.option(
        (), "NAME=FILE: Labellings of the same sequences from a file, compared as a method. May be repeated."
    )
    time_limit: arguments.Limit = None
    first: arguments.First = None
    seeds: str = METHODS.option("", "NUMBERS: Seeds of randomized methods, such as 1,2,3.")
    repeats: int = METHODS.option(
        1, "NUMBER: Number of runs of randomized methods, with seeds from 0.", min=1
    )
    cap: float = OPTIONS.option(
        50.0, "NATS: Gap that stands for a missing labelling in means over all sequences."
    )
    name: Sequence[str] = METHODS.option(
        (), "NAME=METHOD: Name of a method in rows, tables, plots and report. May be repeated."
    )
    join: Sequence[str] = OPTIONS.option(
        (),
        "FOLDER: Join the comparison in the folder INPUT with that in this folder, on the same sequences. May be repeated.",
    )
    support: int = OPTIONS.option(
        20, "NUMBER: Smallest number of gold fields with which the report names a field.", min=1
    )
    tables: str = PAPER.option(
        "", "FORMAT: Also write tables for papers: csv, markdown, latex or parquet.", "--format"
    )
    preset: str = PAPER.option(
        "", "NAME: paper: one table that fits a column of a two-column paper, with intervals."
    )
    columns: str = PAPER.option("", "NAMES: Columns of one table of methods, such as method,f1,mean_gap.")
    digits: int | None = PAPER.option(None, "NUMBER: Decimals of numbers that are no counts.", min=0)
    caption: str = PAPER.option("", "TEXT: Caption of the tables.")
    plots: str = PAPER.option("", "FORMAT: Also write the plots of the report as files: pdf, svg or png.")
    width: arguments.Width = 10
    threads: arguments.Threads = 1
    option: Sequence[str] = METHODS.option((), "METHOD.NAME=VALUE: A parameter of a method. May be repeated.")
    as_json: arguments.AsJson = False


@command(
    "ilpinfer compare test.tsv --model hmm.json --rules citations --methods auto,beam:width=50,cbc --output report",
    "ilpinfer compare report --join other --output both --name Beam=beam:width=50 --format latex --preset paper",
)
def compare(options: CompareOptions) -> None:
    """Decode with several methods, and report the gap of each to the proved optimum; INPUT may be the folder of an earlier run."""
    from ilpinfer.comparison.comparison import save_rows

    inputs, layout = _inputs(options), _layout(options)
    check_streams(False, [], inputs)
    check_folder(options.output)
    names = [*FILES, *_tables(options, layout), *_plots(options)]
    places = [output_path(Path(options.output, name), inputs) for name in names]
    if places[0].direct:
        raise OutputError(f"{places[0].name}: the rows are read back, so the output must be a file; name one")
    positive(options.cap, "cap", "nats")
    files, findings = Files(options, layout, inputs, _report_possible()), Findings()
    if Path(options.input.source).is_dir():
        comparison = _join_folders(options)
        save_rows(comparison, options.output, inputs)
        summary, record = files.write(comparison)
    elif options.join:
        raise InputError(
            f"--join: {options.input.source} is no folder that compare has written; compare it first"
        )
    else:
        summary, record = _compare_sequences(options, files, findings)
    if options.as_json:
        print_json(record)
    else:
        show_comparison(summary)
    if not summary.optimum_known.any():
        notice("no method proved an optimum, so gaps are unknown; add auto to --methods")
    findings.check()


@dataclass(frozen=True)
class Files:
    """What is written beside the rows; it is over none of the inputs."""

    options: CompareOptions
    layout: Layout
    inputs: Sequence[str]
    with_report: bool

    def write(self, comparison: "Comparison") -> tuple["pd.DataFrame", Row]:
        """Write summary, report, tables and plots; the lines of the methods, and the summary."""
        from ilpinfer.comparison.comparison import record_of
        from ilpinfer.comparison.report import report_of

        options, lines = self.options, comparison.lines()
        record, folder = record_of(comparison, lines), options.output
        write_atomically(Path(folder, FILES[1]), json.dumps(record, indent=2) + "\n", self.inputs)
        if self.with_report:
            page = report_of(comparison, lines, options.support)
            write_atomically(Path(folder, FILES[2]), page, self.inputs)
        if options.tables:
            write_tables(lines, folder, options.tables, self.layout, self.inputs)
        if options.plots:
            write_plots(comparison, folder, options.plots, self.inputs)
        return lines["summary"], record


def _inputs(options: CompareOptions) -> list[str]:
    files = [*options.input.files, *_prediction_files(options.predictions).values()]
    folders = [options.input.source, *options.join] if Path(options.input.source).is_dir() else []
    return [*files, *(str(Path(folder, name)) for folder in folders for name in FILES)]


def _join_folders(options: CompareOptions) -> "Comparison":
    """The comparison of folders that are there already; InputError for options of sequences."""
    from ilpinfer.comparison.comparison import Comparison

    for record in (options.input, options):
        for each in fields(record):
            given = getattr(record, each.name) or None
            if (
                each.default is not MISSING
                and each.name not in TABLE_OPTIONS
                and given != (each.default or None)
            ):
                option = each.name.replace("rewards", "reward").replace("_", "-")
                what = f"an option for sequences, and {options.input.source} is a folder of results"
                raise InputError(f"--{option}: {what}; leave it out")
    first, *others = (Comparison.load(folder) for folder in (options.input.source, *options.join))
    return sum(others, first).renamed(_names(options))


def _compare_sequences(
    options: CompareOptions, written: Files, findings: Findings
) -> tuple["pd.DataFrame", Row]:
    """The comparison of the sequences of a file."""
    from ilpinfer.comparison.comparison import Comparison, about_of
    from ilpinfer.comparison.rows import Contradiction
    from ilpinfer.comparison.running import ComparisonRun, check_predictions

    files = _prediction_files(options.predictions)
    _plan(options, dict.fromkeys(files, ()))
    scored, rules, content = prepare(options.input, options.first, fit=True)
    _remark(scored, options.input.scheme)
    cases = [Case(item.trellis, item.gold, item.example.where, item.error) for item in scored]
    predictions = {
        name: read_predictions(path, scored, options.input.scheme, notice) for name, path in files.items()
    }
    check_predictions(cases, predictions)
    plan = _plan(options, predictions)
    about = about_of(options.input.source, rules, len(scored), plan)
    job = digest(about["version"], content, plan.to_dict(), predictions)
    rows = RowCheckpoint(Path(options.output, FILES[0]), job, _positions(plan), written.inputs)
    with resumable(rows) as checkpoint:
        with progress("comparing", len(cases) * len(plan.entries)) as advance:

            def watch(row: Row, case: Case) -> None:
                findings.add(row, case.where)
                advance()

            errors: OnError = "raise" if traceback_wanted() else "record"
            run = ComparisonRun(cases, compiler_of(rules), plan, errors, raise_interrupt, watch)
            try:
                for row in run.new_rows(checkpoint.rows()):
                    checkpoint.write([row])
            except Contradiction as error:
                raise Failure(f"{error}; the rows are in {checkpoint.place.part}", 1) from None
        comparison = Comparison(checkpoint.rows, plan.kinds, options.cap, about, cases, rules)
        return written.write(comparison)


def _report_possible() -> bool:
    from ilpinfer.comparison.report import check_report

    try:
        check_report()
    except MissingLibrary as error:
        notice(f"{error}; the other files are written")
        return False
    return True


def _layout(options: CompareOptions) -> Layout:
    """How tables are written; ValueError for an unknown format, column or preset."""
    columns = options.columns.split(",") if options.columns else None
    layout = Layout(columns, options.digits, options.caption, options.preset)
    if options.tables:
        layout.check(options.tables)
    elif layout != Layout():
        raise InputError("--preset, --columns, --digits and --caption are for tables; add --format")
    return layout


def _tables(options: CompareOptions, layout: Layout) -> list[str]:
    return [name + SUFFIXES[options.tables] for name in layout.names] if options.tables else []


def _plots(options: CompareOptions) -> list[str]:
    """The files of the plots; ValueError for an unknown format."""
    if not options.plots:
        return []
    check_plots(options.plots)
    return [f"{name}.{options.plots}" for name in PLOTS]


def _pair(option: str, entry: str, value: str) -> tuple[str, str]:
    """A name and what has it, from NAME=VALUE."""
    name, equals, given = entry.partition("=")
    if not (name and equals and given):
        raise InputError(f"{option} {entry}: expected NAME={value}")
    return name, given


def _names(options: CompareOptions) -> dict[str, str]:
    result: dict[str, str] = {}
    for entry in options.name:
        name, method = _pair("--name", entry, "METHOD")
        if method in result:
            raise InputError(f"--name {entry}: {method} has the name {result[method]} already")
        result[method] = name
    return result


def _remark(scored: Sequence[ScoredSequence], scheme: str) -> None:
    golden = [
        item.gold for item in scored if item.gold and item.trellis and item.trellis.labels.scheme == "bio"
    ]
    notice(iob1_remark(golden, scheme))


def _positions(plan: Plan) -> Any:
    """The position of a row in its group: the rows of a sequence, in the order of the plan."""
    places = {(entry.name, entry.seed): number for number, entry in enumerate(plan.entries)}

    def position(row: Row) -> RowPosition:
        line_of(row)
        if type(row["sequence"]) is not int or not isinstance(row["reason"], str):
            raise TypeError("a number and a text are expected")
        return RowPosition(row["sequence"], places[row["method"], row["seed"]], len(places))

    return position


def _prediction_files(entries: Sequence[str]) -> dict[str, str]:
    result: dict[str, str] = {}
    for entry in entries:
        name, path = _pair("--predictions", entry, "FILE")
        if name in result:
            raise InputError(f"--predictions {name} is given twice")
        result[name] = path
    return result


def _plan(options: CompareOptions, predictions: Mapping[str, Any]) -> Plan:
    """The plan; invalid methods and options are errors before any work."""
    values = {tuple(name.partition(".")[::2]): value for name, value in parameters(options.option).items()}
    taken = set[str]()

    def own(method: "Method") -> dict[str, Any]:
        taken.add(method.name)
        common = method_options(method, width=options.width, threads=options.threads)
        return common | {key: value for (name, key), value in values.items() if name == method.name}

    for name, key in values:
        if not key:
            raise InputError(f"--option {name}: expected METHOD.NAME=VALUE")
    plan = plan_of(
        options.methods,
        time_limit=options.time_limit,
        seeds=_seeds(options),
        predictions=predictions,
        options=own,
        names=_names(options),
    )
    for name, key in values:
        if name not in taken:
            known = ", ".join(plan.kinds)
            raise InputError(f"--option {name}.{key}: {name} is none of the methods {known}")
    return plan


def _seeds(options: CompareOptions) -> int | list[int]:
    if not options.seeds:
        return options.repeats
    if options.repeats != 1:
        raise InputError("--seeds and --repeats: give one of them")
    try:
        return [int(seed) for seed in options.seeds.split(",")]
    except ValueError:
        raise InputError(f"--seeds {options.seeds}: expected whole numbers separated by commas") from None
