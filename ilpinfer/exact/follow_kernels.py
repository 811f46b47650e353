"""Label setting: prefixes that could still reach a floor, equal ones merged, token by token."""

import numpy as np

from formulations.grid import FORBIDDEN
from ilpinfer.kernels import kernel
from ilpinfer.search.beam_kernels import price_of, read_step
from ilpinfer.search.packed import HARD

_DEAD = FORBIDDEN // 2


@kernel
def _bucket(slots, label, states, fired, spent, new, M):  # type: ignore[no-untyped-def]
    """Where in the hash table the prefixes that agree with `new` are, or belong; entries are made this token."""
    hashed = np.uint64(label[new] + 1) ^ (np.uint64(spent[new]) << np.uint64(20))
    for m in range(M):
        hashed = (hashed ^ np.uint64(states[new, m])) * np.uint64(1099511628211)
    for flag in fired[new]:
        hashed = (hashed ^ np.uint64(flag)) * np.uint64(1099511628211)
    mask = np.uint64(len(slots) - 1)
    place = np.int64((hashed ^ (hashed >> np.uint64(29))) & mask)
    while slots[place] >= 0:
        other = slots[place]
        same = label[other] == label[new] and spent[other] == spent[new]
        for m in range(M):
            same = same and states[other, m] == states[new, m]
        for r in range(fired.shape[1]):
            same = same and fired[other, r] == fired[new, r]
        if same:
            return place
        place = (place + 1) & (len(slots) - 1)
    return place


@kernel
def _admit(value, bound, following, slots, place, new, copies):  # type: ignore[no-untyped-def]
    """Put a prefix among those that it agrees with, at most `copies` of them; of equal ones the first stay."""
    count, worst, head = 0, -1, slots[place]
    at = head
    while at >= 0:
        count += 1
        if worst < 0 or value[at] < value[worst]:
            worst = at
        at = following[at]
    if count < copies:
        following[new] = head
        slots[place] = new
        return True
    if value[new] <= value[worst]:
        return False
    bound[worst] = FORBIDDEN
    before = -1
    at = head
    while at != worst:
        before, at = at, following[at]
    if before < 0:
        head = following[worst]
    else:
        following[before] = following[worst]
    following[new] = head
    slots[place] = new
    return True


@kernel
def _keep(front, fresh, back, counts, made, width):  # type: ignore[no-untyped-def]
    """Move the best `width` of the new prefixes to the front, in the order of their label ids."""
    value, bound, label, states, fired, spent = front
    new_value, new_bound, new_label, new_states, new_fired, new_spent, parent, _, _ = fresh
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
        states[kept], fired[kept], spent[kept] = new_states[c], new_fired[c], new_spent[c]
        back_label[begins[t] + kept], back_parent[begins[t] + kept] = new_label[c], parent[c]
        kept += 1
    begins[t + 1] = begins[t] + kept
    counts[0], counts[1] = t + 1, kept


@kernel
def advance(lattice, alive, guide, packed, front, fresh, back, counts, floor, purse, width, copies, work):  # type: ignore[no-untyped-def]
    """Extend prefixes until the labelling ends (0), the work is done (0), `back` is full (1) or `fresh` is (2).

    lattice : node, pool, step and base
    alive : the states that a token can have, and where those of each token begin (T+1,)
    guide : the most that can follow a state (T, S); completion (T, S, Q); radix (M,) of each machine in its states, 0 for none; potentials in a row, where
        those of a machine begin (M,), -1 for none, and how many states it has (M,)
    front, fresh : value, bound, label, states (·, M), fired (·, R), spent of prefixes, and of their extensions
    back : label and parent of every prefix kept so far, and where each token's begin (T+1,)
    counts : token, prefixes at hand, and the best bound that was left out
    purse : the most that violations may cost, grid units; prefixes that have spent differently are then kept apart; -1
        for no account of it
    """
    node, pool, step, base = lattice
    states_of, begins = alive
    ceiling, completion, radix, potential, begin, size_of = guide
    value, _, label, states, fired, spent = front
    new_value, new_bound, new_label, new_states, new_fired, new_spent, parent, following, slots = fresh
    T, B, M = len(node), pool.shape[2], states.shape[1]
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
                cost = read_step(packed, t, before, j, states[h], fired[h], new_states[made], new_fired[made])
                done += M
                if cost == HARD or (purse >= 0 and spent[h] + cost > purse):
                    continue
                new_spent[made] = spent[h] + cost if purse >= 0 else 0
                total, q, extra = value[h] + score - cost, 0, 0
                for m in range(M):
                    q += radix[m] * new_states[made, m]
                    if begin[m] >= 0 and extra > _DEAD:
                        extra += potential[begin[m] + t * size_of[m] + new_states[made, m]]
                reach = total + completion[t, j, q] + extra if extra > _DEAD else FORBIDDEN
                if reach < floor or reach <= _DEAD:
                    continue
                new_value[made], new_bound[made], new_label[made], parent[made] = total, reach, j, h
                place = _bucket(slots, new_label, new_states, new_fired, new_spent, made, M)
                if _admit(new_value, new_bound, following, slots, place, made, copies):
                    made += 1
        done += size * (begins[t + 1] - begins[t]) + len(slots) // 8
        _keep(front, fresh, back, counts, made, width)
    return 0


@kernel
def finish(packed, front, purse, size):  # type: ignore[no-untyped-def]
    """Charge what machines emit after the last token; prefixes that break a hard rule become forbidden."""
    value, _, _, states, fired, spent = front
    for h in range(size):
        for m in range(len(packed.rule)):
            price = price_of(packed, m, packed.final[packed.state_at[m] + states[h, m]], fired[h])
            if price == HARD:
                value[h] = FORBIDDEN
                break
            value[h] -= price
            spent[h] += price if purse >= 0 else 0
