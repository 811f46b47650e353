"""Messages about the compilation of kernels, through the logger `ilpinfer`, each once in a process, and its steps."""

import logging
from collections.abc import Callable, Collection
from typing import NamedTuple

logger = logging.getLogger("ilpinfer")
purpose = "decoding"
"""The purpose of the kernels that are being compiled."""
cacheable = True
"""Whether compiled kernels can be kept for other processes."""
_announced: set[str] = set()


class Step(NamedTuple):
    """A step of a compilation."""

    purpose: str  # what the kernel is for
    function: str  # name of the function that is being compiled
    done: int  # functions that are compiled
    total: int  # functions that belong to the kernel

    def __str__(self) -> str:
        return f"compiling {self.function.strip('_')} for {self.purpose}, {self.done + 1} of {self.total}"


class _Compilation:
    """The functions of the kernel that is being compiled."""

    def __init__(self) -> None:
        self.left, self.total, self.stack = set[object](), 0, list[str]()

    def tell(self) -> None:
        if self.stack and self.left:
            watch(Step(purpose, self.stack[-1], self.total - len(self.left), self.total))


_compilation = _Compilation()


def begins(functions: Collection[object] = ()) -> None:
    """Notify the user that a kernel is about to be compiled, which consists of some functions."""
    _compilation.left, _compilation.total = set(functions), len(functions)
    subject = f"compiling {purpose}"
    if subject in _announced:
        return
    text = f"compiling kernels for {purpose}, {'once for this installation' if cacheable else 'anew in every process'}"
    if not any(each.startswith("compiling ") for each in _announced):
        text += ": this can take minutes"
    announce(text, subject)


def enter(function: Callable[..., object]) -> None:
    """Tell that a function is being compiled."""
    _compilation.stack.append(function.__name__)
    _compilation.tell()


def leave(function: Callable[..., object]) -> None:
    """Tell that it is compiled, or that its compilation has failed."""
    _compilation.left.discard(function)
    _compilation.stack.pop()
    _compilation.tell()


def ends() -> None:
    """Tell that nothing is being compiled."""
    _compilation.left.clear()
    watch(None)


def _announce(text: str, subject: str) -> None:
    """Log a warning about a subject the first time, and other texts about it at level INFO, each once."""
    if text not in _announced:
        logger.log(logging.INFO if subject in _announced else logging.WARNING, text)
    _announced.update((subject, text))


def _watch(step: Step | None) -> None:
    """Ignore a step."""


announce: Callable[[str, str], None] = _announce
"""The function that logs a text about a subject; a child process sends it to its parent instead."""
watch: Callable[[Step | None], None] = _watch
"""The function that is told each step, and None at the end; a command shows them, and a child process sends them to its parent."""
