"""The best labelling of a sequence under rules and features, by looking at all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from formulations import Trellis
from stress.statements import Statement, overruled


@dataclass(frozen=True)
class Scored:
    """A trellis, and what each step of a labelling adds: step(labels before, next label), None where it is forbidden."""

    trellis: Trellis
    step: Callable[[tuple[int, ...], int], int | None]

    def labellings(self) -> list[tuple[int, tuple[int, ...]]]:
        """Model scores in grid units, and labellings, ascending."""
        result: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        for _ in range(len(self.trellis)):
            result = [
                (units + more, (*y, j))
                for units, y in result
                for j in range(len(self.trellis.labels))
                if (more := self.step(y, j)) is not None
            ]
        return result


@dataclass(frozen=True)
class Optimum:
    """The first of the best labellings by brute force; units None where there is none."""

    units: int | None
    labelling: tuple[int, ...] = ()
    model: int = 0
    features: int = 0
    penalty: int = 0
    violations: tuple[int, ...] = ()


def optimum(sequence: Scored, statements: Sequence[Statement]) -> Optimum:
    """All labellings, best first before penalties, until none can be better."""
    names, tokens = sequence.trellis.labels.names, sequence.trellis.tokens
    features = [s for s in statements if s.weight]
    rules = [s for s in statements if not s.weight]
    hard_first = sorted(rules, key=lambda rule: rule.penalty is not None)
    lost = overruled(rules, names, tokens)
    scored = []
    for model, y in sequence.labellings():
        named = tuple(names[k] for k in y)
        extra = sum(s.weight * s.violations(named, tokens) for s in features)
        scored.append((-model - extra, y, named, model, extra))
    best: Optimum | None = None
    for minus, y, named, model, extra in sorted(scored, key=lambda entry: entry[:2]):
        if best is not None and best.units is not None and -minus < best.units:
            break
        cost: int | None = 0
        for rule in hard_first:
            broken = rule.violations(named, tokens, lost.get(id(rule), ()))
            if broken and rule.penalty is None:
                cost = None
                break
            cost = (cost or 0) + broken * (rule.penalty or 0)
        if cost is None:
            continue
        if best is None or best.units is None or (-(-minus - cost), y) < (-best.units, best.labelling):
            counts = tuple(rule.violations(named, tokens, lost.get(id(rule), ())) for rule in rules)
            best = Optimum(-minus - cost, y, model, extra, cost, counts)
    return best or Optimum(None)


def ranking(sequence: Scored, statements: Sequence[Statement]) -> list[tuple[int, tuple[int, ...]]]:
    """Grid scores of all labellings, best first, equal ones by label ids."""
    names, tokens = sequence.trellis.labels.names, sequence.trellis.tokens
    lost, result = overruled([s for s in statements if not s.weight], names, tokens), []
    for model, y in sequence.labellings():
        named, units, kept = tuple(names[k] for k in y), model, True
        for statement in statements:
            broken = statement.violations(named, tokens, lost.get(id(statement), ()))
            if statement.weight:
                units += statement.weight * broken
            elif statement.penalty is None:
                kept &= not broken
            else:
                units -= statement.penalty * broken
        if kept:
            result.append((units, y))
    return sorted(result, key=lambda entry: (-entry[0], entry[1]))
