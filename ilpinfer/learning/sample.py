"""Labelled sequences to mine, with data that several families of rules share."""

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np

from formulations.constraints.template import Template
from formulations.dtypes import Booleans, Integers
from ilpinfer.learning.evidence import Thresholds
from ilpinfer.learning.labellings import Labellings
from ilpinfer.learning.word_families import WordMiner


@dataclass(frozen=True)
class Candidate:
    """A statement that may become a rule."""

    statement: Template
    family: str
    base: float


@dataclass(frozen=True, eq=False)
class Sample:
    """Labelled sequences to mine."""

    table: Labellings
    fold: Integers  # (M,)
    thresholds: Thresholds

    @cached_property
    def names(self) -> list[str]:
        """The fields that occur but `O`, sorted."""
        fields = sorted(field.name for field in self.table.labels.each_field)
        return [name for name in fields if self.table.field(name).present.any()]

    @cached_property
    def nested(self) -> bool:
        """Whether fields may contain each other."""
        return self.table.labels.scheme == "paths"

    @cached_property
    def words(self) -> WordMiner:
        """Search for words that indicate a field."""
        return WordMiner(self.table, self.fold, self.names, self.thresholds)

    def related(self, a: str, b: str) -> bool:
        """Whether two fields are the same, or one is a part of the other."""
        return a == b or (self.nested and (a.startswith(b + "/") or b.startswith(a + "/")))

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Ordered pairs of unrelated fields."""
        return [(a, b) for a, b in permutations(self.names, 2) if not self.related(a, b)]

    @cached_property
    def runs(self) -> tuple[Integers, Integers, Integers, Integers]:
        """The field, sequence, first and last token of the runs of all fields."""
        tables = [self.table.field(name) for name in self.names]
        owner = np.repeat(np.arange(len(tables)), [len(t.start) for t in tables])
        columns = [(t.run_sequence, t.start, t.end) for t in tables]
        sequence, start, end = (np.concatenate(column) for column in zip(*columns, strict=True))
        return owner, sequence, start, end

    def of_others(self, name: str) -> Booleans:
        """Which of all runs belong to fields that are unrelated to this one."""
        others = np.array([not self.related(name, other) for other in self.names])
        result: Booleans = others[self.runs[0]]
        return result
