"""The integer programs of references have the same optima, by solvers that read the files themselves."""

import math
import re

import highspy
import pytest
from support import cbc
from support.reference_generator import generate

from formulations import formulate, parse_rules
from ilpinfer.references.making import make
from ilpinfer.references.shipped import KINDS


def references(kind):
    options = {"T": 4, "K": 3} if kind == "second-order" else {"T": 7, "K": 4}
    made = generate(kind, 3, seed=2, hardness=0.8, **options)
    return [make(each.trellis, each.rules, name=each.name) for each in made]


def by_highs(file):
    """The optimum of an LP or MPS file; None where it is infeasible."""
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("mip_rel_gap", 0.0)
    highs.setOptionValue("mip_abs_gap", 1e-9)
    assert highs.readModel(str(file)) == highspy.HighsStatus.kOk
    highs.run()
    status = highs.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return None
    assert status == highspy.HighsModelStatus.kOptimal
    value = highs.getInfo().objective_function_value
    return value if file.suffix == ".lp" else -value


def by_cbc(file):
    """Of an MPS file, which CBC minimises."""
    solution = file.with_suffix(".sol")
    log = cbc.run(file, solution)
    if re.search("infeasible", solution.read_text().splitlines()[0], re.I):
        return None
    assert "Optimal solution found" in log or "optimal" in solution.read_text()
    return -float(re.search(r"objective value\s+(-?[\d.e+]+)", solution.read_text())[1])


@pytest.mark.parametrize("kind", KINDS)
def test_two_solvers_find_the_optimum(kind, tmp_path):
    for reference in references(kind):
        program = formulate(reference.trellis, parse_rules(reference.rules))
        lp, mps = tmp_path / "x.lp", tmp_path / "x.mps"
        program.write(lp)
        program.write(mps)
        found = [by_highs(lp), by_highs(mps), by_cbc(mps)]
        if reference.score is None:
            assert found == [None] * 3
        else:
            assert None not in found
            assert all(math.isclose(value, reference.score, abs_tol=1e-6) for value in found)
