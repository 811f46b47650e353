"""`ilpinfer warm-up`."""

from ilpinfer.cli.show import console
from ilpinfer.kernels.jit import place
from ilpinfer.warming import STAGES, warm


def warm_up() -> None:
    """Compile or load the kernels of every stage, and say where they are kept."""
    screen = console()
    for stage, what in STAGES.items():
        with screen.status(f"{stage}: {what}"):
            seconds = warm(stage)
        screen.print(f"{stage}: {what}, {seconds:.1f} s", highlight=False)
    kept = place()
    screen.print(
        f"kept in {kept}"
        if kept
        else "nowhere to keep them: every process compiles anew; set NUMBA_CACHE_DIR",
        highlight=False,
    )
