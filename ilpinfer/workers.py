"""A pool of processes that call one function again and again: the parent's side, and theirs."""

import pickle
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from multiprocessing import spawn
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from ilpinfer import compilation, scratch
from ilpinfer.processes import Child, connected


class WorkerError(RuntimeError):
    """A process has ended in the middle of its work."""


@dataclass(frozen=True)
class Result:
    """What a call returned, and the warnings on the way: messages and categories."""

    value: Any
    warnings: list[tuple[str, type[Warning]]]


class Workers:
    """Processes that call `function(item, *common)`; each is started with its first item.

    A process that dies costs the item that it was at; the next one goes to a new process. Unlike those of
    `multiprocessing`, they can be started in a daemon of a pool, and do not import the program's own module, unless
    what they are sent is defined there.

    Parameters
    ----------
    n : how many
    function : of a module
    common : arguments behind the item, which are sent once
    """

    def __init__(self, n: int, function: Callable[..., Any], common: tuple[Any, ...]) -> None:
        self._first = pickle.dumps((function, common))
        self._tasks: SimpleQueue[tuple[Future[Result], Any] | None] = SimpleQueue()
        self._children: list[Child] = []
        self._ended = False
        self._folder = scratch.folder()
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(n)]
        for thread in self._threads:
            thread.start()

    def submit(self, item: Any) -> "Future[Result]":
        """The future result for an item; its exception is the function's, or WorkerError."""
        future: Future[Result] = Future()
        self._tasks.put((future, item))
        return future

    def end(self) -> None:
        """Kill the processes, whatever they are doing."""
        self._ended = True
        for _ in self._threads:
            self._tasks.put(None)
        for child in self._children:
            child.end()
        scratch.remove(self._folder)

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def _serve(self) -> None:
        child: Child | None = None
        while (task := self._tasks.get()) is not None and not self._ended:
            future, item = task
            try:
                if child is None or not child.alive:
                    child = self._started()
                future.set_result(_asked(child, item))
            except BaseException as error:
                future.set_exception(error)

    def _started(self) -> Child:
        child = Child("ilpinfer.workers", folder=self._folder)
        self._children.append(child)
        if self._ended:
            child.end()
        child.pipe.send(_program())
        child.pipe.send_bytes(self._first)
        return child


def _asked(child: Child, item: Any) -> Result:
    request = pickle.dumps(item)
    try:
        child.pipe.send_bytes(request)
        while True:
            kind, value, notices = child.pipe.recv()
            if kind == "compiling":
                compilation.announce(*value)
            elif kind == "returned":
                return Result(value, notices)
            else:
                raise value
    except (EOFError, ConnectionError):
        raise WorkerError(f"one of several processes broke down: {child.last_words()}; try again") from None


def _program() -> dict[str, str]:
    """How a child imports the program's own module."""
    main = sys.modules["__main__"]
    if main.__spec__ is not None:
        return {"init_main_from_name": main.__spec__.name}
    path = getattr(main, "__file__", None)
    return {"init_main_from_path": str(Path(path).absolute())} if path else {}


def main(arguments: Sequence[str]) -> None:
    """In a child: read function and arguments, then answer each item."""
    pipe = connected(*arguments)
    program = pipe.recv()

    def loaded(data: bytes) -> Any:
        if b"__main__" in data and program:
            spawn.prepare(program)
            program.clear()
        return pickle.loads(data)

    function, common = loaded(pipe.recv_bytes())
    compilation.announce = lambda *what: pipe.send(("compiling", what, []))
    while True:
        try:
            request = pipe.recv_bytes()
        except (EOFError, ConnectionError):
            return
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                kind, value = "returned", function(loaded(request), *common)
            except Exception as error:
                error.add_note(traceback.format_exc())
                kind, value = "raised", _sendable(error)
        pipe.send((kind, value, [(str(w.message), w.category) for w in caught]))


def _sendable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
