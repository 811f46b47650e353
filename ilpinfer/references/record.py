"""The record of a reference."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Self

from formulations import Trellis, parse_rules
from formulations.errors import InferenceError
from formulations.grid import UNITS_PER_NAT
from formulations.labels.label_set import LabelSet
from formulations.plain_values import PlainRecord, PlainValues
from ilpinfer.checker import FORMAT
from ilpinfer.references.form import check_form
from ilpinfer.references.tables import lattice_of


class InvalidReference(InferenceError, ValueError):
    """Error for a reference that cannot be created, and for a file without a valid reference."""


@dataclass(frozen=True)
class Level(PlainValues):
    """Labellings of equal score, with a proof that all better labellings belong to earlier levels.

    Parameters
    ----------
    score : int or None
        Score in grid units; None if there is no other labelling.
    labellings : tuple of tuple of int
        Label ids (T,) of each labelling. A level lists all labellings of its score, except perhaps the last level.
    proof : mapping of str to object, optional
        Proof `tree`, and the number of `steps` of its check.

    Examples
    --------
    >>> from ilpinfer import references
    >>> references.Level(0, ((0, 1),), {}).labellings
    ((0, 1),)
    """

    score: int | None
    labellings: tuple[tuple[int, ...], ...]
    proof: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Reference(PlainRecord):
    """Scores, rules and the best labellings, with the proof of their optimality.

    Parameters
    ----------
    name : str
        Name of the reference.
    labels, scheme : tuple of str or str, optional
        Names of K labels, and their scheme.
    tokens : tuple of str, optional
        T texts.
    rules : str, optional
        The rules as TOML text.
    model : mapping of str to object or None, optional
        Scores of the model, `node`, `pool` and `step`, in grid units; None if they equal the scores of the tables.
    tables : mapping of str to object, optional
        Scores that include the rules that fold, and automata of the other rules; see the JSON Schema.
    levels : tuple of Level, optional
        The optima, then labellings of lower scores. A last level without labellings states that the list is complete.
    digest : str, optional
        Digest of trellis and rules.
    made : mapping of str to str, optional
        Versions of the programs that made it.

    Examples
    --------
    >>> from ilpinfer import Trellis
    >>> from ilpinfer import references
    >>> reference = references.make(Trellis([0.0, -1.0], [], labels=["a", "b"]), [])
    >>> reference.status, len(reference.tokens)
    ('optimal', 1)
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
        return "optimal" if self.levels and self.levels[0].score is not None else "infeasible"

    @property
    def score(self) -> float | None:
        """The optimum in nats; None if no labelling is feasible."""
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
        """The best score below the optimum in nats; None if there is none, or if it is unknown."""
        return _nats(self.levels[1].score) if len(self.levels) > 1 else None

    @property
    def margin(self) -> float | None:
        """The difference between the optimum and the next best score in nats; None without a next best score."""
        best, following = self.score, self.next_score
        return None if best is None or following is None else best - following

    @cached_property
    def trellis(self) -> Trellis:
        """The scores with labels and tokens; ValueError for an invalid trellis."""
        scores, second = self.tables if self.model is None else self.model, self.tables["second"]
        lattice = lattice_of(scores, len(self.tokens), len(self.labels), second=second)
        never = frozenset(parse_rules(self.rules).never).intersection(self.labels)
        return Trellis._from(lattice, LabelSet(self.labels, self.scheme, never=never), self.tokens, "")

    def named(self, labelling: tuple[int, ...]) -> list[str]:
        """The names of label ids.

        Parameters
        ----------
        labelling : tuple of int
            (T,) label ids.

        Returns
        -------
        list of str
            T label names.
        """
        return [self.labels[k] for k in labelling]

    def to_dict(self) -> dict[str, Any]:
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
    def from_dict(cls, values: Any, what: str = "") -> Self:
        try:
            check_form(values)
        except ValueError as error:
            raise InvalidReference(f"not a reference: {error}") from None
        levels = tuple(
            Level(level["score"], tuple(map(tuple, level["labellings"])), level["proof"])
            for level in values["levels"]
        )
        given = {each.name: values[each.name] for each in fields(cls)} | {"levels": levels}
        given |= {name: tuple(values[name]) for name in ("labels", "tokens")}
        return cls(**given)


def _nats(units: int | None) -> float | None:
    return None if units is None else units / UNITS_PER_NAT
