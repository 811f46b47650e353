"""Forward and backward sums over labellings: log P(x), posteriors, posterior decoding and cutoff, for any trellis."""

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np

from formulations import Trellis
from formulations.automata.lattice import Lattice, at_targets
from formulations.dtypes import Floats, Integers
from formulations.grid import FORBIDDEN, Grid, all_nats


@dataclass(frozen=True, eq=False)
class Sums:
    """Forward and backward sums of a chain in log space, without underflow.

    Parameters
    ----------
    node : ndarray of float, shape (T, S)
        Score of state s at token t, nats.
    pool : ndarray of float, shape (P, S, K)
        Scores of the K edges that leave each state, nats.
    step : ndarray of int, shape (T-1,)
        Pool entry of the step from token t to t+1.
    alpha : ndarray of float, shape (T, S)
        Log sum over the prefixes that end in state s at token t, inclusive (Stokman 2011, eq. 2-4; x_t belongs
        to eq. 2).
    beta : ndarray of float, shape (T, S)
        Log sum over the suffixes after state s at token t (eq. 8-10; sums, not maxima).
    log_partition : float
        Log Σ exp(score), nats (eq. 5); -inf where no labelling is possible.
    """

    node: Floats
    pool: Floats
    step: Integers
    alpha: Floats
    beta: Floats
    log_partition: float

    def states(self) -> Floats:
        """(T, S) probability of each state at each token, γ_t(i) (eq. 11)."""
        return np.asarray(np.exp(self.alpha + self.beta - self.log_partition))

    def edges(self) -> Floats:
        """(T-1, S, K) probability of each edge into token t+1, γ_t(i, j) (eq. 12)."""
        after = at_targets(self.node[1:] + self.beta[1:], self.pool.shape[2])
        total = self.alpha[:-1, :, None] + self.pool[self.step] + after - self.log_partition
        return np.asarray(np.exp(total))


def forward_backward(node: Floats, pool: Floats, step: Integers) -> Sums:
    """Sums over all paths of a lattice; states are numbered as in `Lattice`.

    Parameters
    ----------
    node, pool, step : ndarray of float or ndarray of int
        As in `Sums`.
    """
    T, S = node.shape
    K = pool.shape[2]
    alpha, beta = np.empty((T, S)), np.zeros((T, S))
    alpha[:1] = node[:1]
    skipped, alike = (K, K) if S > K else (0, 1)
    ahead = pool.reshape(len(pool), S // alike, alike, K)
    for t in range(1, T):
        left = alpha[t - 1].reshape(S // alike, alike, 1)
        alpha[t, :skipped] = -np.inf
        alpha[t, skipped:] = np.logaddexp.reduce(left + ahead[step[t - 1]]).reshape(-1)
        alpha[t] += node[t]
    for t in range(T - 2, -1, -1):
        after = pool[step[t]] + at_targets(node[t + 1] + beta[t + 1], K)
        beta[t] = np.logaddexp.reduce(after, axis=1)
    return Sums(node, pool, step, alpha, beta, float(np.logaddexp.reduce(alpha[-1])) if T else 0.0)


def sums(trellis: Trellis) -> Sums:
    """Forward and backward sums of a trellis, first or second order."""
    lattice = trellis.lattice
    return forward_backward(all_nats(lattice.node), all_nats(lattice.pool), lattice.step)


def log_partition(trellis: Trellis) -> float:
    """log Σ_y exp(score(y)) over all labellings, nats: log P(x) where the scores are those of an HMM.

    The evaluation problem of Stokman 2011, section 3.1.1. With rules it is `ilpinfer.marginals(…).log_partition`.
    """
    return sums(trellis).log_partition


def posteriors(trellis: Trellis) -> Floats:
    """(T, K) probability of each label at each token without rules, γ of Stokman 2011, eq. 11.

    Raises
    ------
    ValueError
        If the scores forbid every labelling.
    """
    return by_label(possible(sums(trellis)).states(), trellis.lattice)


def posterior_labels(trellis: Trellis) -> list[str]:
    """The most probable label of each token, T names; the first of equals (section 3.1.2).

    These labels minimise the expected number of wrong tokens under the model, but may contain forbidden steps. Under rules,
    take the largest of `ilpinfer.marginals(trellis, rules).labels` for each token.
    """
    return [trellis.labels.names[k] for k in posteriors(trellis).argmax(axis=1)]


def possible(result: Sums) -> Sums:
    """The sums; ValueError if the scores forbid every labelling."""
    if result.log_partition == -math.inf:
        raise ValueError("the scores forbid every labelling, so that there are no probabilities")
    return result


def by_label(states: Floats, lattice: Lattice) -> Floats:
    """(T, K) sums over the states of each label."""
    T, K = lattice.shape
    return np.asarray(states.reshape(T, states.shape[1] // K, K).sum(axis=1))


def cut(trellis: Trellis, delta: float, *, steps: bool = True) -> Trellis:
    """Forbid labels and steps whose posterior (Stokman 2011, eq. 11-12) is below δ (section 3.1.2)."""
    if not (isinstance(delta, Real) and 0 <= float(delta) <= 1):
        raise ValueError(f"delta is {delta!r}; expected a probability from 0 to 1")
    lattice = trellis.lattice
    result = possible(sums(trellis))
    likely = by_label(result.states(), lattice) >= delta
    start = np.where(np.tile(likely[0], lattice.states // len(likely[0])), lattice.node[0], FORBIDDEN)
    edges = np.where(likely[1:, None], lattice.edge_scores(), FORBIDDEN)
    if steps:
        edges = np.where(result.edges() >= delta, edges, FORBIDDEN)
    return _trellis(trellis, lattice, start, edges)


def _trellis(trellis: Trellis, lattice: Lattice, start: Grid, edges: Grid) -> Trellis:
    T, K = lattice.shape
    if lattice.order == 1:
        return Trellis(all_nats(start), all_nats(edges), trellis.labels, tokens=trellis.tokens)
    first = all_nats(edges[0, :K]) if T > 1 else None
    later = all_nats(edges[1:, K:]).reshape(max(T - 2, 0), K, K, K)
    return Trellis.second_order(all_nats(start[:K]), first, later, trellis.labels, tokens=trellis.tokens)
