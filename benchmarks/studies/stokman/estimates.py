"""What two approximations cost: the estimate of a second-order model, and the cutoff of improbable labels."""

import math
from collections.abc import Iterable, Iterator, Sequence

import ilpinfer
from benchmarks import optimum
from benchmarks.data.corpora import train_and_dev, with_factor
from benchmarks.data.models import trained
from benchmarks.data.sets import Labelled
from benchmarks.study import Cell, Row, Sources, grid
from formulations import RuleSet, Trellis, load_rules
from formulations.grid import nats
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.solution import Solution
from ilpinfer.models.forward_backward import cut
from ilpinfer.models.hmm.second_order import READINGS, SecondOrderHMM

ESTIMATES, CUTOFFS = "estimates", "cutoffs"
DELTAS = (0.0, 1e-12, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1)
SIZES = (20, 300)
AROUND = ("second order", "first order")
CHUNK = 25
"""References of a cell."""


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """References without what is below δ, under a model of so many; or under a reading of eq. 48, around a best labelling."""
    _, dev = train_and_dev(sources.folder, "cora")
    chunks = range(sources(smoke=1, sample=-(-len(dev) // CHUNK)))
    if part == CUTOFFS:
        return grid(part, size=SIZES, delta=DELTAS, chunk=chunks)
    return grid(part, reading=READINGS, around=AROUND, rules=("none", "citations"), chunk=chunks)


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    train, dev = train_and_dev(sources.folder, "cora")
    first = cell.chunk * CHUNK
    texts = [tokens for tokens, _ in dev[first : first + sources(smoke=1, sample=CHUNK)]]
    return (_estimates if cell.part == ESTIMATES else _cutoffs)(cell, train, texts)


def loss(exact: Trellis, rules: RuleSet, result: Solution) -> Row:
    """Whether a labelling differs from the optimum, and how far below it its objective is, nats."""
    best = optimum.optimum(exact, rules)
    value = compile_problem(exact, rules).value(result.ids)
    return {"differs": bool((best.ids != result.ids).any()), "loss": round(best.score - nats(value.score), 6)}


def _estimates(cell: Cell, train: Sequence[Labelled], texts: Sequence[tuple[str, ...]]) -> Iterator[Row]:
    rules = RuleSet(()) if cell.rules == "none" else load_rules(cell.rules)
    two = trained("hmm2", train)
    assert isinstance(two, SecondOrderHMM)
    around = two if cell.around == AROUND[0] else trained("hmm", train)
    for tokens in texts:
        centre = ilpinfer.decode(around.trellis(tokens)).ids.tolist()
        estimate = ilpinfer.decode(two.estimate(tokens, centre, cell.reading), rules)
        yield loss(two.trellis(tokens), rules, estimate)


def _cutoffs(cell: Cell, train: Sequence[Labelled], texts: Sequence[tuple[str, ...]]) -> Iterator[Row]:
    rules = load_rules("citations")
    hard = with_factor(rules, math.inf)
    model = trained("hmm", train[: cell.size])
    for tokens in texts:
        exact = model.trellis(tokens)
        pruned = cut(exact, cell.delta)
        best = ilpinfer.decode(pruned, rules)
        lost = loss(exact, rules, best) if best.has_labelling else {"differs": None, "loss": None}
        yield lost | {"none, hard": not ilpinfer.decode(pruned, hard).has_labelling}
