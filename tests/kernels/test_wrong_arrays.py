"""Arrays that kernels cannot read, or must not write, are refused."""

import numpy as np
import pytest
from support.random_tables import cases

from ilpinfer.kernels.counts import NO_COUNTS
from ilpinfer.kernels.native import Tables, kernels

CASE = cases(0)[0]
LIMITS = 10, 10, 10
END = np.zeros(1, np.int64)


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def in_other_order(array):
    return np.asfortranarray(np.vstack([array, array]))


WRONG = {
    "another type": lambda array: array.astype(np.float64),
    "fewer bits": lambda array: array.astype(np.int32),
    "no sign": lambda array: array.astype(np.uint64),
    "another byte order": lambda array: array.astype(">i8"),
    "gaps": lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
    "more dimensions": lambda array: array[None],
    "a list": lambda array: array.tolist(),
    "nothing": lambda array: None,
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("place", range(5))
def test_arrays_of_a_batch(change, place):
    batch = list(CASE.batch)
    if place == 4 and not len(batch[place]):
        batch[place] = np.zeros_like(batch[3])
    batch[place] = change(batch[place])
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kernels.decode_best(CASE.tables, tuple(batch), LIMITS, 1, np.zeros(1000, np.int64), 1, END)


def test_an_array_in_another_order():
    emission, *rest = CASE.batch
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kernels.decode_best(
            CASE.tables, (in_other_order(emission), *rest), LIMITS, 1, np.zeros(1000, np.int64), 1, END
        )


@pytest.mark.parametrize("change", [*WRONG.values(), read_only], ids=[*WRONG, "read-only"])
def test_the_array_that_is_written(change):
    size = len(CASE.tokens) + (len(CASE.begins) - 1) * (13 + 2 * CASE.size[1])
    buffer = np.zeros(size, np.int64)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kernels.decode_best(CASE.tables, CASE.batch, LIMITS, 1, change(buffer), 1, END)
    for wrong in (0, size - 1, size + 1):
        with pytest.raises(ValueError, match="the buffer has another length"):
            kernels.decode_best(CASE.tables, CASE.batch, LIMITS, 1, np.zeros(wrong, np.int64), 1, END)
    kernels.decode_best(CASE.tables, CASE.batch, LIMITS, 1, buffer, 1, END)


@pytest.mark.parametrize("place", range(4))
def test_tables_of_other_things(place):
    given = [CASE.windows, CASE.scores, CASE.machines, NO_COUNTS]
    for wrong in (given[place][:-1], (*given[place][1:], None), list(given[place]), None):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            Tables(*given[:place], wrong, *given[place + 1 :])


def test_arrays_that_are_only_read_may_be_read_only():
    batch = [read_only(array) for array in CASE.batch]
    size = len(CASE.tokens) + (len(CASE.begins) - 1) * (13 + 2 * CASE.size[1])
    kernels.decode_best(CASE.tables, tuple(batch), LIMITS, 1, np.zeros(size, np.int64), 1, END)
