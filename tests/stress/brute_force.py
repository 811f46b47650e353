"""The best labelling of a sequence under rules and features, by looking at all of them."""

from collections.abc import Callable, Iterator, Sequence
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


def tried(sequence: Scored, statements: Sequence[Statement]) -> Iterator[tuple[int, Optimum]]:
    """What each labelling that keeps the hard rules is worth, after what it is worth without penalties, best first by that."""
    names, tokens = sequence.trellis.labels.names, sequence.trellis.tokens
    features = [s for s in statements if s.weight]
    rules = [s for s in statements if not s.weight]
    lost, scored = overruled(rules, names, tokens), []
    for model, y in sequence.labellings():
        named = tuple(names[k] for k in y)
        extra = sum(s.weight * s.violations(named, tokens) for s in features)
        scored.append((-model - extra, y, named, model, extra))
    for minus, y, named, model, extra in sorted(scored, key=lambda entry: entry[:2]):
        cost, counts = 0, []
        for rule in rules:
            counts.append(rule.violations(named, tokens, lost.get(id(rule), ())))
            if counts[-1] and rule.penalty is None:
                break
            cost += counts[-1] * (rule.penalty or 0)
        else:
            yield -minus, Optimum(-minus - cost, y, model, extra, cost, tuple(counts))


def optimum(sequence: Scored, statements: Sequence[Statement]) -> Optimum:
    """Until none can be better."""
    best: Optimum | None = None
    for most, one in tried(sequence, statements):
        if best is not None and most < best.units:
            break
        if best is None or (-one.units, one.labelling) < (-best.units, best.labelling):
            best = one
    return best or Optimum(None)


def ranking(sequence: Scored, statements: Sequence[Statement]) -> list[tuple[int, tuple[int, ...]]]:
    """Grid scores of all labellings, best first, equal ones by label ids."""
    result = [(one.units, one.labelling) for _, one in tried(sequence, statements)]
    return sorted(result, key=lambda entry: (-entry[0], entry[1]))
