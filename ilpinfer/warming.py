"""Compiling and loading kernels the first time, so that this is neither timed nor limited."""

import time

import numpy as np

from formulations import Trellis
from formulations import constraints as C

_warm: set[str] = set()
_busy = False


def busy() -> bool:
    """Whether kernels are being compiled or loaded, where Python swallows a KeyboardInterrupt."""
    return _busy


def warm(stage: str) -> float:
    """Compile or load the kernels of a stage, "viterbi" or "beam"; seconds it took, 0 the second time."""
    global _busy
    if stage in _warm:
        return 0.0
    began = time.perf_counter()
    _busy = True
    try:
        _STAGES[stage]()
    finally:
        _busy = False
    _warm.add(stage)
    return time.perf_counter() - began


def warm_up() -> float:
    """Compile or load every kernel now rather than in the first call; seconds it took."""
    return sum(warm(stage) for stage in _STAGES)


def _viterbi() -> None:
    from ilpinfer.exact.viterbi import best_paths, viterbi

    viterbi(_example().lattice)
    viterbi(Trellis.second_order(np.zeros(1), np.zeros((1, 1)), []).lattice)
    best_paths(_example().lattice, 2)


def _beam() -> None:
    from formulations.compiled.problem import compile_problem
    from ilpinfer.deadline import Deadline
    from ilpinfer.search.beam import search

    search(compile_problem(_example(), [C.at_most_runs("0", 1)]), 2, Deadline())


def _example() -> Trellis:
    return Trellis(np.zeros(2), np.zeros((2, 2, 2)))


_STAGES = {"viterbi": _viterbi, "beam": _beam}
