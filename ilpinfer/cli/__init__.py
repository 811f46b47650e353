"""The command line. Exit codes: 0 done, 1 the work found a failure, 2 bad input, 130 interrupted."""

import atexit
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; whatever goes wrong is one line on standard error, with the place in a rule file below it."""
    # A job that a shell put into the background starts with interrupts ignored.
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _terminate)
    from ilpinfer.cli import streams

    streams.prepare()
    from ilpinfer.cli.app import run

    try:
        with streams.warnings_as_notices():
            run(sys.argv[1:] if arguments is None else list(arguments))
            sys.stdout.flush()
    except KeyboardInterrupt:
        streams.say("ilpinfer: interrupted")
        return 130
    except SystemExit as leaving:
        if not isinstance(leaving.__context__, BrokenPipeError):
            raise
        return streams.reader_gone()
    except BrokenPipeError:
        return streams.reader_gone()
    except Exception as error:
        return streams.report(error)
    return 0


def entry() -> NoReturn:
    """Run the command of this process, and end it with the command's exit code.

    An interrupt that hits code run by `exec`, as imports do, makes CPython end with the signal although the
    interrupt was dealt with; leaving by `_exit`, once everything is cleaned up, keeps the code.
    """
    from ilpinfer.cli import streams

    streams.open_closed()
    code = main()
    if code == 130:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _interrupt(_: int, __: FrameType | None) -> None:
    """Raise KeyboardInterrupt; leave at once where that would be swallowed."""
    from ilpinfer import warming

    if warming.busy():
        os.write(2, b"ilpinfer: interrupted\n")
        os._exit(130)
    raise KeyboardInterrupt


def _terminate(_: int, __: FrameType | None) -> None:
    raise SystemExit(143)
