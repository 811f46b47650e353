"""Ways to use rules: the source of the rules and of their penalties, and whether model scores are learnt with them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ilpinfer.learning.updates import Update

GIVEN, MINED = "given", "mined"
NONE = "no rules"
PENALTIES, TOGETHER = "penalties", "all weights"
WAYS: Mapping[str, str] = {
    GIVEN: "rules as they are given",
    PENALTIES: "given rules with learnt penalties",
    MINED: "rules mined from the sequences",
    TOGETHER: "the scores of a model together with the penalties of rules",
}
"""The alternatives to no rules."""
STEPS_TOGETHER: Mapping[str, Any] = {"rate": 0.1, "epochs": 10, "start": 1.0, "decay": 0.0}
"""Step settings for all features together; the defaults of `Update` are for rules alone."""


@dataclass(frozen=True)
class Way:
    """Rules from `sources` (`GIVEN`, `MINED`), with penalties unchanged or by an update; `together` with the scores of the model.

    With `many`, mined rules are all rules of some families with few required trials, instead of the few rules of the usual miner.
    """

    group: str = ""
    sources: tuple[str, ...] = ()
    update: Update | None = None
    together: bool = False
    many: bool = False


QUICK = ("given", "given: perceptron, start 2")


def ways_of(
    groups: Collection[str], given: bool, update: str | None, quick: bool, own: Mapping[str, Any]
) -> dict[str, Way]:
    """The ways to try, the simplest first; `own` are settings of all updates, and `update` keeps only ways that learn with it."""

    def by(name: str, **usual: Any) -> Update:
        return Update(name, **{**usual, **own})

    risk: dict[str, Any] = {"start": 1.0, "rounds": 1}
    together: dict[str, Any] = {"group": TOGETHER, "sources": (GIVEN,), "together": True}
    every = {
        GIVEN: Way(GIVEN, (GIVEN,)),
        "given: counts": Way(PENALTIES, (GIVEN,), by("counts")),
        "given: perceptron": Way(PENALTIES, (GIVEN,), by("perceptron")),
        "given: perceptron, start 2": Way(PENALTIES, (GIVEN,), by("perceptron", start=2.0)),
        "given: margin": Way(PENALTIES, (GIVEN,), by("margin")),
        "given: risk": Way(PENALTIES, (GIVEN,), by("risk")),
        MINED: Way(MINED, (MINED,)),
        "mined: perceptron": Way(MINED, (MINED,), by("perceptron")),
        "mined: risk": Way(MINED, (MINED,), by("risk", **risk), many=True),
        "given and mined: risk": Way(MINED, (GIVEN, MINED), by("risk", **risk), many=True),
        "all weights: margin": Way(update=by("margin", **STEPS_TOGETHER), **together),
        "all weights: perceptron": Way(update=by("perceptron", **STEPS_TOGETHER), **together),
    }
    if "start" in own:
        del every["given: perceptron, start 2"]
    if not given:
        groups = {*groups} - {GIVEN, PENALTIES}
        del every["given and mined: risk"]
    if update is None:
        del every["all weights: perceptron"]
    else:
        every = {name: way for name, way in every.items() if way.update and way.update.name == update}
    return {NONE: Way()} | {
        name: way for name, way in every.items() if way.group in groups and (not quick or name in QUICK)
    }
