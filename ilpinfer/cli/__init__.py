"""The command line. Exit codes: 0 done, 1 the work found a failure, 2 bad input, 130 interrupted."""

import os
import sys

from ilpinfer.cli import signals

TYPE_CHECKING = False  # `typing` takes long to import, and interrupts are dealt with after that only

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Run one command; whatever goes wrong is one line on standard error, with the place in a rule file below it."""
    with signals.handled():
        try:
            code = _run(arguments)
            return signals.stopped() if code and signals.came() else code
        except BaseException:
            if not signals.came():
                raise
            return signals.stopped()


def _run(arguments: "Sequence[str] | None") -> int:
    import io

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    from formulations.rules import RuleError
    from ilpinfer import scratch
    from ilpinfer.cli.app import run
    from ilpinfer.cli.failure import Failure
    from ilpinfer.cli.logs import logs_shown

    try:
        scratch.sweep()
        with logs_shown():
            run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return signals.stopped()
    except Failure as failure:
        print(f"ilpinfer: {failure}", file=sys.stderr)
        return failure.code
    except RuleError as error:
        excerpt = [f"  {line}" for line in error.excerpt.splitlines()]
        print("\n".join([f"ilpinfer: {error.message}", *excerpt]), file=sys.stderr)
        return 2
    except (ValueError, RuntimeError, OSError) as error:
        print(f"ilpinfer: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except Exception as error:
        if os.environ.get("ILPINFER_TRACEBACK"):
            raise
        what = " ".join(f"{type(error).__name__}: {error}".split())
        print(f"ilpinfer: {what}; with ILPINFER_TRACEBACK=1 it says where", file=sys.stderr)
        return 2
    return 0


def entry() -> "NoReturn":
    """Run the command of this process, and end it with the command's exit code.

    After an interrupt it does so at once: one that hits code run by `exec` makes CPython end with the signal, although
    it was dealt with.
    """
    signals.install()
    code = main()
    signals.finish(code)
    sys.exit(code)
