"""An evolutionary algorithm over labellings: offspring are valued from where they change to where the machines agree again.

An individual is a row of labels, and for each token the joint state of all machines and what the labelling is worth and
how many hard violations it has up to there. Steps that the lattice forbids count as hard violations.
"""

import numpy as np

from formulations.grid import FORBIDDEN
from ilpinfer.kernels.follow import place_of
from ilpinfer.kernels.jit import kernel
from ilpinfer.kernels.packed import HARD
from ilpinfer.kernels.runs import below, mend, mutate, section, share

_DEAD = FORBIDDEN // 2
DONE, FULL = 0, 1
"""Why `evolve` has stopped: the generations are over, or there is no room for joint states or for labellings."""
SPARE = 4
"""Free joint states for each token, without which kernels do not go on."""
GENERATION, VALUED, FOUND, STATES, BEST = 0, 1, 2, 3, 4
"""Places among the counts: generations and valuations so far, labellings recorded, joint states met, best value."""


@kernel
def _price(packed, flags, m, emitted, vector):  # type: ignore[no-untyped-def]
    """Cost and hard violations of what machine m emits; a rule that counts once is marked as paid."""
    rule = packed.rule[m]
    if emitted == 0:
        return 0, 0
    if packed.penalty[rule] == HARD:
        return 0, emitted
    if flags[m] < 0:
        return packed.penalty[rule] * emitted, 0
    if vector[flags[m]]:
        return 0, 0
    vector[flags[m]] = 1
    return packed.penalty[rule], 0


@kernel
def settle(packed, flags, memo, row):  # type: ignore[no-untyped-def]
    """Work out what a joint state costs at the end."""
    vectors, _, _, _, final, _ = memo
    vector, cost, hard = vectors[row].copy(), 0, 0
    for m in range(len(packed.rule)):
        more, broken = _price(packed, flags, m, packed.final[packed.state_at[m] + vector[m]], vector)
        cost, hard = cost + more, hard + broken
    final[row, 0], final[row, 1] = cost, hard


@kernel
def _read(packed, flags, read, memo, counts, joint, symbol):  # type: ignore[no-untyped-def]
    """Work out what a symbol does to a joint state; False where there is no room for a new one."""
    vectors, after, cost, hard, _, slots = memo
    fresh = counts[STATES]
    if fresh == len(vectors):
        return False
    vector = vectors[fresh]
    vector[:] = vectors[joint]
    total, broken = 0, 0
    for m in range(len(read)):
        arc = packed.arc[m] + vector[m] * packed.width[m] + read[m, symbol]
        vector[m] = packed.next_state[arc]
        more, violations = _price(packed, flags, m, packed.emits[arc], vector)
        total, broken = total + more, broken + violations
    place = place_of(vectors, slots, fresh)
    if slots[place] < 0:
        slots[place] = fresh
        after[fresh, :] = -1
        settle(packed, flags, memo, fresh)
        counts[STATES] += 1
    after[joint, symbol], cost[joint, symbol], hard[joint, symbol] = slots[place], total, broken
    return True


@kernel
def value(lattice, machines, people, who, first, last, counts):  # type: ignore[no-untyped-def]
    """Value an individual that has changed from `first` to `last`; False where there is no room for joint states."""
    node, pool, step, order = lattice
    packed, flags, (symbol, table, read), memo = machines
    _, after, cost, hard, final, _ = memo
    label, joint, worth, broken, total, breaks = people
    T, K = label.shape[1], pool.shape[2]
    counts[VALUED] += 1
    y, at, sums, bad = label[who], joint[who], worth[who], broken[who]
    for t in range(first, T):
        before = -1 if t == 0 else y[t - 1]
        if order == 2 and t:
            source = y[0] if t == 1 else (y[t - 2] + 1) * K + y[t - 1]
            target = (before + 1) * K + y[t]
        else:
            source, target = before, y[t]
        s = symbol[table[t], source + 1, y[t]]
        q = at[t - 1] if t else 0
        if after[q, s] < 0 and not _read(packed, flags, read, memo, counts, q, s):
            return False
        gain = node[t, target] if t == 0 else node[t, target] + pool[step[t - 1], source, y[t]]
        violations = hard[q, s] + (gain < _DEAD)
        here = (sums[t - 1] if t else 0) + (0 if gain < _DEAD else gain) - cost[q, s]
        violations += bad[t - 1] if t else 0
        if t >= last + order and at[t] == after[q, s]:
            more, worse = here - sums[t], violations - bad[t]
            for rest in range(t, T):
                sums[rest] += more
                bad[rest] += worse
            break
        at[t], sums[t], bad[t] = after[q, s], here, violations
    total[who] = sums[T - 1] - final[at[T - 1], 0]
    breaks[who] = bad[T - 1] + final[at[T - 1], 1]
    return True


@kernel
def sample(order, n, pressure, seed, chosen):  # type: ignore[no-untyped-def]
    """Draw n of those in `order`, worst first, by linear ranking and stochastic universal sampling (eq. 66)."""
    size = len(order)
    arm = share(seed) / n
    drawn, total = 0, 0.0
    for rank in range(size):
        total += (2 - pressure) / size + 2 * rank * (pressure - 1) / (size * max(1, size - 1))
        while drawn < n and (arm < total or rank == size - 1):
            chosen[drawn] = order[rank]
            drawn += 1
            arm += 1.0 / n


