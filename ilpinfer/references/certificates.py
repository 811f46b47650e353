"""Conversion of the proof trees of references to certificates, which a faster checker reads."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from formulations.automata.agreement import Agreement
from formulations.automata.sums import Sum
from formulations.problem.problem import Problem
from ilpinfer.core.certificate import Leaf, MachineKey, Split, Tree
from ilpinfer.proof.multipliers import FINE
from ilpinfer.references.tables import Tables


def tree_of(problem: Problem, tables: Tables, plain: Any) -> Tree:
    """The proof tree of a certificate, from the plain tree of a reference.

    Raises
    ------
    ValueError, LookupError, TypeError
        For a tree that certificates cannot express. It may still be a valid proof.
    """
    keys = {number: key for key, number in tables.places.items()}
    components = {number: key for key, number in reversed(list(tables.components.items()))}
    return _tree(problem, keys, components, plain, ())


def _tree(
    problem: Problem,
    keys: Mapping[int, MachineKey],
    components: Mapping[int, MachineKey],
    plain: Any,
    cases: tuple[MachineKey, ...],
) -> Tree:
    """A subtree below some splits; the machines of their cases are in the first stage of each leaf."""
    if "case" not in plain:
        return _leaf(problem, keys, components, plain, cases)
    case = plain["case"]
    tokens = tuple(t for t, one in enumerate(case["table"]) if one)
    labels = tuple(k for k, one in enumerate(case["values"][1][0]) if one)
    most, depth = len(case["cost"]) - 2, plain.get("depth", 0)
    rule = len(problem.rules) + depth
    above = () if len(tokens) == 1 and not most else ((rule, 0),)
    below = ((rule, 0),) if most else ()
    return Split(
        tokens,
        labels,
        most,
        _tree(problem, keys, components, _deeper(plain["below"], depth), (*cases, *below)),
        _tree(problem, keys, components, _deeper(plain["above"], depth), (*cases, *above)),
    )


def _deeper(plain: Any, depth: int) -> Any:
    return {**plain, "depth": depth + 1}


def _leaf(
    problem: Problem,
    keys: Mapping[int, MachineKey],
    components: Mapping[int, MachineKey],
    plain: Any,
    cases: tuple[MachineKey, ...],
) -> Leaf:
    multipliers, shares = dict[MachineKey, int](), dict[MachineKey, list[list[int]]]()
    for price in plain["prices"]:
        key = components[price["machine"]]
        component = problem.rules[key[0]].components[key[1]]
        rows = np.array(price["rows"])
        if isinstance(component, Agreement):
            scores, rest = np.divmod(-rows[np.array(price["table"])[component.tokens], 1:-1], FINE)
            if rest.any():
                raise ValueError("prices of a list are no multiples of grid units")
            shares[key] = scores.tolist()
        elif isinstance(component, Sum) and len(rows) == 1:
            place = int(np.flatnonzero(component.weights)[0])
            value = int(rows[0, place]) // int(component.weights[place])
            if (value * component.weights != rows[0, :-1]).any():
                raise ValueError("prices of a sum are no multiple of its weights")
            multipliers[key] = value
        else:
            raise ValueError("prices of a machine that is neither sum nor list")
    stages = [tuple(keys[number] for number in stage) for stage in plain["stages"]]
    return Leaf(
        multipliers, (), tuple(stage for stage in (cases, *stages) if stage), (shares,) if shares else ()
    )
