"""Multipliers of sums whose weights have both signs, such as a difference of runs."""

import numpy as np
from routes import begun, priced
from support import oracles
from support.effort import seeds
from support.strategies import by_numbers
from test_soft_sums import AWAY, LABELS

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact.relaxation import Relaxation


def draw(seed, T):
    """A problem of a difference of runs, and the sign of its rule."""
    rng = np.random.default_rng(seed)
    start, edges = (rng.integers(-(2**21), 2**21, shape) / 2**20 for shape in (3, (T - 1, 3, 3)))
    sign, side = str(rng.choice(list(AWAY))), int(rng.integers(-2, 3))

    def violations(y):
        a, b = (len(oracles.run_starts(y, field, "plain")) for field in "ab")
        return AWAY[sign](a - b, side)

    rule = C.linear(f"runs(a) - runs(b) {sign} {side}", penalty=float(rng.choice([0.5, 1.5, np.inf])))
    return by_numbers(start, edges, LABELS, (rule, violations)), sign


@seeds(60)
def test_the_value_of_each_labelling_stays_the_same(seed):
    """A relaxation with multipliers differs from the scores less penalties on no labelling."""
    problem, sign = draw(seed, 5)
    begin = begun(problem.compiled()).problem
    one = begin.instance
    (component,) = one.components
    price = -(2**17) if sign == ">=" else 2**17
    found = Relaxation(one, begin.tokens, {component: price}).prefixes(
        [0], Deadline(), copies=3**5, floor=-(2**50)
    )
    values = {tuple(path.tolist()): value for path, value in zip(found.paths, found.values, strict=True)}
    assert values == {labelling: value for value, labelling in problem.top()}


@seeds(60)
def test_long_sequences_are_proved_with_multipliers(seed):
    trellis, (rule,) = draw(seed, 40)[0].given
    others = [C.at_most_runs("O", 3, penalty=0.7), C.at_most_tokens("a", 9, penalty=0.3)]
    solution = ilpinfer.decode(trellis, [rule, *others])
    assert solution.status == "optimal"
    assert ilpinfer.verify(trellis, [rule, *others], solution).proved


def test_a_soft_difference_has_a_multiplier():
    """Without one, the bound of this sequence stays half a nat for each run above the side away."""
    T = 60
    emissions = np.tile([[0.5, 0.0, 0.0], [0.0, 0.0, 0.5]], (T // 2, 1))
    trellis = Trellis.from_emissions(emissions, np.zeros((3, 3)), labels=LABELS)
    state = begun(compile_problem(trellis, [C.linear("runs(a) - runs(b) <= 1", penalty=0.4)]))
    assert state.problem.instance.sums.all()
    multipliers = priced(state).multipliers
    assert all(multipliers.values()) and multipliers
