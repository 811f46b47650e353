"""CBC: the executable in PuLP. Input is an MPS file; output are solution files and the log."""

import re
import subprocess
import time
from dataclasses import replace
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from pulp import PULP_CBC_CMD

from formulations.dtypes import Floats
from formulations.programs.record import IntegerProgram
from formulations.programs.text import mps
from ilpinfer.solvers.answer import NO_CHOICES, Choices, Claim, Progress, Report, SolverError
from ilpinfer.system.solver_versions import VERSIONS

STATUS = {
    "Optimal": "optimal",
    "Infeasible": "infeasible",
    "Integer infeasible": "infeasible",
    "Optimal (within gap tolerance)": "feasible",
}
SETTINGS = {"ratio": "0", "allow": "0", "increment": "1e-9", "preprocess": "off", "timeMode": "elapsed"}
RESERVED = {"seconds": "time_limit", "timeMode": "time_limit", "threads": "threads"}


def solve(
    program: IntegerProgram,
    deadline: float,
    threads: int,
    report: Report,
    choices: Choices = NO_CHOICES,
) -> Claim:
    """Solve the relaxation by dual simplex, then branch from its basis in a second process; if that is killed, the relaxation is a bound."""
    choices = _by_full_names(choices)
    settings = choices.over({**SETTINGS, "threads": str(threads) if threads > 1 else None}, RESERVED)
    with TemporaryDirectory(prefix="ilpinfer-") as folder:
        Path(folder, "program.mps").write_text(mps(replace(program, constant=0)))
        log = _run(folder, ["-dualSimplex", "-basisOut", "basis", "-solution", "relaxed"], deadline)
        if choices.log:
            print(_text(folder), flush=True)
        relaxed = _read(Path(folder, "relaxed"), program)
        bound = relaxed.value if relaxed.status == "optimal" else inf
        report(Progress(relaxed.x, bound))
        if deadline < inf:
            remaining = deadline - time.monotonic()
            settings["sec"] = f"{max(0.5 * remaining, remaining - 0.3, 0.01):.3f}"
        started = time.monotonic()
        if log is not None:
            log = _branch(folder, settings, deadline)
            _check_values(_text(folder), choices)
            if choices.log:
                print(_text(folder), flush=True)
        branched = _read(Path(folder, "branched"), program)
        branching = time.monotonic() - started
    limited = log is None or "Stopped on" in log or branching > 0.95 * float(settings.get("sec", inf))
    x = relaxed.x if branched.x is None else branched.x
    status = branched.status
    if status == "optimal" and not limited:
        bound = branched.value
    if limited:
        status = "unknown" if x is None else "feasible"
    bound = min(bound, _bound(log or "", program.constant or 0))
    return Claim(status, x, branched.value, bound, VERSION, settings)


def _by_full_names(choices: Choices) -> Choices:
    """Expand abbreviated option names; CBC lists its parameters as `ratio(Gap)`."""
    if not choices.options:
        return choices
    with TemporaryDirectory(prefix="ilpinfer-") as folder:
        log = _run(folder, ["-allCommands", "all", "-?"], inf) or ""
    listed = log.partition("Commands are:")[2].partition("Actions or string parameters:")[0]
    words = [word for line in listed.splitlines() if not line.endswith(":") for word in line.split()]
    names = {word.replace("(", "").replace(")", ""): len(word.partition("(")[0]) for word in words}
    options: dict[str, Any] = {}
    for name, value in choices.options.items():
        full = next(
            (
                one
                for one, least in names.items()
                if len(name) >= least and one.lower().startswith(name.lower())
            ),
            None,
        )
        if full is None:
            raise choices.unknown("CBC", name, names)
        options[next((own for own in SETTINGS if full.startswith(own)), full)] = value
    return Choices(options, choices.log)


def _check_values(log: str, choices: Choices) -> None:
    """Raise SolverOptionError if CBC's log says that it ignored a value."""
    for name in choices.options:
        full = rf"{re.escape(name)}\w*"
        found = re.search(
            rf".*(?:Possible options for {full} are|illegal for .* {full} |provided for {full} - ).*", log
        )
        if found:
            raise choices.refused("CBC", name, " ".join(found[0].strip(" <>;").split()))


def _branch(folder: str, settings: dict[str, Any], deadline: float) -> str | None:
    basis = ["-basisIn", "basis"] if Path(folder, "basis").exists() else []
    options = [word for name, value in settings.items() for word in (f"-{name}", _word(value))]
    try:
        return _run(folder, [*basis, *options, "-solve", "-solution", "branched"], deadline)
    except SolverError:  # CBC 2.10.3 crashes on a few infeasible programs without preprocessing
        if settings.get("preprocess") != "off":
            raise
        settings["preprocess"] = "on"
        return _branch(folder, settings, deadline)


def _word(value: Any) -> str:
    return ("off", "on")[value] if isinstance(value, bool) else str(value)


def _text(folder: str) -> str:
    return Path(folder, "log").read_text("utf-8", errors="replace")


class _Solution(NamedTuple):
    """A solution file: status, value of the maximised objective, and (n,) values or None."""

    status: str = "unknown"
    value: float = -inf
    x: Floats | None = None


def _run(folder: str, options: list[str], deadline: float) -> str | None:
    """Run CBC; returns the log, or None if CBC was killed at the deadline."""
    program = ["program.mps"] if Path(folder, "program.mps").exists() else []
    command = [PULP_CBC_CMD.pulp_cbc_path, *program, *options]
    with Path(folder, "log").open("w+b") as log:
        try:
            process = subprocess.Popen(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, close_fds=False
            )
        except OSError as error:
            raise SolverError(f"cbc: cannot start {command[0]} ({error}); reinstall pulp") from None
        try:
            code = process.wait(None if deadline == inf else max(deadline - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            return None
        finally:
            process.kill()
            process.wait()
        if code:
            raise SolverError(f"cbc: its process ended with code {code}; try again, or use another solver")
        log.seek(0)
        return log.read().decode(errors="replace")


def _read(path: Path, program: IntegerProgram) -> _Solution:
    """Read a solution file. A missing or incomplete file gives the status "unknown"."""
    head, *lines = (path.read_text() if path.exists() else "").splitlines() or [""]
    status, _, value = head.partition(" - objective value ")
    if not value:
        return _Solution()
    status = "feasible" if status.startswith("Stopped on") else STATUS.get(status, "unknown")
    if status not in ("optimal", "feasible"):
        return _Solution(status)
    x = np.zeros(program.n_columns)
    for line in lines:
        words = line.removeprefix("**").split()
        if len(words) == 4:
            x[int(words[1][1:])] = float(words[2])
    return _Solution(status, (program.constant or 0) - float(value), x)


def _bound(log: str, constant: int) -> float:
    """Upper bound on the objective: the constant, which CBC does not know, minus CBC's lower bound, since CBC minimises."""
    result = re.findall(r"^Lower bound: +(\S+)", log, re.M)
    return constant - float(result[-1]) if result else inf


VERSION = VERSIONS["cbc"]()
