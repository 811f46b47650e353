"""Executors that decode shards: in this process or in several."""

from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager

from formulations.errors import InferenceError
from ilpinfer.core.deadline import Deadline
from ilpinfer.decoding.workers import WorkerError, Workers
from ilpinfer.reprocessing.shards import Shard, Work, decode_shard
from ilpinfer.reprocessing.tables import ShardEntry

Done = tuple[bytes, ShardEntry]
"""The file of a shard, and its entry."""
TRIES = 3
"""Number of attempts at a shard, since a process may be killed."""


class BudgetSpent(Exception):
    """The time limit of a run has passed."""


class ShardError(InferenceError, RuntimeError):
    """Error for a shard that failed as a whole; the message gives a remedy."""


class Budget(Deadline):
    """The time limit of a run."""

    def check(self) -> None:
        """Raise BudgetSpent if the time limit has passed."""
        if self.passed:
            raise BudgetSpent


class Executor(AbstractContextManager["Executor"]):
    """Decodes shards, at most `width` at the same time."""

    width = 1

    @abstractmethod
    def submit(self, shard: Shard) -> Callable[[Budget], Done]:
        """Submit a shard. The returned function waits for the result, and raises BudgetSpent or ShardError."""

    def __exit__(self, *_: object) -> None: ...


class LocalExecutor(Executor):
    def __init__(self, work: Work) -> None:
        self._work = work

    def submit(self, shard: Shard) -> Callable[[Budget], Done]:
        return lambda budget: decode_shard(shard, self._work, budget.check)


class Processes(Executor):
    """Decodes shards in processes of this machine."""

    def __init__(self, work: Work, number: int) -> None:
        self.width = 2 * number
        self._workers = Workers(number, decode_shard, (work,))

    def submit(self, shard: Shard) -> Callable[[Budget], Done]:
        future = self._workers.submit(shard)

        def result(budget: Budget) -> Done:
            nonlocal future
            for again in range(TRIES, 0, -1):
                try:
                    done: Done = future.result(budget.remaining).value
                    return done
                except TimeoutError:
                    raise BudgetSpent from None
                except WorkerError as error:
                    if again == 1:
                        raise ShardError(f"{sequence_range(shard)}: {error}") from None
                    future = self._workers.submit(shard)
            raise AssertionError

        return result

    def __exit__(self, *_: object) -> None:
        self._workers.end()


def sequence_range(shard: Shard) -> str:
    """The sequences of a shard, for messages: numbers, and place of the first sequence."""
    last = shard.begin + len(shard.examples) - 1
    return f"sequences {shard.begin} to {last}, from {shard.examples[0].where}"
