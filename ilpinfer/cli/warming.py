"""`ilpinfer warm-up`."""

from ilpinfer.cli.progress import status
from ilpinfer.cli.screen import console, print_json
from ilpinfer.decoding.warming import stages
from ilpinfer.kernels.jit import place


def warm_up(as_json: bool = False) -> None:
    """Compile or load the kernels of every stage, and print the folder where they are stored."""
    screen, done, every = console(), [], stages()
    for number, stage in enumerate(every, 1):
        text = f"{number} of {len(every)}, {stage.name}: {stage.purpose}"
        with status(text):
            seconds = stage.warm()
        done.append({"name": stage.name, "purpose": stage.purpose, "seconds": seconds})
        if not as_json:
            screen.print(f"{text}, {seconds:.1f} s", highlight=False)
    folder = place()
    if as_json:
        print_json({"stages": done, "folder": None if folder is None else str(folder)})
        return
    screen.print(
        f"stored in {folder}"
        if folder
        else "the kernels cannot be stored, and every process compiles them again; set NUMBA_CACHE_DIR to a folder",
        highlight=False,
    )
