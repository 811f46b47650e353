"""The same shards on the workers of a Dask scheduler on this machine."""

import os
import shutil
import signal
import threading
import time
import warnings
from pathlib import Path

import pytest
from support.command_line import folder, run  # noqa: F401
from test_reprocess import REPROCESS, contents, corpus, whole  # noqa: F401

from ilpinfer.reprocessing import dask_cluster
from ilpinfer.reprocessing.folder import Folder

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def cluster():
    """A scheduler and two workers in threads of this process."""
    with (
        warnings.catch_warnings(action="ignore"),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address="127.0.0.1:0",
            host="127.0.0.1",
            protocol="tcp",
        ) as cluster,
    ):
        yield cluster


def on(address, *more):
    return [*REPROCESS, "--scheduler", address, "--output", "out", *more]


def test_workers_come_to_the_same(whole, capsys, cluster):  # noqa: F811
    assert run(on(cluster.scheduler_address), capsys)[0] == 0
    assert contents("out") == whole
    Path("out/part-00001.parquet").unlink()
    assert run(on(cluster.scheduler_address, "--resume"), capsys)[0] == 0
    assert contents("out") == whole


def test_other_versions_are_refused(corpus, capsys, cluster, monkeypatch):  # noqa: F811
    monkeypatch.setattr(dask_cluster, "own_versions", _other(dask_cluster.own_versions))
    code, _, err = run(on(cluster.scheduler_address), capsys)
    assert code == 2 and err.count("\n") == 1
    assert "has numpy" in err and "this process" in err and "install the same version" in err


def _other(honest):
    """Versions that differ with each call, as those of this process and a worker."""
    calls = iter(range(100))
    return lambda: {**honest(), "numpy": str(next(calls))}


def test_a_scheduler_that_is_not_there(corpus, capsys, monkeypatch):  # noqa: F811
    monkeypatch.setattr(dask_cluster, "CONNECT", 0.5)
    code, _, err = run(on("tcp://127.0.0.1:1"), capsys)
    assert code == 2
    assert err.splitlines()[-1].startswith("ilpinfer: --scheduler tcp://127.0.0.1:1: cannot be reached (")


def test_a_scheduler_without_workers(corpus, capsys):  # noqa: F811
    with distributed.LocalCluster(
        n_workers=0, processes=False, dashboard_address="127.0.0.1:0", host="127.0.0.1", protocol="tcp"
    ) as empty:
        code, _, err = run(on(empty.scheduler_address), capsys)
    assert code == 2 and "has no workers; start some with dask worker" in err


def test_a_worker_that_is_killed_costs_nothing(whole, capsys):  # noqa: F811
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1"
    ) as cluster:
        with distributed.Client(cluster, set_as_default=False) as client:
            victim = next(iter(client.run(os.getpid).values()))

        def kill():
            while not Path("out/part-00000.parquet").exists():
                time.sleep(0.01)
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        code, _, _ = run(on(cluster.scheduler_address), capsys)
        killer.join()
    assert code == 0
    assert contents("out") == whole
    shutil.rmtree("out")


def test_a_scheduler_that_dies_loses_nothing_that_was_written(whole, capsys, cluster, monkeypatch):  # noqa: F811
    def write(self, name, data, honest=Folder.write):
        honest(self, name, data)
        if name == "part-00000.parquet":
            cluster.close()

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "write", write)
        patch.setattr(dask_cluster, "AHEAD", 1 / 2)
        code, _, err = run(on(cluster.scheduler_address), capsys)
    assert code == 2
    assert "has ended; finished shards are kept: continue with --resume" in err.splitlines()[-1]
    assert run([*REPROCESS, "--jobs", "1", "--output", "out", "--resume"], capsys)[0] == 0
    assert contents("out") == whole
