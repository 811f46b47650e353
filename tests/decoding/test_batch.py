"""Many trellises at once: in order, lazily, in processes that leave nothing behind."""

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from support.family import alive, marked, wait_until
from support.trellises import random_trellis

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from ilpinfer.exact.calls import Call
from ilpinfer.system import processes

RULES = [C.at_most_runs("a", 1), C.requires_present("a", "b", penalty=1.5)]


def gone():
    """Whether the processes that decode have ended, which are the only ones with such a pool."""
    decoding = [
        child for child in processes._all if "ilpinfer.decoding.workers" in " ".join(child.process.args)
    ]
    return [child for child in decoding if child.alive] == []


def test_an_endless_iterable_is_taken_as_it_is_needed():
    taken = []
    endless = (taken.append(s) or random_trellis(s) for s in itertools.count())
    solutions = ilpinfer.decode_many(endless, RULES, n_jobs=2, top=3)
    first = [next(solutions) for _ in range(3)]
    assert [len(few) for few in first] == [3, 3, 3]
    assert len(taken) < 20
    solutions.close()
    assert gone()


def test_an_iterable_that_fails_leaves_no_process():
    def failing():
        yield from (random_trellis(s) for s in range(3))
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="disk"):
        list(ilpinfer.decode_many(failing(), RULES, n_jobs=2))
    assert gone()


SLOW = """
import numpy as np, ilpinfer
from formulations import Trellis, constraints as C
rng = np.random.default_rng(0)
K = 27
labels = [f"L{k}" for k in range(K)]
pairs = [rng.choice(K, 2, replace=False) for _ in range(150)]
rules = [C.requires_present(f"L{a}", f"L{b}", penalty=float(rng.uniform(1, 3))) for a, b in pairs]
moves = rng.normal(size=(K, K)) + 2 * np.eye(K)
trellises = [Trellis.from_emissions(rng.normal(size=(60, K)), moves, labels=labels) for _ in range(300)]
if __name__ == "__main__":
    list(ilpinfer.decode_many(trellises, rules, n_jobs=2))
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc to find processes")
def test_an_interrupt_ends_the_processes_too(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    environment, mark = marked(tmp_path)
    with subprocess.Popen(
        [sys.executable, "slow.py"],
        cwd=tmp_path,
        env=environment,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as run:
        wait_until(lambda: len(alive(mark)) == 3 or run.poll() is not None)
        time.sleep(1.0)
        assert len(alive(mark)) == 3
        os.killpg(run.pid, signal.SIGINT)
        run.wait(timeout=60)
    assert run.returncode != 0
    wait_until(lambda: not alive(mark), seconds=10)
    assert alive(mark) == {}
    assert list((tmp_path / "temporary").iterdir()) == []


def test_an_error_of_the_kernels_is_raised_and_not_hidden_by_another_method(monkeypatch):
    def broken(*_):
        raise ValueError("a defect")

    monkeypatch.setattr(Call, "run", broken)
    trellis = Trellis([0.0, 1.0], np.zeros((2, 2, 2)), labels=["a", "b"])
    rules = [C.at_most_runs("a", 1)]
    for decode in (
        lambda: ilpinfer.decode(trellis, rules),
        lambda: [*ilpinfer.decode_many([trellis], rules)],
    ):
        with pytest.raises(ValueError, match="a defect"):
            decode()
    rows = list(ilpinfer.decode_many([trellis] * 3, rules, on_error="row"))
    assert [row.reason for row in rows] == ["a defect"] * 3
