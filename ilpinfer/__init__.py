"""Exact, constrained inference for sequence models: scores and rules in, a proved labelling out."""

from typing import TYPE_CHECKING, Any

from ilpinfer.decoding import decode, decode_many
from ilpinfer.methods import methods
from ilpinfer.solution import Solution
from ilpinfer.warming import warm_up

if TYPE_CHECKING:
    from ilpinfer.two_phase import TwoPhaseSolution, decode_two_phase

__version__ = "0.1.0"

__all__ = [
    "Solution",
    "TwoPhaseSolution",
    "decode",
    "decode_many",
    "decode_two_phase",
    "methods",
    "warm_up",
]


def __getattr__(name: str) -> Any:
    """Import two-phase inference when it is asked for, with the programs that it needs."""
    if name in ("TwoPhaseSolution", "decode_two_phase"):
        from ilpinfer import two_phase

        return getattr(two_phase, name)
    raise AttributeError(f"module 'ilpinfer' has no attribute {name!r}")