@kernel
def evolve(lattice, machines, people, slots, seed, runs, settings, weights, records, counts, last):  # type: ignore[no-untyped-def]
    """Generations until the `last` one.

    lattice : node, pool, step and order; machines : as in label setting, with hard violations counted
    people : label, joint state, worth and hard violations so far (N, T), and in all (N,), N = μ + λ
    slots : which people live (μ,), and which places are free (λ,)
    runs : as in `runs`
    settings : mutation rate β, selection pressure s, shift rate ω; whether parents are ranked and borders shift both ways
    weights : of a hard violation in grid units at the start, and how much it grows each generation (eq. 67)
    records : values (N,), valuations (N,) and labels (N, T) of labellings that keep the hard rules
    """
    label, joint, worth, broken, total, breaks = people
    living, free = slots
    rate, pressure, shift, ranked, both = settings
    values, when, paths = records
    mu, lam, T, K = len(living), len(free), label.shape[1], lattice[1].shape[2]
    borders = np.empty(T, np.int64)
    fitness = np.empty(mu + lam, np.int64)
    everyone, parents = np.empty(mu + lam, np.int64), np.empty(lam + 1, np.int64)
    survivors = np.empty(mu, np.int64)
    while counts[GENERATION] < last:
        if counts[FOUND] + lam > len(values) or counts[STATES] + SPARE * T > len(machines[3][0]):
            return FULL
        weight = weights[0] + weights[1] * counts[GENERATION]
        for n in range(mu):
            fitness[n] = total[living[n]] - weight * breaks[living[n]]
        if ranked:
            sample(living[np.argsort(fitness[:mu], kind="mergesort")], lam + lam % 2, pressure, seed, parents)
        else:
            for n in range(lam + lam % 2):
                parents[n] = living[below(seed, mu)]
        for n in range(0, lam, 2):
            pair = below(seed, lam) if ranked else n + 1
            one, two = parents[n], parents[min(pair, lam + lam % 2 - 1)]
            begin, end = section(label[one], seed, runs[0], borders)
            for child in range(n, min(n + 2, lam)):
                mine, other = (one, two) if child == n else (two, one)
                who = free[child]
                label[who], joint[who], worth[who], broken[who] = (
                    label[mine],
                    joint[mine],
                    worth[mine],
                    broken[mine],
                )
                label[who, begin:end] = label[other, begin:end]
                mend(label[who], begin, runs)
                mend(label[who], end, runs)
                first, final = max(0, begin - 1), min(T - 1, end)
                if share(seed) < rate:
                    low, high = mutate(label[who], seed, borders, K, shift, both, runs)
                    first, final = min(first, low), max(final, high)
                if not value(lattice, machines, people, who, first, final, counts):
                    return FULL
                if breaks[who] == 0 and total[who] > counts[BEST]:
                    counts[BEST] = total[who]
                    values[counts[FOUND]], when[counts[FOUND]] = total[who], counts[VALUED]
                    paths[counts[FOUND]] = label[who]
                    counts[FOUND] += 1
        everyone[:mu], everyone[mu:] = living, free
        for n in range(mu + lam):
            fitness[n] = total[everyone[n]] - weight * breaks[everyone[n]]
        order = everyone[np.argsort(fitness, kind="mergesort")]
        elite, keeper = order[mu + lam - 1], -1
        for n in range(mu + lam - 1, -1, -1):
            if breaks[order[n]] == 0:
                keeper = order[n]
                break
        _survive(order, elite, keeper, pressure, seed, survivors, living, free, everyone)
        counts[GENERATION] += 1
    return DONE


@kernel
def _survive(order, elite, keeper, pressure, seed, survivors, living, free, everyone):  # type: ignore[no-untyped-def]
    """Choose who lives on: the best, the best that keeps the hard rules, and others by ranking, none of them twice."""
    mu = len(living)
    alive = np.zeros(len(order), np.bool_)
    alive[elite] = True
    if keeper >= 0:
        alive[keeper] = True
    kept = alive.sum()
    while kept < mu:
        sample(order, mu, pressure, seed, survivors)
        for n in survivors:
            if kept < mu and not alive[n]:
                alive[n] = True
                kept += 1
    a, b = 0, 0
    for n in everyone.copy():
        if alive[n] and a < mu:
            living[a] = n
            a += 1
        else:
            free[b] = n
            b += 1


@kernel
def begin(lattice, machines, people, count, mutations, seed, runs, settings, counts):  # type: ignore[no-untyped-def]
    """Make individuals 1 … count - 1 by mutations of individual 0, and value all; False where there is no room."""
    label = people[0]
    K, T = lattice[1].shape[2], label.shape[1]
    borders = np.empty(T, np.int64)
    for who in range(count):
        if who:
            label[who] = label[0]
            for _ in range(mutations):
                mutate(label[who], seed, borders, K, settings[2], settings[4], runs)
        if not value(lattice, machines, people, who, 0, T, counts):
            return False
    return True
