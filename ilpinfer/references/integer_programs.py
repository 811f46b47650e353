"""The integer programs of references, for solvers that read LP or MPS files."""

import re
from collections.abc import Iterable
from pathlib import Path

from formulations import Program, formulate, parse_rules
from ilpinfer.references.record import Reference
from ilpinfer.system.files import write_atomically
from ilpinfer.system.output_paths import check_folder


def program_of(reference: Reference) -> Program:
    """The integer program of a reference, with all rules, hard and soft; none of them is folded.

    Parameters
    ----------
    reference : Reference
        The reference.

    Returns
    -------
    Program
        The program, whose optimum is that of the reference.

    Raises
    ------
    ValueError
        If scores and rules do not form a problem, or the program would be too large.

    Examples
    --------
    >>> from ilpinfer import references
    >>> [instance] = references.generate("plain", 1, T=5)
    >>> references.program_of(references.make(instance.trellis, instance.rules)).tokens
    5
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
    """Write `NAME.lp` and `NAME.mps` of each reference.

    LP files maximise the score, MPS files minimise its negative. Characters that are not portable in file names become `_`, and
    a name that occurs again gets a number. Each file appears under its name only when it is complete.

    Parameters
    ----------
    references : iterable of Reference
        The references.
    folder : str or Path
        Folder of the files.
    units : str, default "nats"
        Units of the objective, "nats" or "grid" for 2^-20 nats, for solvers whose tolerances are absolute.
    taken : set of str, optional
        Names without suffix that must not be used; the names of the new files are added.
    inputs : iterable of str or Path, optional
        Files that must not be overwritten.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ValueError
        As for `program_of`, and for unknown units.

    Examples
    --------
    >>> from ilpinfer import references
    >>> import tempfile, pathlib
    >>> [instance] = references.generate("plain", 1, T=5)
    >>> reference = references.make(instance.trellis, instance.rules, name="first")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = references.write_programs([reference], folder)
    ...     sorted(path.name for path in pathlib.Path(folder).iterdir())
    ['first.lp', 'first.mps']
    """
    check_folder(folder)
    written, used = list[Path](), set[str]() if taken is None else taken
    for reference in references:
        program, name = program_of(reference), _file_name(reference.name, used)
        for format_ in ("lp", "mps"):
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
