"""Bounds of the best few labellings of a relaxation."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from formulations.grid import LIMIT
from formulations.problem.problem import Problem
from ilpinfer.core.certificate import Certificate


def ranked(
    problem: Problem, result: list[tuple[int, NDArray[np.int64]]], proof: Certificate
) -> list[tuple[int, Certificate]]:
    """A bound for each of the best labellings of a relaxation, grid units, with its proof.

    Those before one are excluded where none of them is worse than it under the rules; else its bound is the first one's.
    """
    excluded: list[tuple[int, ...]] = []
    bounds, lowest = [], LIMIT
    for score, path in result:
        value = problem.value(path).score
        if value <= lowest:
            bounds.append((score, replace(proof, excluded=tuple(excluded))))
        else:
            bounds.append((result[0][0], proof))
        lowest = min(lowest, value)
        excluded.append(tuple(path.tolist()))
    return bounds
