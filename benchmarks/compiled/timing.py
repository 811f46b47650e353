"""Work timed in rounds, so that a busy machine disturbs all of it alike."""

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Work = Callable[[], object]
Clock = Callable[[], float]
Seconds = NDArray[np.float64]


def time_rounds(
    works: Mapping[str, Sequence[Work]], repeats: int, clock: Clock = time.perf_counter
) -> dict[str, Seconds]:
    """Seconds (N,) of N pieces of work of each name, the median of several rounds after one that is not timed.

    In a round each name's pieces run one after the other, so that its code and tables are at hand as in a program that does
    nothing else. Work of milliseconds and one thread is best timed by processor time, which others do not lengthen.
    """
    spent = {name: np.empty((repeats + 1, len(pieces))) for name, pieces in works.items()}
    for r in range(repeats + 1):
        for name, pieces in works.items():
            for n, work in enumerate(pieces):
                began = clock()
                work()
                spent[name][r, n] = clock() - began
    return {name: np.median(seconds[1:], axis=0) for name, seconds in spent.items()}
