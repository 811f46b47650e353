"""Minimum-risk decoding: the labelling of greatest expected token or span score, by p(y) ∝ exp(score(y)) under the hard rules.

Tokens: max Σ_t p(y_t = k_t) over possible labellings (posterior decoding, Rabiner 1989, eq. 27). Spans: greatest expected F1 (minimum
Bayes risk over a list of candidates: Goel and Byrne 2000; Kumar and Byrne 2004).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.automata.machine import TooManyStates
from formulations.dtypes import Floats, LabelIds
from formulations.grid import FORBIDDEN, UNITS_PER_NAT, Grid, is_forbidden
from formulations.labels.label_set import LabelSet
from formulations.problem.problem import Problem
from ilpinfer.core.certificate import FOLDED_BOUND
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import NOTHING_KNOWN, Result, Task
from ilpinfer.exact.auto import auto
from ilpinfer.exact.product import Product, product_of
from ilpinfer.exact.viterbi import viterbi
from ilpinfer.search.beam import beam_search
from ilpinfer.search.parameters import Parameters, one_of, parameters_of, within

A_SECOND = 3_000_000  # joint states times machines that take about a second
SHARE = 2**32  # grid units of a probability of 1, where expected tokens are decoded


@dataclass(frozen=True)
class Posterior(Parameters):
    """Parameters of minimum-risk decoding: it maximises the expected number of right tokens, or the expected F1 of spans.

    For spans, and if sums over all labellings take more than `budget` joint states times machines, the `top_k` best labellings
    replace all; a time limit lowers the budget. If there is no time for them, a beam gives the labellings. Sums for spans have a
    tenth of the budget, as they only tell the share of the probability that the best few have.
    """

    risk: str = one_of("tokens", "spans")
    top_k: int = within(50, 1, 10_000)
    budget: int = within(30_000_000, 1, 1e9)


def posterior(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The labellings of the least expected risk; each keeps the hard rules and has a probability above 0."""
    parameters = parameters_of(task, Posterior)
    task = replace(task, parameters=None, watch=None, start=NOTHING_KNOWN)
    folded = problem.fold()
    bound, _ = viterbi(folded.lattice)
    spans = parameters.risk == "spans"
    product = _product(folded, task, parameters.budget // 10 if spans else parameters.budget)
    sample: _Sample | Result | None = None
    if spans or isinstance(product, str):
        sample = _Sample.of(problem, task, parameters.top_k)
    elif product.log_sum == -math.inf:
        sample = next(auto(problem, replace(task, top=1), "auto"))
    if isinstance(sample, Result):
        if sample.bound > bound:
            sample = replace(sample, bound=bound, certificate=FOLDED_BOUND)
        yield replace(sample, method=f"{name}: {sample.method}")
        return
    if spans:
        assert sample is not None
        answers = _spans(sample, problem.labels, product, task.top)
    else:
        answers = _tokens(folded, task, product, sample)
    for path, words in answers:
        yield Result(path, bound, f"{name}: {words}", FOLDED_BOUND)


def _product(folded: Problem, task: Task, budget: int) -> Product | str:
    """The product over which sums of all labellings run, or the reason why there is none."""
    if folded.lattice.order > 1:
        return "second-order scores have no sums over all labellings"
    if task.deadline.remaining is not None:
        budget = min(budget, int(task.deadline.remaining / 2 * A_SECOND))
    machines = sum(len(rule.machines) for rule in folded.rules)
    try:
        return product_of(folded, max(1, budget // max(1, machines)))
    except TooManyStates:
        return "sums over all labellings take too many joint states, or a rule has no machine"


Worded = tuple[LabelIds | None, str]  # label ids (T,) or None, and a remark on them


@dataclass(frozen=True)
class _Sample:
    """The best labellings, with probabilities that are normalised over them, instead of all labellings."""

    paths: Sequence[LabelIds]  # best first
    weights: Floats  # (n,), 1 in all
    log_sum: float  # log Σ exp(score) over them, nats
    kind: str  # "best", or "likely" for those of a beam

    @classmethod
    def of(cls, problem: Problem, task: Task, size: int) -> "_Sample | Result":
        """The `size` best labellings, or labellings of a beam if there is no time; the engine's result if there are none."""
        left, kind = task.deadline.remaining, "best"
        half = task.deadline if left is None else Deadline(left / 2)
        results = list(auto(problem, replace(task, top=size, deadline=half), "auto"))
        if half.passed and not task.deadline.passed:
            kind = "likely"
            results += beam_search(problem, replace(task, top=size, width=max(task.width, 2 * size)), "beam")
        unique = {r.path.tobytes(): r.path for r in results if r.path is not None}
        valued = [(problem.value(path), path) for path in unique.values()]
        ranked = sorted((-value.score, tuple(path.tolist())) for value, path in valued if value.feasible)
        if not (known := ranked[:size]):
            return replace(results[0], path=None)
        scores = -np.array([score for score, _ in known]) / UNITS_PER_NAT
        shares = np.exp(scores - scores.max())
        paths = [np.array(path, np.int64) for _, path in known]
        return cls(paths, shares / shares.sum(), float(scores.max() + np.log(shares.sum())), kind)

    def marginals(self, labels: int) -> Floats:
        """(T, K) probability of label k at token t."""
        result = np.zeros((len(self.paths[0]), labels))
        for path, weight in zip(self.paths, self.weights, strict=True):
            result[np.arange(len(path)), path] += weight
        return result

    def words(self, product: Product | str) -> str:
        """Share of the probability that they have, or the reason why it is not known."""
        if isinstance(product, str):
            return f"by the {self.kind} {len(self.paths)} labellings alone, since {product}"
        share = min(1.0, math.exp(self.log_sum - product.log_sum))
        return f"by the {self.kind} {len(self.paths)} labellings, which hold {share:.4f} of the probability"


def _tokens(folded: Problem, task: Task, product: Product | str, sample: _Sample | None) -> Iterator[Worded]:
    """The labellings with the highest expected number of right tokens, best first."""
    T, K = folded.shape
    if sample is None:
        assert isinstance(product, Product)
        shares, words = product.probabilities(edges=False)[0], "by sums over all labellings"
    else:
        shares, words = sample.marginals(K), sample.words(product)
    for result in auto(_expected_tokens(folded, shares), task, "auto"):
        if result.path is None:
            yield None, "no other labelling" if result.proves_infeasibility else "no time left"
            return
        right = float(shares[np.arange(T), result.path].sum())
        yield result.path, f"{right:.2f} of {T} tokens expected to be right, {words}"


def _expected_tokens(folded: Problem, shares: Floats) -> Problem:
    """The problem whose scores are the probabilities of labels, under the hard rules alone."""
    lattice, K = folded.lattice, folded.shape[1]
    units = np.rint(shares * SHARE).astype(np.int64)
    if lattice.order == 2:
        units = np.tile(units, (1, lattice.states // K))
    steps = Lattice(_where_possible(lattice.node, units), _where_possible(lattice.pool, 0), lattice.step)
    hard = tuple(rule for rule in folded.rules if rule.hard)
    return Problem(steps, steps, hard, folded.labels)


def _where_possible(scores: Grid, units: Grid | int) -> Grid:
    return np.where(is_forbidden(scores), FORBIDDEN, units).astype(np.int64)


def _spans(sample: _Sample, labels: LabelSet, product: Product | str, top: int) -> Iterator[Worded]:
    """Those of the best labellings whose spans have the greatest expected F1."""
    expected = expected_f1([frozenset(labels.runs(path)) for path in sample.paths], sample.weights)
    order = np.argsort(-expected, kind="stable")[:top].tolist()
    for place in order:
        words = f"F1 of spans expected to be {expected[place]:.4f}, {sample.words(product)}"
        yield sample.paths[place], words
    if len(order) < top:
        yield None, "no other labelling"


Spans = frozenset[tuple[str, int, int]]  # as `LabelSet.runs`


def expected_f1(candidates: Sequence[Spans], weights: Floats) -> Floats:
    """(n,) expected F1 of each candidate against a labelling drawn with the weights (n,); 1 where both have no spans."""
    known = {span: place for place, span in enumerate(sorted(frozenset().union(*candidates)))}
    members = np.zeros((len(candidates), max(1, len(known))))
    for row, spans in zip(members, candidates, strict=True):
        row[[known[span] for span in spans]] = 1.0
    sizes = members.sum(axis=1)
    both, either = members @ members.T, sizes[:, None] + sizes
    f1 = np.divide(2 * both, either, out=np.ones_like(both), where=either > 0)
    result: Floats = f1 @ weights
    return result
