"""What solvers cost, what building and handing over a program adds, and what folding rules into scores saves."""

import statistics
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from benchmarks.data.corpora import train_and_dev
from benchmarks.data.models import trained
from benchmarks.data.sets import SOLVERS
from benchmarks.data.synthetic import labels_of_size, reference
from benchmarks.methods import within
from benchmarks.optimum import optimum
from benchmarks.study import Cell, Row, Sources, grid
from benchmarks.timing import timed
from formulations import Trellis, load_rules
from formulations.grid import nats
from formulations.problem.compiled_rules import compile_problem
from formulations.problem.problem import Problem
from formulations.programs.formulation import formulate
from formulations.programs.record import IntegerProgram
from formulations.programs.text import mps
from ilpinfer import solvers
from ilpinfer.exact.viterbi import viterbi

PROGRAMS, FOLDED = "programs", "folded"
LIMIT = 60.0
OBJECTS = "PuLP's objects"
CHUNK, MODEL_SIZE = 25, 20


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    """A solver on a planted document, or on references from the first one on."""
    if part == PROGRAMS:
        yield from grid(part, data=["planted"], methods=(*SOLVERS, OBJECTS), first=[0])
        return
    train_and_dev(sources.folder, "cora")
    for first in range(0, CHUNK * sources(smoke=1, sample=1, full=4), CHUNK):
        yield from grid(part, data=["cora"], methods=SOLVERS[: sources(smoke=1, sample=4)], first=[first])


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    if cell.part == PROGRAMS:
        T, K = sources(smoke=(12, 5), sample=(120, 27))
        problem = compile_problem(reference(T, 0, labels_of_size(K)), load_rules("citations"))
        yield from (_of_objects(problem) if cell.methods == OBJECTS else _of_solver(cell.methods, problem))
        return
    call_once(cell.methods)
    for place, trellis, problem in unsettled(sources, cell.first):
        best = optimum(trellis, load_rules("citations"))
        about: Row = {"item": f"dev {place}", "method": "auto", "form": ""}
        yield about | {"status": best.status, "score": best.score, "bound": best.bound}
        for form in ("whole", "folded"):
            program = formulate(problem.fold() if form == "folded" else problem).soft()
            answer = solvers.solve(cell.methods, program, time_limit=LIMIT)
            score = None if answer.x is None else nats(problem.value(program.labelling(answer.x)).score)
            bound = score if answer.status == "optimal" else None
            own = {"method": cell.methods, "form": form, "seconds": answer.seconds}
            yield about | own | {"status": answer.status, "score": score, "bound": bound}


def _of_solver(name: str, problem: Problem) -> Iterator[Row]:
    building = statistics.median(timed(lambda: formulate(problem).soft())[1] for _ in range(5))
    program = formulate(problem).soft()
    call_once(name)
    handing = min(timed(hand_over(name, program))[1] for _ in range(3))
    answer = solvers.solve(name, program, time_limit=LIMIT)
    sizes = dict(zip("TK", problem.shape, strict=True)) | {
        "columns": program.n_columns,
        "rows": program.n_rows,
    }
    seconds = {"build": building, "hand over": handing, "solve": answer.seconds - handing}
    yield {**sizes, "method": name, **seconds, "status": answer.status}


def _of_objects(problem: Problem) -> Iterator[Row]:
    program = formulate(problem).soft()
    text = min(timed(lambda: mps(program))[1] for _ in range(3))
    yield {"method": OBJECTS, "text": text, "objects": timed(expressions, program)[1]}


@cache
def unsettled(sources: Sources, first: int) -> list[tuple[int, Trellis, Problem]]:
    """References, by number, whose Viterbi labelling breaks a rule even after folding."""
    train, dev = train_and_dev(sources.folder, "cora")
    model, rules, result = trained("hmm", train[:MODEL_SIZE]), load_rules("citations"), []
    for place, (tokens, _) in enumerate(dev[first : first + CHUNK], first):
        trellis = model.trellis(tokens)
        problem = compile_problem(trellis, rules)
        folded = problem.fold()
        if folded.breaks(viterbi(folded.lattice)[1]):
            result.append((place, trellis, problem))
    return result[: sources(smoke=1, sample=CHUNK)]


@cache
def call_once(name: str) -> None:
    """A first call, which is not timed: it starts the solver's process."""
    problem = compile_problem(reference(3, 0, labels_of_size(26)), [])
    solvers.solve(name, formulate(problem).soft())


def hand_over(name: str, program: IntegerProgram) -> Callable[[], Any]:
    """What turns the record into the solver's own form."""
    if name == "cbc":
        return lambda: mps(program)
    if name == "cp-sat":
        from ilpinfer.solvers import cp_sat

        return lambda: cp_sat.model_of(program)
    if name == "scip":
        from ilpinfer.solvers import scip

        return lambda: scip._model(program)
    from scipy.sparse import csr_matrix

    entries = program.data.astype(float), program.indices, program.indptr
    return lambda: csr_matrix(entries, (program.n_rows, program.n_columns))


def expressions(program: IntegerProgram) -> None:
    """The same hand-over by PuLP's own objects: build the problem and write its MPS file."""
    import pulp

    boxes = zip(program.lower.tolist(), program.upper.tolist(), strict=True)
    columns = [pulp.LpVariable(f"c{c}", low, high, cat="Integer") for c, (low, high) in enumerate(boxes)]
    problem = pulp.LpProblem("program", pulp.LpMaximize)
    problem += pulp.LpAffineExpression(zip(columns, program.objective.tolist(), strict=True))
    at, weights, ends = program.indices.tolist(), program.data.tolist(), program.indptr.tolist()
    sides = zip(program.row_lower.tolist(), program.row_upper.tolist(), strict=True)
    for row, (low, high) in enumerate(sides):
        entries = range(ends[row], ends[row + 1])
        sum_ = pulp.LpAffineExpression([(columns[at[e]], weights[e]) for e in entries])
        problem += within(sum_, low, high)
    with tempfile.TemporaryDirectory() as folder:
        problem.writeMPS(f"{folder}/program.mps")
