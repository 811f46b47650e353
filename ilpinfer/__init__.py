"""Exact, constrained inference for sequence models: scores and rules in, a proved labelling out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ilpinfer.anytime import Incumbent
from ilpinfer.decoding import decode
from ilpinfer.methods import methods
from ilpinfer.solution import Solution
from ilpinfer.warming import warm_up

if TYPE_CHECKING:
    from ilpinfer.batch import decode_many
    from ilpinfer.exact.marginals import Marginals, marginals
    from ilpinfer.proving import prove
    from ilpinfer.two_phase import TwoPhaseSolution, decode_two_phase
    from ilpinfer.verification import Verdict, verify

__version__ = "0.1.0"

__all__ = [
    "Incumbent",
    "Marginals",
    "Solution",
    "TwoPhaseSolution",
    "Verdict",
    "decode",
    "decode_many",
    "decode_two_phase",
    "marginals",
    "methods",
    "prove",
    "verify",
    "warm_up",
]

_LATER = {
    "Marginals": "exact.marginals",
    "TwoPhaseSolution": "two_phase",
    "decode_two_phase": "two_phase",
    "decode_many": "batch",
    "marginals": "exact.marginals",
    "prove": "proving",
    "Verdict": "verification",
    "verify": "verification",
}


def __getattr__(name: str) -> Any:
    """Import what not every program needs when it is asked for."""
    if name in _LATER:
        return getattr(import_module(f"ilpinfer.{_LATER[name]}"), name)
    raise AttributeError(f"module 'ilpinfer' has no attribute {name!r}")
