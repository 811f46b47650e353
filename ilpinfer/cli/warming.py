"""`ilpinfer warm-up`."""

from ilpinfer.cli import arguments
from ilpinfer.cli.command import command
from ilpinfer.cli.progress import status
from ilpinfer.cli.screen import console, print_json


@command("ilpinfer warm-up")
def warm_up(as_json: arguments.AsJson = False) -> None:
    """Compile the kernels in advance and store them, so that the first decoding does not wait for them."""
    from ilpinfer.decoding.warming import stages
    from ilpinfer.kernels.jit import place

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
