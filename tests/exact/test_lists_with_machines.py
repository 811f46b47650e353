"""Equal tokens under one field together with rules of machines, against all labellings; and their proofs."""

import numpy as np
import pytest
from support.effort import seeds
from support.proofs import accepted
from support.trellises import random_trellis, valued

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact import limits
from ilpinfer.exact.agreements import DECOMPOSITION
from ilpinfer.exact.ground_problem import GroundProblem
from ilpinfer.exact.state import State

T = 6
LABELS = ("a", "b", "O"), ("B-a", "I-a", "B-b", "I-b")


def drawn(seed):
    """Few words, so that many are equal, and rules on lengths, windows and orders, some of them hard."""
    rng = np.random.default_rng(seed)
    tokens = rng.choice(["Xa", "Ya", "y"], T).tolist()
    penalties = [float("inf") if rng.random() < 0.25 else float(rng.integers(1, 9)) / 4 for _ in range(4)]
    rules = [
        C.max_run_length("a", 2, penalty=penalties[0]),
        C.min_run_length("b", 2, penalty=penalties[1]),
        C.requires_before("b", "a", penalty=penalties[2]),
    ]
    trellis = random_trellis(seed, T, LABELS[seed % 2], tokens, forbidden=0.1 * (seed % 3))
    return trellis, [C.consistent(penalty=penalties[3]), *[rule for rule in rules if rng.random() < 0.8]]


def decomposed(problem):
    return DECOMPOSITION.run(State.of(GroundProblem.of(problem, Deadline())))


@pytest.mark.parametrize("most", [0, 2**22])
@seeds(20)
def test_lists_and_machines_find_the_optimum_and_prove_it(seed, most, monkeypatch):
    monkeypatch.setattr(limits, "DECOMPOSITION_STEPS", most)
    problem = compile_problem(*drawn(seed))
    state, ranked = decomposed(problem), valued(problem)
    if not ranked:
        assert not state.closed or accepted(problem, state.proof, None)
        return
    best = ranked[0][0]
    assert state.value <= best <= state.bound
    assert accepted(problem, state.proof, int(state.bound)) and not accepted(problem, state.proof, best - 1)
    if state.closed:
        assert state.value == state.bound == best and tuple(state.answer[0]) == ranked[0][1]


def test_most_are_complete_with_machines_inside():
    complete, inside = 0, 0
    for seed in range(20):
        state = decomposed(compile_problem(*drawn(seed)))
        complete += state.closed
        inside += "machine" in state.words
    assert complete > 12 and inside > 3


def test_equal_names_and_their_lengths_are_proved_in_a_document():
    rng, labels = np.random.default_rng(7), ["O", "B-pers", "I-pers"]
    words = rng.choice([f"{chr(65 + n)}a" for n in range(20)], 150).tolist()
    emissions = rng.normal(0, 1.3, (150, 3)) - [0.5, 1.0, 0.2]
    steps = np.array([[-0.2, -2.5, -9.0], [-1.4, -4.0, -0.25], [-2.2, -4.0, -0.05]])
    trellis = Trellis.from_emissions(emissions, steps, labels=labels, tokens=words)
    rules = [C.consistent(penalty=1.0), C.max_run_length("pers", 4, penalty=1.0)]
    solution = ilpinfer.decode(trellis, rules)
    assert solution.status == "optimal" and solution.certificate.kind == "exact"
    assert "1 machine" in solution.method
    assert ilpinfer.verify(trellis, rules, solution).proved
