"""Results of calls of kernels as solutions."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from formulations import Trellis
from formulations.automata.components import Window
from formulations.dtypes import LabelIds
from formulations.grid import UNITS_PER_NAT, Grid, is_forbidden
from formulations.messages import counted
from ilpinfer.core.certificate import Certificate, Rest
from ilpinfer.core.explanation import Context
from ilpinfer.core.printing import in_runs, short
from ilpinfer.core.result import NOTHING_KNOWN, Start
from ilpinfer.core.solution import Solution
from ilpinfer.core.status import Status
from ilpinfer.core.trees import Leaf, MachineKey
from ilpinfer.exact.calls import Call, words_of_work
from ilpinfer.exact.compiled import Tables
from ilpinfer.kernels.tables import (
    ACTIVE,
    BOUND,
    CODE,
    FEATURE_SCORE,
    MODEL_SCORE,
    MULTIPLIERS,
    OVERRULED,
    PENALTY,
    PROVED,
    TOO_MUCH_WORK,
)


@dataclass(frozen=True, eq=False)
class Labellings:
    """The best labellings of T tokens as arrays, best first; equal scores are ordered by label ids.

    Parameters
    ----------
    ids : NDArray[np.int64]
        (k, T) label ids; k is 0 if no labelling is feasible or none was found in time.
    scores : NDArray[np.float64]
        (k,) nats.
    names : tuple of str, optional
        Names of the label ids.
    make : callable, optional
        Function that makes the solutions when they are first requested.

    Examples
    --------
    >>> import ilpinfer
    >>> from formulations import Trellis
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> [best] = ilpinfer.Decoder([]).best_labellings([trellis], 2)
    >>> best.labels, best.scores.tolist()
    ([['a', 'a'], ['b', 'b']], [0.0, -0.5])
    """

    ids: NDArray[np.int64]
    scores: NDArray[np.float64]
    names: tuple[str, ...] = field(repr=False)
    make: Callable[[], list[Solution]] = field(repr=False)

    def __repr__(self) -> str:
        size = f"{counted(len(self), 'labelling')}, {counted(self.ids.shape[1], 'token')}"
        return f"Labellings({size}, scores={self.scores[:3].round(6).tolist()}{'…' * (len(self) > 3)})"

    def __str__(self) -> str:
        pairs = zip(self.scores.tolist(), self.labels, strict=True)
        lines = [f"score {score:.6g} nats: {in_runs(labels)}" for score, labels in pairs]
        return short(lines, "labelling") or "no labelling"

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def solutions(self) -> list[Solution]:
        """Each labelling with its status and its proof, as `ilpinfer.decode` returns them."""
        return self.make()

    @property
    def labels(self) -> list[list[str]]:
        """Label names: k lists of T."""
        return [[self.names[j] for j in row] for row in self.ids.tolist()]

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of the R rules, in the order of `violations`; none where there is no labelling."""
        return tuple(self.solutions[0].violations) if self.solutions else ()

    @property
    def violations(self) -> NDArray[np.int64]:
        """How often each labelling breaks each rule, (k, R)."""
        counts = [list(solution.violations.values()) for solution in self.solutions]
        return np.array(counts, np.int64).reshape(len(self), len(self.rules))

    @property
    def penalties(self) -> NDArray[np.float64]:
        """Cost of the violations of each labelling, (k,) nats."""
        return np.array([solution.penalty for solution in self.solutions], np.float64)


def labellings_of(solutions: list[Solution], T: int, names: tuple[str, ...]) -> Labellings:
    """The labellings of solutions, all of which have one."""
    ids = np.array([solution.ids for solution in solutions], np.int64).reshape(len(solutions), T)
    scores = np.array([solution.score for solution in solutions], np.float64)
    return Labellings(ids, scores, names, lambda: solutions)


