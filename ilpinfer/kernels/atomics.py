# mypy: allow-untyped-defs, allow-untyped-calls
"""Counters for calls of a kernel by several threads: each thread takes the next piece of work until none is left."""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ilpinfer.kernels.jit import kernel
from ilpinfer.kernels.share import DONE, ENTERED

MOST_STALE = 20_000
"""Reads of a counter before a thread stops waiting for others: about a tenth of a millisecond."""


@intrinsic
def _atomic_add(context: Any, array: Any, place: Any, amount: Any) -> Any:
    """Atomically add an amount to an entry of an int64 array; the value before."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, at, more = arguments
        data = target.make_array(signature.args[0])(target, builder, values)
        pointer = cgutils.get_item_pointer(target, builder, signature.args[0], data, [at])
        return builder.atomic_rmw("add", pointer, more, "seq_cst")

    integer = types.int64
    return integer(array, types.intp, integer), generate


@kernel
def add(share, place, amount):
    """Add to a counter and return its former value, while other threads may do so too."""
    return _atomic_add(share, place, amount)  # type: ignore[call-arg]


@kernel
def _reached(share, place, number):
    """Wait a short time for a counter to reach a number; whether it does."""
    looks = MOST_STALE
    while looks and add(share, place, 0) < number:
        looks -= 1
    return looks > 0


@kernel
def wait(share, number, following, others):
    """Wait a short time until `number` pieces of work are done, then until `others` have begun with the following
    share.

    This thread does not hold the interpreter lock meanwhile, so that others can take it. Returns whether all work is
    done.
    """
    done = _reached(share, DONE, number)
    if done and len(following):
        _reached(following, ENTERED, others)
    return done
