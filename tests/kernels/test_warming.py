"""After warming up nothing is compiled any more, so that no compilation counts against a time limit."""

import importlib
import pkgutil
from contextlib import suppress

import numpy as np
import pytest
from support.checks import GENERAL_METHODS

import ilpinfer
import ilpinfer.kernels
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


def kernels():
    names = [module.name for module in pkgutil.iter_modules(ilpinfer.kernels.__path__)]
    modules = [importlib.import_module(f"ilpinfer.kernels.{name}") for name in names]
    return {each for module in modules for each in vars(module).values() if hasattr(each, "signatures")}


def some_trellis(random):
    T, given = int(random.integers(3, 16)), {"labels": ["a", "b", "O"]}
    given["tokens"] = [str(word) for word in random.choice(["X", "Y", "Z"], T)]
    if random.random() < 0.3:
        first, edges = random.normal(size=(3, 3)), random.normal(size=(T - 2, 3, 3, 3))
        return Trellis.second_order(random.normal(size=3), first, edges, **given)
    return Trellis.from_emissions(random.normal(size=(T, 3)), random.normal(size=(3, 3)), **given)


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_compiled_after_warming_up(seed):
    ilpinfer.warm_up()
    before = {(each.py_func.__name__, *each.signatures) for each in kernels()}
    random = np.random.default_rng(seed)
    trellis = some_trellis(random)
    rules = [rule for rule in RULES if random.random() < 0.5]
    for options in ({}, {"top": 4}, {"time_limit": 1.0}, {"callback": lambda *now: None}):
        ilpinfer.decode(trellis, rules, **options)
    for method in GENERAL_METHODS if seed % 6 == 0 else ():
        if method.name not in SOLVERS:
            ilpinfer.decode(trellis, rules, method=method.name, time_limit=0.3)
    ilpinfer.decode_two_phase(trellis, rules)
    ilpinfer.decode_frontier(trellis, rules)
    if trellis.order == 1:
        with suppress(InferenceError):  # too many states, or no labelling
            ilpinfer.marginals(trellis, rules)
    assert {(each.py_func.__name__, *each.signatures) for each in kernels()} == before
