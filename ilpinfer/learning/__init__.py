"""Learning with constraints: rules and penalties from labelled sequences, models from few of them."""

from ilpinfer.learning.codl import CODL, CODLResult
from ilpinfer.learning.codl_loop import Cycle
from ilpinfer.learning.expectation import E_STEPS
from ilpinfer.learning.held_out import held_out_examples, held_out_models
from ilpinfer.learning.learners import M_STEPS
from ilpinfer.learning.learnt_weights import LearntWeights
from ilpinfer.learning.measures import Measures
from ilpinfer.learning.mined_rules import DroppedCandidates, MinedRule, MinedRules
from ilpinfer.learning.mining import FAMILIES, RuleMiner
from ilpinfer.learning.selection import Tried
from ilpinfer.learning.temperature import fit_temperature
from ilpinfer.learning.updates import UPDATES
from ilpinfer.learning.verdicts import RuleVerdict
from ilpinfer.learning.ways import WAYS
from ilpinfer.learning.weights import WeightLearner
from ilpinfer.learning.wrong_labellings import PredictionsError
from ilpinfer.pipelines.trellises import ScoredExample

__all__ = [
    "CODL",
    "E_STEPS",
    "FAMILIES",
    "M_STEPS",
    "UPDATES",
    "WAYS",
    "CODLResult",
    "Cycle",
    "DroppedCandidates",
    "LearntWeights",
    "Measures",
    "MinedRule",
    "MinedRules",
    "PredictionsError",
    "RuleMiner",
    "RuleVerdict",
    "ScoredExample",
    "Tried",
    "WeightLearner",
    "fit_temperature",
    "held_out_examples",
    "held_out_models",
]
