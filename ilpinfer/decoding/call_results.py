"""The result of a kernel call for a sequence, as solutions."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from formulations import Trellis
from formulations.automata.components import Window
from formulations.dtypes import LabelIds
from formulations.grid import UNITS_PER_NAT, is_forbidden
from formulations.problem.known_labels import Known
from ilpinfer.core.certificate import Certificate, Rest
from ilpinfer.core.context import Context
from ilpinfer.core.result import Start
from ilpinfer.core.solution import Solution
from ilpinfer.core.status import Status
from ilpinfer.core.trees import Leaf, MachineKey
from ilpinfer.exact.calls import Call, words_of_work
from ilpinfer.exact.compiled import RuleTables
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


class CallResult(NamedTuple):
    """The result of a call for its sequence n, one of `items`; solutions refer to it by the number k of their labelling."""

    call: Call
    n: int
    tables: RuleTables
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

    def violations(self, k: int) -> dict[str, int]:
        """Violations of each rule."""
        return dict(zip(self.tables.names, self.call.violations(self.n, k), strict=True))

    def given(self, k: int) -> dict[int, Known]:
        """Known labels by position."""
        return self.item.given

    def overruled(self, k: int) -> dict[str, list[int]]:
        """The tokens at which an earlier rule has priority, by rule."""
        lost = self.call.labelling(self.n, k)[2][OVERRULED]
        return self.tables.rules.overruled(self.item.tokens) if lost else {}

    def context(self, k: int) -> Context:
        """Trellis and rules."""
        return self.context_of(self.item)

    def certificate(self, k: int) -> Certificate:
        """The proof. It excludes the labellings before this one; the proof of the last labelling says whether there are more."""
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
        """A leaf with the machines that the kernel followed or multiplied, except machines of rules that fold here."""
        result, one = self.call.result(self.n), self.call.instance
        if not result[ACTIVE] and not result[MULTIPLIERS]:
            return NO_MACHINES
        active, inside, multipliers = one.followed(self.call.marks(self.n))
        taken = [m for m in active if not self._folds(one.keys[m])]
        return one.leaf(taken, inside.intersection(taken), multipliers)

    def _folds(self, part: MachineKey) -> bool:
        """Whether a rule that counts once fires at most at one token of the sequence, so that it folds."""
        rule = self.tables.rules.rules[part[0]]
        if not rule.binary or rule.rule.hard:
            return False
        return rule.ground(Window(self.item.tokens), ()).folds

    def digest(self) -> str:
        """Digest of the rules and the scores; see `Certificate`."""
        return self.tables.digest(self.item, self.call, self.n)


NO_MACHINES = Leaf()
