"""Memory that runs out is a MemoryError, and kernels go on where there is some again."""

import sys

import pytest
from support.processes import python

from ilpinfer.kernels.native import kernels

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
