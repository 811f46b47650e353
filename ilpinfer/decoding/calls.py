"""The state that all calls of kernels for one request share: time limit, notices, and the context of solutions."""

from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from formulations import Trellis, time_limits
from formulations.problem.compiled_rules import CompiledRules
from formulations.problem.problem import Problem
from ilpinfer.core.certificate import Leaf, MachineKey
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.explanation import Context
from ilpinfer.core.request import Request, deadline_for
from ilpinfer.core.rule_compiler import RuleCompiler

if TYPE_CHECKING:
    from ilpinfer.exact.compiled import Tables

Answer = TypeVar("Answer")


class Calls:
    """Calls of kernels for one request.

    Parameters
    ----------
    rules : RuleCompiler
        Compiled when a label set is first met.
    request : Request
        Method, time limit and options.
    again : callable
        Decodes a trellis under other rules.
    """

    def __init__(self, rules: RuleCompiler, request: Request, again: Callable[..., Any]) -> None:
        self.rules, self.again, self.limit = rules, again, request.time_limit
        self._noticed: CompiledRules | None = None

    def answer(self, call: Callable[[Any], Answer], given: Any, late: Callable[[Deadline], Answer]) -> Answer:
        """The answer of a call, or of another function after the time limit."""
        if self.limit is None:
            return call(given)
        deadline = deadline_for(self.limit)
        try:
            with time_limits.time_limit(lambda: deadline.passed, lambda: deadline.remaining):
                return call(given)
        except time_limits.OutOfTime:
            return late(deadline)

    def context(self, trellis: Trellis, problem: Problem | None = None) -> Context:
        """The context of solutions."""
        return Context(self.rules, trellis, partial(self.again, trellis, time_limit=self.limit), problem)

    def notice(self, rules: CompiledRules) -> None:
        """Warn of the notices of rules, once."""
        if rules.notices and self._noticed is not rules:
            self._noticed = rules
            rules.warn()

    def broken(self, trellis: Trellis, left: Collection[int], paths: Iterable[NDArray[np.int64]]) -> bool:
        """Whether any of the labellings breaks a rule that is not part of the tables."""
        ground = self.rules.quietly(trellis).rules
        return any(ground[place].violations(path) for path in paths for place in left)


class Origin(NamedTuple):
    """The origin of the solutions of one call.

    Parameters
    ----------
    tables : Tables
        Rules as the kernel read them.
    make : callable
        The trellis of a sequence.
    seconds : float
        Seconds for each sequence.
    warm_up : float
        Seconds, apart.
    """

    tables: "Tables"
    make: Callable[[Any], Trellis]
    seconds: float
    warm_up: float


def leaf_of(
    problem: Problem,
    machines: Collection[MachineKey],
    product: Collection[MachineKey],
    multipliers: dict[MachineKey, int],
) -> Leaf:
    """The proof that machines give which a kernel followed or multiplied, except those of rules that fold here."""
    taken = [part for part in machines if not problem.rules[part[0]].folds]
    stage = tuple(part for part in taken if part not in product)
    return Leaf(
        {part: price << 10 for part, price in multipliers.items()},
        tuple(part for part in taken if part in product),
        (stage,) if stage else (),
    )


def same(trellis: Trellis) -> Trellis:
    """The trellis of a trellis."""
    return trellis
