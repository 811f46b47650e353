# mypy: allow-untyped-defs
"""Forward and backward sums over the product of a lattice with its rules' machines.

Sums over labels are computed in plain numbers, scaled by the largest term. A sum so small that terms may have been lost is computed
again in logarithms.
"""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Floats
from formulations.grid import UNITS_PER_NAT
from ilpinfer.kernels.jit import kernel, subroutine

_TINY = 1e-200


class Nats(NamedTuple):
    """Scores: node (T, K), pool (P, K, K), exp(pool - largest) (P, K, K), and largest (P, K)."""

    node: Floats
    pool: Floats
    scaled: Floats
    largest: Floats


@subroutine
def _row(product, number, tail, u, i, out):
    """Fill out (K,) with the log sums after vector u (-1: START) and label i at each next label; returns the largest."""
    leads, cost = product.leads, product.cost
    arcs = product.arc_at[u + 1]
    most = -np.inf
    for j in range(len(out)):
        arc = arcs + number[i + 1, j]
        out[j] = tail[leads[arc], j] - cost[arc] if leads[arc] >= 0 else -np.inf
        most = max(most, out[j])
    return most


@subroutine
def _exp(row, most, out):
    for j in range(len(row)):
        out[j] = np.exp(row[j] - most) if row[j] > -np.inf else 0.0


@subroutine
def _dot(a, b):
    """The dot product, as four independent partial sums."""
    K = len(a)
    w = x = y = z = 0.0
    for j in range(0, K - 3, 4):
        w += a[j] * b[j]
        x += a[j + 1] * b[j + 1]
        y += a[j + 2] * b[j + 2]
        z += a[j + 3] * b[j + 3]
    for j in range(K - K % 4, K):
        w += a[j] * b[j]
    return w + x + y + z


@subroutine
def _log_sum(edges, row):
    """log Σ exp(edges + row), by its largest term."""
    most = -np.inf
    for j in range(len(row)):
        most = max(most, edges[j] + row[j])
    if most == -np.inf:
        return most
    total = 0.0
    for j in range(len(row)):
        total += np.exp(edges[j] + row[j] - most)
    return most + np.log(total)


@kernel
def scale(pool, scaled, largest):
    """Fill scaled (P, K, K) with exp(pool - largest); largest (P, K) is the maximum of each row, or 0 for -inf."""
    P, K, _ = pool.shape
    for p in range(P):
        for i in range(K):
            most = -np.inf
            for j in range(K):
                most = max(most, pool[p, i, j])
            most = most if most > -np.inf else 0.0
            largest[p, i] = most
            _exp(pool[p, i], most, scaled[p, i])


@kernel
def backward(product, readings, groups, scores, tail):
    """Fill tail (V, K): log sum of all suffixes from a vector and label on, their own scores included.

    Each token is shifted by a number on the grid. Returns the logarithm of the whole sum, -inf for none.
    """
    first, reached, end = product.first, product.labels, product.end
    number, kind = readings.number, readings.kind
    group, pair, step = groups.alike, groups.pair, groups.step
    node, pool, scaled, largest = scores
    T, K = node.shape
    row, weight = np.empty(K), np.empty(K)
    shift = 0.0
    for t in range(T - 1, -1, -1):
        most = -np.inf
        for v in range(first[t], first[t + 1]):
            last = -1
            peak = -np.inf
            for i in range(K):
                tail[v, i] = -np.inf
                if not reached[v, i]:
                    continue
                if t == T - 1:
                    tail[v, i] = node[t, i] - end[v]
                else:
                    if group[pair[t], i] != last:
                        last = group[pair[t], i]
                        peak = _row(product, number[kind[t + 1]], tail, v, i, row)
                        _exp(row, peak, weight)
                    if peak == -np.inf:
                        continue
                    total = _dot(scaled[step[t], i], weight)
                    if total > _TINY:
                        tail[v, i] = node[t, i] + largest[step[t], i] + peak + np.log(total)
                    else:
                        tail[v, i] = node[t, i] + _log_sum(pool[step[t], i], row)
                most = max(most, tail[v, i])
        if most == -np.inf:
            return most
        most = np.floor(most * UNITS_PER_NAT) / UNITS_PER_NAT
        tail[first[t] : first[t + 1]] -= most
        shift += most
    _row(product, number[kind[0]], tail, -1, -1, row)
    return shift + _log_sum(np.zeros(K), row)


