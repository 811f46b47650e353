"""The integer programs of references have the same optima, by solvers that read the files themselves."""

import math
import re
from dataclasses import replace

import highspy
import pytest
from support import cbc

from ilpinfer.references.generator import KINDS, generate
from ilpinfer.references.integer_programs import program_of, write_programs
from ilpinfer.references.making import make


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
    made = references(kind)
    files = write_programs(made, tmp_path)
    assert sorted(files) == sorted(tmp_path.iterdir()) and len(files) == 2 * len(made)
    for reference in made:
        place = tmp_path / reference.name
        found = [by_highs(place.with_name(f"{reference.name}{end}")) for end in (".lp", ".mps")]
        found.append(by_cbc(place.with_name(f"{reference.name}.mps")))
        if reference.score is None:
            assert found == [None] * 3
        else:
            assert None not in found
            assert all(math.isclose(value, reference.score, abs_tol=1e-6) for value in found)


def test_the_program_names_what_the_optimum_is():
    reference = references("plain")[0]
    program = program_of(reference)
    assert program.labels == reference.labels and program.program == "soft"


def test_names_become_those_of_files(tmp_path):
    reference = references("plain")[0]
    names = ["a/b.jsonl, line 3", "a/b.jsonl, line 3", "../..", "", "x" * 300]
    written = write_programs([replace(reference, name=name) for name in names], tmp_path)
    expected = ["a_b.jsonl_line_3", "a_b.jsonl_line_3-2", "_..", "reference", "x" * 100]
    assert [path.name for path in written] == [f"{name}{end}" for name in expected for end in (".lp", ".mps")]
    assert sorted(written) == sorted(tmp_path.iterdir())
