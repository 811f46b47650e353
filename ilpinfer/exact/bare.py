"""The unit of times: a bare compiled Viterbi pass, tables and room made beforehand."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from formulations import Trellis
from formulations.constraints.rule_set import RuleSet
from formulations.problem.compiled_rules import compile_rules
from formulations.problem.folding import EDGES, NODES, Folding
from ilpinfer.kernels.packing import lattice_scores, pack_scores, room_of
from ilpinfer.kernels.recursion import bare
from ilpinfer.kernels.tables import Scores

REPEATS = 5
"""Passes whose fastest is the unit, after one that is not timed."""


def bare_pass(trellis: Trellis) -> Callable[[], int]:
    """A Viterbi pass over the scores without rules: its value in grid units."""
    if trellis.order == 1:
        return viterbi_calls([trellis], RuleSet(()))[0]
    lattice, T = trellis.lattice, len(trellis)
    return _pass(lattice_scores(lattice), trellis, np.zeros(T, np.int64), np.append(0, lattice.step))


def bare_seconds(trellis: Trellis) -> float:
    """Seconds of a bare Viterbi pass over the scores without rules: the fastest of a few."""
    work, seconds = bare_pass(trellis), []
    work()
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def viterbi_calls(trellises: Sequence[Trellis], rules: RuleSet) -> list[Callable[[], int]]:
    """A Viterbi pass for each trellis over its scores, into which the rules on single tokens and steps are folded.

    All trellises have the labels and the scores of steps of the first, and are of first order.
    """
    first = trellises[0]
    folding = Folding(compile_rules(rules, first.labels))
    vocabulary = folding.vocabulary()
    rows = [_rows(vocabulary, trellis.tokens, folding.reads_tokens) for trellis in trellises]
    classes = [[vocabulary.class_of(purpose, row) for purpose in range(3)] for row in rows]
    scores = pack_scores(folding, vocabulary, first.lattice.pool)
    return [
        _pass(scores, trellis, known[NODES], _edges(scores.which, trellis, known[EDGES]))
        for trellis, known in zip(trellises, classes, strict=True)
    ]


def _rows(vocabulary: Any, tokens: Sequence[str], reads: bool) -> Any:
    return vocabulary.rows(tokens if reads else [""] * len(tokens))


def _edges(which: Any, trellis: Trellis, classes: Any) -> Any:
    """(T,) the table of the step into each token; that of token 0 is not read."""
    edges = np.zeros(len(trellis), np.int64)
    edges[1:] = which[trellis.lattice.step, classes[1:]]
    return edges


def _pass(scores: Scores, trellis: Trellis, nodes: Any, edges: Any) -> Callable[[], int]:
    T = len(trellis)
    room = np.empty((2, T, room_of(scores)), np.int64)
    return partial(
        bare, scores, trellis.lattice.node, np.arange(T), nodes, edges, *room, np.empty(T, np.int64)
    )
