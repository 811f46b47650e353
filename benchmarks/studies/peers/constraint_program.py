"""CPMpy on the same problem: its integer program on CP-SAT with this library's settings; its own prove nothing in time."""

from itertools import pairwise

import numpy as np

from benchmarks.methods import Answer, within
from formulations import Trellis
from formulations.constraints.rule_set import RuleSet
from formulations.grid import UNITS_PER_NAT
from formulations.problem.compiled_rules import compile_problem
from formulations.programs.formulation import formulate
from ilpinfer.solvers.cp_sat import PARAMETERS


def decode(trellis: Trellis, rules: RuleSet, time_limit: float) -> Answer:
    import cpmpy

    program = formulate(compile_problem(trellis, rules).fold()).soft()
    boxes = zip(program.lower.tolist(), program.upper.tolist(), strict=True)
    x = [cpmpy.boolvar() if box == (0, 1) else cpmpy.intvar(*box) for box in boxes]
    columns, weights = program.indices.tolist(), program.data.tolist()
    model = cpmpy.Model()
    rows = zip(
        pairwise(program.indptr.tolist()), program.row_lower.tolist(), program.row_upper.tolist(), strict=True
    )
    for (first, last), lower, upper in rows:
        total = cpmpy.sum([weights[e] * x[columns[e]] for e in range(first, last)])
        model += within(total, lower, upper)
    chosen = np.flatnonzero(program.objective).tolist()
    model.maximize(cpmpy.sum([int(program.objective[c]) * x[c] for c in chosen]))
    settings = {**PARAMETERS, "num_search_workers": 1}
    result = model.solve(solver="ortools", time_limit=time_limit, **settings)
    proved = model.status().exitstatus.name in ("OPTIMAL", "UNSATISFIABLE")
    if not result:
        return Answer(None, None, proved, "no labelling")
    path = program.labelling(np.array([int(variable.value()) for variable in x], np.int64))
    return Answer(path, model.objective_value() / UNITS_PER_NAT, proved)
