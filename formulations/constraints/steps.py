"""Symbol tables that templates share: members, run begins, and either of them at some tokens only."""

import numpy as np
from numpy.typing import NDArray

from formulations.compiled.lattice import StepTable
from formulations.labels import Field

Booleans = NDArray[np.bool_]


def members(field: Field, length: int) -> StepTable:
    """1 at tokens of the field."""
    return everywhere(field.member[None, :], length)


def begins(field: Field, length: int) -> StepTable:
    """1 where a run of the field begins."""
    return everywhere(field.begins, length)


def bits(*tables: Booleans) -> Booleans:
    """One symbol for several tables (K+1, K) or (1, K): table i counts 2^i."""
    total = sum(table.astype(np.int64) << i for i, table in enumerate(tables))
    return np.asarray(total)


def between(before: Booleans, after: Booleans) -> Booleans:
    """(K+1, K): steps from a label in `before` (K,) to one in `after` (K,)."""
    return np.concatenate([[False], before])[:, None] & after[None, :]


def everywhere(table: Booleans, length: int) -> StepTable:
    """The same table (K+1, K) or (1, K) at every token."""
    return StepTable(table.astype(np.int64)[None], np.zeros(length, np.int64))


def only_at(table: Booleans, where: Booleans) -> StepTable:
    """The table at the tokens (T,) where `where` holds, 0 elsewhere."""
    values = np.zeros((2, *table.shape), np.int64)
    values[1] = table
    return StepTable(values, where.astype(np.int64))


def choose(tables: list[Booleans], index: NDArray[np.int64]) -> StepTable:
    """At each token (T,) the table that the index names."""
    return StepTable(np.stack(tables).astype(np.int64), index)
