"""`ilpinfer compare`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from formulations.arguments import positive
from ilpinfer import __version__
from ilpinfer.cli import completion
from ilpinfer.cli.arguments import AsJson, First, Limit, Threads, Width, output_folder, value_option
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
from ilpinfer.cli.outputs import resumed
from ilpinfer.cli.progress import progress
from ilpinfer.cli.screen import print_json
from ilpinfer.cli.show import show_comparison
from ilpinfer.cli.streams import notice
from ilpinfer.comparison.frame import line_of
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.corpus.conversion import iob1_remark
from ilpinfer.corpus.examples import InputError
from ilpinfer.errors import traceback_wanted
from ilpinfer.pipelines.trellises import ScoredSequence
from ilpinfer.system.checkpoint import Row, RowCheckpoint, RowPosition
from ilpinfer.system.extras import MissingLibrary
from ilpinfer.system.files import digest, write_atomically
from ilpinfer.system.output_paths import OutputError, check_folder, output_path

if TYPE_CHECKING:
    from ilpinfer.comparison.plan import Case, Plan
    from ilpinfer.comparison.running import OnError
    from ilpinfer.core.methods import Method

FILES = ("results.jsonl", "summary.json", "report.html")
"""Files of every comparison."""


METHODS = "Methods"


@dataclass(frozen=True)
class CompareOptions:
    input: InputOptions
    output: Annotated[str, output_folder("Folder for results.jsonl, summary.json and report.html.")]
    methods: Annotated[
        str,
        value_option(
            "NAMES",
            "Methods, separated by commas, with their options after colons: "
            "auto,beam:width=50,lds:variant=published,cbc:time_limit=10. PACKAGE:DECODER is a decoder of another package.",
            METHODS,
            autocompletion=completion.method_lists,
        ),
    ] = "auto,viterbi,beam"
    predictions: Annotated[
        Sequence[str],
        value_option(
            "NAME=FILE",
            "Labellings of the same sequences from a file, compared as a method. May be repeated.",
            METHODS,
        ),
    ] = ()
    time_limit: Limit = None
    first: First = None
    seeds: Annotated[str, value_option("NUMBERS", "Seeds of randomized methods, such as 1,2,3.", METHODS)] = (
        ""
    )
    repeats: Annotated[
        int,
        value_option("NUMBER", "Number of runs of randomized methods, with seeds from 0.", METHODS, min=1),
    ] = 1
    cap: Annotated[
        float, value_option("NATS", "Gap that stands for a missing labelling in means over all sequences.")
    ] = 50.0
    tables: Annotated[
        str,
        value_option(
            "FORMAT", "Also write tables for papers: csv, markdown, latex or parquet.", None, "--format"
        ),
    ] = ""
    width: Width = 10
    threads: Threads = 1
    option: Annotated[
        Sequence[str], value_option("METHOD.NAME=VALUE", "A parameter of a method. May be repeated.", METHODS)
    ] = ()
    as_json: AsJson = False


@command(
    "ilpinfer compare test.tsv --model hmm.json --rules citations --methods auto,beam:width=50,cbc --output report"
)
def compare(options: CompareOptions) -> None:
    """Decode with several methods, and report the gap of each to the proved optimum."""
    from ilpinfer.comparison.comparison import Comparison, check_predictions
    from ilpinfer.comparison.plan import Case
    from ilpinfer.comparison.report import report_of
    from ilpinfer.comparison.rows import Contradiction
    from ilpinfer.comparison.running import ComparisonRun
    from ilpinfer.comparison.table_files import write_tables
    from ilpinfer.pipelines.trellises import read_predictions

    files = _prediction_files(options.predictions)
    inputs, output = [*options.input.files, *files.values()], options.output
    check_streams(False, [], inputs)
    tables = _tables(options.tables)
    check_folder(output)
    places = [output_path(Path(output, name), inputs) for name in (*FILES, *tables)]
    if places[0].direct:
        raise OutputError(f"{places[0].name}: the rows are read back, so the output must be a file; name one")
    positive(options.cap, "cap", "nats")
    with_report = _report_possible()
    _plan(options, dict.fromkeys(files, ()))
    reading = options.input.reading
    scored, rules, content = prepare(options.input, reading, options.first, fit=True)
    _remark(scored, options.input.scheme)
    cases = [Case(item.trellis, item.gold, item.example.where, item.error) for item in scored]
    predictions = {
        name: read_predictions(path, scored, options.input.scheme, notice) for name, path in files.items()
    }
    check_predictions(cases, predictions)
    plan, findings = _plan(options, predictions), Findings()
    job = digest(__version__, content, plan.to_dict(), predictions)
    about: Row = {
        "source": options.input.source,
        "rules": rules.name or None,
        "sequences": len(scored),
        "version": __version__,
        "limits": plan.to_dict(),
    }
    with resumed(RowCheckpoint(Path(output, FILES[0]), job, _positions(plan), inputs)) as checkpoint:
        with progress("comparing", len(cases) * len(plan.entries)) as advance:

            def watch(row: Row, case: "Case") -> None:
                findings.add(row, case.where)
                advance()

            errors: OnError = "raise" if traceback_wanted() else "record"
            run = ComparisonRun(cases, compiler_of(rules), plan, errors, raise_interrupt, watch)
            try:
                baseline = run.fill(checkpoint)
            except Contradiction as error:
                raise Failure(f"{error}; the rows are in {checkpoint.place.part}", 1) from None
        comparison = Comparison(checkpoint, plan, cases, rules, baseline, options.cap, about)
        summary = comparison.summary()
        record = {
            **about,
            "cap": options.cap,
            "methods": [asdict(line) for line in summary],
            "matches": [asdict(match) for match in comparison.matches()],
            "fields": [asdict(gain) for gain in comparison.field_gains()],
        }
        write_atomically(Path(output, FILES[1]), json.dumps(record, indent=2) + "\n", inputs)
        if with_report:
            write_atomically(Path(output, FILES[2]), report_of(comparison), inputs)
        if options.tables:
            write_tables(comparison, output, options.tables, inputs)
    if options.as_json:
        print_json(record)
    else:
        show_comparison(summary)
    if not any(line.optimum_known for line in summary):
        notice("no method proved an optimum, so gaps are unknown; add auto to --methods")
    findings.check()


def _report_possible() -> bool:
    from ilpinfer.comparison.report import check_report

    try:
        check_report()
    except MissingLibrary as error:
        notice(f"{error}; the other files are written")
        return False
    return True


def _tables(name: str) -> list[str]:
    """The files of the tables; ValueError for an unknown format."""
    from ilpinfer.comparison.columns import COLUMNS
    from ilpinfer.comparison.table_files import SUFFIXES, check_format

    if not name:
        return []
    check_format(name)
    return [table + SUFFIXES[name] for table in COLUMNS]


def _remark(scored: Sequence[ScoredSequence], scheme: str) -> None:
    golden = [
        item.gold for item in scored if item.gold and item.trellis and item.trellis.labels.scheme == "bio"
    ]
    notice(iob1_remark(golden, scheme))


def _positions(plan: "Plan") -> Any:
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
        name, equals, path = entry.partition("=")
        if not (name and equals and path):
            raise InputError(f"--predictions {entry}: expected NAME=FILE")
        if name in result:
            raise InputError(f"--predictions {name} is given twice")
        result[name] = path
    return result


def _plan(options: CompareOptions, predictions: Mapping[str, Any]) -> "Plan":
    """The plan; invalid methods and options are errors before any work."""
    from ilpinfer.comparison.plan import plan_of

    values = {tuple(name.partition(".")[::2]): value for name, value in parameters(options.option).items()}
    taken = set[str]()

    def own(method: "Method") -> dict[str, Any]:
        taken.add(method.name)
        common = method_options(method, width=options.width, threads=options.threads)
        return {
            **common,
            **{option: value for (name, option), value in values.items() if name == method.name},
        }

    for name, option in values:
        if not option:
            raise InputError(f"--option {name}: expected METHOD.NAME=VALUE")
    plan = plan_of(
        options.methods,
        time_limit=options.time_limit,
        seeds=_seeds(options),
        predictions=predictions,
        options=own,
    )
    for name, option in values:
        if name not in taken:
            raise InputError(
                f"--option {name}.{option}: {name} is none of the methods {', '.join(plan.kinds)}"
            )
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
