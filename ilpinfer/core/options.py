"""Options of the methods, as keyword arguments that type checkers know."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict


class Options(TypedDict, total=False):
    """Options of all methods; those after `width` are fields of the searches' records of parameters."""

    threads: int  # of solvers; 1 where not given
    within: float | None  # of "auto" with `top`: nats below the best labelling; 0 for all optima of a tie
    width: int  # of beam search, prefixes a token; 10 where not given
    variant: Literal["admissible", "published", "textbook", "varied", "strong"]
    token_multiplier: float
    iteration_multiplier: float
    branching: int
    branching_increase: int
    zero: Literal["score", "best"]
    keep_going: bool
    population: int
    offspring: int
    mutation_rate: float
    shift_rate: float
    selection_pressure: float
    start_weight: float
    weight_increase: float
    parents: Literal["uniform", "ranked"]
    shift: Literal["backwards", "both"]
    start: Literal["best-first", "viterbi"]
    start_mutations: int
    iterations: int
    seed: int
    border: int
    risk: Literal["tokens", "spans"]
    top_k: int
    budget: int
    solver_options: Mapping[str, Any] | None  # of solvers: parameters by their own names
    solver_log: str | Path | None
