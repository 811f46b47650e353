"""Proofs of soft sums whose totals cannot reach their sides."""

from itertools import product

import numpy as np
import pytest
from support import oracles
from support.checks import check_optimum
from support.effort import STRICT
from support.strategies import by_numbers
from support.trellises import random_trellis

import ilpinfer
from formulations import constraints as C
from ilpinfer.exact import limits

LABELS = ["a", "b", "O"]
TERMS = {
    "tokens(a)": lambda y: y.count("a"),
    "runs(a)": lambda y: len(oracles.run_starts(y, "a", "plain")),
    "tokens(O)": lambda y: y.count("O"),
    "runs(b)": lambda y: len(oracles.run_starts(y, "b", "plain")),
}
AWAY = {
    "<=": lambda x, side: max(0, x - side),
    ">=": lambda x, side: max(0, side - x),
    "=": lambda x, side: abs(x - side),
}


def draw(seed, distance):
    """A sum with coefficients up to 7, every third one of both signs, and a side from -10 to 20; None where no labelling keeps it."""
    rng = np.random.default_rng(seed)
    T = int(rng.integers(1, 7))
    start, edges = (rng.integers(-(2**21), 2**21, shape) / 2**20 for shape in (3, (T - 1, 3, 3)))
    chosen = rng.choice(list(TERMS), rng.integers(1, 4), replace=False).tolist()
    signs = [1, -1] if seed % 3 == 0 else [1]
    terms = {term: int(rng.integers(1, 8) * rng.choice(signs)) for term in chosen}
    sign, side = str(rng.choice(list(AWAY))), int(rng.integers(-10, 21))
    left = " ".join(f"{number:+d}*{term}" for term, number in terms.items())
    penalty = float(rng.choice([0.25, 0.5, 1.0, 2.0]))
    rule = C.linear(f"0 {left} {sign} {side}", penalty=penalty, distance=distance)

    def away(y):
        return AWAY[sign](sum(number * TERMS[term](y) for term, number in terms.items()), side)

    if distance != "hamming":
        return by_numbers(start, edges, LABELS, (rule, away))
    kept = [y for y in product(LABELS, repeat=T) if not away(y)]
    return by_numbers(start, edges, LABELS, (rule, lambda y: oracles.hamming(y, kept))) if kept else None


@pytest.mark.examples
@pytest.mark.parametrize("distance", ["count", "binary", "hamming"])
def test_every_optimum_of_a_sum_is_proved_and_right(distance, monkeypatch):
    by_multipliers = 0
    for seed in range(700 if STRICT else 20):
        if (problem := draw(seed, distance)) is None:
            continue
        with monkeypatch.context() as patch:
            patch.setattr(limits, "PASSES", 1)
            patch.setattr(limits, "LEAST_STEPS", 400 if seed % 2 else 100)
            solution = ilpinfer.decode(*problem.given)
        verdict = ilpinfer.verify(*problem.given, solution)
        assert verdict.proved and solution.certificate.kind == "exact", (problem.rules, verdict.reasons)
        check_optimum(problem, solution)
        by_multipliers += "multiplier" in solution.method
    assert distance != "count" or by_multipliers > (20 if STRICT else 4)


@pytest.mark.parametrize("text", ["3*runs(a) <= 2", "2*tokens(O) = 5", "3*tokens(a) >= 7"])
def test_no_multiplier_proves_that_the_second_best_labelling_is_the_best(text):
    trellis = random_trellis(3, T=6)
    rules = [C.linear(text, penalty=0.5)]
    best, second = ilpinfer.decode(trellis, rules, top=2)
    assert ilpinfer.verify(trellis, rules, best).proved and second.score < best.score
    values = {**second.to_dict(), "bound": second.score}
    certificate = best.to_dict()["certificate"]
    for multiplier in range(-(2**29), 2**29 + 1, 2**25):
        tree = {**certificate["tree"], "multipliers": [[0, 0, multiplier]]}
        forged = ilpinfer.Solution.from_dict({**values, "certificate": {**certificate, "tree": tree}})
        verdict = ilpinfer.verify(trellis, rules, forged)
        assert not verdict.proved
        assert "are not excluded" in verdict.reasons[0] or "the wrong sign" in verdict.reasons[0]
