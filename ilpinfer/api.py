"""The public functions and records of the package; each is also an attribute of `ilpinfer`."""

from formulations import InferenceError
from ilpinfer.comparison.comparison import Comparison, compare
from ilpinfer.core.incumbents import Incumbent
from ilpinfer.core.registry import methods, register_method
from ilpinfer.core.solution import Solution, Status
from ilpinfer.decoding.batch import decode_many
from ilpinfer.decoding.certification import prove
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.decoding.evaluation import evaluate_labelling
from ilpinfer.decoding.frontier import Frontier, FrontierPoint, decode_frontier
from ilpinfer.decoding.labellings import Labellings
from ilpinfer.decoding.single import decode
from ilpinfer.decoding.two_phase import TwoPhaseSolution, decode_two_phase
from ilpinfer.decoding.warming import warm_up
from ilpinfer.exact.marginals import Marginals, marginals
from ilpinfer.proof.verification import Verdict, verify

__all__ = [
    "Comparison",
    "Decoder",
    "Frontier",
    "FrontierPoint",
    "Incumbent",
    "InferenceError",
    "Labellings",
    "Marginals",
    "Solution",
    "Status",
    "TwoPhaseSolution",
    "Verdict",
    "compare",
    "decode",
    "decode_frontier",
    "decode_many",
    "decode_two_phase",
    "evaluate_labelling",
    "marginals",
    "methods",
    "prove",
    "register_method",
    "verify",
    "warm_up",
]
