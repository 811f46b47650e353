"""Memory that runs out is a MemoryError."""

import sys

import pytest
from support.processes import python

from ilpinfer.kernels.native import kernels

CODE = """
import resource, sys
from support.endless import ENDLESS, Hard

hard = Hard()
search = hard.search()
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
CALLS = "search.advance(ENDLESS)", "hard.list_best()", "hard.decode_best(1)", "hard.decode_best(2)"


@pytest.mark.skipif(sys.platform != "linux", reason="only there a process's memory has a limit")
@pytest.mark.skipif(kernels.__name__.endswith("checked"), reason="a sanitizer ends processes without memory")
@pytest.mark.parametrize("call", CALLS)
def test_a_search_needs_more_memory_than_there_is(call):
    done = python("-c", CODE.format(call=call))
    assert done.stdout.split() == ["no", "memory", "True"], done.stderr
