"""The Viterbi decoder of a CRF layer in PyTorch, for batches of sequences of one length, and without rules."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

import ilpinfer
from benchmarks.data.synthetic import document, document_rules, labels_of_size
from benchmarks.optimum import recheck
from benchmarks.study import Cell, Row, Sources, grid, require
from benchmarks.timing import timed
from formulations import RuleSet, Trellis
from formulations.grid import UNITS_PER_NAT, nats
from formulations.problem.compiled_rules import compile_problem

if TYPE_CHECKING:
    from torch import Tensor

LAYER = "layer"
NOISE, NUMBER, REPEATS = 2.0, 128, 5
SIZES = ((40, 9), (40, 27), (40, 136), (200, 27))
BATCHES = (1, 16, 128)


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """Documents of one size."""
    require("torch")
    sizes = SIZES[: sources(smoke=1, sample=4)]
    return grid(part, data=[f"generator {T} {K}" for T, K in sizes], first=[0])


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    T, K = map(int, cell.data.split()[1:])
    number = sources(smoke=4, sample=NUMBER)
    labels = labels_of_size(K)
    rules = document_rules(labels)
    trellises = [document(T, seed, labels, NOISE) for seed in range(number)]
    best = [ilpinfer.decode(trellis, method="viterbi") for trellis in trellises]
    about = {"T": T, "K": K, "sequences": number}
    for batch in (size for size in BATCHES if size <= number):
        seconds, paths = median(
            lambda: scores(trellises), lambda some, size=batch: decode_all(some[0], some[1], size)
        )
        worths = [worth(trellis, path) for trellis, path in zip(trellises, paths, strict=True)]
        lost = max(one.score - value for one, value in zip(best, worths, strict=True))
        yield about | {"method": LAYER, "batch": batch, "seconds": seconds / number, "lost": lost}
    for method, some_rules in (("auto without rules", RuleSet(())), ("auto", rules)):
        decoder = ilpinfer.Decoder(some_rules)
        seconds, solutions = median(
            lambda: copies(trellises), lambda some, one=decoder: list(one.decode_many(some, threads=1))
        )
        for trellis, solution in zip(trellises, solutions, strict=True):
            recheck(trellis, some_rules, solution)
        yield about | {"method": method, "batch": number, "seconds": seconds / number, "lost": 0.0}


def viterbi(emissions: "Tensor", transitions: "Tensor") -> "Tensor":
    """The best labels (B, T) of emissions (B, T, K) and transitions (K, K) [previous, next], nats."""
    import torch

    best, pointers = emissions[:, 0], []
    for step in emissions.unbind(1)[1:]:
        values, previous = (best.unsqueeze(2) + transitions).max(1)
        best = values + step
        pointers.append(previous)
    path = [best.argmax(1)]
    for previous in reversed(pointers):
        path.append(previous.gather(1, path[-1].unsqueeze(1)).squeeze(1))
    return torch.stack(path[::-1], 1)


def decode_all(emissions: "Tensor", transitions: "Tensor", batch: int) -> list[list[int]]:
    """The labels of every sequence, so many at a time, on one thread."""
    import torch

    torch.set_num_threads(1)
    with torch.inference_mode():
        return [path for some in emissions.split(batch) for path in viterbi(some, transitions).tolist()]


def scores(trellises: list[Trellis]) -> tuple["Tensor", "Tensor"]:
    """Emissions (N, T, K) and transitions (K, K) in nats, in single precision as networks have them."""
    import torch

    lattices = [trellis.lattice for trellis in trellises]
    emissions = np.stack([lattice.node for lattice in lattices]) / UNITS_PER_NAT
    return torch.tensor(emissions, dtype=torch.float32), torch.tensor(
        lattices[0].pool[0] / UNITS_PER_NAT, dtype=torch.float32
    )


def worth(trellis: Trellis, path: list[int]) -> float:
    return nats(compile_problem(trellis, RuleSet(())).value(np.array(path, np.int64)).score)


def copies(trellises: list[Trellis]) -> list[Trellis]:
    """Fresh trellises, so that nothing that was kept with them is used."""
    return [
        Trellis.from_emissions(
            trellis.lattice.node / UNITS_PER_NAT,
            trellis.lattice.pool[0] / UNITS_PER_NAT,
            labels=trellis.labels,
            tokens=trellis.tokens,
        )
        for trellis in trellises
    ]


def median(make: Callable[[], Any], work: Callable[..., Any]) -> tuple[float, Any]:
    """Median seconds of some calls after the first, each on input of its own, and what the first returned."""
    result = work(make())
    return float(np.median([timed(work, make())[1] for _ in range(REPEATS)])), result
