"""The studies behind every figure: `python -m benchmarks list | run STUDY… | report STUDY… | instances FOLDER`; `all` stands for every study.

A run goes on where an interrupted one with the same code and scale was. Exit code 1 where two programs disagree,
2 for what does not exist, 130 on interrupt.
"""

import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import writing
from benchmarks.data.stand_in import write_corpora
from benchmarks.journal import ROOT, Journal, code_digest
from benchmarks.optimum import take_counts
from benchmarks.studies.hard import known
from benchmarks.study import Cell, Disagreement, Missing, Row, Sources, first_draw, names, study_named
from benchmarks.writing import header
from formulations.errors import RuleNotice
from formulations.messages import suggestion
from ilpinfer.cli.progress import progress


def cells_of(name: str, sources: Sources, parts: Sequence[str], say: Callable[[str], None]) -> list[Cell]:
    """The cells of the parts; a part whose corpus is missing is left out, which is said."""
    result: list[Cell] = []
    for part in parts:
        try:
            result += study_named(name).cells_of(sources, part)
        except Missing as missing:
            say(f"{name}, {part} left out: {missing}")
    return result


def run(name: str, sources: Sources, cells: Sequence[Cell], journal: Journal) -> None:
    """Measure what the journal lacks."""
    parts = study_named(name).parts
    todo = [(place, cell) for place, cell in enumerate(cells) if cell not in journal]
    with progress(name, len(cells), len(cells) - len(todo)) as advance:
        for place, cell in todo:
            journal.add(cell, measured(name, sources, cell) | {"number": (parts.index(cell.part), place)})
            advance()


def measured(name: str, sources: Sources, cell: Cell) -> Row:
    """The line of a cell: its rows with its own fields, its seconds, and the optima that were rechecked."""
    take_counts()
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuleNotice)
        rows = study_named(name).rows_of(sources, cell)
    seconds = round(time.perf_counter() - began, 3)
    return {"part": cell.part, "rows": rows, "seconds": seconds, **take_counts()}


RESULTS, ROWS = ROOT / "benchmarks" / "results", ROOT / "benchmarks" / "rows"


def main(arguments: list[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    if options.command == "list":
        return _list()
    if options.command == "instances":
        return _instances(options.folder)
    chosen = list(names()) if "all" in options.studies else options.studies
    for name in chosen:
        if name not in names():
            return _wrong(f'no study "{name}"{suggestion(name, names())}; `list` shows all')
    if options.command == "report":
        return max(_report(name, options) for name in chosen)
    parts = options.parts.split(",") if options.parts else []
    if parts and (len(options.studies) > 1 or "all" in options.studies):
        return _wrong("--parts needs the name of one study")
    unknown = [part for part in parts if part not in study_named(chosen[0]).parts]
    if unknown:
        known = ", ".join(study_named(chosen[0]).parts)
        return _wrong(f'{chosen[0]} has no part "{unknown[0]}"; its parts are {known}')
    return _run_all(chosen, parts, options)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="every study and its parts")
    made = commands.add_parser("instances", help="write the hard instances as files, and check their digests")
    made.add_argument("folder", type=Path, metavar="FOLDER")
    run = commands.add_parser("run", help="run studies, or go on with them, and report")
    report = commands.add_parser(
        "report", help="text and pictures from the newest rows, or else from the committed ones"
    )
    for command in (run, report):
        command.add_argument("studies", nargs="+", metavar="STUDY", help='names, or "all"')
        scale = command.add_mutually_exclusive_group()
        for name, text in (("smoke", "next to nothing"), ("full", "everything")):
            scale.add_argument(f"--{name}", dest="scale", action="store_const", const=name, help=text)
        command.set_defaults(scale="sample")
        command.add_argument("--rows", type=Path, default=ROWS, help="folder of raw rows")
        command.add_argument("--output", type=Path, help="folder of results, one folder in it for each study")
        command.add_argument(
            "--data",
            default="../shared/data",
            help='folder of the corpora; "generated" for small made-up ones',
        )
    run.add_argument("--parts", help="parts of the study, separated by commas")
    return parser


def _list() -> int:
    table = Table("study", "measures", "parts", box=None)
    for name in names():
        one = study_named(name)
        table.add_row(name, one.summary, ", ".join(one.parts))
    Console().print(table)
    return 0


def _instances(folder: Path) -> int:
    try:
        count = known.write(folder)
    except Disagreement as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        return _wrong(f"{folder}: {error.strerror}")
    print(f"{folder}: {count} instances, with their rules and {known.INDEX}")
    return 0


def _run_all(chosen: list[str], parts: list[str], options: argparse.Namespace) -> int:
    console, codes, began = Console(stderr=True, highlight=False), [], time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        if options.data == "generated":
            write_corpora(Path(folder))
            options.data = folder
        sources = Sources(Path(options.data), options.scale)
        for name in chosen:
            try:
                codes.append(_run(name, parts, sources, options, console))
            except Exception:
                console.print_exception()
                codes.append(1)
            if codes[-1] == 130:
                break
    if len(chosen) > 1 and codes[-1] != 130:
        failed = [name for name, code in zip(chosen, codes, strict=False) if code]
        console.print(
            f"{len(codes)} studies in {(time.monotonic() - began) / 60:.1f} min"
            + (f"; without a result: {', '.join(failed)}" if failed else "")
        )
    return max(codes)


def _run(name: str, parts: list[str], sources: Sources, options: argparse.Namespace, console: Console) -> int:
    study, file = study_named(name), f"{name}-{options.scale}-{sources.digest}-{code_digest()}.jsonl"
    journal = Journal(options.rows / file, header())
    try:
        cells = cells_of(name, sources, parts or study.parts, console.print)
        if not cells:
            print(f"{name}: nothing to measure", file=sys.stderr)
            return 2
        run(name, sources, cells, journal)
        study.check(first_draw(row for line in journal.lines(cells) for row in line["rows"]))
    except Disagreement as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except Missing as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    finally:
        journal.close()
    return _report(name, options)


def _files(name: str, options: argparse.Namespace) -> list[Path]:
    """Files of rows at this scale, the newest last."""
    return sorted(options.rows.glob(f"{name}-{options.scale}-*.jsonl"), key=lambda one: one.stat().st_mtime)


def _report(name: str, options: argparse.Namespace) -> int:
    committed = [RESULTS / name / writing.ROWS] if options.scale == "sample" else []
    journals = (Journal(path) for path in (*reversed(_files(name, options)), *committed))
    journal = next((one for one in journals if one.all_lines()), None)
    if journal is None:
        return _wrong(f"no rows of {name} at this scale; `python -m benchmarks run {name}` makes them")
    results = options.output or (options.rows / "smoke" if options.scale == "smoke" else RESULTS)
    path = writing.write(name, options.scale, journal, results / name)
    Console(stderr=True, highlight=False).print(f"{name}: {path}", soft_wrap=True)
    return 0


def _wrong(message: str) -> int:
    print(message, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
