"""Learning with constraints: rules and penalties from labelled sequences, models from few of them."""

from ilpinfer.learning.mined_rules import Dropped, MinedRule, MinedRules
from ilpinfer.learning.mining import FAMILIES, RuleMiner
from ilpinfer.learning.wrong_labellings import PredictionsError

__all__ = ["FAMILIES", "Dropped", "MinedRule", "MinedRules", "PredictionsError", "RuleMiner"]