class CallResults:
    """The labellings of a call, for solutions that refer to it by sequence n and labelling k."""

    def __init__(
        self,
        call: Call,
        tables: Tables,
        items: Sequence[Trellis],
        context_of: Callable[[Trellis], Context],
    ) -> None:
        self.call, self.tables, self.items, self.context_of = call, tables, items, context_of
        self.seconds = sum(call.times) / call.number
        self.names = tables.rules.labels.names

    def best(self, n: int) -> Solution:
        """The solution of the best labelling of a sequence."""
        return self._solution(n, 0, self.call.path(n))

    def solutions(self, n: int) -> list[Solution]:
        """The solutions of a sequence."""
        return [self._solution(n, k, path) for k, path in enumerate(self.call.paths_of(n))]

    def _solution(self, n: int, k: int, path: LabelIds) -> Solution:
        value, result, parts = self.call.labelling(n, k)
        score = value / UNITS_PER_NAT
        return Solution._of(
            {
                "status": Status.OPTIMAL,
                "score": score,
                "bound": score,
                "model_score": parts[MODEL_SCORE] / UNITS_PER_NAT,
                "feature_score": parts[FEATURE_SCORE] / UNITS_PER_NAT,
                "penalty": parts[PENALTY] / UNITS_PER_NAT,
                "method": f"auto: {words_of_work(result[ACTIVE], result[MULTIPLIERS])}",
                "seconds": self.seconds,
                "path": path,
                "names": self.names,
                "_call": (self, n, k),
            }
        )

    def start(self, n: int, tried: bool) -> Start:
        """The start of a method, for a sequence that the call has not decoded; `tried` as for `Start`."""
        call, code = self.call, self.call.result(n)[CODE]
        if call.top is not None or code not in (PROVED, TOO_MUCH_WORK):
            return NOTHING_KNOWN
        path = None if is_forbidden(call.values(n)[0]) else call.path(n)
        return Start(path, call.result(n)[BOUND], self._leaf(n), tried)

    def labellings(self, n: int) -> Labellings:
        """The labellings of a sequence."""
        paths = self.call.paths_of(n)
        scores = np.array(self.call.values(n)[: len(paths)], np.float64) / UNITS_PER_NAT
        return Labellings(paths, scores, self.names, partial(self.solutions, n))

    def violations(self, n: int, k: int) -> dict[str, int]:
        """Violations of each rule."""
        return dict(zip(self.tables.names, self.call.violations(n, k), strict=True))

    def given(self, n: int, k: int) -> dict[int, str]:
        """Known labels by position."""
        return self.items[n].given

    def overruled(self, n: int, k: int) -> dict[str, list[int]]:
        """The tokens at which an earlier rule has priority, for each rule with such tokens."""
        lost = self.call.labelling(n, k)[2][OVERRULED]
        return self.tables.rules.overruled(self.context(n, k).trellis.tokens) if lost else {}

    def context(self, n: int, k: int) -> Context:
        """Trellis and rules of a sequence."""
        return self.context_of(self.items[n])

    def certificate(self, n: int, k: int) -> Certificate:
        """The proof. It excludes the labellings before this one; that of the last says whether there are more."""
        call, result = self.call, self.call.result(n)
        leaf, rest, excluded = self._leaf(n), None, tuple[tuple[int, ...], ...]()
        if call.top is not None:
            paths = call.paths_of(n)
            excluded = tuple(map(tuple, paths[:k].tolist()))
            if k == len(paths) - 1 and len(paths) < call.top:
                rest = Rest(-math.inf, replace(leaf, multipliers={}))
        source = words_of_work(result[ACTIVE], result[MULTIPLIERS])
        return Certificate("exact", source, {}, leaf, excluded, rest, partial(self.digest, n))

    def _leaf(self, n: int) -> Leaf:
        """A leaf with the machines that the kernel followed or multiplied, except those of rules that fold here."""
        result = self.call.result(n)
        if not result[ACTIVE] and not result[MULTIPLIERS]:
            return NO_MACHINES
        machines, product = self.call.machines(n)
        taken = [part for part in machines if not self._folds(n, part)]
        stage = tuple(part for part in taken if part not in product)
        return Leaf(
            {part: price << 10 for part, price in self.call.multipliers(n).items()},
            tuple(part for part in taken if part in product),
            (stage,) if stage else (),
        )

    def _folds(self, n: int, part: MachineKey) -> bool:
        """Whether a rule that counts once fires at one token of the sequence at most, so that it folds."""
        rule = self.tables.rules.rules[part[0]]
        if not rule.binary or rule.rule.hard:
            return False
        return rule.ground(Window(self.context(n, 0).trellis.tokens), ()).folds

    def digest(self, n: int) -> str:
        """Digest of the rules and the scores of a sequence; see `Certificate`."""
        return self.tables.digest(self.items[n], self._nodes[self.call.place(n)])

    @cached_property
    def _nodes(self) -> Grid:
        return self.tables.nodes(self.call)


NO_MACHINES = Leaf()
