"""The result of constraint-driven learning, cycle by cycle, and how it was made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from formulations import RuleSet
from ilpinfer.learning.measures import Measures
from ilpinfer.models.files import record_of, text_of
from ilpinfer.models.mixture import Mixture, Part
from ilpinfer.system.files import digest, write_atomically

Progress = Callable[[int, int, int], None]
"""Receives the cycle, from 1, how many sequences are labelled in it, and how many there are."""
Row = dict[str, Any]
"""The state after a cycle, as plain values."""


@dataclass(frozen=True)
class Cycle:
    """One cycle.

    Parameters
    ----------
    number : from 1
    learnt : sequences of the pool that the model was learnt from
    changed : share of the pool whose labels are others than in the cycle before
    violations : {rule: how often the labels of the pool break it}
    left_out : sequences for which no labelling keeps the hard rules
    ways : {E-step: sequences}, more than one where some sequences have too many joint states
    held_out : measures "without rules" and "with rules"; empty where nothing is held out
    """

    number: int
    learnt: int
    changed: float
    violations: dict[str, int]
    left_out: int
    ways: dict[str, int]
    held_out: dict[str, Measures]

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Cycle":
        """From plain values."""
        held_out = {name: Measures(*each) for name, each in values["held_out"].items()}
        return cls(**{**values, "held_out": held_out})


@dataclass(frozen=True)
class CODLResult:
    """The result of `CODL.fit`.

    Parameters
    ----------
    model : after the last cycle
    supervised : from the labelled sequences alone
    before : measures of the supervised model on what is held out, as in `Cycle.held_out`
    trace : the cycles
    made : how: settings, versions, and fingerprints of data and rules
    """

    model: Part | Mixture
    supervised: Part
    before: dict[str, Measures]
    trace: tuple[Cycle, ...]
    made: dict[str, Any]

    @property
    def text(self) -> str:
        """The model's file, as `load_model` reads it, with `made` beside the model."""
        record = record_of(self.model.FORMAT, self.model.VERSION, self.model.body())
        return text_of({**record, "made": self.made})

    def save(self, path: str | Path) -> None:
        """Write the model's file, whole or not at all."""
        write_atomically(path, self.text)


def made_by(settings: Mapping[str, Any], labelled: Any, pool: Any, rules: RuleSet) -> dict[str, Any]:
    """How a model is made, as plain values without date or place."""
    return {
        "by": "CODL",
        "settings": dict(settings),
        "versions": {"ilpinfer": version("ilpinfer"), "numpy": version("numpy")},
        "labelled": digest(labelled),
        "unlabelled": digest(pool),
        "rules": digest(str(rules)),
    }
