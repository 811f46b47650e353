"""Decision diagrams of labellings: layers of nodes, one layer a token, and the steps between them.

The steps of node n are those from first[n] to first[n + 1]; nodes of a layer follow each other, and the root is the
first. `value` of a node is the best that leads to it, `ahead` the best that follows it.
"""

import numpy as np

from formulations.grid import FORBIDDEN
from ilpinfer.kernels.follow import BROKEN, UNKNOWN, price_of, read_symbol, spread
from ilpinfer.kernels.jit import kernel
from ilpinfer.kernels.packed import HARD

_DEAD = FORBIDDEN // 2
DONE, FULL, MEMO, SLOTS = 0, 1, 2, 3
"""Why `multiply` has stopped: the layers or the work are done, or there is no room for more of something."""


@kernel
def unfold(node, pool, step, base, states, begins, charges, made):  # type: ignore[no-untyped-def]
    """Write a lattice out, as far as the states named for its tokens; the number of steps is returned.

    charges : symbol (C, S+1, B) of each step, which of the C tables a token uses (T,), and what a symbol is charged (J,)
    made : state, value, layers (T+2,), first, target, score
    """
    symbol, table, charge = charges
    state, value, layers, first, target, score = made
    T, B = len(node), pool.shape[2]
    state[0], value[0], layers[0], layers[1], count = -1, 0, 0, 1, 0
    for t in range(T):
        layers[t + 2] = layers[t + 1] + begins[t + 1] - begins[t]
        for at in range(begins[t], begins[t + 1]):
            state[1 + at] = states[at]
            value[1 + at] = FORBIDDEN
        for n in range(layers[t], layers[t + 1]):
            first[n] = count
            i = state[n]
            for m in range(layers[t + 1], layers[t + 2]):
                j = state[m]
                b = j - base[i] if t else j
                if b < 0 or b >= B:
                    continue
                gain = node[t, j] if t == 0 else pool[step[t - 1], i, b] + node[t, j]
                if gain < _DEAD or value[n] < _DEAD:
                    continue
                gain -= charge[symbol[table[t], i + 1, b]]
                target[count], score[count] = m, gain
                value[m] = max(value[m], value[n] + gain)
                count += 1
    first[layers[T] : layers[T + 1] + 1] = count
    return count


@kernel
def complete(layers, first, target, score, end, ahead, last, stop):  # type: ignore[no-untyped-def]
    """Fill `ahead` for the layers last, last - 1 … stop."""
    T = len(layers) - 2
    for t in range(last, stop - 1, -1):
        for n in range(layers[t], layers[t + 1]):
            if t == T:
                ahead[n] = end[n - layers[T]]
                continue
            best = FORBIDDEN
            for e in range(first[n], first[n + 1]):
                best = max(best, score[e] + ahead[target[e]])
            ahead[n] = best if best > _DEAD else FORBIDDEN


@kernel
def marginals(value, first, target, score, ahead, every, found):  # type: ignore[no-untyped-def]
    """The best through each of every so many steps; how many there are is returned."""
    count, n = 0, 0
    for e in range(0, first[len(first) - 1], every):
        while first[n + 1] <= e:
            n += 1
        best = value[n] + score[e] + ahead[target[e]]
        found[count] = best if best > _DEAD else FORBIDDEN
        count += 1
    return count


@kernel
def thin(diagram, floor, number, made):  # type: ignore[no-untyped-def]
    """Keep the nodes and steps through which a labelling of at least `floor` passes.

    diagram : state, value, layers, first, target, score, end, ahead; those steps that are kept move to the front
    number : room for the new number of each node
    made : state, value, layers, first, end and ahead of the nodes kept
    Returned are the number of steps and the best through a step that is left out.
    """
    state, value, layers, first, target, score, end, ahead = diagram
    new_state, new_value, new_layers, new_first, new_end, new_ahead = made
    T = len(layers) - 2
    count = 0
    for t in range(T + 1):
        new_layers[t] = count
        for n in range(layers[t], layers[t + 1]):
            number[n] = -1
            if value[n] > _DEAD and ahead[n] > _DEAD and value[n] + ahead[n] >= floor:
                number[n] = count
                new_state[count], new_value[count], new_ahead[count] = state[n], value[n], ahead[n]
                if t == T:
                    new_end[count - new_layers[T]] = end[n - layers[T]]
                count += 1
    new_layers[T + 1] = count
    steps, left = 0, FORBIDDEN
    for n in range(layers[T + 1]):
        if value[n] <= _DEAD or ahead[n] <= _DEAD:
            continue
        if number[n] < 0:
            left = max(left, value[n] + ahead[n])
            continue
        new_first[number[n]] = steps
        for e in range(first[n], first[n + 1]):
            m, gain = target[e], score[e]
            if ahead[m] <= _DEAD:
                continue
            best = value[n] + gain + ahead[m]
            if best < floor:
                left = max(left, best)
            elif number[m] >= 0:
                target[steps], score[steps] = number[m], gain
                steps += 1
    new_first[count] = steps
    return steps, left


@kernel
def read_steps(state, layers, first, target, base, symbol, table, found):  # type: ignore[no-untyped-def]
    """Fill found (E,) with the joint symbol of each step; symbol (C, S+1, B), table (T,)."""
    for t in range(len(layers) - 2):
        for n in range(layers[t], layers[t + 1]):
            i = state[n]
            row = symbol[table[t], i + 1]
            shift = base[i] if t else 0
            for e in range(first[n], first[n + 1]):
                found[e] = row[state[target[e]] - shift]


