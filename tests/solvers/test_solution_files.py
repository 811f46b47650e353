"""Solution files of CBC, HiGHS and SCIP, and lists of values, whole and damaged."""

import subprocess
import sys

import numpy as np
import pytest
from support import cbc

import ilpinfer
from formulations import Trellis, formulate
from formulations import constraints as C
from ilpinfer.solvers import read_solution_file, solve
from ilpinfer.solvers.solution_files import parse_solution

RULES = [C.at_most_tokens("a", 1, penalty=0.5, name='one "a" <b>'), C.ends_with("O")]
TRELLIS = Trellis([1.25, 0.5], np.array([[[0.5, 0.25], [0.0, 0.75]]] * 2), labels=["a", "O"])
PROGRAM = formulate(TRELLIS, RULES)
BEST = ilpinfer.decode(TRELLIS, RULES)
HIGHS = """
import sys
from highspy import Highs
solver = Highs()
solver.setOptionValue("output_flag", False)
solver.readModel(sys.argv[1])
solver.run()
for style in (0, 1):
    solver.writeSolution(f"{sys.argv[1]}.{style}.sol", style)
"""


def values() -> dict[str, int]:
    x = solve("highs", PROGRAM.integer).x
    return dict(zip(PROGRAM.file_columns, x.tolist()))


def by_scip(*, status: bool = False) -> str:
    """As SCIP 10 writes it, without and (before version 4) with a line of its status."""
    costs = dict(zip(PROGRAM.file_columns, PROGRAM.objective.tolist()))
    lines = ["solution status: optimal solution found"] * status
    lines += [f"objective value:{BEST.score:>49g}"]
    lines += [f"{name:<40}{value:>13g} \t(obj:{costs[name]:g})" for name, value in values().items() if value]
    return "\n".join(lines) + "\n"


def by_list(*remarks: str) -> str:
    return "\n".join([*remarks, *(f"{name} {value}" for name, value in values().items())]) + "\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, str]:
    """The text of each format; those of CBC and HiGHS are written by the solvers themselves."""
    folder = tmp_path_factory.mktemp("solutions")
    PROGRAM.write(folder / "x.lp")
    cbc.run(folder / "x.lp", folder / "cbc.sol")
    cbc.run(folder / "x.lp", folder / "cbc-all.sol", "-printingOptions", "all")
    subprocess.run([sys.executable, "-c", HIGHS, "x.lp"], cwd=folder, check=True, capture_output=True)
    return {
        "cbc": (folder / "cbc.sol").read_text(),
        "cbc-all": (folder / "cbc-all.sol").read_text(),
        "highs": (folder / "x.lp.0.sol").read_text(),
        "highs-table": (folder / "x.lp.1.sol").read_text(),
        "scip": by_scip(),
        "scip-status": by_scip(status=True),
        "list": by_list(),
        "list-remarks": by_list("# Solution for model obj", "# Objective value = 2"),
    }


FORMATS = ["cbc", "cbc-all", "highs", "highs-table", "scip", "scip-status", "list", "list-remarks"]


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_is_read(files, name, tmp_path):
    file = tmp_path / "0001.sol"
    file.write_text(files[name])
    solution = read_solution_file(file)
    assert solution.solver.lower() == name.split("-")[0]
    claimed = None if solution.solver == "list" else pytest.approx(BEST.score)
    assert solution.objective == claimed
    assert PROGRAM.labelling(solution.of_columns(PROGRAM)) == BEST.labels
    assert PROGRAM.value(solution.of_columns(PROGRAM)) == BEST.score
    if name != "scip" and claimed is not None:
        assert "ptimal" in solution.status


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_that_is_cut_off_is_refused_or_still_whole(files, name):
    """Every cut either is refused, or leaves out nothing but line ends, rows and remarks."""
    text = files[name]
    refused = 0
    for end in range(0, len(text), max(1, len(text) // 150)):
        try:
            labels = PROGRAM.labelling(parse_solution(text[:end]).of_columns(PROGRAM))
        except ValueError:
            refused += 1
        else:
            assert labels == BEST.labels
            assert text[end:].count("x.") <= text[end:].count("flow.") or name.startswith("cbc")
    assert refused > 75


@pytest.mark.parametrize("name", FORMATS)
def test_a_solution_of_another_program_is_refused(files, name):
    for labels, length in ((["b", "O"], 2), (["a", "O"], 4)):
        other = formulate(Trellis([1.0, 0.5], np.zeros((length, 2, 2)), labels=labels), [])
        with pytest.raises(ValueError, match=r"another program|is broken"):
            other.labelling(parse_solution(files[name]).of_columns(other))
