"""What two approximations cost: the estimate of a second-order model, and the cutoff of improbable labels."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import ilpinfer
from benchmarks import optimum
from benchmarks.data.corpora import train_and_dev
from benchmarks.data.models import trained
from benchmarks.data.sets import Labelled
from benchmarks.study import Row, Sources
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


@dataclass(frozen=True)
class Estimate:
    """References under one reading of eq. 48, around the best labelling of one model."""

    part: str
    reading: str
    around: str
    rules: str
    chunk: int


@dataclass(frozen=True)
class Cutoff:
    """References without the labels and steps below δ, under a model of so many references."""

    part: str
    size: int
    delta: float
    chunk: int


def cells(sources: Sources, part: str) -> Iterator[Estimate | Cutoff]:
    _, dev = train_and_dev(sources.folder, "cora")
    chunks = range(sources(smoke=1, sample=-(-len(dev) // CHUNK), full=-(-len(dev) // CHUNK)))
    if part == CUTOFFS:
        return (Cutoff(part, size, delta, n) for size in SIZES for delta in DELTAS for n in chunks)
    return (
        Estimate(part, reading, around, rules, n)
        for reading in READINGS
        for around in AROUND
        for rules in ("none", "citations")
        for n in chunks
    )


def measure(sources: Sources, cell: Estimate | Cutoff) -> Iterator[Row]:
    train, dev = train_and_dev(sources.folder, "cora")
    number = sources(smoke=1, sample=CHUNK, full=CHUNK)
    first = cell.chunk * CHUNK
    texts = [tokens for tokens, _ in dev[first : first + number]]
    if isinstance(cell, Estimate):
        return _estimates(cell, train, texts)
    return _cutoffs(cell, train, texts)


def loss(exact: Trellis, rules: RuleSet, result: Solution) -> Row:
    """Whether a labelling differs from the optimum, and how far below it its objective is, nats."""
    best = optimum.optimum(exact, rules)
    value = compile_problem(exact, rules).value(result.ids)
    return {"differs": bool((best.ids != result.ids).any()), "loss": round(best.score - nats(value.score), 6)}


def _estimates(cell: Estimate, train: Sequence[Labelled], texts: Sequence[tuple[str, ...]]) -> Iterator[Row]:
    rules = RuleSet(()) if cell.rules == "none" else load_rules(cell.rules)
    two = trained("hmm2", train)
    assert isinstance(two, SecondOrderHMM)
    around = two if cell.around == AROUND[0] else trained("hmm", train)
    for tokens in texts:
        centre = ilpinfer.decode(around.trellis(tokens)).ids.tolist()
        estimate = ilpinfer.decode(two.estimate(tokens, centre, cell.reading), rules)
        yield loss(two.trellis(tokens), rules, estimate)


def _cutoffs(cell: Cutoff, train: Sequence[Labelled], texts: Sequence[tuple[str, ...]]) -> Iterator[Row]:
    rules = load_rules("citations")
    hard = replace(rules, items=tuple(replace(rule, penalty=math.inf) for rule in rules.rules))
    model = trained("hmm", train[: cell.size])
    for tokens in texts:
        exact = model.trellis(tokens)
        pruned = cut(exact, cell.delta)
        best = ilpinfer.decode(pruned, rules)
        lost = loss(exact, rules, best) if best.has_labelling else {"differs": None, "loss": None}
        yield lost | {"none, hard": not ilpinfer.decode(pruned, hard).has_labelling}