@kernel
def _place(keys, key):  # type: ignore[no-untyped-def]
    """Where in the hash table the new node of an old one and a joint state is, or belongs."""
    place = spread(np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) & (len(keys) - 1)
    while keys[place] >= 0 and keys[place] != key:
        place = (place + 1) & (len(keys) - 1)
    return place


@kernel
def multiply(diagram, machines, made, counts, back, floor, width, work):  # type: ignore[no-untyped-def]
    """Let machines follow a diagram: a new node is an old one with a joint state, as far as it can reach the floor.

    diagram : as in `thin`
    machines : packed; where a joint state says that the machine's rule is paid (M,), -1 for rules that count singly;
        each machine's symbol of a joint symbol (M, J); the joint symbol of each step (E,); memo; what a joint symbol
        gives back of charges (J,); potentials in a row, where those of a machine begin (M,), -1 for none, and how many
        states each has (M,)
    made : state, value, layers, first, target, score; old node, joint state and bound of each; hash table
    counts : layer, nodes, steps, joint states met, and the best that was left out for want of width
    back : what is still given back for charges
    """
    state, _, layers, first, target, score, _, ahead = diagram
    packed, flags, read, symbol, memo, worth, (potential, begin, size_of) = machines
    new_state, value, new_layers, new_first, new_target, new_score, coarse, joint, bound, (keys, slots) = made
    vectors, after, cost, _ = memo
    T, done, plain = len(layers) - 2, 0, begin.max() < 0
    while counts[0] < T and done < work:
        t, count, steps = counts[0], counts[1], counts[2]
        keys[:] = -1
        done += len(slots) // 8
        for n in range(new_layers[t], new_layers[t + 1]):
            new_first[n] = steps
            if value[n] <= _DEAD:
                continue
            old, before, here = coarse[n], joint[n], value[n]
            done += first[old + 1] - first[old]
            for e in range(first[old], first[old + 1]):
                m, s = target[e], symbol[e]
                q = after[before, s]
                if q == UNKNOWN:
                    done += 8 * len(read)
                    if not read_symbol(packed, flags, read, memo, counts, before, s):
                        return MEMO
                    q = after[before, s]
                if q == BROKEN:
                    continue
                gain = score[e] + worth[s] - cost[before, s]
                reach = here + gain + ahead[m] + back
                if not plain:
                    reach += _promised(potential, begin, size_of, vectors, t, q)
                if reach < floor or reach <= _DEAD:
                    continue
                key = (np.int64(m) << 32) | np.int64(q)
                place = _place(keys, key)
                if keys[place] < 0:
                    if count + 1 >= len(new_state):
                        return FULL
                    if 2 * (count - new_layers[t + 1]) >= len(slots):
                        return SLOTS
                    keys[place], slots[place] = key, count
                    new_state[count], coarse[count], joint[count] = state[m], m, q
                    value[count], bound[count] = FORBIDDEN, FORBIDDEN
                    count += 1
                if steps == len(new_target):
                    return FULL
                new = slots[place]
                value[new], bound[new] = max(value[new], here + gain), max(bound[new], reach)
                new_target[steps], new_score[steps] = new, gain
                steps += 1
        new_layers[t + 2] = count
        counts[0], counts[1], counts[2] = t + 1, count, steps
        if count - new_layers[t + 1] > width:
            _narrow(value, bound, new_layers[t + 1], count, counts, width)
    new_first[new_layers[counts[0]] : new_layers[counts[0] + 1] + 1] = counts[2]
    return DONE


@kernel
def _promised(potential, begin, size_of, vectors, t, q):  # type: ignore[no-untyped-def]
    """The most that the futures of machines can give back of what is charged for their sums."""
    extra = 0
    for p in range(len(begin)):
        if begin[p] >= 0 and extra > _DEAD:
            extra += potential[begin[p] + t * size_of[p] + vectors[q, p]]
    return max(extra, FORBIDDEN)


@kernel
def _narrow(value, bound, begin, end, counts, width):  # type: ignore[no-untyped-def]
    """Leave out all but about `width` nodes of a layer, those with the lowest bounds."""
    threshold = np.partition(bound[begin:end], end - begin - width)[end - begin - width]
    for n in range(begin, end):
        if bound[n] < threshold:
            counts[4] = max(counts[4], bound[n])
            value[n] = FORBIDDEN


@kernel
def finish(packed, flags, memo, value, joint, coarse, old_end, old_begin, new_begin, end):  # type: ignore[no-untyped-def]
    """Fill `end` with what the nodes of the last layer are worth, machines charged."""
    for h in range(len(end)):
        if value[new_begin + h] <= _DEAD:
            end[h] = FORBIDDEN
            continue
        vector = memo[0][joint[new_begin + h]].copy()
        end[h] = old_end[coarse[new_begin + h] - old_begin]
        for m in range(len(packed.rule)):
            price = price_of(packed, flags, m, packed.final[packed.state_at[m] + vector[m]], vector)
            if price == HARD:
                end[h] = FORBIDDEN
                break
            end[h] -= price


@kernel
def trace(state, first, target, score, ahead, path):  # type: ignore[no-untyped-def]
    """Fill path (T,) with the states of the best labelling, the first one by their ids."""
    n = 0
    for t in range(len(path)):
        best = -1
        for e in range(first[n], first[n + 1]):
            m = target[e]
            if score[e] + ahead[m] == ahead[n] and (best < 0 or state[m] < state[best]):
                best = m
        n = best
        path[t] = state[n]
