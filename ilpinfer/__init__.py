"""Exact, constrained inference for sequence models: scores and rules in, a proved labelling out."""

TYPE_CHECKING = (
    False  # `typing` is not imported: a program's first line must be able to deal with an interrupt
)

if TYPE_CHECKING:
    from ilpinfer.comparison.comparison import Comparison as Comparison
    from ilpinfer.comparison.comparison import compare as compare
    from ilpinfer.core.incumbents import Incumbent as Incumbent
    from ilpinfer.core.registry import methods as methods
    from ilpinfer.core.registry import register_method as register_method
    from ilpinfer.core.solution import Solution as Solution
    from ilpinfer.core.status import Status as Status
    from ilpinfer.decoding.certification import prove as prove
    from ilpinfer.decoding.decode import decode as decode
    from ilpinfer.decoding.decode import decode_many as decode_many
    from ilpinfer.decoding.decoder import Decoder as Decoder
    from ilpinfer.decoding.evaluation import evaluate_labelling as evaluate_labelling
    from ilpinfer.decoding.found import Labellings as Labellings
    from ilpinfer.decoding.frontier import Frontier as Frontier
    from ilpinfer.decoding.frontier import FrontierPoint as FrontierPoint
    from ilpinfer.decoding.frontier import decode_frontier as decode_frontier
    from ilpinfer.decoding.two_phase import TwoPhaseSolution as TwoPhaseSolution
    from ilpinfer.decoding.two_phase import decode_two_phase as decode_two_phase
    from ilpinfer.decoding.warming import warm_up as warm_up
    from ilpinfer.errors import InferenceError as InferenceError
    from ilpinfer.exact.marginals import Marginals as Marginals
    from ilpinfer.exact.marginals import marginals as marginals
    from ilpinfer.proof.verification import Verdict as Verdict
    from ilpinfer.proof.verification import verify as verify

__version__ = "0.1.0"
_HOMES = {
    "Comparison": "comparison.comparison",
    "Decoder": "decoding.decoder",
    "Frontier": "decoding.frontier",
    "FrontierPoint": "decoding.frontier",
    "Incumbent": "core.incumbents",
    "InferenceError": "errors",
    "Labellings": "decoding.found",
    "Marginals": "exact.marginals",
    "Solution": "core.solution",
    "Status": "core.status",
    "TwoPhaseSolution": "decoding.two_phase",
    "Verdict": "proof.verification",
    "compare": "comparison.comparison",
    "decode": "decoding.decode",
    "decode_frontier": "decoding.frontier",
    "decode_many": "decoding.decode",
    "decode_two_phase": "decoding.two_phase",
    "evaluate_labelling": "decoding.evaluation",
    "marginals": "exact.marginals",
    "methods": "core.registry",
    "prove": "decoding.certification",
    "register_method": "core.registry",
    "verify": "proof.verification",
    "warm_up": "decoding.warming",
}
"""The module of each public name; modules are imported at first access."""
__all__ = list(_HOMES)


if not TYPE_CHECKING:  # so that type checkers report unknown names

    def __getattr__(name: str) -> object:
        """Import a name, and keep it."""
        if name not in _HOMES:
            raise AttributeError(f"module 'ilpinfer' has no attribute {name!r}")
        from importlib import import_module

        value: object = getattr(import_module(f"ilpinfer.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
