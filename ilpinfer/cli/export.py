"""`ilpinfer export`."""

import json
import math
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from formulations import Program
from formulations.messages import counted
from ilpinfer.cli.command import command
from ilpinfer.cli.failure import LeftOut
from ilpinfer.cli.inputs import prepare
from ilpinfer.cli.outputs import check_streams
from ilpinfer.cli.program_options import ExportOptions, check_texts, known_trellis, numbers
from ilpinfer.cli.progress import progress
from ilpinfer.cli.screen import print_json
from ilpinfer.cli.streams import notice
from ilpinfer.core.request import Request
from ilpinfer.core.solution import Solution
from ilpinfer.corpus.examples import InputError
from ilpinfer.pipelines.trellises import ScoredExample
from ilpinfer.system.files import write_atomically
from ilpinfer.system.output_paths import check_folder, output_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from formulations.programs.cost_network import CostNetwork


@command(
    "ilpinfer export scores.jsonl --rules rules.toml --output programs",
    "ilpinfer export test.tsv --model hmm.json --rules citations --format mps --first 10 --output programs",
    "ilpinfer export scores.jsonl --rules rules.toml --gzip --start beam --output programs",
    "ilpinfer export scores.jsonl --rules rules.toml --check programs --json",
)
def export(options: ExportOptions) -> None:
    """Write the integer program of each sequence for other solvers, with named columns and rows; or check their solutions."""
    format_, units = options.format or "lp", options.units or "nats"
    check_texts(format_, units)
    if options.check:
        from ilpinfer.cli.solutions import check_solutions

        check_solutions(options)
        return
    start = _start(options)
    suffix = f"{format_}{'.gz' * options.gzip}"
    inputs = options.input.files
    check_streams(False, [], inputs)
    check_folder(options.output)
    scored, rules, _ = prepare(options.input, options.first)
    names = numbers(len(scored))
    for name in names:
        for end in (suffix, "columns.json", *(["mst"] if start else [])):
            output_path(Path(options.output, f"{name}.{end}"), inputs)
    failures, written = LeftOut(), list[str]()
    with progress("exporting", len(scored)) as advance:
        for name, item in zip(names, scored, strict=True):
            program = begun = None
            with failures.at(item.where):
                trellis = known_trellis(item)
                own = rules.of(item.example.notes)
                made = options.program.formulate(trellis, own)
                text, table = (
                    made.text(format_, units=units),
                    _map(made, item, options, format_, units),
                )
                begun = start(trellis, own) if start else None
                program = made
            if program is None:
                continue
            place = Path(options.output, f"{name}.{suffix}")
            write_atomically(place, text, inputs)
            write_atomically(place.with_name(f"{name}.columns.json"), table, inputs)
            if begun is not None and math.isfinite(begun.score):
                write_atomically(place.with_name(f"{name}.mst"), program.start_text(begun.labels), inputs)
            elif begun is not None:
                notice(f"{item.where}: {options.start} has no labelling to start with")
            written.append(str(place))
            advance()
    count = len(written)
    ends = f", {Path(written[0]).name} to {Path(written[-1]).name}" if written else ""
    notice(f"{options.output}: {counted(count, 'program')}{ends}")
    if options.as_json:
        print_json({"output": options.output, "programs": written, "failures": failures})
    failures.check(f"{len(scored)} sequences have no program", 2)


def _start(options: ExportOptions) -> "Callable[..., Solution] | None":
    """The method of --start as a function; None without --start."""
    if not options.start:
        return None
    if options.program.program != "soft":
        raise InputError(f"--start {options.start}: is for --program soft; leave it out")
    from ilpinfer.decoding.decode import decode

    Request.of(options.start, None, {}).task(None)
    return partial(decode, method=options.start)


def _map(program: Program, item: ScoredExample, options: ExportOptions, format_: str, units: str) -> str:
    """The table of columns or variables, one per line, with which a solution can be read without the trellis."""
    network = program.network if format_ == "wcsp" else None
    about = {
        "digest": program.digest,
        "format": format_,
        "units": "grid" if network else units,
        **asdict(options.program),
        "floor": program.floor,
        **({} if network is None else {"best_score_units": network.best}),
        "tokens": list(item.tokens),
        "labels": list(program.labels),
    }
    head = json.dumps(about, ensure_ascii=False, allow_nan=False)[1:-1]
    lines = _columns(program) if network is None else _variables(network)
    texts = ",\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    return f'{{{head}, "{"columns" if network is None else "variables"}": [\n{texts}\n]}}\n'


def _columns(program: Program) -> "Iterator[dict[str, Any]]":
    for file, column in zip(program.file_columns, program.columns, strict=True):
        about = {"kind": column.kind, "rule": column.rule or None, "token": column.token}
        yield {"file": file, "name": column.name, **about, "labels": list(column.labels) or None}


def _variables(network: "CostNetwork") -> "Iterator[dict[str, Any]]":
    for size, variable in zip(network.sizes, network.meanings(), strict=True):
        about = {"kind": variable.kind, "rule": variable.rule or None, "token": variable.token}
        yield {"name": variable.name, **about, "values": size}
