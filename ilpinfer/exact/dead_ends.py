"""Positions at which the scores alone forbid every labelling."""

from collections.abc import Collection, Sequence

import numpy as np

from formulations import time_limits
from formulations.automata.lattice import Lattice
from formulations.dtypes import Booleans
from formulations.grid import is_forbidden
from formulations.labels.label_set import LabelSet
from formulations.messages import counted
from ilpinfer.core.infeasibility import tokens_text
from ilpinfer.exact import limits


def dead_end(lattice: Lattice, labels: LabelSet, texts: Sequence[str], given: Collection[int]) -> str:
    """The tokens or the step that no labelling can pass, in words; empty if the scores allow a labelling."""
    possible = ~is_forbidden(lattice.node)
    empty = np.flatnonzero(~possible.any(axis=1)).tolist()
    if empty:
        return "; ".join(_without_label(t, texts, given) for t in empty[: limits.MOST_SHOWN]) + (
            f"; and {counted(len(empty) - limits.MOST_SHOWN, 'more token')}"
            if len(empty) > limits.MOST_SHOWN
            else ""
        )
    end = _blocked(lattice, possible, 0)
    if end is None:
        return ""
    first = next(t for t in reversed(range(end)) if _blocked(lattice, possible, t, end) is not None)
    if first == end - 1:
        return f"between {_token(first, texts)} and {_token(end, texts)} no step is allowed"
    return (
        f"no steps lead from {_token(first, texts)}, which can be {_names(lattice, possible[first], labels)}, "
        f"to {_token(end, texts)}, which can be {_names(lattice, possible[end], labels)}"
    )


def _blocked(lattice: Lattice, possible: Booleans, first: int, last: int | None = None) -> int | None:
    """The first token up to `last` that no labels from token `first` on reach; None if they reach all."""
    reached = possible[first]
    for t in range(first + 1, len(possible) if last is None else last + 1):
        time_limits.check()
        reached = possible[t] & _followers(lattice, reached, t)
        if not reached.any():
            return t
    return None


def _followers(lattice: Lattice, reached: Booleans, t: int) -> Booleans:
    """The states (S,) of token t that allowed steps reach from states of the previous token."""
    (_, K), S = lattice.shape, lattice.states
    steps = ~is_forbidden(lattice.pool[lattice.step[t - 1]]) & reached[:, None]
    if lattice.order == 1:
        return np.asarray(steps.any(axis=0))
    result = np.zeros(S, np.bool_)
    result[K:] = steps.reshape(-1, K, K).any(axis=0).reshape(-1)
    return result


def _without_label(t: int, texts: Sequence[str], given: Collection[int]) -> str:
    why = "every known label is -inf" if t in given else "every label is -inf"
    return f"{_token(t, texts)}: {why}"


def _token(t: int, texts: Sequence[str]) -> str:
    return tokens_text([t], texts).removeprefix(" at ")


def _names(lattice: Lattice, states: Booleans, labels: LabelSet) -> str:
    ids = np.unique(lattice.labels_of(np.flatnonzero(states))).tolist()
    more = f" and {len(ids) - limits.MOST_SHOWN} more" if len(ids) > limits.MOST_SHOWN else ""
    return ", ".join(labels.names[k] for k in ids[: limits.MOST_SHOWN]) + more
