"""The integer programs of references, for solvers that read LP or MPS files."""

import re
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


def write_programs(
    references: Iterable[Reference],
    folder: str | Path,
    *,
    units: str = "nats",
    taken: set[str] | None = None,
    inputs: Iterable[str | Path] = (),
) -> list[Path]:
    """Write `NAME.lp` and `NAME.mps` of each reference, each whole or not at all.

    LP maximises the score, MPS minimises its negative. Characters of names that files do not share become `_`; a name that is
    there already has a number behind it.

    Parameters
    ----------
    units : of the objective, "nats", or "grid" for 2^-20 nats, for solvers whose tolerances are absolute
    taken : names without suffix that are not to be used; those that are used are added
    inputs : files that must not be overwritten

    Raises
    ------
    ValueError
        as `program_of`, and for units that do not exist.
    """
    written, used = list[Path](), set[str]() if taken is None else taken
    for reference in references:
        program, name = program_of(reference), _file_name(reference.name, used)
        for format_ in FORMATS:
            written.append(Path(folder, f"{name}.{format_}"))
            write_atomically(written[-1], program.text(format_, units=units), inputs)
        used.add(name)
    return written


def _file_name(name: str, taken: set[str]) -> str:
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:100].lstrip(".-") or "reference"
    number, result = 1, plain
    while result in taken:
        number += 1
        result = f"{plain}-{number}"
    return result
