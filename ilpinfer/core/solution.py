"""The record that every method returns."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from formulations.arguments import flag, whole
from formulations.grid import nats
from formulations.messages import counted
from formulations.plain_values import plain, read_values
from formulations.problem.known_labels import Known, plain_given
from ilpinfer.core.certificate import NONE, Certificate
from ilpinfer.core.context import Context
from ilpinfer.core.incumbents import Improvement, Incumbent
from ilpinfer.core.infeasibility import Infeasibility
from ilpinfer.core.printing import broken_rules, in_runs, short
from ilpinfer.core.solution_fields import LARGEST_FILE, solution_fields, write_values
from ilpinfer.core.status import Status

if TYPE_CHECKING:
    from ilpinfer.core.explanation import Changes, Explanation

LATER = ("violations", "certificate", "overruled", "context", "given")
"""Fields that are computed from the record of a call when they are first read."""


@dataclass(frozen=True, eq=False)
class Solution:
    """A labelling with its score and the proof of its bound. Scores are in nats, times in seconds.

    With compiled rules, violations and certificate are computed from the numbers of the kernels at first access.

    Parameters
    ----------
    status : Status
        "optimal", "feasible", "infeasible" or "unknown"; see `Status`.
    score : float
        Score `model_score + feature_score - penalty`, recomputed from the labelling; -inf if there is no
        labelling, or if it breaks a hard rule.
    model_score, feature_score, penalty : float
        Parts of the score.
    violations : dict of str to int
        Number of violations of each rule, zeros included.
    bound : float
        Proved upper bound on the score of every labelling.
    method : str
        Name of the method, with the step that found the labelling.
    certificate : Certificate, optional
        Proof of the bound.
    seconds : float, optional
        Wall time, formulation included.
    reason : str, optional
        Reason why there is no labelling, if it is known.
    path : NDArray[np.int64] or None, optional
        (T,) label ids, None if there is no labelling; read `ids` instead.
    names : tuple of str, optional
        K label names.
    infeasibility : Infeasibility, optional
        Rules that contradict each other, and the cheapest way to resolve that, if no labelling is feasible.
    overruled : dict of str to list of int, optional
        The tokens at which an earlier rule has priority, for each token rule with such tokens.
    context : Context or None, optional
        Trellis, rules and options of the call.
    improvements : tuple of Improvement, optional
        Incumbents of the method in order, if it records them; see `incumbents`.
    stages : tuple of (str, float), optional
        Stages of `auto` that followed compiled rules, with their seconds; the last one ended the search.
    error : str, optional
        Type of the error that ended the method, if errors are reported as solutions.
    given : dict of int to str or tuple of str, optional
        Known labels by position, or the labels that a token may have; the scores include them. See `Trellis.with_given`.

    Examples
    --------
    >>> import ilpinfer
    >>> from ilpinfer import Trellis
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> solution = ilpinfer.decode(trellis)
    >>> solution.labels, solution.score, solution.bound, solution.gap, solution.certificate.kind
    (['a', 'a'], 0.0, 0.0, 0.0, 'exact')
    """

    status: Status
    score: float
    model_score: float
    feature_score: float
    penalty: float
    violations: dict[str, int]
    bound: float
    method: str
    certificate: Certificate = field(default_factory=lambda: NONE)
    seconds: float = field(default_factory=lambda: 0.0)
    reason: str = ""
    path: NDArray[np.int64] | None = field(default_factory=lambda: None, repr=False)
    names: tuple[str, ...] = field(default_factory=tuple, repr=False)
    infeasibility: Infeasibility | None = None
    overruled: dict[str, list[int]] = field(default_factory=dict)
    context: Context | None = field(default_factory=lambda: None, repr=False, compare=False)
    improvements: tuple[Improvement, ...] = field(default=(), repr=False, compare=False)
    stages: tuple[tuple[str, float], ...] = field(default=(), compare=False)
    error: str = ""
    given: dict[int, Known] = field(default_factory=dict)
    FURTHER: ClassVar[Mapping[str, Callable[[Any, str], Any]]] = {}
    """How further fields of a subclass are read from plain values."""

    @classmethod
    def _of(cls, known: dict[str, Any]) -> Self:
        """A solution that keeps the given dict: fields, and `_call`, a record and a number from which it computes the fields of `LATER` when first read."""
        made = cls.__new__(cls)
        object.__setattr__(made, "__dict__", known)
        return made

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """A field of `LATER`; two threads that read it at the same time get equal values."""
            call = self.__dict__.get("_call")
            if call is None or name not in LATER:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            value = self.__dict__[name] = getattr(call[0], name)(*call[1:])
            return value

    def __getstate__(self) -> dict[str, Any]:
        later = {name: getattr(self, name) for name in LATER}
        return {name: value for name, value in {**self.__dict__, **later}.items() if name != "_call"}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Solution) or type(self) is not type(other):
            return NotImplemented
        apart = ("path", "names")
        compared = [each.name for each in fields(self) if each.compare and each.name not in apart]
        same = all(getattr(self, name) == getattr(other, name) for name in compared)
        mine, theirs = (
            None if each.path is None else (each.path.tolist(), each.labels) for each in (self, other)
        )
        return same and mine == theirs

    def __repr__(self) -> str:
        size = f"{counted(len(self.path), 'token')}" if self.path is not None else "no labelling"
        return (
            f"{type(self).__name__}({self.status}, score={self.score:.10g}, bound={self.bound:.10g}, {size})"
        )

    def __str__(self) -> str:
        return short(self._lines())

    def _lines(self) -> list[str]:
        """Status and score, labels, broken rules, and the method."""
        proof = {"exact": ", with proof", "solver": ", claimed by a solver"}.get(self.certificate.kind, "")
        by = f"by {self.method} in {self.seconds:.3g} s"
        if self.path is None:
            return [f"{self.status}{proof}: no labelling", *([self.reason] if self.reason else []), by]
        score = f"score {self.score:.6g} nats, bound {self.bound:.6g}, gap {self.gap:.6g}"
        labels = f"{counted(len(self.path), 'label')}: {in_runs(self.labels)}"
        return [f"{self.status}{proof}: {score}", labels, broken_rules(self.violations), by]

    @property
    def has_labelling(self) -> bool:
        """Whether there is a labelling."""
        return self.path is not None

    @property
    def ids(self) -> NDArray[np.int64]:
        """Label ids (T,).

        Raises
        ------
        ValueError
            If there is no labelling.
        """
        if self.path is None:
            raise ValueError(f"no labelling: {self.status}{f' ({self.reason})' if self.reason else ''}")
        return self.path

    @property
    def labels(self) -> list[str]:
        """Label names, T of them; ValueError if there is no labelling."""
        names = self.names
        return [names[k] for k in self.ids.tolist()]

    @property
    def gap(self) -> float:
        """bound - score in nats: 0 when optimal or infeasible, inf when nothing feasible was found."""
        if self.status in (Status.OPTIMAL, Status.INFEASIBLE):
            return 0.0
        return self.bound - self.score if math.isfinite(self.score) else math.inf

    @cached_property
    def incumbents(self) -> tuple[Incumbent, ...]:
        """Seconds, score and violations of every labelling that was the best so far; the last one is the solution.

        Methods that do not record incumbents have only that one; () if there is no labelling. The violations are
        computed at first access.

        Raises
        ------
        ValueError
            If there are incumbents, but trellis and rules are no longer known.
        """
        if not self.has_labelling:
            return ()
        reached = [p.seconds for p in self.improvements if nats(p.value) == self.score]
        last = Incumbent(min(reached, default=self.seconds), self.score, self.violations)
        before = [p for p in self.improvements if nats(p.value) < self.score]
        if not before:
            return (last,)
        if self.context is None:
            raise ValueError("only incumbents of a solution that was decoded here can be valued")
        problem = self.context.problem
        values = [(p.seconds, problem.value(p.path)) for p in before]
        return (*(Incumbent(at, nats(value.score), value.violations) for at, value in values), last)

    @overload
    def explain(self) -> "Explanation": ...

    @overload
    def explain(self, token: int | None = None, *, change: Literal[True]) -> "Changes": ...

    @overload
    def explain(self, token: int | None = None, change: bool = False) -> "Explanation | Changes": ...

    def explain(self, token: int | None = None, change: bool = False) -> "Explanation | Changes":
        """Why the labelling is as it is: the broken rules, or the labels that are not Viterbi's.

        If no labelling is feasible, the rules that contradict each other. A search has the time limit of the call, or
        10 s without one; to explain a label that is not Viterbi's takes at most three decodings with that limit.

        Parameters
        ----------
        token : int, optional
            Position of a token: why its label is not the label by Viterbi's algorithm, which follows the scores
            alone. The answer is about the run of changed labels that holds the token. It has the best labelling with
            Viterbi's labels there, or with any other label where the label is Viterbi's.
        change : bool, default False
            Whether to explain every run of labels that are not Viterbi's.

        Returns
        -------
        Explanation or Changes
            Broken rules with their places and costs, and the best labelling without each of them; with a
            token or `change`, the changes. Both have a text for readers.

        Raises
        ------
        ValueError
            If no labelling was found in time, for a position without a token, and for a solution that was read
            from a file or is of nested spans.

        Examples
        --------
        >>> import ilpinfer
        >>> from ilpinfer import Trellis, constraints as C
        >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
        >>> print(ilpinfer.decode(trellis, [C.starts_with("b", name="first")]).explain(token=0))
        tokens 0, 1: b, where Viterbi has a
          a there, with all other labels as they are, breaks "first" (1 more)
          no labelling with a there keeps the hard rules; one that keeps the others breaks "first" (1 more): 0 [a]; 1 [a]
        """
        from ilpinfer.core.explanation import Changes, Explanation, explain

        if self.status is Status.INFEASIBLE:
            known = self.infeasibility
            if self.context is not None:
                known = self.context.questions.conflict(self.context, known)
            if known is not None:
                return Explanation((), {}, known)
        ids, labels = self.ids, self.labels
        if self.context is None:
            raise ValueError(
                "solutions from files and of nested spans have no trellis by which they are explained; decode the sequence"
            )
        if token is None and not flag(change, "change"):
            return explain(labels, self.score, self.violations, self.context)
        at = None if token is None else whole(token, "token", 0, len(labels) - 1)
        return Changes(self.context.questions.changes(self.context, ids, at))

    def to_dict(self, *, incumbents: bool = False, certificate: bool = True) -> dict[str, Any]:
        """Every field as plain values; numbers that are not finite become None, as strict JSON requires.

        Parameters
        ----------
        incumbents : bool, default False
            Whether to include the incumbents.
        certificate : bool, default True
            Whether to include the certificate.

        Returns
        -------
        dict of str to object
            Values for JSON.
        """
        names, ids = self.names, None if self.path is None else self.path.tolist()
        return {
            "status": str(self.status),
            "labels": None if ids is None else [names[k] for k in ids],
            "ids": ids,
            "score": finite(self.score),
            "model_score": finite(self.model_score),
            "feature_score": finite(self.feature_score),
            "penalty": finite(self.penalty),
            "violations": self.violations,
            "bound": finite(self.bound),
            "gap": finite(self.gap),
            **({"certificate": self.certificate.to_dict()} if certificate else {}),
            "method": self.method,
            "seconds": self.seconds,
            "reason": self.reason,
            **({"error": self.error} if self.error else {}),
            **({"given": plain_given(self.given)} if self.given else {}),
            **({"infeasibility": self.infeasibility.to_dict()} if self.infeasibility else {}),
            **({"overruled": self.overruled} if self.overruled else {}),
            **({"incumbents": [i.to_dict() for i in self.incumbents]} if incumbents else {}),
            **{name: plain(getattr(self, name)) for name in self.FURTHER},
        }

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """The solution of the values that `to_dict` returns, or of a row of `ilpinfer decode`.

        It is equal to the original, and `ilpinfer.verify` gives the same verdict on it. Its `names` contain the labels that the
        labelling uses, and empty texts for all others. It cannot be explained, as it has neither rules nor scores.

        Parameters
        ----------
        values : object
            A dictionary as `to_dict` returns it.

        Returns
        -------
        Solution
            The solution.

        Raises
        ------
        ValueError
            For keys that are missing or unknown, values of another type, an unknown status, and values that
            contradict each other. Claims are checked only by `ilpinfer.verify`.
        """
        given, incumbents = solution_fields(values, cls.FURTHER)
        result = cls(**given)
        gap = finite(result.gap)
        if gap is not values["gap"] and not (isinstance(values["gap"], Real) and gap == values["gap"]):
            raise ValueError(
                f"gap is {values['gap']!r}, where bound and score make it {finite(result.gap)!r}"
            )
        if incumbents is not None:
            result.__dict__["incumbents"] = incumbents
        return result

    def save(self, path: str | Path) -> None:
        """Write the solution, with incumbents and all label names, as a `.json` or `.json.gz` file.

        The file appears under its name only when it is complete.

        Parameters
        ----------
        path : str or Path
            A path that ends in `.json` or `.json.gz`.

        Raises
        ------
        ValueError
            For another suffix, and a place that cannot be written to.
        """
        values = {**self.to_dict(incumbents=True), "label_names": list(self.names)}
        write_values(path, values)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a solution that `save` has written, or a row of `ilpinfer decode` in a file of its own.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Solution
            The solution; see `from_dict`.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            For a file that is not a solution; the message names file, place and value.
        """
        return read_values(path, LARGEST_FILE, cls.from_dict)


def finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
