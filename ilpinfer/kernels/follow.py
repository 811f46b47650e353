"""Label setting: prefixes that could still reach a floor, equal ones merged, token by token.

The machines' states are numbered together as they are met, and what a symbol does to such a joint state is worked out
once (a product automaton made as far as it is needed).
"""

import numpy as np

from formulations.grid import FORBIDDEN
from ilpinfer.kernels.jit import kernel
from ilpinfer.kernels.packed import HARD

_DEAD = FORBIDDEN // 2
UNKNOWN, BROKEN = -1, -2


@kernel
def spread(hashed):  # type: ignore[no-untyped-def]
    return np.int64((hashed ^ (hashed >> np.uint64(29))) & np.uint64(0x7FFFFFFFFFFFFFFF))


@kernel
def place_of(vectors, slots, row):  # type: ignore[no-untyped-def]
    """Where in the hash table a joint state is, or belongs."""
    hashed = np.uint64(14695981039346656037)
    for state in vectors[row]:
        hashed = (hashed ^ np.uint64(state)) * np.uint64(1099511628211)
    place = spread(hashed) & (len(slots) - 1)
    while slots[place] >= 0 and not np.all(vectors[slots[place]] == vectors[row]):
        place = (place + 1) & (len(slots) - 1)
    return place


@kernel
def enter(vectors, slots, count):  # type: ignore[no-untyped-def]
    """Put the first `count` joint states into an empty hash table."""
    for row in range(count):
        slots[place_of(vectors, slots, row)] = row


@kernel
def price_of(packed, flags, m, emitted, vector):  # type: ignore[no-untyped-def]
    """What violations of machine m cost, HARD where they may not be; a rule that counts once is marked as paid."""
    rule = packed.rule[m]
    if emitted == 0:
        return 0
    if packed.penalty[rule] == HARD:
        return HARD
    if flags[m] < 0:
        return packed.penalty[rule] * emitted
    if vector[flags[m]]:
        return 0
    vector[flags[m]] = 1
    return packed.penalty[rule]


@kernel
def read_symbol(packed, flags, read, memo, counts, joint, symbol):  # type: ignore[no-untyped-def]
    """Work out what a symbol does to a joint state; False where there is no room for a new one."""
    vectors, after, cost, slots = memo
    fresh = counts[3]
    if fresh == len(vectors):
        return False
    vector = vectors[fresh]
    vector[:] = vectors[joint]
    total = 0
    for m in range(len(read)):
        arc = packed.arc[m] + vector[m] * packed.width[m] + read[m, symbol]
        vector[m] = packed.next_state[arc]
        price = price_of(packed, flags, m, packed.emits[arc], vector)
        if price == HARD:
            after[joint, symbol] = BROKEN
            return True
        total += price
    place = place_of(vectors, slots, fresh)
    if slots[place] < 0:
        slots[place] = fresh
        after[fresh, :] = UNKNOWN
        counts[3] += 1
    after[joint, symbol], cost[joint, symbol] = slots[place], total
    return True


@kernel
def _bucket(slots, label, joint, spent, new):  # type: ignore[no-untyped-def]
    """Where in the hash table the prefixes that agree with `new` are, or belong; entries are made this token."""
    hashed = np.uint64(label[new] + 1) * np.uint64(0x9E3779B97F4A7C15)
    hashed = (hashed ^ np.uint64(joint[new])) * np.uint64(1099511628211)
    hashed = (hashed ^ np.uint64(spent[new])) * np.uint64(0x9E3779B97F4A7C15)
    place = spread(hashed) & (len(slots) - 1)
    while slots[place] >= 0:
        other = slots[place]
        if label[other] == label[new] and joint[other] == joint[new] and spent[other] == spent[new]:
            return place
        place = (place + 1) & (len(slots) - 1)
    return place


@kernel
def _thin(value, bound, first, made, copies):  # type: ignore[no-untyped-def]
    """Of prefixes that agree, which name the same first one, leave the best `copies`; of equal ones the first stay."""
    count = np.zeros(made, np.int32)
    for c in np.argsort(-value[:made], kind="mergesort"):
        count[first[c]] += 1
        if count[first[c]] > copies:
            bound[c] = FORBIDDEN


@kernel
def _keep(front, fresh, back, counts, made, width):  # type: ignore[no-untyped-def]
    """Move the best `width` of the new prefixes to the front, in the order of their label ids."""
    value, bound, label, joint, spent = front
    new_value, new_bound, new_label, new_joint, new_spent, parent, _, _ = fresh
    back_label, back_parent, begins = back
    t, kept = counts[0], 0
    alive = 0
    for c in range(made):
        alive += new_bound[c] > _DEAD
    threshold, equal = _DEAD, 0
    if alive > width:
        order = np.sort(new_bound[:made])
        threshold = order[made - width]
        equal = width - (made - np.searchsorted(order, threshold, side="right"))
    for c in range(made):
        if new_bound[c] <= _DEAD:
            continue
        if new_bound[c] < threshold or (new_bound[c] == threshold and alive > width and equal == 0):
            counts[2] = max(counts[2], new_bound[c])
            continue
        if new_bound[c] == threshold:
            equal -= 1
        value[kept], bound[kept], label[kept] = new_value[c], new_bound[c], new_label[c]
        joint[kept], spent[kept] = new_joint[c], new_spent[c]
        back_label[begins[t] + kept], back_parent[begins[t] + kept] = new_label[c], parent[c]
        kept += 1
    begins[t + 1] = begins[t] + kept
    counts[0], counts[1] = t + 1, kept


