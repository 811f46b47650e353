"""Exact, constrained inference for sequence models: scores and rules in, a proved labelling out."""

TYPE_CHECKING = (
    False  # `typing` is not imported: a program's first line must be able to deal with an interrupt
)

if TYPE_CHECKING:
    from formulations import Document as Document
    from formulations import Feature as Feature
    from formulations import Group as Group
    from formulations import LabelSet as LabelSet
    from formulations import Program as Program
    from formulations import Rule as Rule
    from formulations import RuleError as RuleError
    from formulations import RuleSet as RuleSet
    from formulations import Trellis as Trellis
    from formulations import catalogue as catalogue
    from formulations import constraints as constraints
    from formulations import dump_rules as dump_rules
    from formulations import formulate as formulate
    from formulations import join as join
    from formulations import join_rules as join_rules
    from formulations import load_rules as load_rules
    from formulations import parse_rules as parse_rules
    from ilpinfer import adapters as adapters
    from ilpinfer import corpus as corpus
    from ilpinfer import evaluation as evaluation
    from ilpinfer import learning as learning
    from ilpinfer import models as models
    from ilpinfer import pipelines as pipelines
    from ilpinfer import references as references
    from ilpinfer import solvers as solvers
    from ilpinfer import testing as testing
    from ilpinfer.comparison.comparison import Comparison as Comparison
    from ilpinfer.comparison.running import compare as compare
    from ilpinfer.core.incumbents import Incumbent as Incumbent
    from ilpinfer.core.registry import methods as methods
    from ilpinfer.core.registry import register_method as register_method
    from ilpinfer.core.registry import register_solver as register_solver
    from ilpinfer.core.solution import Solution as Solution
    from ilpinfer.core.status import Status as Status
    from ilpinfer.corpus.candidates import Candidate as Candidate
    from ilpinfer.decoding.batch import Batch as Batch
    from ilpinfer.decoding.certification import prove as prove
    from ilpinfer.decoding.decode import decode as decode
    from ilpinfer.decoding.decode import decode_many as decode_many
    from ilpinfer.decoding.decoder import Decoder as Decoder
    from ilpinfer.decoding.evaluation import evaluate_labelling as evaluate_labelling
    from ilpinfer.decoding.frontier import Frontier as Frontier
    from ilpinfer.decoding.frontier import FrontierPoint as FrontierPoint
    from ilpinfer.decoding.frontier_search import decode_frontier as decode_frontier
    from ilpinfer.decoding.questions import Question as Question
    from ilpinfer.decoding.questions import next_question as next_question
    from ilpinfer.decoding.scores import decode_scores as decode_scores
    from ilpinfer.decoding.two_phase import TwoPhaseSolution as TwoPhaseSolution
    from ilpinfer.decoding.two_phase import decode_two_phase as decode_two_phase
    from ilpinfer.errors import InferenceError as InferenceError
    from ilpinfer.evaluation.matches import span_matches as span_matches
    from ilpinfer.evaluation.reports import classification_report as classification_report
    from ilpinfer.exact.marginals import Marginals as Marginals
    from ilpinfer.exact.marginals import marginals as marginals
    from ilpinfer.pipelines.spans import SpanSelection as SpanSelection
    from ilpinfer.pipelines.spans import select_spans as select_spans
    from ilpinfer.proof.verification import Verdict as Verdict
    from ilpinfer.proof.verification import verify as verify

__version__ = "0.1.0"
_HOMES = {
    "Batch": "ilpinfer.decoding.batch",
    "Candidate": "ilpinfer.corpus.candidates",
    "Comparison": "ilpinfer.comparison.comparison",
    "Decoder": "ilpinfer.decoding.decoder",
    "Document": "formulations",
    "Feature": "formulations",
    "Frontier": "ilpinfer.decoding.frontier",
    "FrontierPoint": "ilpinfer.decoding.frontier",
    "Group": "formulations",
    "Incumbent": "ilpinfer.core.incumbents",
    "InferenceError": "ilpinfer.errors",
    "LabelSet": "formulations",
    "Marginals": "ilpinfer.exact.marginals",
    "Program": "formulations",
    "Question": "ilpinfer.decoding.questions",
    "Rule": "formulations",
    "RuleError": "formulations",
    "RuleSet": "formulations",
    "Solution": "ilpinfer.core.solution",
    "SpanSelection": "ilpinfer.pipelines.spans",
    "Status": "ilpinfer.core.status",
    "Trellis": "formulations",
    "TwoPhaseSolution": "ilpinfer.decoding.two_phase",
    "Verdict": "ilpinfer.proof.verification",
    "catalogue": "formulations",
    "classification_report": "ilpinfer.evaluation.reports",
    "compare": "ilpinfer.comparison.running",
    "constraints": "formulations",
    "decode": "ilpinfer.decoding.decode",
    "decode_frontier": "ilpinfer.decoding.frontier_search",
    "decode_many": "ilpinfer.decoding.decode",
    "decode_scores": "ilpinfer.decoding.scores",
    "decode_two_phase": "ilpinfer.decoding.two_phase",
    "dump_rules": "formulations",
    "evaluate_labelling": "ilpinfer.decoding.evaluation",
    "formulate": "formulations",
    "join": "formulations",
    "join_rules": "formulations",
    "load_rules": "formulations",
    "marginals": "ilpinfer.exact.marginals",
    "methods": "ilpinfer.core.registry",
    "next_question": "ilpinfer.decoding.questions",
    "parse_rules": "formulations",
    "prove": "ilpinfer.decoding.certification",
    "register_method": "ilpinfer.core.registry",
    "register_solver": "ilpinfer.core.registry",
    "select_spans": "ilpinfer.pipelines.spans",
    "span_matches": "ilpinfer.evaluation.matches",
    "verify": "ilpinfer.proof.verification",
}
"""The module of each public name; modules are imported at first access."""
_MODULES = (
    "adapters",
    "corpus",
    "evaluation",
    "learning",
    "models",
    "pipelines",
    "references",
    "solvers",
    "testing",
)
"""Modules that are imported at first access, too."""
__all__ = list(_HOMES)


if not TYPE_CHECKING:  # so that type checkers report unknown names

    def __getattr__(name: str) -> object:
        """Import a name, and keep it."""
        from importlib import import_module

        if name in _MODULES:
            return import_module(f"ilpinfer.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module 'ilpinfer' has no attribute {name!r}")
        value: object = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
