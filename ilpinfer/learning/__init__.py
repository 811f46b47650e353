"""Learning with constraints: rules and penalties from labelled sequences, models from few labels."""

from ilpinfer.learning.codl import CODL
from ilpinfer.learning.codl_result import CODLResult, Cycle
from ilpinfer.learning.codl_settings import BASELINES
from ilpinfer.learning.expectation import E_STEPS

__all__ = ["BASELINES", "CODL", "E_STEPS", "CODLResult", "Cycle"]
