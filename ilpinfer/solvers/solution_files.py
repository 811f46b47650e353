"""Parsers for solution files of CBC, HiGHS and SCIP, and for lists of values."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from formulations.errors import InferenceError
from formulations.files import open_bytes, read_text_bytes
from formulations.messages import brief
from formulations.programs.program import Program

NO_SOLUTION = re.compile(
    r"infeas|unbounded|no solution|time limit reached - no|not solved|none", re.IGNORECASE
)


class SolutionFileError(InferenceError, ValueError):
    """Error for an unusable solution file."""


@dataclass(frozen=True)
class SolutionFile:
    """The content of a solver's solution file.

    Parameters
    ----------
    solver : str
        "CBC", "HiGHS" or "SCIP", and "list" for lines `name value`.
    status : str
        Status in the solver's words; empty if the format has none.
    objective : float or None
        Objective value according to the solver; None if the format has none.
    values : dict of str to float
        Values of columns by name, and of rows if the solver writes them.
    whole : bool
        Whether the file has a value for each column; otherwise missing columns are 0.

    Examples
    --------
    >>> SolutionFile("CBC", "Optimal", 0.5, {"x": 1.0}, whole=False).values
    {'x': 1.0}
    """

    solver: str
    status: str
    objective: float | None
    values: dict[str, float]
    whole: bool

    def of_columns(self, program: Program) -> dict[str, float]:
        """The value of each column of a program, by its name in files.

        Parameters
        ----------
        program : Program
            The program that was solved.

        Returns
        -------
        dict of str to float
            Values by column name.

        Raises
        ------
        SolutionFileError
            For a name that is neither a column nor a row of the program, and for missing columns if `whole`.
        """
        columns, rows = set(program.file_columns), set(program.file_rows)
        foreign = next((name for name in self.values if name not in columns and name not in rows), None)
        if foreign is not None:
            what = "the solution belongs to another program, or to one written with other options"
            raise SolutionFileError(f"{brief(foreign)} is not a column of this program: {what}")
        missing = [name for name in program.file_columns if name not in self.values]
        if missing and self.whole:
            raise SolutionFileError(
                f"no value for {brief(missing[0])} ({len(missing)} of {len(columns)} columns): the file is cut off, or "
                "belongs to another program"
            )
        return {name: self.values.get(name, 0.0) for name in program.file_columns}


def read_solution_file(path: str | Path) -> SolutionFile:
    """Read a solution file. The first line identifies the format.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    SolutionFile
        Solver, status, objective and values.

    Raises
    ------
    SolutionFileError
        For a file that cannot be read, has an unknown format, is damaged, or contains no solution.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "program.sol")
    ...     _ = path.write_text("Optimal - objective value 0.5\\n      0 x 1 0.5\\n")
    ...     read_solution_file(path).values
    {'x': 1.0}
    """
    text = _text(path)
    try:
        return parse_solution(text)
    except ValueError as error:
        raise SolutionFileError(f"{path}: {error}") from None


def _text(path: str | Path) -> str:
    try:
        with open_bytes(path) as stream:
            return read_text_bytes(stream).decode("utf-8-sig")
    except OSError as error:
        raise SolutionFileError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise SolutionFileError(
            f"{path}: byte {error.start} is not UTF-8: it is not a solution file"
        ) from None
    except ValueError as error:
        raise SolutionFileError(f"{path}: {error}") from None


def values_of_variables(path: str | Path, sizes: Sequence[int]) -> list[int]:
    """The values on the last line of a solution file of toulbar2, one of each variable; SolutionFileError for others."""
    text = _text(path)
    words = (text.strip().splitlines() or [""])[-1].split()
    if not all(word.isascii() and word.isdigit() for word in words):
        raise SolutionFileError(f"{path}: its last line, {brief(' '.join(words))}, is no list of values")
    values = [int(word) for word in words]
    if len(values) != len(sizes):
        raise SolutionFileError(
            f"{path}: {len(values)} values for {len(sizes)} variables: it is cut off, or a solution of another program"
        )
    for number, (value, size) in enumerate(zip(values, sizes, strict=True)):
        if value >= size:
            raise SolutionFileError(
                f"{path}: variable {number} has the value {value}; expected one below {size}"
            )
    return values


def parse_solution(text: str) -> SolutionFile:
    """The solution in a text; errors as for `read_solution_file`, without the file."""
    lines = [line.rstrip() for line in text.splitlines()]
    first = next((line.strip() for line in lines if line.strip()), "")
    for begins, parse in FORMATS:
        if begins.match(first):
            solution = parse(lines)
            if not solution.values:
                words = f": the solver says {solution.status!r}" if solution.status else ""
                raise SolutionFileError(f"it contains no solution{words}")
            return solution
    kinds = "a solution of CBC, HiGHS or SCIP nor lines `name value`"
    raise SolutionFileError(f"its first line, {brief(first)}, begins neither {kinds}")


def _cbc(lines: list[str]) -> SolutionFile:
    """`Optimal - objective value 2`, then lines `number name value cost`; ** marks violated sides."""
    body = iter(lines)
    status, _, objective = next(line for line in body if line.strip()).partition(" - objective value ")
    if NO_SOLUTION.search(status):
        return SolutionFile("CBC", status, None, {}, False)
    rows = (line.removeprefix("**").split() for line in body if line.strip())
    return SolutionFile("CBC", status, _number(objective), _values(rows, at=(1, 2), fields=4), False)


def _highs(lines: list[str]) -> SolutionFile:
    """`Model status`, the status, then `# Columns n` and n lines `name value`, and the same for rows."""
    body = iter(lines)
    status = _after(body, "Model status")
    feasible = _after(body, "# Primal solution values")
    if feasible == "None" or NO_SOLUTION.search(status):
        return SolutionFile("HiGHS", status, None, {}, True)
    objective = _number(_field(body, "Objective "))
    count = _number(_field(body, "# Columns "))
    values = _values((line.split() for line in _next(body, int(count))), at=(0, 1), fields=2)
    rows = int(_number(_field(body, "# Rows ")))
    _values((line.split() for line in _next(body, rows)), at=(0, 1), fields=2)
    return SolutionFile("HiGHS", status, objective, values, True)


def _highs_table(lines: list[str]) -> SolutionFile:
    """A table of columns and one of rows, then `Model status:` and `Objective value:`."""
    body = iter(lines)
    heading = _after(body, "Columns").split()
    if heading[:1] != ["Index"] or heading[-1:] != ["Name"] or "Primal" not in heading:
        raise SolutionFileError("it begins like a table of HiGHS, but the table has other columns")
    values: dict[str, float] = {}
    for line in body:
        if line.strip() == "Rows":
            break
        words = line.split()
        # a status may come first
        numbers = words[1:] if len(words) > 1 and _is_number(words[1]) else words[2:]
        if len(numbers) < 4 or numbers[-1] in values:
            raise SolutionFileError(f"line {brief(line.strip())} is cut off, damaged or given twice")
        values[numbers[-1]] = _number(numbers[2])
    status = _field(body, "Model status:").strip()
    objective = _number(_field(body, "Objective value:"))
    none = NO_SOLUTION.search(status) is not None
    return SolutionFile("HiGHS", status, objective, {} if none else values, True)


def _scip(lines: list[str]) -> SolutionFile:
    """`solution status:` in some versions, `objective value:`, then lines `name value (obj:cost)` of nonzero columns."""
    body, status = [line for line in lines if line.strip()], ""
    if body[0].startswith("solution status:"):
        status = body.pop(0).partition(":")[2].strip()
    if not body or not body[0].startswith("objective value:"):
        return SolutionFile("SCIP", status or " ".join(body[:1]), None, {}, False)
    objective = _number(body[0].partition(":")[2])
    rows = (line.replace("(obj:", " (obj:").split()[:3] for line in body[1:])
    values = _values(rows, at=(0, 1), fields=3, last=lambda word: word[:5] == "(obj:" and word[-1] == ")")
    return SolutionFile("SCIP", status, objective, values, False)


def _plain(lines: list[str]) -> SolutionFile:
    """A line `name value` for each column; comments begin with `#`."""
    rows = (line.split() for line in lines if line.strip() and not line.startswith("#"))
    return SolutionFile("list", "", None, _values(rows, at=(0, 1), fields=2), True)


FORMATS: tuple[tuple[re.Pattern[str], Callable[[list[str]], SolutionFile]], ...] = (
    (re.compile(r"\S.* - objective value "), _cbc),
    (re.compile(r"Model status$"), _highs),
    (re.compile(r"Columns$"), _highs_table),
    (re.compile(r"solution status:|objective value:|no solution available"), _scip),
    (re.compile(r"#|\S+\s+[-+]?[.\d]\S*$"), _plain),
)
"""Formats, recognised by the beginning of the first line, and their parsers."""


def _values(
    rows: Iterable[list[str]],
    *,
    at: tuple[int, int],
    fields: int,
    last: Callable[[str], bool] = lambda _: True,
) -> dict[str, float]:
    result: dict[str, float] = {}
    for words in rows:
        if len(words) != fields or not words[at[0]] or not last(words[-1]):
            raise SolutionFileError(f"line {brief(' '.join(words))} is cut off or damaged")
        name = words[at[0]]
        if name in result:
            raise SolutionFileError(f"{brief(name)} has two values")
        result[name] = _number(words[at[1]])
    return result


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SolutionFileError(
            f"{brief(text.strip())} is not a number: the file is cut off or damaged"
        ) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _after(lines: Iterator[str], title: str) -> str:
    for line in lines:
        if line.strip() == title:
            return next(lines, "").strip()
    raise SolutionFileError(f"it is cut off: line {title!r} is missing")


def _field(lines: Iterator[str], begins: str) -> str:
    """The rest of the next line with this beginning."""
    for line in lines:
        if line.startswith(begins):
            return line.removeprefix(begins)
    raise SolutionFileError(f"it is cut off: line {begins.strip()!r} is missing")


def _next(lines: Iterator[str], count: int) -> list[str]:
    result = [line for _, line in zip(range(count), lines, strict=False)]
    if len(result) < count:
        raise SolutionFileError(f"it is cut off: {len(result)} of {count} lines are left")
    return result
