"""Programs as models of PuLP and OR-tools, which users can extend or solve with their own settings.

`program.constant` is the constant of the objective. `program.labelling({v.name: value, …})` reads a solution.
The solvers of `ilpinfer.decode` receive whole arrays, or MPS text.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from formulations.dtypes import Floats
from formulations.grid import UNITS_PER_NAT
from formulations.programs.program import UNITS, Program, check_units
from formulations.programs.record import UNBOUNDED, IntegerProgram

if TYPE_CHECKING:
    from ortools.math_opt.python import mathopt
    from ortools.sat.python import cp_model
    from pulp import LpProblem, LpVariable

CBC_OPTIONS = ("increment 1e-9", "ratio 0", "allow 0")
"""Without these options, CBC may return the worse of two labellings that are 10^-6 nats apart."""


def _checked(program: Program) -> Program:
    if isinstance(program, Program):
        return program
    kind = type(program).__name__
    hint = ", not its part program.integer" if isinstance(program, IntegerProgram) else ""
    raise TypeError(f"program is of type {kind}; expected a Program from ilpinfer.formulate{hint}")


def to_pulp(program: Program) -> "LpProblem":
    """A PuLP problem that maximises the program's objective, in nats; `solve()` runs CBC with tolerances for near ties.

    PuLP writes 13 digits of each score, which is exact to 2^-20 nats for scores within 10^5 nats of the best path.

    Parameters
    ----------
    program : Program
        The program.

    Returns
    -------
    LpProblem
        The problem; its variables have the names `program.file_columns`.

    Raises
    ------
    TypeError
        For anything but a `Program`, such as its part `program.integer`.

    Examples
    --------
    >>> from ilpinfer import Trellis, constraints as C, formulate
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> program = formulate(trellis, [C.requires_present("a", "b", penalty=0.75)])
    >>> problem = to_pulp(program)
    >>> problem.solve(), problem.objective.value()
    (1, -0.5)
    >>> program.labelling({v.name: v.varValue for v in problem.variables()})
    ['b', 'b']
    """
    import pulp

    integer = _checked(program).integer.shifted()
    problem, columns = pulp_model(
        integer, f"ilpinfer_{program.digest[:16]}", program.file_columns, program.file_rows
    )
    scores = zip(columns, (integer.objective / UNITS_PER_NAT).tolist(), strict=True)
    problem.setObjective(pulp.LpAffineExpression(list(scores), constant=program.constant))
    cbc = pulp.PULP_CBC_CMD.pulp_cbc_path
    problem.setSolver(pulp.COIN_CMD(path=cbc, msg=False, options=list(CBC_OPTIONS)))
    return problem


def pulp_model(
    program: IntegerProgram,
    name: str = "ilpinfer",
    column_names: Sequence[str] | None = None,
    row_names: Sequence[str] | None = None,
) -> "tuple[LpProblem, list[LpVariable]]":
    """A PuLP problem and its variables in order; the objective is in grid units, without the constant."""
    import pulp

    column_names = column_names or [f"c{column}" for column in range(program.n_columns)]
    row_names = row_names or [f"r{row}" for row in range(program.n_rows)]
    problem = pulp.LpProblem(name, pulp.LpMaximize)
    # PuLP 3.3.0 has `LpVariable` alone, later versions warn of it.
    new = getattr(problem, "add_variable", pulp.LpVariable)
    boxes = zip(column_names, program.lower.tolist(), program.upper.tolist(), strict=True)
    columns = [new(name, low, high, cat=pulp.LpInteger) for name, low, high in boxes]
    problem.setObjective(pulp.LpAffineExpression(list(zip(columns, program.objective.tolist(), strict=True))))
    sides = zip(row_names, program.row_lower.tolist(), program.row_upper.tolist(), strict=True)
    for terms, (row, low, high) in zip(_rows(program, columns), sides, strict=True):
        below, above = low > -UNBOUNDED, high < UNBOUNDED
        kinds = [(pulp.LpConstraintGE, low, ".lower" * above)] if below else []
        kinds += [(pulp.LpConstraintLE, high, ".upper" * below)] if above else []
        if low == high:
            kinds = [(pulp.LpConstraintEQ, low, "")]
        for sense, side, which in kinds:
            sum_ = pulp.LpAffineExpression(terms)
            problem.addConstraint(pulp.LpConstraint(sum_, sense, row + which, side))
    return problem, columns


def values_of(columns: "Sequence[LpVariable]") -> Floats | None:
    """(n,) values of PuLP variables; None if the solver did not set them all."""
    values = [column.varValue for column in columns]
    return None if None in values else np.array(values, float)


def to_cp_sat(program: Program, *, units: str = "nats") -> "cp_model.CpModel":
    """A CP-SAT model with integer coefficients; its objective value is in nats or grid units.

    CP-SAT stops when objective and bound differ by less than 10^-4, unless `solver.parameters.absolute_gap_limit` is 0. With
    nats, set that parameter to distinguish labellings that are closer than this; with grid units, that is not necessary. Long
    sequences are solved much faster with the parameters of `method="cp-sat"`, such as `cp_model_presolve = False`.

    Parameters
    ----------
    program : Program
        The program.
    units : str, default "nats"
        "nats", or "grid" for units of 2^-20 nats.

    Returns
    -------
    CpModel
        The model, with one variable for each column, in order.

    Raises
    ------
    ValueError
        For other units.
    TypeError
        For anything but a `Program`.

    Examples
    --------
    >>> from ilpinfer import Trellis, constraints as C, formulate
    >>> from ortools.sat.python import cp_model
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> program = formulate(trellis, [C.requires_present("a", "b", penalty=0.75)])
    >>> model, solver = to_cp_sat(program), cp_model.CpSolver()
    >>> solver.parameters.absolute_gap_limit = 0.0
    >>> solver.solve(model) == cp_model.OPTIMAL, solver.objective_value
    (True, -0.5)
    >>> columns = map(model.get_int_var_from_proto_index, range(program.n_columns))
    >>> program.labelling({v.name: solver.value(v) for v in columns})
    ['b', 'b']
    """
    check_units(units)
    from ortools.sat.python import cp_model

    from ilpinfer.solvers.cp_sat import model_of

    model = cp_model.CpModel()
    integer = _checked(program).integer.shifted()
    model.proto.copy_from(model_of(integer))
    model.proto.objective.offset = float(-(integer.constant or 0))
    model.proto.objective.scaling_factor = -(2.0**-20) if units == "nats" else -1.0
    model.name = f"ilpinfer_{program.digest[:16]}"
    for variable, name in zip(model.proto.variables, program.file_columns, strict=True):
        variable.name = name
    for constraint, name in zip(model.proto.constraints, program.file_rows, strict=True):
        constraint.name = name
    for token, columns in enumerate(_columns_by_token(program)):
        constraint = model.proto.constraints.add()
        constraint.name = f"one.{token}"
        constraint.exactly_one.literals.extend(columns)
    return model


def to_mathopt(program: Program, *, units: str = "nats") -> "mathopt.Model":
    """A MathOpt model that maximises the program's objective, in nats or in grid units of 2^-20 nats.

    The solvers of MathOpt have their own tolerances, most of them 10^-6. Only CP-SAT, or another solver in grid units,
    distinguishes labellings whose scores differ by a few grid units. Parameters and errors as for `to_cp_sat`.

    Returns
    -------
    Model
        The model; its variables have the names `program.file_columns`.

    Examples
    --------
    >>> from ilpinfer import Trellis, formulate
    >>> to_mathopt(formulate(Trellis([0.0, -1.0], [], labels=["a", "b"]))).get_num_variables()
    4
    """
    check_units(units)
    from ortools.math_opt.python import mathopt

    integer = _checked(program).integer.shifted()
    model = mathopt.Model(name=f"ilpinfer_{program.digest[:16]}")
    boxes = zip(program.file_columns, integer.lower.tolist(), integer.upper.tolist(), strict=True)
    columns = [model.add_integer_variable(lb=low, ub=high, name=name) for name, low, high in boxes]
    objective = integer.objective / UNITS[units]
    model.objective.is_maximize = True
    model.objective.offset = (integer.constant or 0) / UNITS[units]
    for column in np.flatnonzero(objective).tolist():
        model.objective.set_linear_coefficient(columns[column], float(objective[column]))
    sides = zip(program.file_rows, program.row_lower.tolist(), program.row_upper.tolist(), strict=True)
    for terms, (name, low, high) in zip(_rows(program, columns), sides, strict=True):
        row = model.add_linear_constraint(lb=low, ub=high, name=name)
        for column, weight in terms:
            row.set_coefficient(column, weight)
    return model


def _columns_by_token(program: Program) -> Iterator[range]:
    """The path columns into each token. A path takes one of them; this constraint makes CP-SAT twice as fast."""
    integer = program.integer
    yield range(integer.states)
    width = integer.states * integer.labels
    for token in range(1, integer.tokens):
        first = integer.states + (token - 1) * width
        yield range(first, first + width)


def _rows(program: Program | IntegerProgram, columns: list[Any]) -> list[list[tuple[Any, int]]]:
    at, weights = program.indices.tolist(), program.data.tolist()
    return [
        [(columns[at[e]], weights[e]) for e in range(first, last)]
        for first, last in pairwise(program.indptr.tolist())
    ]
