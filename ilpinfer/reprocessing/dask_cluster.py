"""Shards on the workers of a Dask scheduler."""

import pickle
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from importlib.metadata import version
from platform import python_version
from typing import Any, cast

from ilpinfer.errors import describe
from ilpinfer.reprocessing.executors import (
    TRIES,
    Budget,
    Done,
    Executor,
    ShardError,
    sequence_range,
)
from ilpinfer.reprocessing.manifest import own_versions
from ilpinfer.reprocessing.shards import Shard, Work, decode_shard
from ilpinfer.system.extras import require
from ilpinfer.system.output_paths import OutputError

CONNECT = 10.0
"""Seconds to wait for a scheduler."""
TRANSFER = 10.0
"""Seconds to wait for the transfer of a result; the worker may be lost."""
AHEAD = 2
"""Number of shards in flight for each thread of a worker."""


class ClusterError(OutputError):
    """Error for an unusable scheduler or worker; the message gives the reason and a remedy."""


class DaskCluster(Executor):
    """Decodes shards on the workers of a Dask scheduler; a separate task sends model and rules to the workers."""

    def __init__(self, address: str, work: Work) -> None:
        require("--scheduler", "dask", "distributed")
        import distributed

        self._address, connect = address, cast(Any, distributed.Client)
        try:
            self._client = connect(address, timeout=CONNECT, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise ClusterError(
                f"--scheduler {address}: cannot be reached ({describe(error)[:200]}); start one with dask scheduler, or leave "
                "the option out"
            ) from None
        try:
            self._check_workers()
        except BaseException:
            self._client.close()
            raise
        threads: Mapping[str, int] = self._client.nthreads()
        self.width = AHEAD * sum(threads.values())
        self._work = self._client.submit(pickle.loads, pickle.dumps(work), pure=False, retries=TRIES)

    def submit(self, shard: Shard) -> Callable[[Budget], Done]:
        future = self._client.submit(decode_shard, shard, self._work, pure=False, retries=TRIES)

        def result(budget: Budget) -> Done:
            while True:
                if future.done():
                    try:
                        return cast(Done, future.result(timeout=TRANSFER))
                    except CancelledError:
                        raise self._gone() from None
                    except Exception as error:
                        # if a worker is lost with its result, the task runs again
                        if future.status == "error" or not isinstance(error, TimeoutError):
                            raise ShardError(
                                f"{sequence_range(shard)}: {describe(error)}; finished shards are kept: continue with "
                                "--resume"
                            ) from error
                budget.check()
                self._check_scheduler()
                time.sleep(0.01)

        return result

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def _check_scheduler(self) -> None:
        if self._client.status != "running":
            raise self._gone()

    def _gone(self) -> ShardError:
        return ShardError(
            f"--scheduler {self._address}: has ended; finished shards are kept: continue with --resume"
        )

    def _check_workers(self) -> None:
        """Raise ClusterError unless there are workers, and all have the versions of this process."""
        mine = versions()
        try:
            others: Mapping[str, Any] = self._client.run(versions, on_error="return")
        except Exception as error:
            raise ClusterError(f"--scheduler {self._address}: {describe(error)}") from None
        if not others:
            raise ClusterError(
                f"--scheduler {self._address}: has no workers; start some with dask worker {self._address}"
            )
        for worker, theirs in others.items():
            if isinstance(theirs, BaseException):
                raise ClusterError(
                    f"worker {worker}: cannot import ilpinfer ({describe(theirs)}); install it there, in the same version"
                )
            for name, number in mine.items():
                if theirs.get(name) != number:
                    raise ClusterError(
                        f"worker {worker}: has {name} {theirs.get(name, 'of no version')}, this process {number}; install the "
                        "same version"
                    )


def versions() -> dict[str, str]:
    """Versions that must be equal in this process and on all workers."""
    minor = python_version().rpartition(".")[0]
    return {**own_versions(), "python": minor, "distributed": version("distributed")}
