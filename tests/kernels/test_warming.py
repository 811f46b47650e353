"""After warming up nothing is compiled any more, so that no compilation counts against a time limit."""

import sys
from contextlib import suppress
from itertools import combinations

import numpy as np
from support.checks import GENERAL_METHODS
from support.processes import python
from support.trellises import many_runs

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.errors import InferenceError
from ilpinfer.solvers import SOLVERS

RULES = (
    C.consistent(penalty=0.6),
    C.at_most_runs("a", 1),
    C.requires_before("b", "a", penalty=0.4),
    C.linear("3*tokens(a) + 2*tokens(b) <= 9"),
    C.linear("tokens(a) - tokens(b) >= 1", penalty=0.3),
    C.at_least_tokens("b", 2, penalty=1.5),
    C.at_most_runs("b", 1, penalty=0.5, distance="hamming"),
)
HEURISTICS = [method.name for method in GENERAL_METHODS if method.name not in SOLVERS]


def signatures():
    """What is compiled: public functions and the types of their arguments."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("ilpinfer")]
    kernels = [each for module in modules for each in vars(module).values() if hasattr(each, "signatures")]
    names = {each: f"{each.py_func.__module__}.{each.py_func.__name__}" for each in kernels}
    return {
        (name, str(types)) for each, name in names.items() for types in each.signatures if "._" not in name
    }


def some_trellis(random):
    T, given = int(random.integers(3, 16)), {"labels": ["a", "b", "O"]}
    given["tokens"] = [str(word) for word in random.choice(["X", "Y", "Z"], T)]
    if random.random() < 0.3:
        first, edges = random.normal(size=(3, 3)), random.normal(size=(T - 2, 3, 3, 3))
        return Trellis.second_order(random.normal(size=3), first, edges, **given)
    return Trellis.from_emissions(random.normal(size=(T, 3)), random.normal(size=(3, 3)), **given)


def problems():
    """Small ones under rules of all kinds, and larger ones under few rules and many."""
    for seed in range(12):
        random = np.random.default_rng(seed)
        trellis = some_trellis(random)
        yield trellis, [rule for rule in RULES if random.random() < 0.5], seed % 6 == 0
    trellis, runs = many_runs(30, 8, 2, penalty=1.0)
    pairs = [C.requires_present(a, b, penalty=1.0) for a, b in combinations(trellis.labels.names, 2)]
    for rules in ([], runs[:1], runs, pairs, [*runs, *pairs], [C.at_most_tokens("L0", 2)]):
        yield trellis, rules, True


def decode_in_every_way(trellis, rules, by_every_method):
    for options in ({}, {"top": 4}, {"time_limit": 1.0}, {"callback": lambda *now: None}):
        ilpinfer.decode(trellis, rules, **options)
    for method in HEURISTICS if by_every_method else ():
        ilpinfer.decode(trellis, rules, method=method, time_limit=0.25)
    ilpinfer.decode_two_phase(trellis, rules, time_limit=1.0)
    ilpinfer.decode_frontier(trellis, rules, time_limit=1.0)
    if trellis.order == 1:
        with suppress(InferenceError):  # too many states, or no labelling
            ilpinfer.marginals(trellis, rules)


def compiled_later():
    ilpinfer.warm_up()
    before = signatures()
    for problem in problems():
        decode_in_every_way(*problem)
    return sorted(signatures() - before)


def test_nothing_is_compiled_after_warming_up():
    """In a process of its own, for which nothing was compiled before."""
    code = "from test_warming import compiled_later; print(compiled_later())"
    assert python("-c", code, check=True).stdout == "[]\n"
