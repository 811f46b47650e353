"""Every search against the proved optimum, at several time limits: what is run, as a declared record."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.data import corpora, generated
from benchmarks.data.sets import DataSet, Scale, spread
from benchmarks.journal import Journal
from benchmarks.searches.figures import draw
from benchmarks.searches.grid import Contender, Grid
from benchmarks.searches.rates import rates
from benchmarks.searches.running import run_grid
from benchmarks.searches.text import write
from benchmarks.study import Study, Work


def _cora(folder: Path, scale: Scale) -> Iterator[DataSet]:
    """References under the soft citation rules, and with each field once as a hard rule."""
    for data in corpora.cora(folder, Scale()):
        if data.name in ("cora 20", "cora 20 once"):
            items = tuple(item for item in data.items if item.key.startswith("dev"))
            number = scale(100, 10, 3) if data.name == "cora 20" else scale(40, 10, 3)
            yield replace(data, items=spread(items, number))


def _umass(folder: Path, scale: Scale) -> Iterator[DataSet]:
    for data in corpora.umass(folder, Scale()):
        yield replace(data, items=spread(data.items, scale(40, 8, 2)))


def _resume(folder: Path, scale: Scale) -> Iterator[DataSet]:
    for data in corpora.resume(folder, Scale()):
        yield replace(data, items=spread(data.items, scale(20, 5, 2)))


def _generator(_: Path, scale: Scale) -> Iterator[DataSet]:
    for T in (30, 60, 120, 240, 480) if not scale.smoke else (12, 24):
        data = generated.planted(T, 13 if not scale.smoke else 5, scale)
        yield replace(data, items=data.items[: scale(8, 4, 2)])


PRINTED = {"variant": "published", "zero": "score"}
PUBLISHED = {"variant": "published", "zero": "best"}
GRID = Grid(
    contenders={
        "viterbi": Contender("viterbi", timed=False),
        "post-correction": Contender("post-correction", timed=False),
        "constrained Viterbi": Contender("constrained-viterbi", timed=False),
        "beam 10": Contender("beam", {"width": 10}, timed=False),
        "beam 50": Contender("beam", {"width": 50}, timed=False),
        "beam 200": Contender("beam", {"width": 200}, timed=False),
        "best-first": Contender("best-first", timed=False),
        "greedy": Contender("greedy"),
        "relaxation-guided": Contender("relaxation-guided"),
        "lds, printed": Contender("lds", PRINTED),
        "lds": Contender("lds", PUBLISHED),
        "lds, going on": Contender("lds", {**PUBLISHED, "keep_going": True}),
        "lds, admissible": Contender("lds", {"variant": "admissible", "keep_going": True}),
        "lds, textbook": Contender("lds", {"variant": "textbook", "keep_going": True}),
        "evolutionary": Contender("evolutionary", {"variant": "published"}, seeded=True),
        "evolutionary, varied": Contender("evolutionary", {"variant": "varied"}, seeded=True),
        "hybrid, printed": Contender("hybrid", PRINTED, seeded=True),
        "hybrid": Contender("hybrid", PUBLISHED, seeded=True),
        "hybrid, strong": Contender("hybrid", {"variant": "strong"}, seeded=True),
        "annealing": Contender("annealing", seeded=True),
        "tabu": Contender("tabu", seeded=True),
        "exact engine": Contender("auto"),
    },
    limits=(0.01, 0.05, 0.2, 0.8),
    seeds=(0,),
    sets={"cora": _cora, "umass": _umass, "resume": _resume, "generator": _generator},
)
RATES = "rates"


def run(work: Work) -> None:
    """The grid, then how many labellings, nodes or states a second the searches get through."""
    grid = replace(GRID, limits=(0.005, 0.02)) if work.scale.smoke else GRID
    for part in (part for part in GRID.sets if part in work.sections):
        try:
            sets = list(GRID.sets[part](work.data, work.scale))
        except corpora.Missing as missing:
            work.say(f"{part} left out: {missing}")
            continue
        run_grid(part, grid, sets, work)
    if RATES in work.sections:
        rates(work.journal, work.scale)


def report(journal: Journal, folder: Path) -> str:
    """The tables; the pictures in the folder."""
    draw(journal, folder)
    return write(journal)


STUDY = Study(
    "searches", "every search against the proved optimum, by time limit", (*GRID.sets, RATES), run, report
)
