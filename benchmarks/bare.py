"""The unit: a bare compiled Viterbi pass over the scores into which the rules on single tokens and steps are folded."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from formulations import Trellis
from formulations.automata.machine import longest
from formulations.constraints.rule_set import RuleSet
from formulations.problem.compiled_rules import compile_rules
from formulations.problem.folding import EDGES, NODES, Folding
from ilpinfer.kernels.handle import together
from ilpinfer.kernels.packing import pack_machines, pack_scores, pack_windows
from ilpinfer.kernels.recursion import bare


def viterbi_calls(trellises: Sequence[Trellis], rules: RuleSet) -> list[Callable[[], int]]:
    """A Viterbi pass for each trellis: its value in grid units. Tables and room are made beforehand.

    All trellises have the labels and the transitions of the first.
    """
    first = trellises[0]
    folding = Folding(compile_rules(rules, first.labels))
    vocabulary = folding.vocabulary()
    rows = [_rows(vocabulary, trellis.tokens, folding.reads_tokens) for trellis in trellises]
    classes = [[vocabulary.class_of(purpose, row) for purpose in range(3)] for row in rows]
    scores = pack_scores(folding, vocabulary, first.lattice.pool)
    machines = folding.machines(longest(max(map(len, trellises))))
    handle = together(pack_windows(vocabulary), scores, pack_machines(machines, folding, vocabulary))
    return [
        _pass(handle, trellis, known[NODES], scores.which[0, known[EDGES]])
        for trellis, known in zip(trellises, classes, strict=True)
    ]


def _rows(vocabulary: Any, tokens: Sequence[str], reads: bool) -> Any:
    return vocabulary.rows(tokens if reads else [""] * len(tokens))


def _pass(handle: Any, trellis: Trellis, nodes: Any, edges: Any) -> Callable[[], int]:
    T = len(trellis)
    room = np.empty(T, np.int64)
    return partial(bare, handle, trellis.lattice.node, np.arange(T), nodes, edges, room)
