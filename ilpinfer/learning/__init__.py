"""Learning with constraints: rules and penalties from labelled sequences, models from few of them."""

from ilpinfer.learning.mined_rules import Dropped, MinedRule, MinedRules
from ilpinfer.learning.mining import FAMILIES, RuleMiner

__all__ = ["FAMILIES", "Dropped", "MinedRule", "MinedRules", "RuleMiner"]
