"""A machine in the context of a hard machine: states that are equivalent on all labellings without context violations are merged."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from formulations.automata.hamming import label_classes
from formulations.automata.lattice import StepTable
from formulations.automata.machine import Automaton, Machine, longest
from formulations.dtypes import Integers

MOST_CONTEXT = 8
"""Largest number of states of a context."""
MOST_MOVES = 2**18
"""Largest number of joint moves of both machines; a larger machine is not changed."""
NEVER = 2**40
"""Number of violations if no labelling keeps the context."""


def in_context(machine: Machine, context: Machine) -> Machine | None:
    """A smaller machine that emits as much on labellings that keep the context, and no less on others; None if no states can be merged."""
    K = machine.steps.values.shape[2]
    classes, members = label_classes((context, machine), K)
    tables = np.stack([context.steps.index, machine.steps.index])
    pairs, kind = np.unique(tables, axis=1, return_inverse=True)
    before = np.append(0, members + 1)
    read = [
        one.steps.values[at][:, before if one.steps.values.shape[1] > 1 else 0 * before][:, :, members]
        for one, at in zip((context, machine), pairs, strict=True)
    ]
    if read[0].size * context.states * machine.states > MOST_MOVES:
        return None
    arrays = (*_arrays(context.automaton), *_arrays(machine.automaton), *map(_packed, read))
    made = _merged(arrays, longest(len(kind)))
    if made is None:
        return None
    automaton, symbols = made
    values = symbols[:, np.append(0, classes + 1)][:, :, classes]
    if (values == values[:, :1]).all():
        values = values[:, :1]
    return Machine(StepTable(values, kind.reshape(-1).astype(np.int64)), automaton)


Packed = tuple[bytes, tuple[int, ...]]


def _packed(array: Integers) -> Packed:
    return np.ascontiguousarray(array, np.int64).tobytes(), array.shape


def _arrays(automaton: Automaton) -> tuple[Packed, Packed, Packed]:
    return _packed(automaton.next_state), _packed(automaton.emits), _packed(automaton.final)


@lru_cache(maxsize=64)
def _merged(arrays: tuple[Packed, ...], length: int) -> tuple[Automaton, Integers] | None:
    """The automaton, and the symbols (kinds of tokens, 1 + C, C) of steps between label classes, START first; None as for `in_context`."""
    after_h, emits_h, final_h, after_m, emits_m, final_m, read_h, read_m = (
        np.frombuffer(data, np.int64).reshape(shape) for data, shape in arrays
    )
    (kinds, P, C), H, Q = read_h.shape, len(final_h), len(final_m)

    def moves(table: Integers, read: Integers) -> Integers:
        """(P, states, kinds · C)"""
        return table[:, read].transpose(2, 0, 1, 3).reshape(P, len(table), -1)

    context, own = moves(after_h, read_h)[:, :, None], moves(after_m, read_m)[:, None]
    target = (np.tile(np.arange(1, P), kinds) * H + context) * Q + own
    target = target.reshape(P * H * Q, -1)
    allowed = np.broadcast_to(moves(emits_h, read_h)[:, :, None] == 0, (P, H, Q, kinds * C)).reshape(
        target.shape
    )
    emits = np.broadcast_to(moves(emits_m, read_m)[:, None], (P, H, Q, kinds * C)).reshape(target.shape)
    final = np.broadcast_to(np.where(final_h[:, None] > 0, NEVER, final_m), (P, H, Q)).reshape(-1)
    reached, least, settled = _settled(target, allowed, emits, final)
    if not (settled.reshape(P, H, Q).sum(axis=2) > 1).any() or settled[0]:
        return None

    most = final_m
    for _ in range(length):
        most = (emits_m + most[after_m]).max(axis=1)
    live = (reached & ~settled & (least < NEVER)).reshape(P, H * Q)
    kept = live.any(axis=0)
    count, number = int(kept.sum()), np.cumsum(kept) - 1
    # States: the kept ones, then one for each state of the context, then one for labellings that break the context.
    broken, each = count + H, np.arange(P * H * Q)
    state = np.where(settled, count + each // Q % H, np.where(np.tile(kept, P), np.tile(number, P), broken))
    good = allowed & (least[target] < NEVER)
    own_after = np.where(good, state[target], broken)
    own_emits = np.where(own_after < broken, emits + np.where(settled, least, 0)[target], most[0])
    own_after, own_emits = (each.reshape(P, H * Q, -1)[:, kept] for each in (own_after, own_emits))
    # A state that never follows some label class reads symbols as after other classes; without an equal symbol, it stays.
    symbols = (read_h * (1 + read_m.max()) + read_m).transpose(1, 0, 2).reshape(P, -1)
    alike = symbols[:, None] == symbols  # (P, P, kinds · C)
    known = (alike[:, :, None] & live[:, kept][None, :, :, None]).any(axis=1)
    own_after = np.where(known, own_after, np.arange(count)[:, None])
    own_emits = np.where(known, own_emits, 0)
    keeps = moves(emits_h, read_h) == 0
    later_after = np.where(keeps, count + moves(after_h, read_h), broken)
    later_emits = np.where(keeps, 0, most[0])
    last = np.zeros((P, 1, kinds * C), np.int64)
    next_state = np.concatenate([own_after, later_after, last + broken], axis=1)
    all_emits = np.concatenate([own_emits, later_emits, last], axis=1)
    rows = np.concatenate([next_state, all_emits], axis=1).transpose(0, 2, 1).reshape(P * kinds * C, -1)
    rows, symbol = np.unique(rows, axis=0, return_inverse=True)
    symbols = symbol.reshape(P, kinds, C).transpose(1, 0, 2).astype(np.int64)
    later_ends = np.where(final_h > 0, most[0], 0)
    ends = np.concatenate([np.tile(final_m, H)[kept], later_ends, [0]])
    width = broken + 1
    automaton = Automaton(rows[:, :width].T.copy(), rows[:, width:].T.copy(), ends)
    return automaton, symbols


def _settled(
    target: Integers, allowed: NDArray[np.bool_], emits: Integers, final: Integers
) -> tuple[NDArray[np.bool_], Integers, NDArray[np.bool_]]:
    """For each state: whether it is reached, the least number of further violations, and whether it is reached and this number is certain."""
    reached = np.zeros(len(final), bool)
    front = np.zeros(1, np.int64)
    while len(front):
        reached[front] = True
        after = np.unique(target[front][allowed[front]])
        front = after[~reached[after]]
    least = final
    while True:
        lower = np.minimum(least, np.where(allowed, emits + least[target], NEVER).min(axis=1))
        if np.array_equal(lower, least):
            break
        least = lower
    possible = allowed & (least[target] < NEVER)
    differs = (final < NEVER) & (final > least) | (possible & (emits + least[target] > least[:, None])).any(
        axis=1
    )
    while True:
        more = differs | (possible & differs[target]).any(axis=1)
        if np.array_equal(more, differs):
            return reached, least, reached & ~differs & (least < NEVER)
        differs = more
