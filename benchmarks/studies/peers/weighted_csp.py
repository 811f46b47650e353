"""toulbar2 on the same problem, as `ilpinfer export --format wcsp` states it: a variable for each token, each rule as a chain of states."""

import signal
import time
from typing import Any

import numpy as np

from benchmarks.methods import Answer, CannotState
from formulations import Trellis
from formulations.constraints.rule_set import RuleSet
from formulations.grid import UNITS_PER_NAT
from formulations.problem.compiled_rules import compile_problem
from formulations.problem.problem import Problem
from formulations.programs.cost_network import FORBIDDEN_COST, NoNetwork, cost_network

MOST_STATES = 200
"""Of one rule: the tables grow with the square."""
DIRECT = 40
"""Up to so many labels the tables take labels; above it, a variable for the label's class stands between them."""


def decode(trellis: Trellis, rules: RuleSet, time_limit: float, *, defaults: bool = False) -> Answer:
    """Build and solve; the time limit is toulbar2's own and rounded up to whole seconds.

    With `defaults`, toulbar2 preprocesses the network and mixes depth-first with best-first search, as it does by itself.
    """
    from pytoulbar2 import pytb2

    try:
        network, ceiling = network_of(compile_problem(trellis, rules).fold())
    except pytb2.Contradiction:
        return Answer(None, None, True, "no labelling")
    if not defaults:
        network.NoPreprocessing()
        network.Option.hbfs = 0
    seconds = max(1, round(time_limit))
    began = time.perf_counter()
    try:
        result = network.Solve(timeLimit=seconds)
    finally:
        # The timer of a limit goes on after the search; until it is off, processor time is read in whole ticks.
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    # Neither its dual bound nor its own flag says reliably that the search has ended by itself.
    proved = time.perf_counter() - began < 0.95 * seconds
    if result is None:
        return Answer(None, None, proved, "no labelling")
    path = np.array(result[0][: len(trellis)], np.int64)
    return Answer(path, (ceiling - result[1]) / UNITS_PER_NAT, proved)


def network_of(problem: Problem) -> tuple[Any, int]:
    """The network of a folded problem, and the score in grid units of a cost of 0; CannotState where there is none."""
    import pytoulbar2

    try:
        stated = cost_network(problem, most_states=MOST_STATES, direct=DIRECT)
    except NoNetwork as error:
        raise CannotState(str(error)) from None
    network = pytoulbar2.CFN(vac=0, verbose=-1)
    for number, size in enumerate(stated.sizes):
        network.AddVariable(f"x{number}", range(size))
    lists = dict[int, list[float]]()
    for each in stated.functions:
        costs = lists.get(id(each.table))
        if costs is None:
            table = np.where(each.table == FORBIDDEN_COST, network.Top, each.table.astype(float))
            costs = lists[id(each.table)] = table.ravel().tolist()
        network.AddFunction(list(each.scope), costs)
    return network, stated.best
