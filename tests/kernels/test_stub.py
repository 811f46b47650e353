"""The types of the kernels that are committed are those that they have."""

from nanobind.stubgen import StubGen
from support.places import ROOT

from ilpinfer.kernels.native import kernels

STUB = ROOT / "ilpinfer" / "kernels" / "_kernels.pyi"
HOW = "write it anew by: python -m nanobind.stubgen -D -m ilpinfer.kernels._kernels_v2 -o ilpinfer/kernels/_kernels.pyi"


def test_the_stub_is_what_stubgen_writes():
    stubs = StubGen(kernels, include_docstrings=False)
    stubs.put(kernels)
    assert stubs.get() == STUB.read_text("utf-8"), HOW
