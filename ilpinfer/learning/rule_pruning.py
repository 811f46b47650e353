"""Selection of mined rules: implied rules are removed, then the cheapest set that separates labellings is chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from formulations.dtypes import Booleans, Integers
from ilpinfer.learning.labellings import LabelArrays
from ilpinfer.learning.measuring import CandidateCounts
from ilpinfer.learning.mined_rules import DroppedCandidates, MinedRule
from ilpinfer.learning.rule_trials import claims, implies, violations
from ilpinfer.learning.wrong_labellings import WrongLabellings


def prune(
    measured: Sequence[CandidateCounts],
    table: LabelArrays,
    wrong: WrongLabellings,
    wrong_table: LabelArrays,
    power: int,
    seed: int,
) -> tuple[list[MinedRule], list[DroppedCandidates], bool]:
    """The rules in the order of their power, the dropped rules, and whether the set is proved cheapest."""
    broken = {m: violations(table, m.statement) for m in measured}
    candidates, implied = without_implied(measured, broken, table.labels.scheme == "paths")
    right = [broken[m] for m in candidates]
    tells = np.zeros((len(candidates), len(wrong)), bool)
    for row, (m, gold) in enumerate(zip(candidates, right, strict=True)):
        tells[row] = violations(wrong_table, m.statement) > gold[wrong.sequence]
    weights = [_weight(m, gold) for m, gold in zip(candidates, right, strict=True)]
    chosen = cover(tells, weights, seed)
    rules = [
        replace(candidates[i].rule(), discrimination=n)
        for i, n in zip(chosen.chosen, chosen.power, strict=True)
    ]
    redundant = [m.rule() for i, m in enumerate(candidates) if i not in set(chosen.chosen)]
    weak = [rule for rule in rules if rule.discrimination < power]
    groups = ("follows from another rule", implied), ("redundant", redundant), ("too little power", weak)
    dropped = [DroppedCandidates(reason, len(group), tuple(group)) for reason, group in groups if group]
    return [rule for rule in rules if rule.discrimination >= power], dropped, chosen.proved


def _weight(measured: CandidateCounts, violations: Integers) -> int:
    """100 · (number of fields and patterns of a rule + percentage of right labellings that break it)."""
    return 100 * measured.complexity + round(10_000 * float((violations > 0).mean()))


def without_implied(
    measured: Sequence[CandidateCounts], violations: Mapping[CandidateCounts, Integers], nested: bool
) -> tuple[list[CandidateCounts], list[MinedRule]]:
    """Remove rules that follow from another rule that is broken by no more sequences."""
    known = {m: claims(m.statement) for m in measured}
    broken = {m: int((violations[m] > 0).sum()) for m in measured}
    strong: dict[str, list[CandidateCounts]] = {}
    for m in measured:
        for name in {fact[1].split("/")[0] for fact in (*known[m].holds, *known[m].denied)}:
            strong.setdefault(name, []).append(m)

    def follows(m: CandidateCounts) -> bool:
        facts = [*known[m].holds, *known[m].denied]
        others = strong.get(facts[0][1].split("/")[0], []) if facts else []
        return any(broken[other] == broken[m] and implies(known[other], known[m], nested) for other in others)

    implied = [m for m in measured if follows(m)]
    gone = set(implied)
    return [m for m in measured if m not in gone], [m.rule() for m in implied]


DETERMINISTIC_LIMIT = 20.0
"""Deterministic time, about seconds, after which the solver returns its best set; the same on every machine."""


@dataclass(frozen=True)
class Cover:
    """The chosen rules, by decreasing number of samples that each is the first to separate."""

    chosen: tuple[int, ...]
    power: tuple[int, ...]
    proved: bool


def cover(
    tells: Booleans, weights: Sequence[int], seed: int = 0, limit: float = DETERMINISTIC_LIMIT
) -> Cover:
    """The cheapest rules that separate all separable samples: minimum-cost satisfiability (Fersini et al. 2014, 3.1)."""
    clauses = _clauses(tells)
    if not clauses:
        return Cover((), (), True)
    chosen, proved = _solve(clauses, weights, seed, limit)
    return Cover(*_by_power(tells, chosen), proved)


def _clauses(tells: Booleans) -> list[list[int]]:
    """For each detectable wrong labelling, the rules that detect it, without duplicates."""
    packed = np.packbits(tells, axis=0).T
    _, first = np.unique(packed, axis=0, return_index=True)
    result = [np.flatnonzero(tells[:, sample]).tolist() for sample in sorted(first.tolist())]
    return _without_supersets([clause for clause in result if clause])


def _without_supersets(clauses: list[list[int]]) -> list[list[int]]:
    """The clauses that no shorter clause implies."""
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
    """Rules chosen greedily by the number of new clauses per weight."""
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
