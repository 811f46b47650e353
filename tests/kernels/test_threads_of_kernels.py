"""A batch in several threads: what they write is what one thread writes."""

from dataclasses import replace

import numpy as np
import pytest
from support.random_tables import cases

from ilpinfer.kernels.native import kernels

COPIES = 25
LIMITS = 2000, 0, 2**17


def many(case, rng):
    """The sequences of a case many times over, in any order."""
    order = rng.permutation(np.tile(np.arange(len(case.begins) - 1), COPIES))
    here = np.concatenate([np.arange(case.begins[n], case.begins[n + 1]) for n in order])
    ends = np.cumsum(np.diff(case.begins)[order])
    pool = case.pool[here] if len(case.pool) else case.pool
    return replace(case, begins=np.append(0, ends), tokens=case.tokens[here], rows=case.rows[here], pool=pool)


@pytest.mark.parametrize(("kernel", "top"), [("decode_best", 1), ("decode_lists", 5)])
def test_several_threads_write_what_one_writes(kernel, top):
    rng = np.random.default_rng(5)
    for case in cases(41, unknown=0.01)[:20]:
        batch = many(case, rng)
        one, two, three = (
            batch.output(getattr(kernels, kernel), top, LIMITS, threads) for threads in (1, 2, 3)
        )
        for part, *others in zip(one, two, three):
            assert all(np.array_equal(part, other) for other in others)


def test_more_threads_than_sequences():
    for case in cases(42)[:5]:
        one, other = (case.output(kernels.decode_best, 1, LIMITS, threads) for threads in (1, 8))
        assert all(map(np.array_equal, one, other))
