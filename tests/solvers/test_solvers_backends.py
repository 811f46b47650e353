"""Solver backends against brute force over all paths, under limits, interrupts and crashes."""

import itertools
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from math import inf
from pathlib import Path

import numpy as np
import pytest
from support.effort import at_most, examples
from support.family import running, wait_until
from support.places import ROOT
from support.trellises import many_runs

from formulations.problem.compiled_rules import compile_problem
from formulations.programs.formulation import formulate
from formulations.programs.record import UNBOUNDED, IntegerProgram
from ilpinfer.solvers import SOLVERS, SolverError, solve

Row = tuple[list[int], list[int], int, int]
NAMES = sorted(SOLVERS)
FREE = int(UNBOUNDED)


def edge(K: int, t: int, i: int, j: int) -> int:
    return K + (t - 1) * K * K + i * K + j


def path_rows(T: int, K: int) -> list[Row]:
    """One unit leaves the start, and what enters a node leaves it."""
    end = K + (T - 1) * K * K
    rows: list[Row] = [(list(range(K)), [1] * K, 1, 1)]
    for t, k in itertools.product(range(T), range(K)):
        into = [k] if t == 0 else [edge(K, t, i, k) for i in range(K)]
        out = [end + k] if t == T - 1 else [edge(K, t + 1, k, j) for j in range(K)]
        rows.append((into + out, [1] * len(into) + [-1] * len(out), 0, 0))
    return rows


def build(T: int, K: int, objective: np.ndarray, rows: list[Row], extra: list[int] = ()) -> IntegerProgram:
    """The path program with more rows, and a column 0 … u for each u in `extra`."""
    rows = path_rows(T, K) + rows
    upper = [1] * (len(objective) - len(extra)) + list(extra)
    columns, weights, row_lower, row_upper = zip(*rows, strict=True)
    return IntegerProgram(
        T,
        K,
        np.array(objective, np.int64),
        np.zeros(len(objective), np.int64),
        np.array(upper, np.int64),
        np.cumsum([0, *map(len, columns)], dtype=np.int64),
        np.concatenate(columns).astype(np.int64),
        np.concatenate(weights).astype(np.int64),
        np.array(row_lower, np.int64),
        np.array(row_upper, np.int64),
    )


def paths(T: int, K: int, n: int) -> Iterator[np.ndarray]:
    for labels in itertools.product(range(K), repeat=T):
        x = np.zeros(n, np.int64)
        x[labels[0]] = x[K + (T - 1) * K * K + labels[-1]] = 1
        for t in range(1, T):
            x[edge(K, t, labels[t - 1], labels[t])] = 1
        yield x


def best(program: IntegerProgram) -> float:
    """The optimum by enumeration of the paths and of every value of the other columns."""
    first = program.n_edges
    choices = [range(int(u) + 1) for u in program.upper[first:]]
    value = -inf
    for x in paths(program.tokens, program.labels, program.n_columns):
        for rest in itertools.product(*choices):
            x[first:] = rest
            if program.satisfied_by(x):
                value = max(value, program.value(x))
    return value


