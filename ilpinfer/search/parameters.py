"""Parameters of the searches, with the values of the literature."""

import math
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import Any


class Parameters:
    """Checks that values are what the fields allow."""

    def __post_init__(self) -> None:
        for each in fields(self):  # type: ignore[arg-type]
            each.metadata.get("check", _truth)(getattr(self, each.name), each.name)


def one_of(usual: str, *others: str) -> Any:
    """A parameter with so many values."""

    def check(value: Any, name: str) -> None:
        if value not in (usual, *others):
            raise ValueError(f"{name} is {value!r}; expected one of {', '.join((usual, *others))}")

    return field(default=usual, metadata={"check": check})


def within(usual: float, low: float, high: float) -> Any:
    """A parameter from a number to another, whole where the usual value is."""
    kind, what = (Integral, "a whole number") if isinstance(usual, int) else (Real, "a number")

    def check(value: Any, name: str) -> None:
        if not isinstance(value, kind) or isinstance(value, bool) or not low <= float(value) <= high:
            raise ValueError(f"{name} is {value!r}; expected {what} from {low:g} to {high:g}")

    return field(default=usual, metadata={"check": check})


def _truth(value: Any, name: str) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}; expected true or false")


@dataclass(frozen=True)
class Discrepancy(Parameters):
    """Of limited discrepancy search; the defaults are those of Stokman 2011, Table 6.

    Parameters
    ----------
    variant : "published": prefixes are dropped whose score lies below a floor, α·T·m^i nats in round i, and a labelling
        that is found raises it (section 4.2.2); "admissible": the same distance from the best score without the rules, and
        prefixes are asked for what could still follow, so that nothing better is lost; "textbook": at most i choices that are
        not the best one, and no floor (Harvey and Ginsberg 1995)
    token_multiplier : α, nats a token
    iteration_multiplier : m
    branching, branching_increase : b, how many choices a prefix has in the first round, and δb, how many more in each
    zero : "score": the floor is held against the score itself, as printed; "best": against its distance from the best
        choice at each token, as the prose has it
    keep_going : whether rounds go on to the deadline rather than to the first that finds anything
    """

    variant: str = one_of("published", "admissible", "textbook")
    token_multiplier: float = within(-1.3, -math.inf, 0)
    iteration_multiplier: float = within(1.5, 1, 1e6)
    branching: int = within(3, 1, 1e6)
    branching_increase: int = within(1, 0, 1e6)
    zero: str = one_of("score", "best")
    keep_going: bool = False


@dataclass(frozen=True)
class Evolution(Parameters):
    """Of the evolutionary algorithm; the defaults are those of Stokman 2011, Tables 5 and 6.

    Parameters
    ----------
    population, offspring : μ and λ
    mutation_rate : β, of each offspring
    shift_rate : ω, how often a mutation shifts a border rather than gives a run another label
    selection_pressure : s of the linear ranking (eq. 66), above 1 and up to 2
    start_weight, weight_increase : γs and γδ, nats a hard violation, and more each generation (eq. 67)
    parents : "uniform", drawn at random (Table 5), or "ranked" (the text)
    shift : "backwards" as published, or "both" ways
    start : what the first population is bred from: the "best-first" labelling as published, or "viterbi", the best one
        under the rules on single tokens and steps
    start_mutations : of that labelling, for each individual of the first population but one
    iterations : generations at most; 0 for as many as time allows
    seed : of the random numbers
    """

    population: int = within(30, 1, 100_000)
    offspring: int = within(30, 1, 100_000)
    mutation_rate: float = within(0.25, 0, 1)
    shift_rate: float = within(0.9, 0, 1)
    selection_pressure: float = within(1.5, 1, 2)
    start_weight: float = within(2.0, 0, 1e6)
    weight_increase: float = within(1.0, 0, 1e6)
    parents: str = one_of("uniform", "ranked")
    shift: str = one_of("backwards", "both")
    start: str = one_of("best-first", "viterbi")
    start_mutations: int = within(3, 0, 1e6)
    iterations: int = within(0, 0, 1e12)
    seed: int = within(0, 0, 2**63 - 1)


@dataclass(frozen=True)
class Border(Parameters):
    """Of the hybrid (Stokman 2011, Table 6).

    Parameters
    ----------
    border : tokens up to which discrepancy search is used, and the evolutionary algorithm beyond
    zero : of discrepancy search
    seed : of the random numbers
    """

    border: int = within(60, 0, 1e9)
    zero: str = one_of("score", "best")
    seed: int = within(0, 0, 2**63 - 1)


@dataclass(frozen=True)
class Annealing(Parameters):
    """Of simulated annealing.

    Parameters
    ----------
    start_temperature, end_temperature : nats; it falls by the same share each step
    hard_weight : nats a hard violation
    run_rate : how often a run or a border changes, rather than any short stretch
    shift_rate : of these, how often it is a border that shifts
    iterations : steps at most; 0 for as many as time allows
    seed : of the random numbers
    """

    start_temperature: float = within(1.0, 1e-6, 1e6)
    end_temperature: float = within(0.1, 1e-6, 1e6)
    hard_weight: float = within(10.0, 0, 1e6)
    run_rate: float = within(0.2, 0, 1)
    shift_rate: float = within(0.6, 0, 1)
    iterations: int = within(0, 0, 1e12)
    seed: int = within(0, 0, 2**63 - 1)


@dataclass(frozen=True)
class Tabu(Parameters):
    """Of tabu search.

    Parameters
    ----------
    candidates : changes that a step chooses among, unless one of them makes the labelling better at once
    tenure : steps for which a token may not have a label again that it has lost, and up to twice as many
    patience : steps without a better labelling, after which the search goes on from the best one
    kicks : random changes of that one first
    hard_weight : nats a hard violation
    refit_rate : how often a change forbids a token its label and refits those around it, rather than a run or a border;
        never where scores look at two labels before
    shift_rate : of the others, how often it is a border that shifts
    iterations : steps at most; 0 for as many as time allows
    seed : of the random numbers
    """

    candidates: int = within(100, 1, 1e6)
    tenure: int = within(3, 1, 1e9)
    patience: int = within(300, 1, 1e9)
    kicks: int = within(3, 0, 1e6)
    hard_weight: float = within(10.0, 0, 1e6)
    refit_rate: float = within(0.9, 0, 1)
    shift_rate: float = within(0.6, 0, 1)
    iterations: int = within(0, 0, 1e12)
    seed: int = within(0, 0, 2**63 - 1)
