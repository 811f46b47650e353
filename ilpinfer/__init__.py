"""Exact, constrained inference for sequence models: scores and rules in, a proved labelling out."""

TYPE_CHECKING = (
    False  # `typing` is not imported: a program's first line must be able to deal with an interrupt
)

if TYPE_CHECKING:
    from typing import Any

    from ilpinfer.anytime import Incumbent as Incumbent
    from ilpinfer.batch import decode_many as decode_many
    from ilpinfer.decoder import Decoder as Decoder
    from ilpinfer.decoding import decode as decode
    from ilpinfer.exact.marginals import Marginals as Marginals
    from ilpinfer.exact.marginals import marginals as marginals
    from ilpinfer.method_table import methods as methods
    from ilpinfer.proving import prove as prove
    from ilpinfer.solution import Solution as Solution
    from ilpinfer.two_phase import TwoPhaseSolution as TwoPhaseSolution
    from ilpinfer.two_phase import decode_two_phase as decode_two_phase
    from ilpinfer.verification import Verdict as Verdict
    from ilpinfer.verification import verify as verify
    from ilpinfer.warming import warm_up as warm_up

__version__ = "0.1.0"

_HOMES = {
    "Decoder": "decoder",
    "Incumbent": "anytime",
    "Marginals": "exact.marginals",
    "Solution": "solution",
    "TwoPhaseSolution": "two_phase",
    "Verdict": "verification",
    "decode": "decoding",
    "decode_many": "batch",
    "decode_two_phase": "two_phase",
    "marginals": "exact.marginals",
    "methods": "method_table",
    "prove": "proving",
    "verify": "verification",
    "warm_up": "warming",
}
"""The module of each name, which is imported when the name is asked for."""
__all__ = list(_HOMES)


def __getattr__(name: str) -> "Any":
    """Import a name, and keep it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ilpinfer' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"ilpinfer.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
