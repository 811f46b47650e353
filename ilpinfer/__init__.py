"""Exact, constrained inference for sequence models: scores and rules in, a proved labelling out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ilpinfer.decoding import decode, decode_many
from ilpinfer.methods import methods
from ilpinfer.solution import Solution
from ilpinfer.warming import warm_up

if TYPE_CHECKING:
    from ilpinfer.exact.marginals import Marginals, marginals
    from ilpinfer.two_phase import TwoPhaseSolution, decode_two_phase

__version__ = "0.1.0"

__all__ = [
    "Marginals",
    "Solution",
    "TwoPhaseSolution",
    "decode",
    "decode_many",
    "decode_two_phase",
    "marginals",
    "methods",
    "warm_up",
]


_LATER = {
    "Marginals": "ilpinfer.exact.marginals",
    "TwoPhaseSolution": "ilpinfer.two_phase",
    "decode_two_phase": "ilpinfer.two_phase",
    "marginals": "ilpinfer.exact.marginals",
}


def __getattr__(name: str) -> Any:
    """Import what needs programs or kernels when it is asked for."""
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'ilpinfer' has no attribute {name!r}")
