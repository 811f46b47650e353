"""The result of a call of kernels for a sequence, as solutions."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations import Trellis
from formulations.automata.components import Window
from formulations.dtypes import LabelIds
from formulations.grid import UNITS_PER_NAT, is_forbidden
from formulations.messages import counted
from formulations.problem.known_labels import Known
from ilpinfer.core.certificate import Certificate, Rest
from ilpinfer.core.explanation import Context
from ilpinfer.core.printing import in_runs, short
from ilpinfer.core.result import Start
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
    UNKNOWN_CLASS,
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
    >>> from ilpinfer import Trellis
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


class CallResult(NamedTuple):
    """What a call has found for its sequence n, one of `items`, for solutions that refer to it by labelling k."""

    call: Call
    n: int
    tables: Tables
    items: Sequence[Trellis]
    context_of: Callable[[Trellis], Context]

    @property
    def item(self) -> Trellis:
        """The sequence."""
        return self.items[self.n]

    def best(self) -> Solution:
        """The solution of the best labelling."""
        return self._solution(0, self.call.path(self.n))

    def solutions(self) -> list[Solution]:
        """The solutions of all labellings."""
        return [self._solution(k, path) for k, path in enumerate(self.call.paths_of(self.n))]

    def _solution(self, k: int, path: LabelIds) -> Solution:
        value, result, parts = self.call.labelling(self.n, k)
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
                "seconds": self.call.seconds,
                "path": path,
                "names": self.tables.rules.labels.names,
                "_call": (self, k),
            }
        )

    def start(self, declined: str = "", *, tried: bool = False) -> Start:
        """The start of a method, for a sequence that the call has not decoded; see `Start`."""
        call, n = self.call, self.n
        code, bound = call.result(n)[CODE], call.result(n)[BOUND]
        complete = code != UNKNOWN_CLASS and not self.tables.folding.excluded
        packed = call.packed(n) if complete else None
        if call.top is not None or code not in (PROVED, TOO_MUCH_WORK):
            return Start(packed=packed, declined=declined)
        path = None if is_forbidden(call.values(n)[0]) else call.path(n)
        return Start(path, bound, self._leaf(), tried, packed, declined)

    def labellings(self) -> Labellings:
        """The labellings as arrays."""
        paths = self.call.paths_of(self.n)
        scores = np.array(self.call.values(self.n)[: len(paths)], np.float64) / UNITS_PER_NAT
        return Labellings(paths, scores, self.tables.rules.labels.names, self.solutions)

    def violations(self, k: int) -> dict[str, int]:
        """Violations of each rule."""
        return dict(zip(self.tables.names, self.call.violations(self.n, k), strict=True))

    def given(self, k: int) -> dict[int, Known]:
        """Known labels by position."""
        return self.item.given

    def overruled(self, k: int) -> dict[str, list[int]]:
        """The tokens at which an earlier rule has priority, for each rule with such tokens."""
        lost = self.call.labelling(self.n, k)[2][OVERRULED]
        return self.tables.rules.overruled(self.item.tokens) if lost else {}

    def context(self, k: int) -> Context:
        """Trellis and rules."""
        return self.context_of(self.item)

    def certificate(self, k: int) -> Certificate:
        """The proof. It excludes the labellings before this one; that of the last says whether there are more."""
        call, result = self.call, self.call.result(self.n)
        leaf, rest, excluded = self._leaf(), None, tuple[tuple[int, ...], ...]()
        if call.top is not None:
            paths = call.paths_of(self.n)
            excluded = tuple(map(tuple, paths[:k].tolist()))
            if k == len(paths) - 1 and len(paths) < call.top:
                rest = Rest(-math.inf, replace(leaf, multipliers={}))
        source = words_of_work(result[ACTIVE], result[MULTIPLIERS])
        return Certificate("exact", source, {}, leaf, excluded, rest, self.digest)

    def _leaf(self) -> Leaf:
        """A leaf with the machines that the kernel followed or multiplied, except those of rules that fold here."""
        result, one = self.call.result(self.n), self.call.instance
        if not result[ACTIVE] and not result[MULTIPLIERS]:
            return NO_MACHINES
        active, inside, multipliers = one.followed(self.call.marks(self.n))
        taken = [m for m in active if not self._folds(one.keys[m])]
        return one.leaf(taken, inside.intersection(taken), multipliers)

    def _folds(self, part: MachineKey) -> bool:
        """Whether a rule that counts once fires at one token of the sequence at most, so that it folds."""
        rule = self.tables.rules.rules[part[0]]
        if not rule.binary or rule.rule.hard:
            return False
        return rule.ground(Window(self.item.tokens), ()).folds

    def digest(self) -> str:
        """Digest of the rules and the scores; see `Certificate`."""
        return self.tables.digest(self.item, self.call, self.n)


NO_MACHINES = Leaf()
