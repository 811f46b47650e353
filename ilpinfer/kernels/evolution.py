# mypy: allow-untyped-defs
"""An evolutionary algorithm over labellings.

Offspring are evaluated only between the first change and the token where the machine states agree again.

An individual has, for each token, a label, the joint state of all machines, and the value and the number of hard
violations up to there. Steps that the lattice forbids count as hard violations.
"""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers, Small
from formulations.grid import FORBIDDEN
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.machines import read_symbol
from ilpinfer.kernels.ordering import descending
from ilpinfer.kernels.runs import below, mutate, repair_border, section, share

_DEAD = FORBIDDEN // 2
DONE, FULL = 0, 1
"""Why `evolve` has stopped: all generations are done, or there is no room for joint states or for labellings."""
SPARE = 4
"""Free joint states for each token that a kernel needs to continue."""
GENERATION, VALUED, FOUND, BEST = 0, 1, 2, 3
"""Places among the counts: generations and valuations so far, labellings recorded, best value."""


class IndividualArrays(NamedTuple):
    """Labels, joint states, values and hard violations up to each token (N, T), and the last two in all (N,)."""

    label: Small
    joint: Small
    worth: Integers
    broken: Integers
    total: Integers
    breaks: Integers


class Places(NamedTuple):
    """Numbers of the individuals of the population (μ,), and free numbers (λ,)."""

    living: Integers
    free: Integers


class Settings(NamedTuple):
    """Mutation rate β, selection pressure s, shift rate ω; whether parents are ranked, and borders shift both ways."""

    rate: float
    pressure: float
    shift: float
    ranked: bool
    both: bool


class Weights(NamedTuple):
    """Weight of a hard violation at the start, grid units, and its growth each generation (eq. 67)."""

    start: int
    increase: int


class Records(NamedTuple):
    """Values (N,), valuations so far (N,) and labels (N, T) of labellings that keep the hard rules."""

    values: Integers
    when: Integers
    paths: Small


@subroutine
def copy(individuals, target, source):
    """Make one individual the same as another."""
    for t in range(individuals.label.shape[1]):
        individuals.label[target, t], individuals.joint[target, t] = (
            individuals.label[source, t],
            individuals.joint[source, t],
        )
        individuals.worth[target, t], individuals.broken[target, t] = (
            individuals.worth[source, t],
            individuals.broken[source, t],
        )
    individuals.total[target], individuals.breaks[target] = (
        individuals.total[source],
        individuals.breaks[source],
    )


@subroutine
def record(individuals, who, records, counts):
    """Record an individual if it keeps the hard rules, no recorded one is better, and there is room."""
    n, total = counts[FOUND], individuals.total[who]
    if individuals.breaks[who] or total <= counts[BEST] or n == len(records.values):
        return
    counts[BEST], counts[FOUND] = total, n + 1
    records.values[n], records.when[n] = total, counts[VALUED]
    for t in range(individuals.label.shape[1]):
        records.paths[n, t] = individuals.label[who, t]


@subroutine
def full(joint, records, more, counts, T):
    """Whether there is too little room for joint states, or for `more` labellings."""
    memo = joint.memo
    return counts[FOUND] + more > len(records.values) or memo.number[0] + SPARE * T > len(memo.vectors)


@kernel
def value(chain, machines, individuals, who, first, last, counts):
    """Evaluate an individual that has changed from `first` to `last`; False where there is no room for joint states."""
    node, pool, step, base = chain
    rules, symbols, memo = machines
    after, cost, hard, order = memo.after, memo.cost, memo.hard, 2 if base[0] else 1
    label, joint, worth, broken, total, breaks = individuals
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
        s = symbols.symbol[symbols.table[t], source + 1, y[t]]
        q = at[t - 1] if t else 0
        if after[q, s] < 0 and not read_symbol(rules, symbols, memo, q, s):
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
    total[who] = sums[T - 1] - memo.end[at[T - 1], 0]
    breaks[who] = bad[T - 1] + memo.end[at[T - 1], 1]
    return True


@kernel
def sample(order, n, pressure, seed, chosen):
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
def evolve(chain, machines, individuals, places, seed, runs, settings, weights, records, counts, last):
    """Run generations until the `last` one; the machines count hard violations."""
    label, _, _, _, total, breaks = individuals
    living, free = places
    rate, pressure, shift, ranked, both = settings
    mu, lam, T, K = len(living), len(free), label.shape[1], chain.pool.shape[2]
    borders = np.empty(T, np.int64)
    fitness = np.empty(mu + lam, np.int64)
    everyone, parents = np.empty(mu + lam, np.int64), np.empty(lam + 1, np.int64)
    survivors = np.empty(mu, np.int64)
    while counts[GENERATION] < last:
        if full(machines, records, lam, counts, T):
            return FULL
        weight = weights.start + weights.increase * counts[GENERATION]
        for n in range(mu):
            fitness[n] = weight * breaks[living[n]] - total[living[n]]
        if ranked:
            order = descending(fitness, mu)
            for n in range(mu):
                order[n] = living[order[n]]
            sample(order, lam + lam % 2, pressure, seed, parents)
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
                copy(individuals, who, mine)
                for t in range(begin, end):
                    label[who, t] = label[other, t]
                repair_border(label[who], begin, runs)
                repair_border(label[who], end, runs)
                first, final = max(0, begin - 1), min(T - 1, end)
                if share(seed) < rate:
                    low, high = mutate(label[who], seed, borders, K, shift, both, runs)
                    first, final = min(first, low), max(final, high)
                if not value(chain, machines, individuals, who, first, final, counts):
                    return FULL
                record(individuals, who, records, counts)
        for n in range(mu + lam):
            everyone[n] = living[n] if n < mu else free[n - mu]
            fitness[n] = weight * breaks[everyone[n]] - total[everyone[n]]
        order = descending(fitness, mu + lam)
        for n in range(mu + lam):
            order[n] = everyone[order[n]]
        elite, keeper = order[mu + lam - 1], -1
        for n in range(mu + lam - 1, -1, -1):
            if breaks[order[n]] == 0:
                keeper = order[n]
                break
        _survive(order, elite, keeper, pressure, seed, survivors, living, free, everyone)
        counts[GENERATION] += 1
    return DONE


@subroutine
def _survive(order, elite, keeper, pressure, seed, survivors, living, free, everyone):
    """Choose the survivors: the best, the best that keeps the hard rules, and others by ranking, each at most once."""
    mu = len(living)
    survives = np.zeros(len(order), np.bool_)
    survives[elite] = True
    if keeper >= 0:
        survives[keeper] = True
    kept = survives.sum()
    while kept < mu:
        sample(order, mu, pressure, seed, survivors)
        for n in survivors:
            if kept < mu and not survives[n]:
                survives[n] = True
                kept += 1
    a, b = 0, 0
    for n in everyone.copy():
        if survives[n] and a < mu:
            living[a] = n
            a += 1
        else:
            free[b] = n
            b += 1


@kernel
def begin(chain, machines, individuals, count, mutations, seed, runs, settings, counts):
    """Make individuals 1 … count - 1 by mutations of individual 0, and evaluate all; False where there is no room."""
    label = individuals[0]
    K, T = chain.pool.shape[2], label.shape[1]
    borders = np.empty(T, np.int64)
    for who in range(count):
        if who:
            copy(individuals, who, 0)
            for _ in range(mutations):
                mutate(label[who], seed, borders, K, settings.shift, settings.both, runs)
        if not value(chain, machines, individuals, who, 0, T, counts):
            return False
    return True
