"""Reports on infeasibility: a conflict of rules, and a cheapest relaxation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from formulations.plain_values import PlainRecord


@dataclass(frozen=True)
class Clash:
    """A rule of a conflict, and the tokens at which it takes part in it; none for a rule about the sequence as a whole."""

    rule: str
    tokens: tuple[int, ...] = ()

    def words(self, texts: Sequence[str]) -> str:
        """`"years are dates" at token 3 (1999)`."""
        return f'"{self.rule}"{tokens_text(self.tokens, texts)}'


@dataclass(frozen=True)
class Infeasibility(PlainRecord):
    """A conflict and a relaxation where no labelling is feasible."""

    conflict: tuple[Clash, ...] = ()  # rules that cannot hold together, unless one of them is left out
    relaxation: dict[str, int] = field(default_factory=dict)  # fewest violations of hard rules to allow
    labels: tuple[str, ...] | None = None  # the best labelling that breaks no more, where one was found
    places: dict[str, tuple[int, ...]] = field(default_factory=dict)  # the tokens at which it breaks them
    reason: str = ""  # all of it in a line
    unfinished: tuple[str, ...] = ()  # of these fields, those not proved minimal, fewest or best in time
    TITLE: ClassVar = "infeasibility"

    def __str__(self) -> str:
        return self.reason


def tokens_text(tokens: Sequence[int], texts: Sequence[str] | Mapping[int, str]) -> str:
    """` at tokens 3 (1999), 5`; empty without tokens."""
    if not tokens:
        return ""
    shown = [f"{t} ({texts[t]})" if texts[t] else str(t) for t in tokens[:3]]
    more = f" and {len(tokens) - 3} more" if len(tokens) > 3 else ""
    return f" at token{'s' if len(tokens) > 1 else ''} {', '.join(shown)}{more}"
