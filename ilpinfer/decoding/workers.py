"""A pool of processes that call one function: the side of the parent, and the side of the children."""

import contextlib
import pickle
import sys
import threading
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from multiprocessing import spawn
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from formulations.errors import InferenceError
from ilpinfer.system import temporary_folders
from ilpinfer.system.posix import require_posix
from ilpinfer.system.processes import Child, connect

if TYPE_CHECKING:  # some systems lack it
    from multiprocessing.connection import Connection

AHEAD = 2
"""Number of items given to a process ahead, so that it never waits for the next one."""
Task = tuple["Future[Reply[Any]]", bytes]
Value = TypeVar("Value")


class WorkerError(InferenceError, RuntimeError):
    """Error for a process that died during its work."""


@dataclass(frozen=True)
class Reply(Generic[Value]):
    """The value of a call, and its warnings as messages and categories."""

    value: Value
    warnings: list[tuple[str, type[Warning]]]


class Workers:
    """Processes that call `function(item, *common)`; each is started with its first item.

    If a process dies, its current item is lost, and the next item goes to a new process. Unlike the processes of
    `multiprocessing`, they can be started in a daemon of a pool, and do not import the program's own module, unless
    the objects that they receive are defined there.
    """

    def __init__(self, n: int, function: Callable[..., Any], common: tuple[Any, ...]) -> None:
        require_posix("decoding in other processes", "decode in this one")
        self._first = pickle.dumps((function, common))
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._children: list[Child] = []
        self._ended = False
        self._folder = temporary_folders.create()
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(n)]
        for thread in self._threads:
            thread.start()

    def submit(self, item: Any) -> "Future[Reply[Any]]":
        """The future result for an item; its exception is the function's, or WorkerError."""
        future: Future[Reply[Any]] = Future()
        try:
            self._tasks.put((future, pickle.dumps(item)))
        except Exception as error:  # the item cannot be sent
            future.set_exception(error)
        return future

    def end(self) -> None:
        """Kill all processes."""
        self._ended = True
        for _ in self._threads:
            self._tasks.put(None)
        for child in self._children:
            child.end()
        temporary_folders.remove(self._folder)

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def _serve(self) -> None:
        """Send items to one process, one at a time."""
        child: Child | None = None
        given: deque[Task] = deque()
        while True:
            with contextlib.suppress(Empty):
                while len(given) < AHEAD:
                    task = self._tasks.get(block=not given)
                    if task is None:
                        return
                    given.append(task)
                    if child is not None:
                        _send(child, task)
            if child is None or (len(given) == 1 and not child.alive):
                child = self._started(given)
            future, _ = given.popleft()
            try:
                future.set_result(_answer(child))
            except WorkerError as error:
                child = None
                future.set_exception(error)
            except BaseException as error:
                future.set_exception(error)

    def _started(self, given: Iterable[Task]) -> Child:
        child = Child("ilpinfer.decoding.workers", folder=self._folder)
        self._children.append(child)
        if self._ended:
            child.end()
        with contextlib.suppress(OSError):  # which its answer will say
            child.pipe.send(_program())
            child.pipe.send_bytes(self._first)
        for task in given:
            _send(child, task)
        return child


def _send(child: Child, task: Task) -> None:
    with contextlib.suppress(OSError):
        child.pipe.send_bytes(task[1])


def _answer(child: Child) -> Reply[Any]:
    try:
        kind, value, messages = child.pipe.recv()
    except (EOFError, ConnectionError):
        raise WorkerError(f"a worker process ended unexpectedly: {child.exit_report()}; try again") from None
    if kind == "returned":
        return Reply(value, messages)
    raise value


def _program() -> dict[str, str]:
    """How a child process imports the main module of the program."""
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        return {"init_main_from_name": spec.name}
    path = getattr(main, "__file__", None)
    return {"init_main_from_path": str(Path(path).absolute())} if path else {}


def main(arguments: Sequence[str]) -> None:
    """In a child: read function and arguments, then answer each item."""
    pipe = connect(*arguments)
    program = pipe.recv()

    def loaded(data: bytes) -> Any:
        if b"__main__" in data and program:
            spawn.prepare(program)
            program.clear()
        return pickle.loads(data)

    function, common = loaded(pipe.recv_bytes())
    requests: SimpleQueue[bytes | None] = SimpleQueue()
    threading.Thread(target=_read, args=(pipe, requests), daemon=True).start()
    while (request := requests.get()) is not None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                kind, value = "returned", function(loaded(request), *common)
            except Exception as error:
                error.add_note(traceback.format_exc())
                kind, value = "raised", _sendable(error)
        pipe.send((kind, value, [(str(w.message), w.category) for w in caught]))


def _read(pipe: "Connection", requests: "SimpleQueue[bytes | None]") -> None:
    """Read every request at once; otherwise parent and child could wait for each other."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            requests.put(pipe.recv_bytes())
    requests.put(None)


def _sendable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
