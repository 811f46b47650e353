"""The choice of few rules that tell right labellings from wrong ones as well as all of them do."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from formulations.dtypes import Booleans, Integers

DETERMINISTIC_LIMIT = 20.0
"""Units of work, about seconds, after which the solver gives its best set; the same on every machine."""


@dataclass(frozen=True)
class Cover:
    """Rules that tell samples apart, in the order of their power."""

    chosen: tuple[int, ...]
    power: tuple[int, ...]
    proved: bool


def cover(
    tells: Booleans, weights: Sequence[int], seed: int = 0, limit: float = DETERMINISTIC_LIMIT
) -> Cover:
    """The cheapest rules that together tell apart every sample that any of the rules does.

    A minimum-cost satisfiability problem, a clause for each sample: one of the rules that tell it apart is chosen (Fersini
    et al. 2014, section 3.1, after Felici and Truemper). The clauses of the answer are in the order of decreasing
    discrimination power: each rule separates the most of the remaining samples.
    """
    clauses = _clauses(tells)
    if not clauses:
        return Cover((), (), True)
    chosen, proved = _solve(clauses, weights, seed, limit)
    return Cover(*_by_power(tells, chosen), proved)


def _clauses(tells: Booleans) -> list[list[int]]:
    """For each wrong labelling that rules can detect, these rules; each list once."""
    packed = np.packbits(tells, axis=0).T
    _, first = np.unique(packed, axis=0, return_index=True)
    result = [np.flatnonzero(tells[:, sample]).tolist() for sample in sorted(first.tolist())]
    return _without_supersets([clause for clause in result if clause])


def _without_supersets(clauses: list[list[int]]) -> list[list[int]]:
    """The clauses that no shorter one implies."""
    kept: list[list[int]] = []
    by_rule: dict[int, list[set[int]]] = {}
    for clause in sorted(clauses, key=lambda clause: (len(clause), clause)):
        rules = set(clause)
        if any(inner <= rules for rule in clause for inner in by_rule.get(rule, ())):
            continue
        kept.append(clause)
        by_rule.setdefault(clause[0], []).append(rules)
    return kept


def _solve(
    clauses: list[list[int]], weights: Sequence[int], seed: int, limit: float
) -> tuple[list[int], bool]:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    rules = sorted({rule for clause in clauses for rule in clause})
    use = {rule: model.new_bool_var(f"rule {rule}") for rule in rules}
    for clause in clauses:
        model.add_bool_or([use[rule] for rule in clause])
    model.minimize(sum(weights[rule] * use[rule] for rule in rules))
    start = _greedy(clauses, weights)
    for rule in rules:
        model.add_hint(use[rule], rule in start)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.max_deterministic_time = limit
    solver.parameters.catch_sigint_signal = False
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return sorted(start), False
    return [rule for rule in rules if solver.value(use[rule])], status == cp_model.OPTIMAL


def _greedy(clauses: list[list[int]], weights: Sequence[int]) -> set[int]:
    """Rules chosen one by one, each with the most clauses for its weight."""
    left = [set(clause) for clause in clauses]
    result: set[int] = set()
    while left:
        counts: dict[int, int] = {}
        for clause in left:
            for rule in clause:
                counts[rule] = counts.get(rule, 0) + 1
        best = max(counts, key=lambda rule: (counts[rule] / weights[rule], -rule))
        result.add(best)
        left = [clause for clause in left if best not in clause]
    return result


def _by_power(tells: Booleans, chosen: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    left, rest = np.ones(tells.shape[1], bool), list(chosen)
    order: list[int] = []
    power: list[int] = []
    while rest:
        counts: Integers = (tells[rest] & left).sum(axis=1)
        place = int(np.argmax(counts))
        rule = rest.pop(place)
        order.append(rule)
        power.append(int(counts[place]))
        left &= ~tells[rule]
    return tuple(order), tuple(power)
