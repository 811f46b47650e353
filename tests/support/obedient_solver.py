"""A backend whose behaviour is set by words in the file that OBEDIENT_SOLVER names.

`load-fails` and `load-waits` are for its import; `tells`, `lies`, `crashes`, `starts` and `waits` for `solve`.
"""

import os
import subprocess
import time
from math import inf
from pathlib import Path

import numpy as np
from support import brute_force_solver

from formulations.programs.record import IntegerProgram
from ilpinfer.solvers.answer import Claim, Progress, Report

VERSION = "obedient 1.0"
ORDERS = Path(os.environ["OBEDIENT_SOLVER"])
BOUND = 2.0**30


def ordered(word: str) -> bool:
    return word in ORDERS.read_text().split()


while ordered("load-waits"):
    time.sleep(0.01)
if ordered("load-fails"):
    raise ImportError("as ordered")


def solve(program: IntegerProgram, deadline: float, threads: int, report: Report) -> Claim:
    if ordered("tells"):
        best = brute_force_solver.solve(program, inf, 1, lambda progress: None)
        report(Progress(best.x, BOUND + 1))
        report(Progress(None, BOUND))
    if ordered("lies"):
        report(Progress(np.ones(program.n_columns)))
    if ordered("starts"):
        child = subprocess.Popen(["sleep", "1000"])
        ORDERS.with_name("child").write_text(str(child.pid))
    if ordered("crashes"):
        os._exit(7)
    while ordered("waits"):
        time.sleep(0.01)
    return brute_force_solver.solve(program, deadline, threads, report)
