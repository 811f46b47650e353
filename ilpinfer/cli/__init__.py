"""The command line. Exit codes: 0 done, 1 the work found a failure, 2 bad input, 130 interrupted."""

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; whatever goes wrong is one line on standard error."""
    from ilpinfer.cli.app import run
    from ilpinfer.cli.failure import Failure

    # A job that a shell put into the background starts with interrupts ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _terminate)
    try:
        run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("ilpinfer: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Failure as failure:
        print(f"ilpinfer: {failure}", file=sys.stderr)
        return failure.code
    except (ValueError, RuntimeError, OSError) as error:
        message = " ".join(str(error).split())
        print(f"ilpinfer: {message}", file=sys.stderr)
        return 2
    return 0


def _terminate(_: int, __: FrameType | None) -> None:
    raise SystemExit(143)
