"""Rules that are any Python function of a labelling."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

from formulations.arguments import function as checked_function
from formulations.arguments import real, text
from formulations.grid import HARD, snap_weight
from formulations.messages import brief

Count = Callable[[list[str], tuple[str, ...]], int]
"""A function of T label names and T texts that returns a number of violations."""


@dataclass(frozen=True)
class Predicate:
    """A rule whose violations a Python function counts (Chang, Ratinov and Roth 2007, section 7).

    Parameters
    ----------
    function : callable
        Function of T label names and T texts that returns the number of violations, a whole number from 0.
    penalty : float, default inf
        Cost of a violation, nats; positive. inf makes the rule hard.
    name : str, optional
        Name in `violations` and messages; that of the function if not given.

    Raises
    ------
    ValueError
        For an object that is no function, and for a penalty that is not positive or rounds to 0.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> rule = C.predicate(lambda labels, tokens: labels.count("a") % 2, penalty=2.0, name="even")
    >>> rule.violations(["a", "b"], ["x", "y"])
    1
    """

    function: Count = field(repr=False)
    penalty: float = math.inf
    name: str = ""

    def __post_init__(self) -> None:
        checked_function(self.function, "function", "of label names and texts")
        own = getattr(self.function, "__name__", "")
        name = text(self.name, "name") or ("predicate" if own in ("", "<lambda>") else own)
        object.__setattr__(self, "name", name)
        if not real(self.penalty) or not self.penalty > 0:
            raise ValueError(
                f"predicate {name!r}: penalty is {brief(self.penalty)}; expected nats above 0, or inf for a hard rule"
            )
        snap_weight(self.penalty, f"predicate {name!r}: penalty", allow_inf=True)

    @property
    def units(self) -> int:
        """The penalty on the score grid; `HARD` for a hard rule."""
        return snap_weight(self.penalty, "penalty", allow_inf=True)

    def violations(self, labels: Sequence[str], tokens: Sequence[str]) -> int:
        """The number of violations of a labelling.

        Parameters
        ----------
        labels, tokens : sequence of str
            T label names and T texts.

        Returns
        -------
        int
            What the function returns.

        Raises
        ------
        ValueError
            If that is no whole number from 0.
        """
        count: Any = self.function(list(labels), tuple(tokens))
        if isinstance(count, bool) or not isinstance(count, Integral) or count < 0:
            raise ValueError(
                f"predicate {self.name!r} returned {brief(count)}; expected a number of violations, 0 where the rule holds"
            )
        return int(count)


def predicate(function: Count, *, penalty: float = math.inf, name: str = "") -> Predicate:
    """A rule whose violations a Python function counts; `ilpinfer.decode` and `ilpinfer.verify` take it.

    Parameters
    ----------
    function : callable
        Function of T label names and T texts that returns the number of violations, a whole number from 0.
    penalty : float, default inf
        Cost of a violation, nats; positive. inf makes the rule hard.
    name : str, optional
        Name in `violations` and messages; that of the function if not given.

    Returns
    -------
    Predicate
        The rule.

    Raises
    ------
    ValueError
        As for `Predicate`.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.predicate(lambda labels, tokens: labels.count("a") % 2, name="even")
    Predicate(penalty=inf, name='even')
    """
    return Predicate(function, penalty, name)


def divided(rules: Any) -> tuple[tuple[Predicate, ...], Any]:
    """The predicates of a list of rules, and the other rules; ValueError where names repeat."""
    if not isinstance(rules, list | tuple) or not any(isinstance(each, Predicate) for each in rules):
        return (), rules
    predicates = tuple(each for each in rules if isinstance(each, Predicate))
    names = [each.name for each in predicates]
    repeated = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if repeated is not None:
        raise ValueError(f"two predicates are named {repeated!r}: names must differ")
    return predicates, [each for each in rules if not isinstance(each, Predicate)]


def cost_of(counts: dict[str, int], predicates: Sequence[Predicate]) -> int:
    """The cost of violations by name in grid units; `HARD` where a hard predicate is broken."""
    broken = [each for each in predicates if counts[each.name]]
    if any(each.units == HARD for each in broken):
        return HARD
    return sum(each.units * counts[each.name] for each in broken)
