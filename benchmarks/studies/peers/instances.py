"""Instances in the formats of other programs, which have to find the same optimum in them."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import ilpinfer
from benchmarks.data.corpora import data_set
from benchmarks.data.sets import spread
from benchmarks.journal import ROOT
from benchmarks.methods import CannotState
from benchmarks.optimum import optimum
from benchmarks.studies.peers import weighted_csp
from benchmarks.studies.peers.decoding import names
from benchmarks.study import Cell, Row, Sources, grid, require
from formulations import RuleSet, Trellis
from formulations.grid import UNITS_PER_NAT
from formulations.problem.compiled_rules import compile_problem
from formulations.programs.formulation import formulate
from formulations.programs.text import mps

INSTANCES = "instances"
FOLDER = ROOT / "benchmarks" / "rows" / "peers-instances"
NOT_WRITTEN = ("umass",)
"""Its programs have more than a million columns."""


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """A sequence of a data set, by its place among five."""
    require("pytoulbar2")
    written = (name for name in names(sources) if name not in NOT_WRITTEN)
    return grid(part, data=written, first=range(sources(smoke=1, sample=1, full=5)))


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    data = data_set(sources, cell.data)
    item = spread(data.items, 5)[cell.first]
    trellis, name = item.make(), f"{cell.data}-{cell.first}".replace(" ", "-")
    best = optimum(trellis, data.rules)
    about = {"item": item.key, "T": len(trellis), "K": len(trellis.labels)}
    exact = {"score": best.score, "bound": best.bound, "status": best.status}
    yield about | {"method": "auto", **exact}
    for path, ceiling in write(FOLDER, name, trellis, data.rules, best.score):
        program, least = read(path)
        score = (ceiling - least) / UNITS_PER_NAT
        claim = {"score": score, "bound": score, "status": "optimal"}
        yield about | {"method": program, "file": path.name, "bytes": path.stat().st_size, **claim}


def write(
    folder: Path, name: str, trellis: Trellis, rules: RuleSet, score: float
) -> Iterator[tuple[Path, int]]:
    folder.mkdir(parents=True, exist_ok=True)
    problem = compile_problem(trellis, rules).fold()
    ceilings = {f"{name}.mps": 0}
    (folder / f"{name}.mps").write_text(mps(formulate(problem).soft()), "utf-8")
    try:
        network, ceilings[f"{name}.wcsp"] = weighted_csp.network_of(problem)
        network.Dump(str(folder / f"{name}.wcsp"))
    except CannotState:
        pass
    units = round(score * UNITS_PER_NAT)
    about = {
        "tokens": len(trellis),
        "labels": len(trellis.labels),
        "score_nats": score,
        "units_per_nat": UNITS_PER_NAT,
        "least_objective": {file: ceiling - units for file, ceiling in ceilings.items()},
        "made_by": f"ilpinfer {ilpinfer.__version__}",
    }
    (folder / f"{name}.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")
    yield from ((folder / file, ceiling) for file, ceiling in ceilings.items())


def read(path: Path) -> tuple[str, float]:
    return ("toulbar2", by_toulbar2(path)) if path.suffix == ".wcsp" else ("HiGHS", by_highs(path))


def by_toulbar2(path: Path) -> float:
    import pytoulbar2

    network = pytoulbar2.CFN(verbose=-1)
    network.Read(str(path))
    network.NoPreprocessing()
    network.Option.hbfs = 0
    return float(network.Solve()[1])


def by_highs(path: Path) -> float:
    import highspy

    solver = highspy.Highs()
    for name, value in {"output_flag": False, "threads": 1, "mip_rel_gap": 0.0, "mip_abs_gap": 1e-9}.items():
        solver.setOptionValue(name, value)
    if solver.readModel(str(path)) != highspy.HighsStatus.kOk:
        raise ValueError(f"{path}: not read")
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise ValueError(f"{path}: {solver.getModelStatus()}")
    return float(solver.getInfo().objective_function_value)
