"""Exact, constrained inference for sequence models: scores and rules in, a proved labelling out."""

from ilpinfer.decoding import decode, decode_many
from ilpinfer.methods import methods
from ilpinfer.solution import Solution
from ilpinfer.two_phase import TwoPhaseSolution, decode_two_phase
from ilpinfer.warming import warm_up

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
