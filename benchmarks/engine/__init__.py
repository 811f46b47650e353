"""The exact engine against its rivals: solvers, beams, and other programs."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from benchmarks.data import corpora, generated
from benchmarks.data.sets import DataSet, Scale
from benchmarks.engine.extras import run_extras
from benchmarks.engine.figures import draw
from benchmarks.engine.running import methods_of, run_all
from benchmarks.engine.summary import summarise
from benchmarks.engine.text import write
from benchmarks.journal import Journal
from benchmarks.study import Study, Work
from ilpinfer.cli.progress import progress

SECTIONS: Mapping[str, Callable[[Path, Scale], Iterator[DataSet]]] = {
    "cora": corpora.cora,
    "umass": corpora.umass,
    "resume": corpora.resume,
    "generator": lambda _, scale: generated.generator(scale),
    "hard": lambda _, scale: generated.hard(scale),
}
EXTRA = "extra"


def run(work: Work) -> None:
    """Every method on every data set of the parts, then what is measured once."""
    for section in (name for name in SECTIONS if name in work.sections):
        try:
            sets = list(SECTIONS[section](work.data, work.scale))
        except corpora.Missing as missing:
            work.say(f"{section} left out: {missing}")
            continue
        work.journal.describe((data.name, data.note) for data in sets)
        with progress(section, sum(len(methods_of(data)) for data in sets)) as advance:
            run_all(sets, work.journal, advance)
        work.say(f"{section} done")
    if EXTRA in work.sections:
        run_extras(work.journal, work.scale)


def report(journal: Journal, folder: Path) -> str:
    """The tables, and `summary.json` and pictures in the folder."""
    rows = list(journal.rows.values())
    summary = summarise(rows)
    (folder / "summary.json").write_text(
        json.dumps({"header": journal.about, **summary}, indent=1) + "\n", "utf-8"
    )
    draw(rows, summary, folder)
    return write(summary, journal.about, journal.notes)


STUDY = Study(
    "engine", "the exact engine against solvers, beams and other programs", (*SECTIONS, EXTRA), run, report
)