def small(seed: int) -> IntegerProgram:
    """T <= 5, K <= 4, random rows of every kind and a counted slack column, with near ties."""
    random = np.random.default_rng(seed)
    T, K = int(random.integers(1, 6)), int(random.integers(2, 5 if seed % 3 else 4))
    n = (T - 1) * K * K + 2 * K
    base = int(random.choice([0, 2**20, 7 * 2**20 + 3]))
    objective = base + random.integers(-3, 4, n)
    rows: list[Row] = []
    for _ in range(random.integers(1, 4)):
        columns = random.choice(n, min(n, int(random.integers(2, 9))), replace=False).tolist()
        weights = random.choice([-2, -1, 1, 1, 2, 3], len(columns)).tolist()
        low = int(random.integers(-1, 2))
        sides = [(low, low), (low, low + 1), (-FREE, low), (low, FREE), (-FREE, FREE)]
        rows.append((columns, weights, *sides[random.integers(len(sides))]))
    columns = random.choice(n, n // 2, replace=False).tolist()
    rows.append(([*columns, n], [1] * len(columns) + [-1], -FREE, 0))
    penalty = -int(random.integers(0, 3)) - base // 2
    return build(T, K, np.append(objective, penalty), rows, [int(random.integers(1, T + 2))])


def large(T: int = 77, K: int = 26, seed: int = 0) -> tuple[IntegerProgram, int]:
    """At most one run of each label, each with a penalty; and the value of some labelling."""
    problem = compile_problem(*many_runs(T, K, 1, seed=seed, penalty=1.0))
    return formulate(problem).soft(), problem.value(np.zeros(T, np.int64)).score


@pytest.fixture(scope="module")
def big() -> tuple[IntegerProgram, int]:
    return large()


@pytest.fixture(autouse=True)
def nothing_left(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """No output and no temporary file from any test here."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert capfd.readouterr() == ("", "")
    assert not list(folder.iterdir())


def children() -> set[int]:
    """Live processes whose parent is this one."""
    result = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == os.getpid() and state != "Z":
            result.add(int(stat.parent.name))
    return result


@pytest.mark.examples
@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_brute_force(name: str) -> None:
    statuses = set()
    for seed in [*range(examples(60)), 531]:  # 531 crashes CBC without preprocessing
        program = small(seed)
        answer, value = solve(name, program), best(program)
        statuses.add(answer.status)
        assert answer.bound == value, seed
        if value == -inf:
            assert (answer.status, answer.x) == ("infeasible", None), seed
        else:
            assert answer.status == "optimal", seed
            assert answer.x is not None
            assert program.satisfied_by(answer.x)
            assert program.value(answer.x) == value
    assert statuses == {"optimal", "infeasible"}


@pytest.mark.parametrize("name", NAMES)
def test_near_ties_at_the_size_of_real_scores(name: str) -> None:
    """Paths differ by a few grid units out of 2^28, and rules decide between them."""
    T, K = 6, 3
    n = (T - 1) * K * K + 2 * K
    edges = np.arange((T - 1) * K * K).reshape(T - 1, K, K) + K
    rows: list[Row] = []
    for k in range(K):
        begins = [k, *np.delete(edges[:, :, k], k, axis=1).ravel().tolist()]
        rows.append((begins, [1] * len(begins), -FREE, 1))
    for seed in range(3):
        scores = 40 * 2**20 + np.random.default_rng(seed).integers(-3, 4, n)
        program = build(T, K, scores, rows)
        answer = solve(name, program)
        assert (answer.status, answer.bound) == ("optimal", best(program))


@pytest.mark.parametrize("name", NAMES)
def test_two_threads(name: str) -> None:
    program, _ = large(20, 6, seed=1)
    assert solve(name, program, threads=2).bound == solve(name, program).bound


@pytest.mark.parametrize("name", NAMES)
def test_boxes_away_from_zero(name: str) -> None:
    program = build(1, 2, np.array([1, 2, 0, 0, 5, -3]), [([4, 5], [2, -3], -1, 2)], [0, 0])
    program.lower[4:], program.upper[4:] = [-3, -2], [4, 7]
    values = [
        5 * a - 3 * b for a in range(-3, 5) for b in range(-2, 8) if -1 <= 2 * a - 3 * b <= 2
    ]  # the two columns apart from the path
    assert solve(name, program).bound == 2 + max(values)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("limit", [0.5, 1.0])
def test_time_limit(name: str, limit: float, big: tuple[IntegerProgram, int]) -> None:
    program, reached = big
    started = time.monotonic()
    answer = solve(name, program, time_limit=limit)
    wall = time.monotonic() - started
    assert wall <= at_most(limit + 0.5)
    assert answer.status in ("feasible", "unknown")
    assert answer.bound >= reached
    if answer.x is not None:
        assert answer.bound >= program.value(answer.x)


@pytest.mark.parametrize("name", NAMES)
def test_bound_under_a_limit_is_not_below_the_optimum(name: str) -> None:
    program, _ = large(30, 10, seed=3)
    optimum = solve("cp-sat", program).bound
    for limit in (0.05, 0.1, 0.2):
        answer = solve(name, program, time_limit=limit)
        assert answer.bound >= optimum
        if answer.status == "optimal":
            assert answer.bound == optimum
        assert answer.status != "infeasible"


@pytest.mark.parametrize("name", NAMES)
def test_no_time_left(name: str) -> None:
    answer = solve(name, small(0), time_limit=0.0)
    assert (answer.status, answer.x, answer.bound) == ("unknown", None, inf)


@pytest.mark.parametrize("name", NAMES)
def test_keyboard_interrupt(name: str, big: tuple[IntegerProgram, int]) -> None:
    solve(name, small(0))
    before = children()
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    started = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        solve(name, big[0])
    assert time.monotonic() - started < at_most(1.5)
    assert children() < before
    assert solve(name, small(0)).bound == best(small(0))


@pytest.mark.parametrize("name", NAMES)
def test_killed_worker(name: str, big: tuple[IntegerProgram, int]) -> None:
    from ilpinfer.solvers import pool

    def kill() -> None:
        os.kill(busy.process.pid, signal.SIGKILL)

    solve(name, small(0))
    (busy,) = pool._idle[name]
    threading.Timer(0.3, kill).start()
    with pytest.raises(SolverError, match=f"{name}: its process ended by signal 9.*try again"):
        solve(name, big[0])
    assert solve(name, small(0)).status == solve(name, small(0)).status != "unknown"
    pool._idle[name][0].process.kill()
    pool._idle[name][0].process.wait()
    assert solve(name, small(0)).status != "unknown"


def test_exception_in_the_worker_names_the_solver() -> None:
    program = build(1, 2, np.array([1, 2, 0, 0]), [])
    program.indices[0] = 99
    with pytest.raises(SolverError, match=r"^cp-sat: .*try another solver$"):
        solve("cp-sat", program)


def test_threads_share_the_pool() -> None:
    programs = [small(seed) for seed in range(12)]
    with ThreadPoolExecutor(3) as threads:
        bounds = list(threads.map(lambda program: solve("highs", program).bound, programs))
    assert bounds == [best(program) for program in programs]


PARENT = """
import os, sys, threading, time
sys.path[:0] = {tests!r}
from test_solvers_backends import large, small
from ilpinfer import solvers
from ilpinfer.system import processes
solvers.solve({name!r}, small(0))
if {fork}:
    child = os.fork()
    if child == 0:
        solvers.solve({name!r}, small(1))
        (worker,) = processes._all
        time.sleep(30)
threading.Thread(target=solvers.solve, args=({name!r}, large()[0]), daemon=True).start()
time.sleep(0.5)
(worker,) = processes._all
print(worker.process.pid, {fork} and child, flush=True)
time.sleep(30)
"""


@pytest.mark.parametrize("fork", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_worker_dies_with_its_parent_in_the_middle_of_a_solve(name: str, fork: bool) -> None:
    code = PARENT.format(tests=[str(ROOT / "tests"), str(ROOT / "tests" / "solvers")], name=name, fork=fork)
    root = str(ROOT)
    environment = {**os.environ, "PYTHONPATH": root}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        worker, child = parent.stdout.readline().split()
        assert Path(f"/proc/{int(worker)}").exists()
        parent.kill()
        wait_until(lambda: not running(int(worker)), 2)
        assert not running(int(worker))
        if fork:
            os.kill(int(child), signal.SIGKILL)


@pytest.mark.parametrize("rows", [[], [([0, 1], [1, 1], 2, 2)]])
def test_a_new_solver_is_one_file_and_one_line(rows, monkeypatch):
    monkeypatch.setitem(SOLVERS, "brute-force", "support.brute_force_solver")
    program = build(2, 2, np.array([5, 0, 2, 0, 0, 4, 0, 0]), rows)
    one, other = solve("brute-force", program), solve("highs", program)
    assert one.version == "brute force 1.0"
    assert one.status == other.status == ("infeasible" if rows else "optimal")
    assert one.bound == other.bound