@kernel
def advance(lattice, alive, guide, machines, front, fresh, back, counts, floor, purse, limits):  # type: ignore[no-untyped-def]
    """Extend prefixes until the labelling ends or the work is done (0), or `back` (1), `fresh` (2) or `memo` (3) is full.

    lattice : node, pool, step and base
    alive : the states that a token can have, and where those of each token begin (T+1,)
    guide : the most that can follow a state (T, S); completion (T, S, Q); radix (M,) of each machine in its states, 0
        for none; potentials in a row, where those of a machine begin (M,), -1 for none, and how many states it has (M,)
    machines : packed; where a joint state says that the machine's rule is paid (M,), -1 for rules that count singly;
        symbols; memo
    symbols : joint symbol (C, S+1, B) of each step, which of the C tables a token uses (T,), each machine's (M, J)
    memo : joint states (N, M + F) met so far, the next one (N, J) and the cost (N, J) of a symbol, and a hash table
    front, fresh : value, bound, label, joint state, spent of prefixes, and of their extensions
    back : label and parent of every prefix kept so far, and where each token's begin (T+1,)
    counts : token, prefixes at hand, the best bound that was left out, and joint states met
    purse : the most that violations may cost, grid units; prefixes that have spent differently are then kept apart; -1
        for no account of it
    limits : width, copies, and work
    """
    node, pool, step, base = lattice
    states_of, begins = alive
    ceiling, completion, radix, potential, begin, size_of = guide
    packed, flags, (symbol, table, read), memo = machines
    vectors, after, cost, _ = memo
    value, _, label, joint, spent = front
    new_value, new_bound, new_label, new_joint, new_spent, parent, first, slots = fresh
    width, copies, work = limits
    T, B, M = len(node), pool.shape[2], len(read)
    done = 0
    while counts[0] < T and done < work:
        t, size = counts[0], counts[1]
        if back[2][t] + width > len(back[0]):
            return 1
        slots[:] = -1
        made = 0
        for h in range(size):
            before = label[h] if t else -1
            for at in range(begins[t], begins[t + 1]):
                j = states_of[at]
                b = j - base[before] if t else j
                if b < 0 or b >= B:
                    continue
                score = node[t, j] if t == 0 else pool[step[t - 1], before, b] + node[t, j]
                if score < _DEAD or value[h] + score + ceiling[t, j] < floor:
                    continue
                if made == len(new_value):
                    return 2
                s = symbol[table[t], before + 1, b]
                if after[joint[h], s] == UNKNOWN:
                    done += 8 * M
                    if not read_symbol(packed, flags, read, memo, counts, joint[h], s):
                        return 3
                state = after[joint[h], s]
                if state == BROKEN or (purse >= 0 and spent[h] + cost[joint[h], s] > purse):
                    continue
                total, q, extra = value[h] + score - cost[joint[h], s], 0, 0
                for m in range(M):
                    q += radix[m] * vectors[state, m]
                    if begin[m] >= 0 and extra > _DEAD:
                        extra += potential[begin[m] + t * size_of[m] + vectors[state, m]]
                reach = total + completion[t, j, q] + extra if extra > _DEAD else FORBIDDEN
                if reach < floor or reach <= _DEAD:
                    continue
                new_spent[made] = spent[h] + cost[joint[h], s] if purse >= 0 else 0
                new_value[made], new_bound[made], new_label[made], new_joint[made] = total, reach, j, state
                parent[made] = h
                place = _bucket(slots, new_label, new_joint, new_spent, made)
                other = slots[place]
                if copies == 1 and other >= 0:
                    if total <= new_value[other]:
                        continue
                    new_bound[other] = FORBIDDEN
                if copies == 1 or other < 0:
                    slots[place] = made
                first[made] = slots[place]
                made += 1
        done += size * (begins[t + 1] - begins[t]) + len(slots) // 8
        if copies > 1:
            _thin(new_value, new_bound, first, made, copies)
        _keep(front, fresh, back, counts, made, width)
    return 0


@kernel
def finish(packed, flags, memo, front, purse, size):  # type: ignore[no-untyped-def]
    """Charge what machines emit after the last token; prefixes that break a hard rule become forbidden."""
    value, _, _, joint, spent = front
    for h in range(size):
        vector = memo[0][joint[h]].copy()
        for m in range(len(packed.rule)):
            price = price_of(packed, flags, m, packed.final[packed.state_at[m] + vector[m]], vector)
            if price == HARD:
                value[h] = FORBIDDEN
                break
            value[h] -= price
            spent[h] += price if purse >= 0 else 0
