"""The stages of the engine: how many sequences each one ended, and what it cost."""

from collections.abc import Iterable
from dataclasses import dataclass

from ilpinfer.system.checkpoint import Row

FIRST = "compiled rules"
"""The first stage, with the preparation of the sequence."""


@dataclass(frozen=True)
class StageCost:
    """A stage of a method: sequences and seeds on which it ran and that it ended, and its share of the method's time."""

    method: str
    stage: str
    ran: int
    ended: int
    seconds: float
    share: float


def stage_costs(rows: Iterable[Row]) -> list[StageCost]:
    """The stages of each method that has some, in the order in which they first appear."""
    costs: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        taken = row.get("stages") or ()
        for place, (stage, seconds) in enumerate(taken, 1):
            entry = costs.setdefault(row["method"], {}).setdefault(stage, [0, 0, 0.0])
            entry[0] += 1
            entry[1] += place == len(taken)
            entry[2] += seconds
    result = []
    for method, stages in costs.items():
        total = sum(seconds for *_, seconds in stages.values()) or 1.0
        result += [
            StageCost(method, stage, int(ran), int(ended), seconds, seconds / total)
            for stage, (ran, ended, seconds) in stages.items()
        ]
    return result
