"""The module of kernels for a processor, its stub, and memory that a kernel needs."""

import sys

import pytest
from nanobind.stubgen import StubGen
from support.places import ROOT
from support.processes import python

from ilpinfer.kernels import native
from ilpinfer.kernels.native import kernels

CHOSEN = "from ilpinfer.kernels.native import kernels; print(kernels.__name__)"


def test_the_level_of_the_processor_chooses_the_module():
    chosen = python("-c", CHOSEN, variables={"ILPINFER_KERNELS": ""}, check=True).stdout.strip()
    assert chosen == f"ilpinfer.kernels._kernels_v{native._module('v2').level()}"


def test_the_variable_names_a_module():
    done = python("-c", CHOSEN, variables={"ILPINFER_KERNELS": "v2"}, check=True)
    assert done.stdout.strip() == "ilpinfer.kernels._kernels_v2"


def test_a_name_that_there_is_not():
    done = python("-c", CHOSEN, variables={"ILPINFER_KERNELS": "v9"})
    last = done.stderr.strip().splitlines()[-1]
    assert (
        last
        == "ImportError: ILPINFER_KERNELS: 'v9' is none of v2, v3, checked; unset it, or name one of them"
    )


def test_kernels_that_were_not_built():
    with pytest.raises(ImportError, match=r"are missing .*; install with pip install ., or run make kernels"):
        native._module("v9")


STUB = ROOT / "ilpinfer" / "kernels" / "_kernels.pyi"
HOW = "write it anew by: python -m nanobind.stubgen -D -m ilpinfer.kernels._kernels_v2 -o ilpinfer/kernels/_kernels.pyi"


def test_the_stub_is_what_stubgen_writes():
    stubs = StubGen(kernels, include_docstrings=False)
    stubs.put(kernels)
    assert stubs.get() == STUB.read_text("utf-8"), HOW


CODE = """
import resource
import numpy as np
from ilpinfer.kernels.native import kernels
from support.endless import ENDLESS, Hard, plain_batch

hard, no_end = Hard(), np.zeros(1, np.int64)
search = hard.search()
tables, batch, buffer = plain_batch(2**18, 64, 2)
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**27, resource.RLIM_INFINITY))
try:
    {call}
except MemoryError:
    print("no memory")
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
print(hard.relaxation.multiply([0], 64).total == 0)
"""
CALLS = {
    "search": "search.advance(ENDLESS)",
    "two threads": "kernels.decode_best(tables, batch, (0, 0, 0), 1, buffer, 2, no_end)",
}


@pytest.mark.skipif(sys.platform != "linux", reason="only there a process's memory has a limit")
@pytest.mark.skipif(kernels.__name__.endswith("checked"), reason="a sanitizer ends processes without memory")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_kernel_needs_more_memory_than_there_is(call):
    done = python("-c", CODE.format(call=call))
    assert done.stdout.split() == ["no", "memory", "True"], done.stderr
