"""The studies behind every figure: `python -m benchmarks list | run STUDY | report STUDY`.

A run goes on where an interrupted one with the same code and settings was. Exit code 1 where two programs disagree,
2 for what does not exist, 130 on interrupt.
"""

import argparse
import sys
import warnings
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.data import SCALES
from benchmarks.journal import Journal
from benchmarks.machine import header
from benchmarks.study import RESULTS, STUDIES, Disagreement, Study, Work, digest, study_named
from formulations.messages import suggestion
from formulations.problem.problem import RuleNotice


def main(arguments: list[str] | None = None) -> int:
    """List, run or report."""
    options = _options().parse_args(arguments)
    if options.command == "list":
        return _list()
    if options.study not in STUDIES:
        return _wrong(f'no study "{options.study}"{suggestion(options.study, STUDIES)}')
    study = study_named(options.study)
    folder = options.output or RESULTS / study.name
    if options.command == "report":
        return _report(study, folder)
    sections = options.parts.split(",") if options.parts else list(study.sections)
    unknown = [part for part in sections if part not in study.sections]
    if unknown:
        return _wrong(f'{study.name} has no part "{unknown[0]}"{suggestion(unknown[0], study.sections)}')
    return _run(study, options, sections, folder)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="every study, and what is there of its results")
    run = commands.add_parser("run", help="run a study, or go on with it, and report")
    report = commands.add_parser("report", help="tables and pictures from the rows that are there")
    for command in (run, report):
        command.add_argument("study", help="its name")
        command.add_argument("--output", type=Path, help="folder for rows, tables and pictures")
    run.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the corpora")
    run.add_argument("--scale", choices=SCALES, default="full", help="how much of it is run")
    run.add_argument("--parts", help="parts of the study, separated by commas")
    run.add_argument(
        "--again",
        nargs="+",
        default=(),
        metavar="METHOD",
        help="run these anew, as their rows name them, and keep the rows of all others, which earlier code has written",
    )
    return parser


def _list() -> int:
    table = Table("study", "measures", "parts", "rows", box=None)
    for name in STUDIES:
        one = study_named(name)
        rows = RESULTS / name / "rows.jsonl"
        count = str(len(Journal(rows).rows)) if rows.exists() else "-"
        table.add_row(name, one.summary, ", ".join(one.sections), count)
    Console().print(table)
    return 0


def _run(study: Study, options: argparse.Namespace, sections: list[str], folder: Path) -> int:
    console = Console(stderr=True)
    warnings.simplefilter("ignore", RuleNotice)
    folder.mkdir(parents=True, exist_ok=True)
    settings = {"study": study.name, "scale": options.scale, "code": digest()}
    journal = Journal(folder / "rows.jsonl", settings, header(), options.again)
    try:
        study.run(Work(options.data, SCALES[options.scale], sections, journal, console.print))
    except Disagreement as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    finally:
        journal.close()
    return _report(study, folder)


def _report(study: Study, folder: Path) -> int:
    rows = folder / "rows.jsonl"
    if not rows.exists():
        return _wrong(f"{rows}: no rows to report; run `python -m benchmarks run {study.name}` first")
    text = study.report(Journal(rows), folder)
    (folder / "results.txt").write_text(text, "utf-8")
    Console().print(text, highlight=False, markup=False, soft_wrap=True)
    Console(stderr=True).print(f"written to {folder}")
    return 0


def _wrong(message: str) -> int:
    print(message, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
