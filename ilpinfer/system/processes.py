"""Child processes in Python, which end together with this process and leave no files."""

import atexit
import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from multiprocessing import Pipe
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from formulations.forks import after_forks
from ilpinfer.system import temporary_folders

if TYPE_CHECKING:  # some systems lack it
    from multiprocessing.connection import Connection

_BOOT = "import sys; sys.path[:] = sys.argv.pop(1).split(chr(10)); from {0} import main; main(sys.argv[1:])"
_all: set["Child"] = set()


class Child:
    """A process that runs `main` of a module of this package, and communicates through `pipe`.

    `main` is given the arguments, of which the first two are for `connect`. The process leads a process group with its
    own children. It finds the standard library before anything else, so that files of the working directory do not
    take its place. `folder` is for its temporary files, and `environment` has variables beside those of this process.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        folder: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.errors = TemporaryFile()  # noqa: SIM115
        self.pipe, theirs = Pipe()
        self.lifeline, its = Pipe()
        descriptors = [theirs.fileno(), its.fileno()]
        code = [_BOOT.format(module), "\n".join(search_path()), *map(str, descriptors), *arguments]
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", *code],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self.errors,
                pass_fds=descriptors,
                env={**os.environ, **({} if folder is None else {"TMPDIR": folder}), **(environment or {})},
                start_new_session=True,
            )
        except BaseException:
            self.close()
            raise
        finally:
            theirs.close()
            its.close()
        _all.add(self)

    def end(self) -> None:
        """Kill the process and its children, and forget it; harmless when it has ended."""
        _all.discard(self)
        self._kill()
        self.process.wait()
        self.close()

    def close(self) -> None:
        self.pipe.close()
        self.lifeline.close()
        self.errors.close()

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def exit_report(self, code: int | None = None) -> str:
        """How this process, or a child of it with this code, ended, with the end of its standard error."""
        if code is None:
            self._kill()
            code = self.process.wait()
        self.errors.seek(0)
        last = self.errors.read()[-2000:].decode(errors="replace").split("\n")
        words = "; ".join(line.strip() for line in last[-4:] if line.strip())
        how = f"by signal {-code}" if code < 0 else f"with code {code}"
        return f"its process ended {how}{words and f' ({words})'}"

    def _kill(self) -> None:
        if self.process.returncode is None:  # not waited for, so that its number is still its own
            with contextlib.suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)


def connect(descriptor: str, lifeline: str) -> "Connection":
    """In a child: the pipe to its parent. The child then ends with its parent, and interrupts are left to the parent."""
    from multiprocessing.connection import Connection

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(int(lifeline), group=True)
    os.set_inheritable(int(descriptor), False)  # the parent has to see that this end is closed
    return Connection(int(descriptor))


def end_with_parent(lifeline: int, *, group: bool = False) -> None:
    """Let the kernel end this process, or its group, (SIGIO) when the pipe `lifeline` closes, whose other end the parent has."""
    import fcntl

    fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp() if group else os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    watch = select.poll()
    watch.register(lifeline, 0)
    if watch.poll(0):
        sys.exit()


def search_path() -> list[str]:
    """Where a child looks for modules: in the standard library first, and in the working directory last."""
    library = os.path.dirname(os.__file__)
    standard = {library, os.path.join(library, "lib-dynload")}
    here = [entry for entry in sys.path if entry not in standard and _is_working_directory(entry)]
    root = str(Path(__file__).parents[2])
    ours = [root] if _is_working_directory(root) else []
    others = [entry for entry in sys.path if entry not in standard and entry not in here]
    return [*(entry for entry in sys.path if entry in standard), *ours, *others, *filter(None, here)]


def _is_working_directory(path: str) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samefile(path or os.curdir, os.curdir)
    return False


def abandon() -> None:
    """Kill every child and remove every folder, for a process that ends at once."""
    for child in list(_all):
        child._kill()
        with contextlib.suppress(OSError):
            os.waitpid(child.process.pid, 0)
    temporary_folders.remove_all()


def end_all() -> None:
    """Kill every child, and wait until it has ended."""
    for child in list(_all):
        child.end()


def _forget() -> None:
    """In a forked child: the processes are the parent's, only the copied descriptors are ours to close."""
    for child in _all:
        child.process.returncode = 0
        child.pipe.close()
        child.lifeline.close()
        child.errors.close()
    _all.clear()


atexit.register(end_all)
after_forks(_forget)
