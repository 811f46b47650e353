"""Work timed once, or in rounds, so that a busy machine disturbs all of it alike; and bare Viterbi passes, the unit of times."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations import RuleSet, Trellis
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.comparison.running import bare_pass

Work = Callable[[], object]
Clock = Callable[[], float]
Seconds = NDArray[np.float64]


def timed(
    call: Callable[..., Any], *arguments: Any, clock: Clock = time.perf_counter, **options: Any
) -> tuple[Any, float]:
    """The result of a call and its seconds."""
    began = clock()
    result = call(*arguments, **options)
    return result, clock() - began


def time_rounds(
    works: Mapping[str, Sequence[Work]],
    repeats: int,
    clock: Clock = time.perf_counter,
    choice: Callable[..., Seconds] = np.median,
) -> dict[str, Seconds]:
    """Median seconds (N,) of the N pieces of work of each name, in rounds of alternating order; the first is not timed."""
    spent = {name: np.empty((repeats + 1, len(pieces))) for name, pieces in works.items()}
    for r in range(repeats + 1):
        for name in list(works)[:: -1 if r % 2 else 1]:
            for n, work in enumerate(works[name]):
                began = clock()
                work()
                spent[name][r, n] = clock() - began
    return {name: choice(seconds[1:], axis=0) for name, seconds in spent.items()}


def family_time() -> float:
    """Processor time of this process and its descendants, those that have ended too, in seconds."""
    parents, ticks = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            fields = path.read_text().rpartition(")")[2].split()
            parents[path.parent.name], ticks[path.parent.name] = fields[1], sum(map(int, fields[11:15]))
    family = {str(os.getpid())}
    while more := {one for one, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(ticks[one] for one in family) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """This process runs on one core meanwhile, so that it does not move between them."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def viterbi_calls(trellises: Sequence[Trellis], rules: RuleSet) -> list[Callable[[], int]]:
    """A bare compiled pass for each trellis, with the rules on single tokens and steps folded into its scores."""
    return [bare_pass(compile_problem(trellis, rules).fold().lattice) for trellis in trellises]
