"""The integer programs of references, for solvers that read LP or MPS files."""

from collections.abc import Iterable
from pathlib import Path

from formulations import Program, formulate, parse_rules
from formulations.programs.program import FORMATS
from ilpinfer.references.record import Reference
from ilpinfer.system.files import write_atomically


def program_of(reference: Reference) -> Program:
    """The program whose optimum is that of the reference: all rules, hard and soft, with none of them folded.

    Raises
    ------
    ValueError
        where scores and rules do not make a problem, or the program would be too large.
    """
    return formulate(reference.trellis, parse_rules(reference.rules))


def write_programs(references: Iterable[Reference], folder: str | Path) -> list[Path]:
    """Write `NAME.lp` and `NAME.mps` of each reference, each whole or not at all; objectives are in nats.

    Raises
    ------
    ValueError
        for a name that is no file name, or that is there twice, and as `program_of`.
    """
    written: list[Path] = []
    for reference in references:
        if Path(reference.name).name != reference.name or reference.name in ("", ".", ".."):
            raise ValueError(f"the name {reference.name!r:.60} is no file name; rename the reference")
        program = program_of(reference)
        for format_ in FORMATS:
            place = Path(folder, f"{reference.name}.{format_}")
            if place in written:
                raise ValueError(f"two references are called {reference.name!r:.60}; rename one of them")
            write_atomically(place, program.text(format_))
            written.append(place)
    return written
