"""conin on the same problem, by integer program and A*: hard constraints and one matrix of transitions only."""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.methods import Answer, CannotState
from formulations import Trellis
from formulations.automata.lattice import Lattice, StepTable
from formulations.automata.sums import Sum
from formulations.constraints.rule_set import RuleSet
from formulations.grid import UNITS_PER_NAT, Grid, is_forbidden
from formulations.problem.compiled_rules import compile_problem
from formulations.problem.problem import GroundRule


def decode(trellis: Trellis, rules: RuleSet, time_limit: float) -> Answer:
    """Build and solve; conin passes no time limit on to its solver, so that none is kept."""
    from conin.constraint import PyomoConstraint
    from conin.hidden_markov_model import ConstrainedHiddenMarkovModel
    from conin.hidden_markov_model.inference import ip_inference

    problem = compile_problem(trellis, rules)
    sums = _sums(problem.rules)
    constraints = [PyomoConstraint(_row(f"rule_{i}", part), f"rule {i}") for i, part in enumerate(sums)]
    constrained = ConstrainedHiddenMarkovModel(hmm=_model(problem.lattice), constraints=constraints)
    constrained.initialize_chmm("pyomo")
    logging.getLogger("pyomo").setLevel(logging.ERROR)
    with _cbc_on_path():
        result = ip_inference(hmm=constrained, observed=list(range(len(trellis))), solver="cbc")
    return Answer(np.array(result.solution.states, np.int64), None, True)


def search(trellis: Trellis, rules: RuleSet, time_limit: float) -> Answer:
    """The same by conin's A* search, which keeps the time limit."""
    from conin.constraint import OracleConstraint
    from conin.hidden_markov_model import ConstrainedHiddenMarkovModel
    from conin.hidden_markov_model.inference.a_star import a_star

    problem = compile_problem(trellis, rules)
    constraints = [OracleConstraint(func=_oracle(part), name="rule") for part in _sums(problem.rules)]
    constrained = ConstrainedHiddenMarkovModel(hmm=_model(problem.lattice), constraints=constraints)
    constrained.initialize_chmm("oracle")
    try:
        result = a_star(observed=list(range(len(trellis))), hmm=constrained, max_time=time_limit)
    except IndexError:
        return Answer(None, None, False, "no labelling in time")
    return Answer(np.array(result.solution.states, np.int64), None, result.termination_condition == "ok")


def _sums(rules: Iterable[GroundRule]) -> list[Sum]:
    """The parts of the rules, which have to be hard sums."""
    result = []
    for rule in rules:
        for part in rule.components:
            if not rule.hard or not isinstance(part, Sum):
                raise CannotState(f"{rule.name} ({'not a sum over steps' if rule.hard else 'soft'})")
            result.append(part)
    return result


def _oracle(part: Sum) -> Callable[[Sequence[int]], bool]:
    return lambda labels: part.violations(np.array(labels, np.int64)) == 0


def _row(name: str, part: Sum) -> Callable[[Any], Any]:
    """A function that adds the sum, over the columns of steps, to conin's Pyomo model."""

    def add(model: Any) -> Any:
        import pyomo.environ as pyo

        columns = model.hmm.y.items()
        terms = [(_weight(part.steps, *step), column) for step, column in columns if step[2] >= 0]
        total = sum(weight * column for weight, column in terms if weight)
        if not isinstance(total, int):
            model.add_component(name, pyo.Constraint(expr=(part.low, total, part.high)))
        return model

    return add


def _weight(steps: StepTable, t: int, before: int, label: int) -> int:
    table = steps.at(t)
    return int(table[before + 1 if len(table) > 1 else 0, label])


def _model(lattice: Lattice) -> Any:
    """A model whose observation at token t is the symbol t, with weights in place of probabilities."""
    from conin.hidden_markov_model import HiddenMarkovModel
    from conin.hidden_markov_model.hmm import HMM_MatVecRepn

    T, K = lattice.shape
    if len(lattice.pool) != 1:
        raise CannotState("transitions that differ between tokens")
    emission, transition = _weights(lattice.node, axis=1), _weights(lattice.pool[0])
    model = HiddenMarkovModel()
    model.load_model(
        start_probs=dict.fromkeys(range(K), 1.0),
        transition_probs={(i, j): transition[i, j] for i in range(K) for j in range(K)},
        emission_probs={(k, t): emission[t, k] for k in range(K) for t in range(T)},
    )
    matrices = {"transition_mat": model.transition_mat, "emission_mat": model.emission_mat}
    model.repn = HMM_MatVecRepn(start_vec=model.start_vec, **matrices, check_errors=False)
    return model


def _weights(scores: Grid, axis: int | None = None) -> NDArray[np.float64]:
    """exp of nats, shifted so that the largest is 1: of each row along an axis, or of all."""
    nats = np.where(is_forbidden(scores), -np.inf, scores / UNITS_PER_NAT)
    weights: NDArray[np.float64] = np.exp(nats - nats.max(axis=axis, keepdims=True))
    return weights


@contextmanager
def _cbc_on_path() -> Iterator[None]:
    """Pyomo looks for a program named cbc; PuLP brings one."""
    import pulp

    before = os.environ["PATH"]
    os.environ["PATH"] = f"{Path(pulp.PULP_CBC_CMD().path).parent}{os.pathsep}{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before