@kernel
def forward(product, readings, groups, scores, tail, labels, edges, mass, ended):
    """Probabilities: labels (T, K), mass (A,) of arcs, ended (V,) of last vectors, edges (T-1, K, K) unless empty."""
    first, arc_at, leads = product.first, product.arc_at, product.leads
    number, kind = readings.number, readings.kind
    group, pair, step = groups.alike, groups.pair, groups.step
    _, pool, scaled, _ = scores
    T, K = labels.shape
    row, weight, flow = np.empty(K), np.empty(K), np.empty(K)
    labels[:], mass[:], ended[:], edges[:] = 0.0, 0.0, 0.0, 0.0
    now = np.zeros((first[1], K))
    _row(product, number[kind[0]], tail, -1, -1, row)
    whole = _log_sum(np.zeros(K), row)
    for j in range(K):
        if row[j] > -np.inf:
            arc = number[kind[0], 0, j]
            mass[arc] += np.exp(row[j] - whole)
            now[leads[arc], j] += np.exp(row[j] - whole)
    for t in range(T):
        for v in range(len(now)):
            labels[t] += now[v]
        if t == T - 1:
            break
        after = np.zeros((first[t + 2] - first[t + 1], K))
        read, member = number[kind[t + 1]], group[pair[t]]
        done = np.empty(K, np.bool_)
        for v in range(len(now)):
            done[:] = False
            for lead in range(K):
                if done[lead] or now[v, lead] == 0.0:
                    continue
                peak = _row(product, read, tail, first[t] + v, lead, row)
                _exp(row, peak, weight)
                flow[:] = 0.0
                for i in range(lead, K):
                    if member[i] != member[lead]:
                        continue
                    done[i] = True
                    if now[v, i] > 0.0:
                        e = edges[t, i] if len(edges) else flow[:0]
                        _spread(now[v, i], scaled[step[t], i], pool[step[t], i], weight, row, flow, e)
                arcs = arc_at[first[t] + v + 1]
                for j in range(K):
                    if flow[j] > 0.0:
                        arc = arcs + read[lead + 1, j]
                        mass[arc] += flow[j]
                        after[leads[arc] - first[t + 1], j] += flow[j]
        now = after
    for v in range(len(now)):
        ended[first[T - 1] + v] = now[v].sum()


@subroutine
def _spread(share, scaled, pool, weight, row, flow, edges):
    """Divide the probability of a label among the next ones; the parts are added to flow (K,), and to edges unless
    empty.
    """
    total = _dot(scaled, weight)
    if total > _TINY:
        each = share / total
        for j in range(len(flow)):
            flow[j] += each * scaled[j] * weight[j]
        for j in range(len(edges)):
            edges[j] += each * scaled[j] * weight[j]
        return
    whole = _log_sum(pool, row)
    for j in range(len(flow)):
        part = share * np.exp(pool[j] + row[j] - whole)
        flow[j] += part
        if len(edges):
            edges[j] += part


@kernel
def draw(product, readings, scores, step, tail, uniform, ids):
    """Fill ids (n, T) with labellings drawn token by token, from numbers uniform (n, T) in [0, 1)."""
    arc_at, leads = product.arc_at, product.leads
    number, kind, pool = readings.number, readings.kind, scores.pool
    n, T = ids.shape
    K = tail.shape[1]
    row = np.empty(K)
    none = np.zeros(K)
    for s in range(n):
        u = i = -1
        for t in range(T):
            _row(product, number[kind[t]], tail, u, i, row)
            edges = pool[step[t - 1], i] if t else none
            whole = _log_sum(edges, row)
            left = uniform[s, t]
            chosen = -1
            for j in range(K):
                part = np.exp(edges[j] + row[j] - whole)
                if part > 0.0:
                    chosen = j
                    left -= part
                    if left < 0.0:
                        break
            u = leads[arc_at[u + 1] + number[kind[t], i + 1, chosen]]
            i = ids[s, t] = chosen
