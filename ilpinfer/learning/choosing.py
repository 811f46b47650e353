"""Selection of rules: implied rules are removed, then the cheapest set that separates labellings is chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from formulations.dtypes import Integers
from ilpinfer.learning.labellings import Labellings
from ilpinfer.learning.measuring import CandidateCounts
from ilpinfer.learning.mined_rules import DroppedCandidates, MinedRule
from ilpinfer.learning.rule_pruning import cover
from ilpinfer.learning.rule_relations import claims, implies
from ilpinfer.learning.rule_trials import violations
from ilpinfer.learning.wrong_labellings import WrongLabellings


def prune(
    measured: Sequence[CandidateCounts],
    table: Labellings,
    wrong: WrongLabellings,
    wrong_table: Labellings,
    power: int,
    seed: int,
) -> tuple[list[MinedRule], list[DroppedCandidates], bool]:
    """The rules that are left, in the order of their power; those that are not; whether no cheaper set does as well.

    A rule separates a wrong labelling from the right one if it is violated more often in the wrong one.
    """
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
    """Fields and patterns that a rule names, and the right labellings of a hundred that break it, in hundredths."""
    return 100 * measured.complexity + round(10_000 * float((violations > 0).mean()))


def without_implied(
    measured: Sequence[CandidateCounts], violations: Mapping[CandidateCounts, Integers], nested: bool
) -> tuple[list[CandidateCounts], list[MinedRule]]:
    """Remove rules that follow from another rule which no more sequences break."""
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
