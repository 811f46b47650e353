"""Bare compiled Viterbi passes over scores into which rules are folded: the unit of times of the studies."""

from collections.abc import Callable, Sequence

import numpy as np

from formulations import RuleSet, Trellis
from formulations.problem.compiled_rules import compile_rules
from formulations.problem.folding import EDGES, NODES, Folding
from ilpinfer.exact.bare import pass_over
from ilpinfer.kernels.packing import pack_scores


def viterbi_calls(trellises: Sequence[Trellis], rules: RuleSet) -> list[Callable[[], int]]:
    """A pass for each trellis, with the rules on single tokens and steps in its scores.

    All trellises have the labels and the scores of steps of the first, and are of first order.
    """
    folding = Folding(compile_rules(rules, trellises[0].labels))
    vocabulary, calls = folding.vocabulary(), []
    for trellis in trellises:
        row = vocabulary.rows(trellis.tokens if folding.reads_tokens else [""] * len(trellis))
        calls.append((trellis.lattice, [vocabulary.class_of(purpose, row) for purpose in range(3)]))
    scores = pack_scores(folding, vocabulary, trellises[0].lattice.pool)
    return [
        pass_over(
            scores, lattice.node, known[NODES], np.append(0, scores.which[lattice.step, known[EDGES][1:]])
        )
        for lattice, known in calls
    ]
