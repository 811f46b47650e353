"""Times of the engine's stages after compiled rules."""

import numpy as np
import pytest

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from ilpinfer.exact import compiled

LABELS = ["a", "b", "O"]
RULES = [C.at_most_runs("a", 1), C.at_least_tokens("b", 2, penalty=1.5), C.at_most_tokens("O", 2)]


@pytest.fixture
def few_steps(monkeypatch):
    """Label setting for compiled rules ends after a few steps."""
    monkeypatch.setattr(compiled, "PASSES", 0)
    monkeypatch.setattr(compiled, "LEAST_STEPS", 20)


def _scores(seed, T=6):
    rng = np.random.default_rng(seed)
    return rng.integers(-8, 8, 3) / 4, rng.integers(-8, 8, (T - 1, 3, 3)) / 4


def test_compiled_rules_have_no_further_stage():
    assert ilpinfer.decode(Trellis(*_scores(0), labels=LABELS), RULES).stages == ()


def test_stages_are_named_in_the_order_in_which_they_ended(few_steps):
    solutions = [ilpinfer.decode(Trellis(*_scores(seed), labels=LABELS), RULES) for seed in range(20)]
    seen = {name for solution in solutions for name, _ in solution.stages}
    assert "diagrams" in seen
    for solution in solutions:
        seconds = [spent for _, spent in solution.stages]
        assert (
            min(seconds, default=0.0) >= 0.0 and sum(seconds) <= solution.seconds + solution.warm_up_seconds
        )


def test_equal_tokens_have_a_stage_of_their_own():
    trellis = Trellis.from_emissions(
        [[2.0, 0.0], [2.0, 0.0], [0.0, 2.0]], np.zeros((2, 2)), labels=["a", "b"], tokens=list("xyx")
    )
    solution = ilpinfer.decode(trellis, [C.consistent(penalty=1.0)])
    assert [name for name, _ in solution.stages] == ["decomposition"]
