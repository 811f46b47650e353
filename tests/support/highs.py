"""HiGHS's own readers of program files, in a process of their own: OR-tools cannot share one with them."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

READ = """
import json, sys
from highspy import Highs, HighsModelStatus
results = []
for file in sys.argv[1:]:
    solver = Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 0.0)
    solver.readModel(file)
    solver.run()
    names, values = solver.getLp().col_names_, list(solver.getSolution().col_value)
    solved = solver.getModelStatus() == HighsModelStatus.kOptimal
    results.append([solver.getInfo().objective_function_value, dict(zip(names, values))] if solved else None)
print(json.dumps(results))
"""


def solved(files: Iterable[Path]) -> list[tuple[float, dict[str, float]] | None]:
    """Objective and values of each file, None where it has no solution."""
    command = [sys.executable, "-c", READ, *map(str, files)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
