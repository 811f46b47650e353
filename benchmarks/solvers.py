"""What solvers cost, and what building and handing over a program adds: `python -m benchmarks.solvers`.

Without arguments on planted references; with a training and a test file of tagged references on those:
`python -m benchmarks.solvers TRAIN.tsv TEST.tsv [COUNT]`.
"""

import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.data.synthetic import label_set, reference
from benchmarks.machine import header
from formulations import Trellis, load_rules
from formulations.problem.compiled_rules import compile_problem
from formulations.problem.problem import Problem, RuleNotice
from formulations.programs.formulation import formulate
from formulations.programs.record import UNBOUNDED, IntegerProgram
from formulations.programs.text import mps
from ilpinfer import solvers
from ilpinfer.corpus.sequences import read, require_labels
from ilpinfer.models.hmm import HMM

LIMIT = 60.0


def time_call(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and result."""
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


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


def shares(console: Console) -> None:
    """Building and handing over against solving, T = 120 and K = 27, one label more than BIO has."""
    labels = label_set()
    wide = type(labels)((*labels.names, "O"))
    problem = compile_problem(reference(120, 0, wide), load_rules("citations"))
    building = statistics.median(time_call(lambda: formulate(problem).soft())[0] for _ in range(5))
    program = formulate(problem).soft()
    table = Table("solver", "build, ms", "hand over, ms", "solve, ms", "share", "status", box=None)
    for name in solvers.SOLVERS:
        solvers.solve(name, formulate(compile_problem(reference(3, 0, wide), [])).soft())
        handing = min(time_call(hand_over(name, program))[0] for _ in range(3))
        answer = solvers.solve(name, program, time_limit=LIMIT)
        solving = answer.seconds - handing
        share = (building + handing) / solving
        milliseconds = (f"{1000 * s:.0f}" for s in (building, handing, solving))
        table.add_row(name, *milliseconds, f"{share:.1%}", answer.status)
    console.print(f"The whole program, T = 120, K = 27: {program.n_columns} columns, {program.n_rows} rows")
    console.print(table)
    text = min(time_call(lambda: mps(program))[0] for _ in range(3))
    objects = time_call(lambda: expressions(program))[0]
    console.print(
        f"PuLP's expression objects take {objects / text:.1f} times as long to hand over as the MPS text"
    )


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
        if low == high:
            problem += sum_ == low
        elif high < UNBOUNDED:
            problem += sum_ <= high
        else:
            problem += sum_ >= low
    with tempfile.TemporaryDirectory() as folder:
        problem.writeMPS(f"{folder}/program.mps")


def folded_against_whole(console: Console, trellises: list[Trellis]) -> None:
    """Median and largest milliseconds of each solver on whole and on folded programs that Viterbi does not settle."""
    from ilpinfer.exact.viterbi import viterbi

    rules = load_rules("citations")
    problems: list[Problem] = []
    for trellis in trellises:
        problem = compile_problem(trellis, rules)
        folded = problem.fold()
        if folded.breaks(viterbi(folded.lattice)[1]):
            problems.append(problem)
    console.print(f"\n{len(problems)} of {len(trellises)} references are left after folding and Viterbi")
    table = Table("solver", "whole, median ms", "largest", "folded, median ms", "largest", "proved", box=None)
    for name in solvers.SOLVERS:
        cells, proved = [], 0
        for fold in (False, True):
            seconds = []
            for problem in problems:
                program = formulate(problem.fold() if fold else problem).soft()
                answer = solvers.solve(name, program, time_limit=LIMIT)
                seconds.append(answer.seconds)
                proved += answer.status == "optimal"
            cells += [f"{1000 * statistics.median(seconds):.0f}", f"{1000 * max(seconds):.0f}"]
        table.add_row(name, *cells, f"{proved} of {2 * len(problems)}")
    console.print(table)


def corpus(train: str, test: str, count: int) -> list[Trellis]:
    """Trellises of test references under an HMM of the first 20 training references."""
    hmm = HMM.train(require_labels(read(train))[:20])
    return [hmm.trellis(example.tokens) for example in read(test)[:count]]


def main(arguments: list[str]) -> None:
    """Run both studies."""
    warnings.simplefilter("ignore", RuleNotice)
    console = Console(width=160)
    console.print(header())
    shares(console)
    if arguments:
        count = int(arguments[2]) if len(arguments) > 2 else 100
        trellises = corpus(arguments[0], arguments[1], count)
    else:
        labels = label_set()
        trellises = [reference(20 + seed % 40, seed, labels) for seed in range(40)]
    folded_against_whole(console, trellises)


if __name__ == "__main__":
    main(sys.argv[1:])
