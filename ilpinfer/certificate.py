"""What stands behind a bound."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Certificate:
    """Why the bound of a solution holds.

    Parameters
    ----------
    kind : "exact" where integer arithmetic of our own proves it, "solver" where it is a solver's word, "none"
    source : what proved it: the argument, or solver and version
    settings : what the solver was told
    """

    kind: str
    source: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {"kind": self.kind, "source": self.source, "settings": dict(self.settings)}


NONE = Certificate("none")
VITERBI_BOUND = Certificate("exact", "Viterbi score without the rules")
FOLDED_BOUND = Certificate("exact", "Viterbi score with local rules folded in")
LABEL_BOUND = Certificate("exact", "every prefix that could reach the score was followed")
BEAM_BOUND = Certificate("exact", "best completion of every hypothesis left out")
