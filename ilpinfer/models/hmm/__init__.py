"""Hidden Markov models of first and second order, counted from labelled sequences."""

from ilpinfer.models.hmm.first_order import HMM
from ilpinfer.models.hmm.second_order import SecondOrderHMM

__all__ = ["HMM", "SecondOrderHMM"]
