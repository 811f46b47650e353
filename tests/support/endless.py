"""Work for kernels that has no end in a test, and needs more and more memory."""

from dataclasses import replace

import numpy as np

from formulations import Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact.ground import pack_lattice
from ilpinfer.exact.ground_problem import GroundProblem
from ilpinfer.exact.relaxation import Relaxation
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.tables import DEAD, Windows

ENDLESS = 2**40
"""Steps that take hours."""
WINDOWS = Windows(
    np.ones((1, 3, 3), np.int32), np.arange(0, 24, 8), np.full((3, 3), 2), np.zeros(24, np.int32)
)
"""A single token, and a single class for each purpose."""


def plain_batch(T, K, N):
    """N sequences of T tokens and K labels without rules: the tables, the batch and the buffer for `decode_best`."""
    instance, _ = pack_lattice(Trellis(np.zeros(K), np.zeros((1, K, K))).lattice)
    tables = replace(instance, windows=WINDOWS).tables
    zeros, buffer = np.zeros(T * N, np.int64), np.zeros(T * N + N * 13, np.int64)
    return tables, (np.zeros((1, K), np.int64), np.arange(0, T * N + 1, T), zeros, zeros, zeros[:0]), buffer


class Hard:
    """Sequences of one token and equal scores; sums tell so many prefixes apart that no search ends."""

    def __init__(self, T=40, K=8):
        labels = [f"{k}" for k in range(K)]
        trellis = Trellis.from_emissions(np.zeros((T, K)), np.zeros((K, K)), labels=labels, tokens=["x"] * T)
        rules = [C.at_most_runs(name, T // 2 - k, penalty=1.0) for k, name in enumerate(labels)]
        rules += [C.at_most_tokens(name, T // 2 - k, penalty=1.0) for k, name in enumerate(labels)]
        rules += [C.at_least_tokens(name, 3 + k, penalty=1.0) for k, name in enumerate(labels)]
        problem = GroundProblem.of(compile_problem(trellis, rules), Deadline())
        self.relaxation = Relaxation(problem.instance, problem.tokens, {})
        self.T, self.K, self.M = T, K, len(problem.instance.sources)
        self.end = np.zeros(1, np.int64)

    def search(self):
        """Label setting over all machines, of which the worst labellings are wanted, too."""
        one = self.relaxation
        return one.search(range(self.M), one.multiply([], 1), DEAD)

    def list_best(self, top=1000):
        """The best labellings."""
        paths, values = np.zeros((top, self.T), np.int64), np.zeros(top, np.int64)
        marks, one = np.zeros((2, self.M), np.int64), self.relaxation
        kernels.list_best(one.instance.tables, one.tokens, ENDLESS, ENDLESS, DEAD, paths, values, marks)

    def decode_best(self, threads=1):
        """The best labelling, as one sequence of a batch."""
        one, zeros = self.relaxation, np.zeros(self.T, np.int64)
        assert not one.tokens.edges.any() and not one.tokens.classes.any()
        tables = replace(one.instance, windows=WINDOWS).tables
        batch = one.tokens.emission, np.array([0, self.T]), zeros, zeros, zeros[:0]
        buffer = np.zeros(self.T + 13 + 2 * self.M, np.int64)
        kernels.decode_best(tables, batch, (0, ENDLESS, 0), 1, buffer, threads, self.end)
