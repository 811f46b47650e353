"""Parameters of the searches, with the values of the literature."""

import math
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, ClassVar


class Parameters:
    """Checks that values lie in the ranges that `_ranges` states."""

    _ranges: ClassVar[dict[str, tuple[float, float]]] = {}
    _choices: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __post_init__(self) -> None:
        for each in fields(self):  # type: ignore[arg-type]
            value = getattr(self, each.name)
            if each.name in self._choices:
                _among(value, self._choices[each.name], each.name)
            elif each.type in ("bool", bool):
                if not isinstance(value, bool):
                    raise ValueError(f"{each.name} is {value!r}; expected true or false")
            else:
                _within(value, self._ranges[each.name], each.name, each.type in ("int", int))


def _among(value: Any, choices: tuple[str, ...], name: str) -> None:
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; expected one of {', '.join(choices)}")


def _within(value: Any, ends: tuple[float, float], name: str, whole: bool) -> None:
    low, high = ends
    kind = Integral if whole else Real
    if not isinstance(value, kind) or isinstance(value, bool) or not low <= float(value) <= high:
        what = "a whole number" if whole else "a number"
        raise ValueError(f"{name} is {value!r}; expected {what} from {low:g} to {high:g}")


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

    variant: str = "published"
    token_multiplier: float = -1.3
    iteration_multiplier: float = 1.5
    branching: int = 3
    branching_increase: int = 1
    zero: str = "score"
    keep_going: bool = False

    _choices: ClassVar = {"variant": ("published", "admissible", "textbook"), "zero": ("score", "best")}
    _ranges: ClassVar = {
        "token_multiplier": (-math.inf, 0),
        "iteration_multiplier": (1, 1e6),
        "branching": (1, 1e6),
        "branching_increase": (0, 1e6),
    }


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

    population: int = 30
    offspring: int = 30
    mutation_rate: float = 0.25
    shift_rate: float = 0.9
    selection_pressure: float = 1.5
    start_weight: float = 2.0
    weight_increase: float = 1.0
    parents: str = "uniform"
    shift: str = "backwards"
    start: str = "best-first"
    start_mutations: int = 3
    iterations: int = 0
    seed: int = 0

    _choices: ClassVar = {
        "parents": ("uniform", "ranked"),
        "shift": ("backwards", "both"),
        "start": ("best-first", "viterbi"),
    }
    _ranges: ClassVar = {
        "population": (1, 100_000),
        "offspring": (1, 100_000),
        "mutation_rate": (0, 1),
        "shift_rate": (0, 1),
        "selection_pressure": (1, 2),
        "start_weight": (0, 1e6),
        "weight_increase": (0, 1e6),
        "start_mutations": (0, 1e6),
        "iterations": (0, 1e12),
        "seed": (0, 2**63 - 1),
    }


@dataclass(frozen=True)
class Border(Parameters):
    """Of the hybrid (Stokman 2011, Table 6).

    Parameters
    ----------
    border : tokens up to which discrepancy search is used, and the evolutionary algorithm beyond
    zero : of discrepancy search
    seed : of the random numbers
    """

    border: int = 60
    zero: str = "score"
    seed: int = 0

    _choices: ClassVar = {"zero": ("score", "best")}
    _ranges: ClassVar = {"border": (0, 1e9), "seed": (0, 2**63 - 1)}


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

    start_temperature: float = 1.0
    end_temperature: float = 0.1
    hard_weight: float = 10.0
    run_rate: float = 0.2
    shift_rate: float = 0.6
    iterations: int = 0
    seed: int = 0

    _ranges: ClassVar = {
        "start_temperature": (1e-6, 1e6),
        "end_temperature": (1e-6, 1e6),
        "hard_weight": (0, 1e6),
        "run_rate": (0, 1),
        "shift_rate": (0, 1),
        "iterations": (0, 1e12),
        "seed": (0, 2**63 - 1),
    }


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

    candidates: int = 100
    tenure: int = 3
    patience: int = 300
    kicks: int = 3
    hard_weight: float = 10.0
    refit_rate: float = 0.9
    shift_rate: float = 0.6
    iterations: int = 0
    seed: int = 0

    _ranges: ClassVar = {
        "candidates": (1, 1e6),
        "tenure": (1, 1e9),
        "patience": (1, 1e9),
        "kicks": (0, 1e6),
        "hard_weight": (0, 1e6),
        "refit_rate": (0, 1),
        "shift_rate": (0, 1),
        "iterations": (0, 1e12),
        "seed": (0, 2**63 - 1),
    }
