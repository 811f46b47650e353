"""Tables by kinds of rows and columns are the arrays that they stand for."""

import numpy as np
import pytest

from formulations import LabelSet, blocks
from formulations.blocks import Blocks

SCHEMES = {
    "plain": ("a", "b", "O"),
    "bio": ("B-x", "I-x", "O", "I-y", "B-z"),
    "iob1": ("B-x", "I-x", "O", "I-y", "B-z"),
    "iobes": ("B-x", "E-x", "S-x", "I-y", "O"),
    "bilou": ("U-x", "B-y", "L-y", "O"),
    "paths": ("O", "B-x", "I-x/B-y", "I-x/I-y", "B-z/B-y"),
}


def table(rng, N, M):
    cells = rng.integers(-2, 3, (3, 4))
    rows, columns = rng.permutation(np.arange(N) % 3), rng.permutation(np.arange(M) % 4)
    return Blocks(cells, rows, columns)


def test_operators_are_those_of_arrays():
    rng = np.random.default_rng(0)
    one, other, row, column = (
        table(rng, 7, 6),
        table(rng, 7, 6),
        rng.integers(0, 3, 6),
        rng.integers(0, 2, (7, 1)),
    )
    array, second = np.asarray(one), np.asarray(other)
    pairs = [
        (one + other, array + second),
        (one * row, array * row),
        (row[None, :] - one, row[None, :] - array),
        ((one > 0) & ~(other > 1) | (column > 0), (array > 0) & ~(second > 1) | (column > 0)),
        (one.astype(np.int64) << 2, array.astype(np.int64) << 2),
        (one[None] + 1, array[None] + 1),
        (blocks.mapped(np.array([5, 6, 7, 8, 9]).__getitem__, one), np.array([5, 6, 7, 8, 9])[array]),
        (blocks.stacked([one, other, row[None, :]]), np.stack([array, second, np.tile(row, (7, 1))])),
    ]
    for got, expected in pairs:
        assert isinstance(got, Blocks) and got.shape == expected.shape and got.dtype == expected.dtype
        assert np.array_equal(got, expected)
        assert (got.min(), got.max(), got.any()) == (expected.min(), expected.max(), expected.any())
    dense = rng.integers(0, 3, (7, 6))
    assert isinstance(one + dense, np.ndarray) and np.array_equal(one + dense, array + dense)


def test_entries_are_those_of_arrays():
    rng = np.random.default_rng(1)
    one = blocks.stacked([table(rng, 7, 6), table(rng, 7, 6)])
    array, which, before, label = np.asarray(one), *rng.integers(0, (2, 7, 6), (9, 3)).T
    assert np.array_equal(one[which, before, label], array[which, before, label])
    assert np.array_equal(one[1], array[1]) and np.array_equal(one[1:, 2], array[1:, 2])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_fields_of_many_labels_are_those_of_few(scheme, monkeypatch):
    few = LabelSet(SCHEMES[scheme], scheme).fields
    monkeypatch.setattr(blocks, "LARGE", 0)
    many = LabelSet(SCHEMES[scheme], scheme).fields
    assert list(few) == list(many)
    for name, field in few.items():
        assert isinstance(many[name].begins, Blocks)
        assert np.array_equal(field.begins, many[name].begins) and np.array_equal(
            field.member, many[name].member
        )
