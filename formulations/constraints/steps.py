"""Symbol tables that templates share: members, run begins, and either of them at some tokens only."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from formulations.compiled.lattice import StepTable
from formulations.labels import EACH_FIELD, Field, LabelSet, Selector

Booleans = NDArray[np.bool_]


def expand(labels: LabelSet, selector: Selector) -> Iterable[Field]:
    """The field that a selector names, or every field but `O` for EACH_FIELD."""
    return labels.each_field if selector == EACH_FIELD else (labels.field(selector),)


def members(field: Field, length: int) -> StepTable:
    """1 at tokens of the field."""
    return everywhere(field.member[None, :], length)


def begins(field: Field, length: int) -> StepTable:
    """1 where a run of the field begins."""
    return everywhere(field.begins, length)


def everywhere(table: Booleans, length: int) -> StepTable:
    """The same table (K+1, K) or (1, K) at every token."""
    return StepTable(table.astype(np.int64)[None], np.zeros(length, np.int64))


def only_at(table: Booleans, where: Booleans) -> StepTable:
    """The table at the tokens (T,) where `where` holds, 0 elsewhere."""
    values = np.stack([np.zeros_like(table), table]).astype(np.int64)
    return StepTable(values, where.astype(np.int64))
