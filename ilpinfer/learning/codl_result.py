"""The result of constraint-driven learning, with figures of each cycle."""

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
    """Figures of one cycle.

    Parameters
    ----------
    number : int
        Number of the cycle, from 1.
    learnt : int
        Number of unlabelled sequences from which the model was learnt.
    changed : float
        Share of the unlabelled sequences whose labels differ from those of the cycle before.
    violations : dict of str to int
        Number of violations of each rule by the labels of the unlabelled sequences.
    left_out : int
        Number of sequences for which no labelling keeps the hard rules.
    ways : dict of str to int
        Number of sequences by E-step; more than one E-step if some sequences have too many joint states.
    held_out : dict of str to Measures
        Measures "without rules" and "with rules"; empty without held-out sequences.

    Examples
    --------
    >>> Cycle(1, 10, 0.5, {"one title": 2}, 0, {"top-k": 10}, {}).changed
    0.5
    """

    number: int
    learnt: int
    changed: float
    violations: dict[str, int]
    left_out: int
    ways: dict[str, int]
    held_out: dict[str, Measures]


@dataclass(frozen=True)
class CODLResult:
    """The result of `CODL.fit`.

    Parameters
    ----------
    model, supervised : Part or Mixture
        Model after the last cycle, and model learnt from the labelled sequences only.
    before : dict of str to Measures
        Measures of the supervised model on held-out sequences, as in `Cycle.held_out`.
    trace : tuple of Cycle
        The cycles.
    made : dict of str to object
        Settings, versions, and fingerprints of data and rules.

    Examples
    --------
    >>> from ilpinfer.learning import CODL
    >>> labelled = [(["Ada", "Lovelace", "1843"], ["name", "name", "year"])]
    >>> result = CODL(cycles=1).fit(labelled, [["Alan", "Turing", "1936"]])
    >>> result.model.labels.names, len(result.trace)
    (('name', 'year'), 1)
    """

    model: Part | Mixture
    supervised: Part
    before: dict[str, Measures]
    trace: tuple[Cycle, ...]
    made: dict[str, Any]

    @property
    def text(self) -> str:
        """The model's file, as `load_model` reads it, with `made` beside the model."""
        return text_of({**record_of(self.model), "made": self.made})

    def save(self, path: str | Path) -> None:
        """Write the model's file. It appears under its name only when it is complete.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        write_atomically(path, self.text)


def provenance(settings: Mapping[str, Any], labelled: Any, pool: Any, rules: RuleSet) -> dict[str, Any]:
    """How a model is made, as plain values without date or place."""
    return {
        "by": "CODL",
        "settings": dict(settings),
        "versions": {"ilpinfer": version("ilpinfer"), "numpy": version("numpy")},
        "labelled": digest(labelled),
        "unlabelled": digest(pool),
        "rules": digest(str(rules)),
    }
