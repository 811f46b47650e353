# mypy: allow-untyped-defs, allow-untyped-calls
"""The tables of a decoder as one object, since the overhead of a call grows with the number of array arguments."""

from typing import Any

from numba import types
from numba.experimental import structref

from ilpinfer.kernels.jit import kernel


@structref.register
class HandleType(types.StructRef):
    """The type of a `Handle` in kernels."""

    def preprocess_fields(self, fields: Any) -> Any:
        return tuple((name, types.unliteral(field)) for name, field in fields)


class Handle(structref.StructRefProxy):
    """Windows, scores, machines and counts of one decoder, made by `together`; it refers to their arrays and copies none."""


structref.define_proxy(Handle, HandleType, ["windows", "scores", "machines", "counts"])


@kernel
def together(windows, scores, machines, counts):
    """The `Handle` of `Windows`, `Scores`, `Machines` and `Counts`."""
    return Handle(windows, scores, machines, counts)
