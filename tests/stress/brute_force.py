"""The best labellings of a sequence under rules and features, by looking at all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from support import oracles
from support.oracles import Labelling
from support.strategies import Instance

from stress.statements import Statement, overruled


@dataclass(frozen=True)
class Optimum:
    """The first of the best labellings; units None where there is none."""

    units: int | None
    labelling: Labelling = ()
    model: int = 0
    features: int = 0
    penalty: int = 0
    violations: tuple[int, ...] = ()


@dataclass(frozen=True)
class Stated:
    """A sequence under rules and features; scores and costs are grid units."""

    instance: Instance
    statements: Sequence[Statement]

    @cached_property
    def rules(self) -> list[Statement]:
        return [s for s in self.statements if not s.weight]

    @cached_property
    def lost(self) -> dict[int, list[int]]:
        return overruled(self.rules, self.instance.trellis.labels.names, self.instance.trellis.tokens)

    def counted(self, statement: Statement, y: Labelling) -> int:
        names, tokens = tuple(self.instance.names(y)), self.instance.trellis.tokens
        return statement.violations(names, tokens, self.lost.get(id(statement), ()))

    def features(self, y: Labelling) -> int:
        return sum(s.weight * self.counted(s, y) for s in self.statements if s.weight)

    def units(self, y: Labelling) -> int | None:
        model = self.instance.units(y)
        return None if model is None else model + self.features(y)

    def cost(self, y: Labelling) -> int | None:
        """None where a hard rule is broken."""
        cost = 0
        for rule in self.rules:
            if count := self.counted(rule, y):
                if rule.penalty is None:
                    return None
                cost += count * rule.penalty
        return cost

    def ranking(self) -> Iterator[tuple[int, Labelling]]:
        """Grid scores and labellings, best first, equal ones by label ids."""
        return oracles.ranked(*self.instance.shape, self.units, self.cost)

    def optimum(self) -> Optimum:
        for units, y in self.ranking():
            model, counts = self.instance.units(y) or 0, tuple(self.counted(rule, y) for rule in self.rules)
            return Optimum(units, y, model, self.features(y), self.cost(y) or 0, counts)
        return Optimum(None)
