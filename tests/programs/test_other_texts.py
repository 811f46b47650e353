"""Programs as text of toulbar2, read by a plain reader and compared with the engine."""

import math
from itertools import product

import numpy as np
import pytest

import ilpinfer
from formulations import Trellis, formulate
from formulations import constraints as C
from formulations.grid import UNITS_PER_NAT

NAMES = ["a", "b", "O"]
RULES = {
    "none": [],
    "a sum": [C.at_most_tokens("a", 1, penalty=0.75), C.requires_before("a", "b")],
    "a difference": [C.linear("2*runs(a) - tokens(b) <= 0", penalty=0.5), C.between_tokens("b", 1, 2)],
    "auxiliary": [
        C.logic("forall t: a(t) -> exists s < t: b(s)", penalty=1.25),
        C.at_most_runs("a", 1, penalty=0.5),
    ],
    "an excess of several": [
        C.at_most_tokens("a", 0, penalty=0.25),
        C.feature(from_="O", to="O", weight=0.5),
    ],
    "infeasible": [C.at_least_tokens("a", 3), C.at_most_tokens("a", 1)],
}


def trellis(seed, T=4):
    rng = np.random.default_rng(seed)
    edges = rng.integers(-40, 40, size=(T - 1, 3, 3)) / 16
    edges[0, 0, 1] = -math.inf
    return Trellis(rng.integers(-40, 40, size=3) / 16, edges, labels=NAMES, tokens=list("wxyz")[:T])


def read_wcsp(text):
    """The cost of values, as the format defines it; None where they are forbidden."""
    head, sizes, *lines = [line.split() for line in text.splitlines()]
    n, largest, count, most = map(int, head[1:])
    sizes = list(map(int, sizes))
    assert len(sizes) == n and max(sizes) == largest
    costs, sums = [], []
    while lines:
        arity, *line = map(str, lines.pop(0))
        scope, rest = list(map(int, line[: int(arity)])), line[int(arity) :]
        if rest[0] != "-1":
            default, tuples = map(int, rest)
            assert len(scope) == 1
            costs.append((scope[0], default, dict(tuple(map(int, lines.pop(0))) for _ in range(tuples))))
            continue
        assert rest[1] == "knapsackp"
        capacity, numbers = int(rest[2]), list(map(int, rest[3:]))
        weights = []
        for _ in scope:
            size, numbers = numbers[0], numbers[1:]
            weights.append(dict(zip(numbers[: 2 * size : 2], numbers[1 : 2 * size : 2], strict=True)))
            numbers = numbers[2 * size :]
        assert not numbers
        sums.append((scope, capacity, weights))
    assert count == len(costs) + len(sums)

    def cost(values):
        assert all(0 <= value < size for value, size in zip(values, sizes, strict=True))
        for scope, capacity, weights in sums:
            if sum(w.get(values[c], 0) for c, w in zip(scope, weights, strict=True)) < capacity:
                return None
        result = sum(table.get(values[c], default) for c, default, table in costs)
        assert result < most
        return result

    return cost, sizes


MOST = 100


def others(sizes, rng):
    """All values of the columns beside a path, or some where there are many."""
    if math.prod(sizes) <= MOST:
        return list(product(*map(range, sizes)))
    return [rng.integers(0, sizes).tolist() for _ in range(MOST)]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", RULES)
def test_text_of_toulbar2_has_the_costs_of_the_program(kind, seed):
    given, rules = trellis(seed, T=3), RULES[kind]
    program, rng, costs = formulate(given, rules), np.random.default_rng(seed), []
    cost, sizes = read_wcsp(program.text("wcsp"))
    integer = program.integer
    for names in product(NAMES, repeat=3):
        fixed = program.start_text(names).splitlines()[1:]
        ones = {program.file_columns.index(line.split()[0]) for line in fixed}
        path = [int(c in ones) for c in range(integer.n_edges)]
        for more in others(sizes[integer.n_edges :], rng):
            values = np.array([*path, *more])
            x = values + integer.lower
            if (values >= sizes).any():
                continue
            found = cost(values.tolist())
            assert (found is not None) == integer.satisfied_by(x)
            if found is not None:
                assert program.best_objective_units - found == integer.value(x)
                costs.append(found)
    if math.prod(sizes[integer.n_edges :]) <= MOST:
        best = (program.best_objective_units - min(costs)) / UNITS_PER_NAT if costs else -math.inf
        assert best == ilpinfer.decode(given, rules).score
    for _ in range(200):  # values that are no path
        values = rng.integers(0, sizes)
        assert (cost(values.tolist()) is not None) == integer.satisfied_by(values + integer.lower)


def test_a_start_names_a_label_of_each_token():
    program = formulate(trellis(0))
    text = program.start_text(["O", "b", "b", "a"])
    lines = ["x.0.START.O", "x.1.O.b", "x.2.b.b", "x.3.b.a", "x.4.a.END"]
    assert text.splitlines()[1:] == [f"{line} 1" for line in lines]
