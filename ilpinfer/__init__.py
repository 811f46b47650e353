"""Exact, constrained inference for sequence models: scores and rules in, a proved labelling out."""

from ilpinfer.former_names import install

TYPE_CHECKING = (
    False  # `typing` is not imported: a program's first line must be able to deal with an interrupt
)

if TYPE_CHECKING:
    from ilpinfer import api as api
    from ilpinfer.api import Comparison as Comparison
    from ilpinfer.api import Decoder as Decoder
    from ilpinfer.api import Frontier as Frontier
    from ilpinfer.api import FrontierPoint as FrontierPoint
    from ilpinfer.api import Incumbent as Incumbent
    from ilpinfer.api import InferenceError as InferenceError
    from ilpinfer.api import Labellings as Labellings
    from ilpinfer.api import Marginals as Marginals
    from ilpinfer.api import Solution as Solution
    from ilpinfer.api import Status as Status
    from ilpinfer.api import TwoPhaseSolution as TwoPhaseSolution
    from ilpinfer.api import Verdict as Verdict
    from ilpinfer.api import compare as compare
    from ilpinfer.api import decode as decode
    from ilpinfer.api import decode_frontier as decode_frontier
    from ilpinfer.api import decode_many as decode_many
    from ilpinfer.api import decode_two_phase as decode_two_phase
    from ilpinfer.api import evaluate_labelling as evaluate_labelling
    from ilpinfer.api import marginals as marginals
    from ilpinfer.api import methods as methods
    from ilpinfer.api import prove as prove
    from ilpinfer.api import register_method as register_method
    from ilpinfer.api import verify as verify
    from ilpinfer.api import warm_up as warm_up

__version__ = "0.1.0"
_HOMES = {
    "Comparison": "comparison.comparison",
    "Decoder": "decoding.decoder",
    "Frontier": "decoding.frontier",
    "FrontierPoint": "decoding.frontier",
    "Incumbent": "core.incumbents",
    "InferenceError": "errors",
    "Labellings": "decoding.labellings",
    "Marginals": "exact.marginals",
    "Solution": "core.solution",
    "Status": "core.solution",
    "TwoPhaseSolution": "decoding.two_phase",
    "Verdict": "proof.verification",
    "compare": "comparison.comparison",
    "decode": "decoding.single",
    "decode_frontier": "decoding.frontier",
    "decode_many": "decoding.batch",
    "decode_two_phase": "decoding.two_phase",
    "evaluate_labelling": "decoding.evaluation",
    "marginals": "exact.marginals",
    "methods": "core.registry",
    "prove": "decoding.certification",
    "register_method": "core.registry",
    "verify": "proof.verification",
    "warm_up": "decoding.warming",
}
"""The module of each name of `ilpinfer.api`; modules are imported at first access."""
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


install()
