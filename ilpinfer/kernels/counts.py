"""What scores and machines of compiled rules stand for: the violations of each rule, and the parts of a score."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from formulations.dtypes import Booleans, Integers, Small
from formulations.grid import Grid
from formulations.problem.folding import EDGES, NODES, Folding
from formulations.problem.vocabulary import Vocabulary

UNLIMITED = 2**60
"""The most violations of a rule that does not count once."""


class Counts(NamedTuple):
    """Violations and features behind `Scores` and `Machines` of K labels and R rules; see `NO_COUNTS`."""

    node_begin: Small  # (N · K + 1,) the first event of label k at a token of class n, at n · K + k
    edge_begin: Small  # (E · K · K + 1,) of step [i, j] into a token of class e, at (e · K + i) · K + j
    event: Integers  # (n, 2) a rule's place and a number of violations, or FEATURES or MODEL and grid units
    overruled: Booleans  # (N,) whether an earlier rule has priority at tokens of a class of nodes
    owner: Small  # (M,) the place of each machine's rule
    rules: Integers  # (R, 2) grid units of a violation, or `HARD`; and the most violations that count
    pool: Grid  # (P, K, K) edge scores of the model


_NO_PLACES = np.zeros(0, np.int32)
NO_COUNTS = Counts(
    *(_NO_PLACES, _NO_PLACES, np.zeros((0, 2), np.int64), np.zeros(0, bool), _NO_PLACES),
    *(np.zeros((0, 2), np.int64), np.zeros((0, 0, 0), np.int64)),
)
"""For tables of which labellings are not evaluated."""


def pack_events(folding: Folding, vocabulary: Vocabulary) -> tuple[Small, Small, Integers, Booleans]:
    """`node_begin`, `edge_begin`, `event` and `overruled` for the classes met so far."""
    K = len(folding.rules.labels)
    nodes, edges = (
        [folding.of_class(purpose, truth) for truth in vocabulary.truths[purpose]]
        for purpose in (NODES, EDGES)
    )
    node_begin, node_events = _events([each.parts for each in nodes], K)
    edge_begin, edge_events = _events([each.parts for each in edges], K * K)
    edge_begin += np.int32(len(node_events))
    overruled = np.array([each.overruled for each in nodes], bool)
    return node_begin, edge_begin, np.concatenate([node_events, edge_events]), overruled


def _events(classes: Sequence[list[tuple[int, Integers]]], size: int) -> tuple[Small, Integers]:
    """Events that are not 0, by class and place in an array of `size` amounts."""
    numbers, events = [np.zeros(0, np.int64)], [np.zeros((0, 2), np.int64)]
    for n, parts in enumerate(classes):
        for source, amounts in parts:
            flat = amounts.reshape(-1)
            at = np.flatnonzero(flat)
            numbers.append(n * size + at)
            events.append(np.stack([np.full(len(at), source), flat[at]], axis=1))
    number, event = np.concatenate(numbers), np.concatenate(events)
    order = np.argsort(number, kind="stable")
    begin = np.searchsorted(number[order], np.arange(len(classes) * size + 1))
    return begin.astype(np.int32), event[order]


def pack_rules(folding: Folding) -> Integers:
    """`rules`."""
    rows = [(rule.rule.units, 1 if rule.binary else UNLIMITED) for rule in folding.rules.rules]
    return np.array(rows, np.int64).reshape(-1, 2)
