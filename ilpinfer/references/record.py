"""The record of a reference."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from formulations import Trellis
from formulations.errors import InferenceError
from formulations.grid import UNITS_PER_NAT
from formulations.labels.label_set import LabelSet
from ilpinfer.checker import FORMAT, LARGEST, Wrong, whole
from ilpinfer.references.tables import lattice_of


class InvalidReference(InferenceError, ValueError):
    """A reference that cannot be made, or what should be one and is not."""


@dataclass(frozen=True)
class Level:
    """Labellings of equal score, and the proof that none but those of earlier levels is worth more.

    Parameters
    ----------
    score : grid units; None where there is no other labelling
    labellings : label ids (T,) of each; all there are, where another level follows
    proof : `steps` that its check takes, and `tree`
    """

    score: int | None
    labellings: tuple[tuple[int, ...], ...]
    proof: Mapping[str, Any] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "score": self.score,
            "labellings": [list(p) for p in self.labellings],
            "proof": dict(self.proof),
        }


@dataclass(frozen=True)
class Reference:
    """Scores, rules, the best labellings and the proof of that.

    Parameters
    ----------
    name : what it is called
    labels, scheme : names of K labels, and how they are written
    tokens : T texts
    rules : the rules as TOML text
    model : scores as the model gives them, `node`, `pool` and `step` in grid units; None where they are those of the tables
    tables : scores with all that folds, and the other rules as automata; see the JSON Schema
    levels : the optima, then labellings of lower scores; a last level without labellings says that there are no more
    digest : of trellis and rules
    made : versions of what made it
    """

    name: str
    labels: tuple[str, ...] = field(repr=False)
    scheme: str = field(repr=False)
    tokens: tuple[str, ...] = field(repr=False)
    rules: str = field(repr=False)
    model: Mapping[str, Any] | None = field(repr=False)
    tables: Mapping[str, Any] = field(repr=False)
    levels: tuple[Level, ...] = field(repr=False)
    digest: str = field(repr=False)
    made: Mapping[str, str] = field(repr=False)

    @property
    def status(self) -> str:
        """ "optimal" or "infeasible"."""
        return "infeasible" if self.levels[0].score is None else "optimal"

    @property
    def score(self) -> float | None:
        """The optimum, nats; None where no labelling is feasible."""
        return _nats(self.levels[0].score)

    @property
    def optima(self) -> tuple[tuple[int, ...], ...]:
        """Label ids (T,) of the listed optima."""
        return self.levels[0].labellings

    @property
    def complete(self) -> bool:
        """Whether there are no other optima."""
        return len(self.levels) > 1 or self.levels[0].score is None

    @property
    def next_score(self) -> float | None:
        """The best score below the optimum, nats; None where no labelling has one, or where that is not known."""
        return _nats(self.levels[1].score) if len(self.levels) > 1 else None

    @property
    def margin(self) -> float | None:
        """How much the optimum is above the next best score, nats; None where there is none."""
        best, following = self.score, self.next_score
        return None if best is None or following is None else best - following

    @cached_property
    def trellis(self) -> Trellis:
        """The scores with labels and tokens; ValueError where they make no trellis."""
        lattice = lattice_of(self.tables if self.model is None else self.model, len(self.labels))
        return Trellis._from(lattice, LabelSet(self.labels, self.scheme), self.tokens, self.scheme)

    def named(self, labelling: tuple[int, ...]) -> list[str]:
        """The names of label ids."""
        return [self.labels[k] for k in labelling]

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "format": FORMAT,
            "name": self.name,
            "status": self.status,
            "labels": list(self.labels),
            "scheme": self.scheme,
            "tokens": list(self.tokens),
            "rules": self.rules,
            "model": self.model,
            "tables": self.tables,
            "levels": [level.to_dict() for level in self.levels],
            "digest": self.digest,
            "made": dict(self.made),
        }

    @classmethod
    def from_dict(cls, record: Any) -> Self:
        """The reference of plain values, as far as its form goes; `verify` checks what they say.

        Raises
        ------
        InvalidReference
            for values of another form.
        """
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise InvalidReference(f'no reference: its "format" is not {FORMAT!r}')
        for name, kind in _KINDS.items():
            if not isinstance(record.get(name), kind):
                raise InvalidReference(
                    f'no reference: "{name}" is missing, or of another type than it should have'
                )
        for name in ("labels", "tokens"):
            if not all(isinstance(text, str) for text in record[name]):
                raise InvalidReference(f'no reference: "{name}" holds something that is no text')
        shape, last = (None, len(record["tokens"])), len(record["labels"]) - 1
        try:
            levels = tuple(
                Level(
                    whole(each["score"], (), -LARGEST, LARGEST, None),
                    tuple(map(tuple, whole(each["labellings"], shape, 0, last))),
                    each["proof"],
                )
                for each in record["levels"]
            )
        except (TypeError, KeyError, Wrong) as error:
            raise InvalidReference(f'no reference: "levels": {error}') from None
        status = "optimal" if levels and levels[0].score is not None else "infeasible"
        if not levels or record["status"] != status:
            raise InvalidReference(f'no reference: "levels" is empty, or "status" is not {status!r}')
        given = {name: record[name] for name in _KINDS if name != "status"} | {"levels": levels}
        given |= {name: tuple(record[name]) for name in ("labels", "tokens")}
        return cls(**given)


_KINDS: Mapping[str, Any] = {
    "name": str,
    "status": str,
    "labels": list,
    "scheme": str,
    "tokens": list,
    "rules": str,
    "model": dict | None,
    "tables": dict,
    "levels": list,
    "digest": str,
    "made": dict,
}


def _nats(units: int | None) -> float | None:
    return None if units is None else units / UNITS_PER_NAT
