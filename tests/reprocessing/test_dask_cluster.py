"""The same shards on the workers of a Dask scheduler on this machine."""

import os
import signal
import threading
import time
import warnings
from pathlib import Path

import pytest
from test_reprocess import REPROCESS, contents, corpus, whole  # noqa: F401

from ilpinfer.reprocessing import dask_cluster
from ilpinfer.reprocessing.folder import Folder

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("default")


def local(workers, **more):
    """A scheduler with its workers on this machine."""
    usual = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"}
    return distributed.LocalCluster(n_workers=workers, **usual, **more)


@pytest.fixture
def cluster():
    """A scheduler and two workers in threads of this process."""
    with warnings.catch_warnings(action="ignore"), local(2, processes=False, protocol="tcp") as cluster:
        yield cluster


def on(address):
    return f"{REPROCESS} --scheduler {address} --output out"


def test_workers_come_to_the_same(whole, cli, cluster):  # noqa: F811
    cli.done(on(cluster.scheduler_address))
    assert contents("out") == whole
    Path("out/part-00001.parquet").unlink()
    cli.done(f"{on(cluster.scheduler_address)} --resume")
    assert contents("out") == whole


def test_other_versions_are_refused(corpus, cli, cluster, monkeypatch):  # noqa: F811
    """Versions differ with each call, as those of this process and a worker."""
    honest, calls = dask_cluster.own_versions, iter(range(100))
    monkeypatch.setattr(dask_cluster, "own_versions", lambda: {**honest(), "numpy": str(next(calls))})
    err = cli.refused(on(cluster.scheduler_address))
    assert "has numpy" in err and "this process" in err and "install the same version" in err


def test_a_scheduler_that_is_not_there(corpus, cli, monkeypatch):  # noqa: F811
    monkeypatch.setattr(dask_cluster, "CONNECT", 0.5)
    err = cli.failed(on("tcp://127.0.0.1:1"))
    assert err.splitlines()[-1].startswith("ilpinfer: --scheduler tcp://127.0.0.1:1: cannot be reached (")


def test_a_scheduler_without_workers(corpus, cli):  # noqa: F811
    with local(0, processes=False, protocol="tcp") as empty:
        err = cli.failed(on(empty.scheduler_address))
    assert "has no workers; start some with dask worker" in err


def test_a_worker_that_is_killed_costs_nothing(whole, cli):  # noqa: F811
    with local(2, processes=True) as cluster:
        with distributed.Client(cluster, set_as_default=False) as client:
            victim = next(iter(client.run(os.getpid).values()))

        def kill():
            while not Path("out/part-00000.parquet").exists():
                time.sleep(0.01)
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        cli.done(on(cluster.scheduler_address))
        killer.join()
    assert contents("out") == whole


def test_a_result_that_is_lost_with_its_worker_is_computed_again(whole, cli, monkeypatch):  # noqa: F811
    """However long the new worker takes."""
    monkeypatch.setattr(dask_cluster, "TRANSFER", 0.1)
    killed = []

    def result(self, timeout, honest=distributed.Future.result):
        if not killed:
            (holders,) = self.client.who_has([self]).values()
            killed.extend(self.client.run(os.getpid, workers=list(holders)).values())
            os.kill(killed[0], signal.SIGKILL)
        return honest(self, timeout)

    monkeypatch.setattr(distributed.Future, "result", result)
    with local(1, processes=True) as cluster:
        cli.done(on(cluster.scheduler_address))
    assert len(killed) == 1 and contents("out") == whole


def test_a_scheduler_that_dies_loses_nothing_that_was_written(whole, cli, cluster, monkeypatch):  # noqa: F811
    def write(self, name, data, honest=Folder.write):
        honest(self, name, data)
        if name == "part-00000.parquet":
            cluster.close()

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "write", write)
        patch.setattr(dask_cluster, "AHEAD", 1 / 2)
        err = cli.failed(on(cluster.scheduler_address))
    assert "has ended; finished shards are kept: continue with --resume" in err.splitlines()[-1]
    cli.done(f"{REPROCESS} --jobs 1 --output out --resume")
    assert contents("out") == whole
