"""Children end with their parent, find the modules that they should, and leave no file behind."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from support.family import alive, marked, wait_until
from support.trellises import random_trellis

import ilpinfer
from formulations import constraints as C
from ilpinfer.decoding.workers import WorkerError, Workers
from ilpinfer.system import temporary_folders
from ilpinfer.system.processes import search_path

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc to find processes")
RULES = [C.at_most_runs("a", 1), C.requires_present("a", "b", penalty=1.5)]


LONG = """
import sys, numpy as np, ilpinfer
from formulations import Trellis, constraints as C
rng = np.random.default_rng(0)
labels = [f"L{k}" for k in range(27)]
pairs = [rng.choice(27, 2, replace=False) for _ in range(150)]
rules = [C.requires_present(f"L{a}", f"L{b}", penalty=float(rng.uniform(1, 3))) for a, b in pairs]
moves = rng.normal(size=(27, 27)) + 2 * np.eye(27)
trellises = [Trellis.from_emissions(rng.normal(size=(60, 27)), moves, labels=labels) for _ in range(300)]
for _ in ilpinfer.decode_many(trellises, rules, n_jobs=int(sys.argv[1]), method=sys.argv[2]):
    pass
"""


@linux
@pytest.mark.parametrize(("jobs", "method"), [("2", "auto"), ("1", "cbc"), ("2", "cbc")])
def test_a_killed_parent_leaves_no_process_and_its_files_go_with_the_next_run(jobs, method, tmp_path):
    (tmp_path / "long.py").write_text(LONG)
    environment, mark = marked(tmp_path)
    run = subprocess.Popen([sys.executable, "long.py", jobs, method], cwd=tmp_path, env=environment)
    try:
        wanted = "program.mps" if method == "cbc" else "ilpinfer.decoding.workers"
        wait_until(lambda: any(wanted in each for each in alive(mark).values()) or run.poll() is not None)
        time.sleep(0.1)
        assert run.poll() is None
    finally:
        run.kill()
        run.wait()
    wait_until(lambda: not alive(mark))
    assert alive(mark) == {}
    assert list((tmp_path / "temporary").iterdir())
    subprocess.run(
        [sys.executable, "-m", "ilpinfer", "methods"], env=environment, capture_output=True, check=True
    )
    assert list((tmp_path / "temporary").iterdir()) == []


@linux
def test_folders_of_living_processes_and_of_others_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(temporary_folders.tempfile, "tempdir", str(tmp_path))
    temporary_folders.remove_stale.cache_clear()
    mine = Path(temporary_folders.create())
    _, node, process, start, _ = mine.name.split("-")
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    kept = [
        f"ilpinfer-{node}-{os.getppid()}-{temporary_folders._start(os.getppid())}-x",
        f"ilpinfer-00000000-{gone.pid}-1-x",
        "ilpinfer-x",
        f"ilpinfer-{node}-x",
    ]
    cleared = [f"ilpinfer-{node}-{gone.pid}-1-x", f"ilpinfer-{node}-{process}-{int(start) - 1}-x"]
    for name in (*kept, *cleared):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    (tmp_path / f"ilpinfer-{node}-{gone.pid}-1-link").symlink_to(tmp_path / kept[0])
    temporary_folders.remove_stale.cache_clear()
    temporary_folders.remove_stale()
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {*kept, mine.name, f"ilpinfer-{node}-{gone.pid}-1-link"}
    assert (tmp_path / kept[0] / "file").exists()
    temporary_folders.remove(str(mine))
    temporary_folders.remove_stale.cache_clear()


STDLIB = ("random", "select", "selectors", "tempfile", "json", "numbers", "multiprocessing", "pickle", "yaml")
SCORES = {
    "start": [0.0, 1.0],
    "edges": [[[0.0, 1.0], [1.0, 0.0]]] * 4,
    "label_names": ["a", "b"],
    "tokens": list("vwxyz"),
}


@pytest.mark.parametrize(
    "options", [["--method", "cp-sat"], ["--method", "highs"], ["--method", "cbc", "--jobs", "2"]]
)
def test_files_of_the_working_directory_are_not_executed(options, tmp_path):
    """Console script, workers and solvers: none of them looks for modules there."""
    for name in STDLIB:
        text = f"open({str(tmp_path / 'executed')!r}, 'a').write('{name} ')\nraise SystemExit(9)\n"
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "in.jsonl").write_text(2 * (json.dumps(SCORES) + "\n"))
    (tmp_path / "rules.toml").write_text(
        'fields = ["a"]\n[[rule]]\ntemplate = "at_most_runs"\nfield = "a"\npenalty = 9.0\n'
    )
    decode = ["decode", "in.jsonl", "--rules", "rules.toml", *options]
    program = [sys.executable, "-P", "-c", "from ilpinfer.cli import entry; entry()"]
    run = subprocess.run([*program, *decode], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert not (tmp_path / "executed").exists(), (tmp_path / "executed").read_text()
    assert (run.returncode, run.stderr) == (0, "")
    assert len(run.stdout.splitlines()) == 2


def test_running_as_a_module_does_not_execute_files_of_the_working_directory(tmp_path):
    """Python itself imports a few modules before it comes to the package; the others are its own."""
    for name in ("random", "select", "numpy", "typer", "json", "logging"):
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('{name} was executed')\n")
    run = subprocess.run(
        [sys.executable, "-m", "ilpinfer", "methods"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (run.returncode, run.stderr) == (0, "")


def test_a_source_tree_that_is_the_working_directory_comes_behind_the_standard_library(tmp_path, monkeypatch):
    from ilpinfer.__main__ import leave_working_directory

    monkeypatch.chdir(tmp_path)
    before = [entry for entry in sys.path if entry and entry != str(tmp_path)]
    for root, there in ((tmp_path, True), (tmp_path.parent, False)):
        monkeypatch.setattr(sys, "path", [str(tmp_path), *before])
        leave_working_directory(str(root))
        assert (str(tmp_path) in sys.path) == there
        assert sys.path[0] != str(tmp_path)
        assert [entry for entry in sys.path if entry != str(tmp_path)] == before


def test_children_import_the_source_tree_of_their_parent(monkeypatch):
    """Not another copy that is installed in its environment."""
    root, library = str(Path(ilpinfer.__file__).parents[1]), str(Path(np.__file__).parents[1])
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "path", [root, library])
    assert search_path()[:2] == [root, library]


def _decode_in_a_daemon(connection):
    try:
        solutions = ilpinfer.decode_many([random_trellis(s) for s in range(3)], RULES, n_jobs=2)
        connection.send([solution.labels for solution in solutions])
    except BaseException as error:
        connection.send(repr(error))


def test_processes_can_be_started_in_a_worker_of_a_pool():
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_decode_in_a_daemon, args=(theirs,), daemon=True
    )
    process.start()
    theirs.close()
    assert ours.recv() == [ilpinfer.decode(random_trellis(s), RULES).labels for s in range(3)]
    process.join()


def die_of_three(number, factor):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 5:
        raise KeyError("five")
    return factor * number


def test_a_process_that_dies_costs_only_what_it_was_at():
    with Workers(2, die_of_three, (10,)) as workers:
        futures = [workers.submit(number) for number in range(8)]
        with pytest.raises(WorkerError, match="ended by signal 9"):
            futures[3].result()
        with pytest.raises(KeyError, match="five"):
            futures[5].result()
        assert [futures[n].result().value for n in (0, 1, 2, 4, 6, 7)] == [0, 10, 20, 40, 60, 70]


def warn(number):
    warnings.warn(f"odd: {number}", UserWarning, stacklevel=1)


def test_warnings_in_processes_reach_the_caller():
    """A notebook shows what its own process says, not what others write to standard error."""
    with Workers(2, warn, ()) as workers:
        results = [future.result() for future in [workers.submit(number) for number in range(4)]]
    assert [result.warnings for result in results] == [[(f"odd: {n}", UserWarning)] for n in range(4)]


PROGRAM = """
import numpy as np, ilpinfer
from formulations import Trellis, constraints as C
class Word(str):
    pass
trellis = Trellis(np.zeros(2), np.eye(2)[None], labels=["a", "b"], tokens=[Word("x"), Word("y")])
{guard}
    for solution in ilpinfer.decode_many([trellis, trellis], [C.at_most_runs("a", 0)], n_jobs=2):
        print(*solution.labels)
"""


GUARDED = PROGRAM.format(guard='if __name__ == "__main__":')
PLAIN = PROGRAM.format(guard="if True:").replace("Word(", "str(").replace("class str(str)", "class Word(str)")


@pytest.mark.parametrize("text", [GUARDED, PLAIN], ids=["defines a class", "needs no guard"])
def test_what_a_program_defines_reaches_the_processes(text, tmp_path):
    (tmp_path / "program.py").write_text(text)
    run = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "b b\nb b\n")
