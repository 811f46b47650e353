"""`ilpinfer warm-up`."""

from ilpinfer.cli.show import console
from ilpinfer.decoding.warming import stages
from ilpinfer.kernels.jit import place


def warm_up() -> None:
    """Compile or load the kernels of every stage, and say where they are kept."""
    screen = console()
    for stage in stages():
        text = f"{stage.name}: {stage.purpose}"
        with screen.status(text):
            seconds = stage.warm()
        screen.print(f"{text}, {seconds:.1f} s", highlight=False)
    folder = place()
    screen.print(
        f"kept in {folder}"
        if folder
        else "nowhere to keep them: every process compiles anew; set NUMBA_CACHE_DIR",
        highlight=False,
    )
