"""Proofs of soft sums whose totals cannot reach their sides."""

from itertools import product

import numpy as np
import pytest
from support.effort import STRICT

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from ilpinfer.exact import compiled

LABELS = ["a", "b", "O"]
TERMS = {
    "tokens(a)": lambda y: y.count(0),
    "runs(a)": lambda y: sum(k == 0 and (not t or y[t - 1] != 0) for t, k in enumerate(y)),
    "tokens(O)": lambda y: y.count(2),
    "runs(b)": lambda y: sum(k == 1 and (not t or y[t - 1] != 1) for t, k in enumerate(y)),
}
AWAY = {
    "<=": lambda x, side: max(0, x - side),
    ">=": lambda x, side: max(0, side - x),
    "=": lambda x, side: abs(x - side),
}


class Problem:
    """A trellis, and a sum with coefficients up to 7 and a side from -10 to 20."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.T = int(rng.integers(1, 7))
        self.start, self.edges = (rng.integers(-(2**21), 2**21, shape) for shape in (3, (self.T - 1, 3, 3)))
        self.trellis = Trellis(self.start / 2**20, self.edges / 2**20, labels=LABELS)
        self.terms = {
            str(term): int(rng.integers(1, 8))
            for term in rng.choice(list(TERMS), rng.integers(1, 4), replace=False)
        }
        self.sign, self.side = str(rng.choice(list(AWAY))), int(rng.integers(-10, 21))
        self.penalty = int(rng.choice([2**18, 2**19, 2**20, 2**21]))
        left = " + ".join(f"{number}*{term}" for term, number in self.terms.items())
        self.text = f"{left} {self.sign} {self.side}"

    def optimum(self, distance):
        """Grid units, by looking at all labellings."""
        labellings = list(product(range(3), repeat=self.T))
        away = [
            AWAY[self.sign](sum(n * TERMS[term](y) for term, n in self.terms.items()), self.side)
            for y in labellings
        ]
        if distance == "binary":
            away = [min(1, violations) for violations in away]
        if distance == "hamming":
            kept = [y for y, violations in zip(labellings, away) if not violations]
            if not kept:
                return None
            away = (np.array(labellings)[:, None] != np.array(kept)).sum(axis=2).min(axis=1).tolist()
        scores = [
            self.start[y[0]] + sum(self.edges[t - 1, y[t - 1], y[t]] for t in range(1, self.T))
            for y in labellings
        ]
        return max(score - self.penalty * violations for score, violations in zip(scores, away))


@pytest.mark.examples
@pytest.mark.parametrize("distance", ["count", "binary", "hamming"])
def test_every_optimum_of_a_sum_is_proved_and_right(distance, monkeypatch):
    by_multipliers = 0
    for seed in range(700 if STRICT else 150):
        problem = Problem(seed)
        if (optimum := problem.optimum(distance)) is None:
            continue
        rules = [C.linear(problem.text, penalty=problem.penalty / 2**20, distance=distance)]
        with monkeypatch.context() as patch:
            patch.setattr(compiled, "PASSES", 1 if seed % 2 else compiled.PASSES)
            solution = ilpinfer.decode(problem.trellis, rules)
        verdict = ilpinfer.verify(problem.trellis, rules, solution)
        assert verdict.proved and solution.certificate.kind == "exact", (problem.text, verdict.reasons)
        assert solution.score * 2**20 == optimum, problem.text
        by_multipliers += "multipliers" in solution.method
    assert distance != "count" or by_multipliers > 20


@pytest.mark.parametrize("text", ["3*runs(a) <= 2", "2*tokens(O) = 5", "3*tokens(a) >= 7"])
def test_no_multiplier_proves_that_the_second_best_labelling_is_the_best(text):
    rng = np.random.default_rng(3)
    trellis = Trellis(rng.normal(size=3), rng.normal(size=(5, 3, 3)), labels=LABELS)
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
