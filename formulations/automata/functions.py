"""Rules that a Python function counts: components that nothing but whole labellings and prefixes are known of."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from formulations.dtypes import LabelIds
from formulations.messages import brief

Count = Callable[[list[str], tuple[str, ...]], int]
"""A function of label names and T texts that returns a number of violations: of T labels, or at least of those that begin with these."""
MOST_COUNTED = 100_000
"""The largest number of violations that a function may return."""


@dataclass(frozen=True)
class FunctionCount:
    """A component without a machine, whose violations a function counts; `prefix` bounds those of labellings that begin alike."""

    name: str
    count: Count
    prefix: Count | None
    labels: tuple[str, ...]
    tokens: tuple[str, ...]

    is_local = False
    most = MOST_COUNTED
    machines = None

    def violations(self, path: LabelIds) -> int:
        """The number of violations of a labelling."""
        return counted(self.count, self.name, self._names(path), self.tokens)

    def at_least(self, path: LabelIds) -> int:
        """A lower bound on the violations of every labelling that begins with these labels."""
        if self.prefix is None:
            return 0
        return counted(self.prefix, f"{self.name}, prefix", self._names(path), self.tokens)

    def grown(self, before: int, path: LabelIds) -> int:
        """`at_least` of a prefix, or the violations of a whole labelling; ValueError where they fall below those `before` the last label."""
        whole = len(path) == len(self.tokens)
        now = self.violations(path) if whole else self.at_least(path)
        if now >= before:
            return now
        t = len(path) - 1
        after = "all labels, which the function counts" if whole else f"{t + 1} labels"
        raise ValueError(
            f"predicate {self.name!r}: its prefix function returned {before} after {t} labels, more than the {now} after "
            f"{after} (token {t}, {brief(self.tokens[t])}, label {self.labels[path[t]]}); expected a lower bound that does not fall"
        )

    def _names(self, path: LabelIds) -> list[str]:
        return [self.labels[k] for k in path]


def counted(function: Count, name: str, labels: list[str], tokens: tuple[str, ...]) -> int:
    """What a function returns; ValueError unless it is a whole number in range."""
    count: Any = function(labels, tokens)
    if isinstance(count, bool) or not isinstance(count, Integral) or not 0 <= int(count) <= MOST_COUNTED:
        raise ValueError(
            f"predicate {name!r} returned {brief(count)}; expected a number of violations from 0, where the rule holds, "
            f"to {MOST_COUNTED}"
        )
    return int(count)
