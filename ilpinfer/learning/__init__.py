"""Learning with constraints: rules and penalties from labelled sequences, models from few of them."""

from ilpinfer.learning.codl import CODL
from ilpinfer.learning.codl_records import BASELINES, CODLResult, Cycle, TriedSettings
from ilpinfer.learning.expectation import E_STEPS
from ilpinfer.learning.held_out import held_out_examples, held_out_models
from ilpinfer.learning.joint import UPDATES, JointLearner, JointWeights
from ilpinfer.learning.joint_search import JointChoice, JointSearch
from ilpinfer.learning.measures import Measures
from ilpinfer.learning.mined_rules import DroppedCandidates, MinedRule, MinedRules
from ilpinfer.learning.mining import FAMILIES, RuleMiner
from ilpinfer.learning.penalties import ALGORITHMS, LearntPenalties, PenaltyLearner
from ilpinfer.learning.training_set import ScoredExample
from ilpinfer.learning.verdicts import Verdict
from ilpinfer.learning.wrong_labellings import PredictionsError

__all__ = [
    "ALGORITHMS",
    "BASELINES",
    "CODL",
    "E_STEPS",
    "FAMILIES",
    "UPDATES",
    "CODLResult",
    "Cycle",
    "DroppedCandidates",
    "JointChoice",
    "JointLearner",
    "JointSearch",
    "JointWeights",
    "LearntPenalties",
    "Measures",
    "MinedRule",
    "MinedRules",
    "PenaltyLearner",
    "PredictionsError",
    "RuleMiner",
    "ScoredExample",
    "TriedSettings",
    "Verdict",
    "held_out_examples",
    "held_out_models",
]
