"""Beam search over labels and machine states, a stretch of tokens at a time."""

import numpy as np

from formulations.grid import FORBIDDEN
from ilpinfer.kernels.jit import kernel
from ilpinfer.kernels.packed import HARD

_DEAD = FORBIDDEN // 2


@kernel
def read_step(packed, t, before, now, states, fired, new_states, new_fired):  # type: ignore[no-untyped-def]
    """Let every machine read one step. What it costs in grid units, HARD where a hard rule breaks."""
    cost = 0
    new_fired[:] = fired
    for m in range(len(packed.rule)):
        symbol = packed.symbols[packed.table[m, t] + (before + 1) * packed.stride[m] + now]
        arc = packed.arc[m] + states[m] * packed.width[m] + symbol
        new_states[m] = packed.next_state[arc]
        price = price_of(packed, m, packed.emits[arc], new_fired)
        if price == HARD:
            return HARD
        cost += price
    return cost


@kernel
def price_of(packed, m, emitted, fired):  # type: ignore[no-untyped-def]
    rule = packed.rule[m]
    if emitted == 0:
        return 0
    if packed.penalty[rule] == HARD:
        return HARD
    if not packed.binary[rule]:
        return packed.penalty[rule] * emitted
    if fired[rule]:
        return 0
    fired[rule] = True
    return packed.penalty[rule]


@kernel
def _slot(table, at, states, fired, now, new_states, new_fired, copies):  # type: ignore[no-untyped-def]
    """Where in the hash table a state of the lattice with these states of machines belongs, or its last copy is."""
    hashed = np.uint64(now + 1)
    for state in new_states:
        hashed = (hashed ^ np.uint64(state)) * np.uint64(1099511628211)
    for flag in new_fired:
        hashed = (hashed ^ np.uint64(flag)) * np.uint64(1099511628211)
    slot = np.int64((hashed ^ (hashed >> np.uint64(29))) & np.uint64(len(table) - 1))
    while table[slot] >= 0:
        h = table[slot]
        if at[h] == now and np.all(states[h] == new_states) and np.all(fired[h] == new_fired):
            copies -= 1
            if copies == 0:
                return slot
        slot = (slot + 1) & (len(table) - 1)
    return slot


@kernel
def advance(node, pool, step, base, completion, packed, beam, copies, first, last):  # type: ignore[no-untyped-def]
    """Extend the beam over tokens first … last - 1, with at most so many copies of the same future.

    `beam` holds score (W,), states (W, M), fired (W, R), nodes (the lattice's states) and parents (T, W), size and left_out (1,).
    The best W prefixes are kept; `left_out` grows to the best that any other could still have reached. They are stored
    in the order of their label ids, so that of equal ones the first by label ids stays.
    """
    score, states, fired, nodes, parents, size, left_out = beam
    K, W, M, R = pool.shape[2], len(score), states.shape[1], fired.shape[1]
    worth, key = np.empty(W * K, np.int64), np.empty(W * K, np.int64)
    chosen = np.empty(W, np.int64)
    kept_node = np.empty(W, np.int32)
    kept_states, kept_fired = np.empty((W, M), np.int32), np.empty((W, R), np.bool_)
    new_states, new_fired = np.empty(M, np.int32), np.empty(R, np.bool_)
    slots = 4
    while slots < 4 * W:
        slots *= 2
    table = np.empty(slots, np.int64)
    for t in range(first, last):
        for h in range(size[0]):
            before = nodes[t - 1, h] if t else -1
            start = base[before] if t else 0
            here, ahead = node[t, start : start + K], completion[t, start : start + K]
            for b in range(K):
                c = h * K + b
                key[c] = FORBIDDEN
                value = here[b] if t == 0 else max(here[b] + pool[step[t - 1], before, b], FORBIDDEN)
                if value < _DEAD or ahead[b] < _DEAD:
                    continue
                cost = read_step(packed, t, before, start + b, states[h], fired[h], new_states, new_fired)
                worth[c] = score[h] + value - cost
                if cost != HARD:
                    key[c] = worth[c]
        order = np.argsort(-key[: size[0] * K], kind="mergesort")
        table[:] = -1
        kept = 0
        for c in order:
            if key[c] < _DEAD:
                break
            h = c // K
            before = nodes[t - 1, h] if t else -1
            j = c % K + (base[before] if t else 0)
            if kept == W:
                left_out[0] = max(left_out[0], worth[c] + completion[t, j])
                continue
            read_step(packed, t, before, j, states[h], fired[h], kept_states[kept], kept_fired[kept])
            new = kept_states[kept], kept_fired[kept]
            slot = _slot(table, kept_node, kept_states, kept_fired, j, *new, copies)
            if table[slot] < 0:
                table[slot], chosen[kept], kept_node[kept] = kept, c, j
                kept += 1
        by_ids = np.argsort(chosen[:kept])
        size[0] = kept
        for place in range(kept):
            source = by_ids[place]
            nodes[t, place], parents[t, place] = kept_node[source], chosen[source] // K
        for place in range(kept):
            key[place] = worth[chosen[by_ids[place]]]
        for place in range(kept):
            source = by_ids[place]
            score[place], states[place], fired[place] = key[place], kept_states[source], kept_fired[source]


@kernel
def finish(packed, beam):  # type: ignore[no-untyped-def]
    """Charge what machines emit after the last token; hypotheses that break a hard rule become forbidden."""
    score, states, fired, _, _, size, _ = beam
    for h in range(size[0]):
        for m in range(len(packed.rule)):
            price = price_of(packed, m, packed.final[packed.state_at[m] + states[h, m]], fired[h])
            if price == HARD:
                score[h] = FORBIDDEN
                break
            score[h] -= price
