"""The command line. Exit codes: 0 success, 1 failure of a part of the work, 2 bad input, 130 interrupt."""

import gc
import sys

from ilpinfer.cli import signals

TYPE_CHECKING = False  # `typing` takes long to import; without it, interrupts are handled earlier

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Run one command; an error is one line on standard error, followed by the place in a rule file if there is one."""
    with signals.Interruptible():
        try:
            code = _run(arguments)
            if code and signals.is_interrupted():
                return signals.report_interrupt()
            from ilpinfer.cli.streams import log_summary

            log_summary(code)
            return code
        except BaseException:
            if not signals.is_interrupted():
                raise
            return signals.report_interrupt()


def _run(arguments: "Sequence[str] | None") -> int:
    from ilpinfer.cli import streams
    from ilpinfer.system import temporary_folders

    streams.prepare()
    try:
        from ilpinfer.cli.app import run
        from ilpinfer.cli.progress import show_logs

        temporary_folders.remove_stale()
        with show_logs(), streams.warnings_as_notices():
            run(sys.argv[1:] if arguments is None else list(arguments))
            sys.stdout.flush()
    except KeyboardInterrupt:
        return signals.report_interrupt()
    except BrokenPipeError:
        return streams.end_quietly()
    except SystemExit as leaving:
        if not isinstance(leaving.__context__, BrokenPipeError):
            raise
        return streams.end_quietly()
    except Exception as error:
        return signals.report_interrupt() if signals.is_interrupted() else streams.report(error)
    return 0


def entry() -> "NoReturn":
    """Run the command of this process and exit with its code; after an interrupt immediately, as CPython would exit by the signal."""
    signals.install()
    gc.set_threshold(100_000)  # by default, garbage collection over modules takes a tenth of a short command
    from ilpinfer.cli import streams

    streams.reopen_closed()
    code = main()
    signals.finish(code)
    sys.exit(code)
