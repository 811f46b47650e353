"""`python -m ilpinfer`."""

import os
import sys

from ilpinfer.cli import entry


def leave_working_directory(root: str) -> None:
    """Take the working directory, which `-m` puts first, off the path: a file there must not stand for a module.

    A source tree that is the working directory comes behind the standard library.
    """
    first = sys.path[0] if sys.path else ""
    if sys.flags.safe_path or os.path.realpath(first) != os.path.realpath(os.curdir):
        return
    del sys.path[0]
    if os.path.realpath(first) == os.path.realpath(root):
        library = os.path.join(os.path.dirname(os.__file__), "lib-dynload")
        sys.path.insert(sys.path.index(library) + 1 if library in sys.path else len(sys.path), first)


if __name__ == "__main__":
    leave_working_directory(os.path.dirname(os.path.dirname(__file__)))
    entry()
