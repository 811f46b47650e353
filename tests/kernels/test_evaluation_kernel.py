"""The kernel's evaluation of labellings, optimal or not, against the plain counting of the rules."""

from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.strategies import problems

from formulations import Feature, Trellis
from formulations import constraints as C
from formulations.grid import FORBIDDEN
from formulations.problem.compiled_rules import compile_rules
from ilpinfer.exact.calls import Call
from ilpinfer.exact.compiled import CLASSES, LARGE, NO_TOKENS, PRIORITIES, STATES, RuleTables
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.tables import BROKEN, FEATURE_SCORE, MODEL_SCORE, OVERRULED, PENALTY

REFUSALS = (LARGE, NO_TOKENS, PRIORITIES, STATES, CLASSES)
MOST = 300
"""Labellings of a problem that are evaluated."""


def evaluated(tables, emission, tokens, rows, pool, paths, parts, violations):
    classes = np.empty((3, len(tokens)), np.int64)
    assert kernels.classify(tables, tokens, classes) < 0
    given = tables, emission, classes, rows, pool
    return [kernels.evaluate(*given, *labelling) for labelling in zip(paths, parts, violations)]


def check(trellis, rules, paths):
    """Compare the evaluation of labellings; how many rules the tables hold, or None where they hold no sequence."""
    compiled = compile_rules(rules, trellis.labels)
    tables = RuleTables(compiled)
    call = tables.refusal(trellis, None) or tables.call([trellis], meet=True)
    if not isinstance(call, Call):
        assert call in REFUSALS
        return None
    handle, (emission, _, tokens, rows, steps), *_ = call._inputs
    R, paths = len(compiled.rules), np.array(paths, np.int64)
    parts, violations = np.full((len(paths), 5), 7), np.full((len(paths), R), 7)
    values = evaluated(handle, emission, tokens, rows, steps, paths, parts, violations)
    problem = compiled.problem(trellis, quiet=True)
    held = [r for r in range(R) if r not in tables.folding.excluded]
    for n, path in enumerate(paths):
        value, counts = problem.value(path), [problem.rules[r].violations(path) for r in held]
        broken = sum(count > 0 for r, count in zip(held, counts) if problem.rules[r].hard)
        penalty = sum(problem.rules[r].finite_penalty * count for r, count in zip(held, counts))
        assert violations[n, held].tolist() == counts, [problem.rules[r].name for r in held]
        broken = max(broken, 1) if value.model <= FORBIDDEN // 2 else broken
        own = parts[n, [MODEL_SCORE, FEATURE_SCORE, PENALTY, BROKEN]].tolist()
        assert own == [value.model, value.features, penalty, broken]
        possible = value.model > FORBIDDEN // 2 and not broken
        assert values[n] == (value.model + value.features - penalty if possible else FORBIDDEN)
    assert bool(parts[0, OVERRULED]) == bool(compiled.overruled(trellis.tokens))
    return len(held)


def labellings(trellis, rng):
    every = list(product(range(len(trellis.labels)), repeat=len(trellis)))
    return every if len(every) <= MOST else [every[n] for n in rng.integers(0, len(every), MOST)]


@settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(problem=problems(), seed=st.integers(0, 1000), rewards=st.booleans())
def test_parts_and_violations_are_those_of_the_rules(problem, seed, rewards):
    """All templates, distances and schemes, soft and hard."""
    rules, field = problem.rules, next(iter(problem.trellis.labels.fields))
    if rewards:
        rules += [Feature(0.5, field), Feature(-0.25, field, pattern=r"\d+"), Feature(1.5, from_=field)]
    check(*problem.given, labellings(problem.trellis, np.random.default_rng(seed)))


@pytest.mark.parametrize("distance", ["count", "binary"])
@pytest.mark.parametrize("penalty", [0.5, float("inf")])
def test_long_sequences_and_pools_of_several_entries(distance, penalty):
    rng, how = np.random.default_rng(3), {"distance": distance, "penalty": penalty}
    T, names = 40, ["B-a", "I-a", "B-b", "I-b", "O"]
    rules = [
        C.at_most_runs("a", 2, **how),
        C.at_least_runs("b", 3, **how),
        C.exactly_tokens("a", 11, **how),
        C.starts_with("b", **how),
        C.tag_at("a", words=["x"], **how),
        C.changes_only_after(words=["y"], **how),
        C.requires_before("b", "a", **how),
        C.min_run_length("a", 3, **how),
        Feature(0.75, from_="a", to="b"),
    ]
    tokens = list(rng.choice(["x", "y", "z"], T))
    held = [
        check(trellis, rules, rng.integers(0, 5, (200, T)))
        for trellis in (
            Trellis(rng.normal(size=5), rng.normal(size=(T - 1, 5, 5)), names, tokens=tokens),
            Trellis.from_emissions(
                rng.normal(size=(T, 5)), rng.normal(size=(5, 5)), labels=names, tokens=tokens
            ),
        )
    ]
    assert held[0] == held[1] >= 5


def test_overruled_tokens_and_forbidden_scores():
    trellis = Trellis.from_emissions(
        [[0.0, -np.inf, 1.0]] * 3, [[0.0, 1.0, -np.inf]] * 3, labels=["a", "b", "O"], tokens=["x", "y", "x"]
    )
    every = list(product(range(3), repeat=3))
    assert check(trellis, [C.tag_at("a", words=["x"]), C.tag_at("b", words=["x", "y"])], every) == 2
    assert check(trellis, [C.tag_at("a", words=["x"], penalty=1.0)], every) == 1
