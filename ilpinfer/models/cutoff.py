"""The cutoff: labels and steps of low posterior probability are forbidden."""

from numbers import Real

import numpy as np

from formulations import Trellis
from formulations.automata.lattice import Lattice
from formulations.grid import FORBIDDEN, Grid, all_nats
from ilpinfer.models.forward_backward import by_label, possible, sums


def cut(trellis: Trellis, delta: float, *, steps: bool = True) -> Trellis:
    """The trellis without labels and steps whose posterior probability is below δ (Stokman 2011, section 3.1.2).

    The posterior of a label is γ_t(i) (eq. 11) and that of a step γ_t(i, j) (eq. 12), or their second-order forms. What stays keeps
    its score. A labelling that only rules would have made the best may be lost, and all of them for a large δ:
    `decode` then says that there is none.
    """
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
        return Trellis(all_nats(start), all_nats(edges), trellis.labels, trellis.tokens)
    first = all_nats(edges[0, :K]) if T > 1 else None
    later = all_nats(edges[1:, K:]).reshape(max(T - 2, 0), K, K, K)
    return Trellis.second_order(all_nats(start[:K]), first, later, trellis.labels, trellis.tokens)
