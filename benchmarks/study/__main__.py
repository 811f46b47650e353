"""Run the study: `python -m benchmarks.study [--data FOLDER] [--quick] [--parts cora,generator] [--output FOLDER]`.

It goes on where an interrupted run with the same settings was. Exit code 1 where two programs disagree, 130 on interrupt.
"""

import argparse
import hashlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from rich.console import Console

from benchmarks.machine import header
from benchmarks.study import corpora, generated
from benchmarks.study.agreement import Disagreement
from benchmarks.study.data import DataSet, Scale
from benchmarks.study.extras import run_extras
from benchmarks.study.figures import draw
from benchmarks.study.journal import Journal
from benchmarks.study.peers import versions
from benchmarks.study.running import run_all
from benchmarks.study.summary import summarise
from benchmarks.study.text import write
from formulations.compiled.problem import RuleNotice
from ilpinfer.cli.progress import progress

PARTS: Mapping[str, Callable[[Path, Scale], Iterator[DataSet]]] = {
    "cora": corpora.cora,
    "umass": corpora.umass,
    "resume": corpora.resume,
    "generator": lambda _, scale: generated.generator(scale),
    "hard": lambda _, scale: generated.hard(scale),
}
EXTRA = "extra"
OUTPUT = Path(__file__).parent.parent / "results" / "study"


def main(arguments: list[str] | None = None) -> int:
    """Run, write and draw."""
    options = _options().parse_args(arguments)
    warnings.simplefilter("ignore", RuleNotice)
    parts = options.parts.split(",")
    unknown = [part for part in parts if part not in (*PARTS, EXTRA)]
    if unknown:
        print(f"no part {unknown[0]!r}; there are {', '.join((*PARTS, EXTRA))}", file=sys.stderr)
        return 2
    scale = Scale(options.quick or options.tiny, options.tiny)
    options.output.mkdir(parents=True, exist_ok=True)
    settings = {"quick": scale.quick, "tiny": scale.tiny, "code": digest()}
    journal = Journal(options.output / "rows.jsonl", settings)
    try:
        return _study(options, parts, scale, journal)
    except Disagreement as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    finally:
        journal.close()


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.study", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the corpora")
    parser.add_argument("--quick", action="store_true", help="a small part of everything")
    parser.add_argument("--tiny", action="store_true", help="next to nothing, for tests")
    parser.add_argument("--parts", default=",".join((*PARTS, EXTRA)), help="separated by commas")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="folder for rows, tables and pictures")
    return parser


def _study(options: argparse.Namespace, parts: list[str], scale: Scale, journal: Journal) -> int:
    console = Console(stderr=True)
    notes: dict[str, str] = {}
    for part in (part for part in PARTS if part in parts):
        try:
            sets = list(PARTS[part](options.data, scale))
        except corpora.Missing as missing:
            console.print(f"{part} left out: {missing}")
            continue
        notes |= {data.name: data.note for data in sets}
        with progress(part, sum(len(data.methods) for data in sets)) as advance:
            run_all(sets, journal, advance)
        console.print(f"{part} done")
    if EXTRA in parts:
        run_extras(journal, scale)
    _report(options.output, journal, notes, console)
    return 0


def _report(folder: Path, journal: Journal, notes: Mapping[str, str], console: Console) -> None:
    rows = list(journal.rows.values())
    summary = summarise(rows)
    first = f"{header()}; {versions()}"
    text = write(summary, first, notes)
    (folder / "results.txt").write_text(text, "utf-8")
    (folder / "summary.json").write_text(json.dumps({"header": first, **summary}, indent=1) + "\n", "utf-8")
    pictures = draw(rows, summary, folder)
    Console().print(text, highlight=False, markup=False, soft_wrap=True)
    console.print(f"written to {folder}: results.txt, summary.json, {', '.join(pictures)}")


def digest() -> str:
    """Of the library's code and the study's, so that rows of different code are never mixed."""
    found = hashlib.sha256()
    for folder in ("formulations", "ilpinfer", "benchmarks"):
        for path in sorted((Path(__file__).parents[2] / folder).rglob("*")):
            if path.suffix in (".py", ".toml", ".lark"):
                found.update(path.read_bytes())
    return found.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
