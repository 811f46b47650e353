"""The public record of an integer program: its matrix, and the meaning of each column and row."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from formulations.arguments import path as check_path
from formulations.dtypes import Floats, Integers
from formulations.files import plain_name, write_whole
from formulations.grid import UNITS_PER_NAT
from formulations.messages import brief, counted
from formulations.problem.digest import digest
from formulations.problem.problem import Problem
from formulations.programs.cost_network import CostNetwork, NoNetwork, cost_network
from formulations.programs.names import Description, Meaning, describe, file_names
from formulations.programs.numbered_text import wcsp
from formulations.programs.record import UNBOUNDED, IntegerProgram, by_column, feasible_values
from formulations.programs.text import Style, exact_decimal, lp, mps

ROWS = {"lp": lp, "mps": mps}
FORMATS = (*ROWS, "wcsp")
UNITS = {"nats": UNITS_PER_NAT, "grid": 1}
Meanings = tuple[Meaning, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Program:
    """An integer program with named columns and rows; `formulate` builds it.

    The program is: maximise c·x subject to row_lower <= A x <= row_upper and lower <= x <= upper, with x integer.

    The first columns are the edges of the path (Stokman 2011, eq. 53), from `START` to `END`.

    Parameters
    ----------
    integer : IntegerProgram
        The matrix, with its objective in grid units.
    labels : tuple of str
        K label names.
    program : str
        "soft", "hard", "two-phase" or "shortest-path".
    folded : bool
        Whether rules on one token or edge are part of the scores.
    form : str, default "general"
        "general", "canonical" or "standard".
    floor : float, optional
        Floor of two-phase programs, the lowest score in nats; None for none.

    Examples
    --------
    >>> from ilpinfer import Trellis, formulate
    >>> program = formulate(Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"]))
    >>> program.n_columns, program.n_rows, program.column_names[:3]
    (8, 6, ('x[0,START,a]', 'x[0,START,b]', 'x[1,a,a]'))
    """

    integer: IntegerProgram
    labels: tuple[str, ...]
    program: str
    folded: bool
    _meanings: Callable[[], tuple[Meanings, Meanings]]  # of columns and rows
    form: str = "general"
    floor: float | None = None
    _general: "Program | None" = field(default=None)
    _problem: Callable[[], Problem] | None = field(default=None)  # None for a two-phase program

    def __repr__(self) -> str:
        size = f"{self.n_columns} columns, {self.n_rows} rows, {self.n_entries} entries"
        folded = ", folded" if self.folded else ""
        return f"Program({self.program}{folded}, {self.form} form: {self.tokens} tokens, {size})"

    def __getstate__(self) -> dict[str, Any]:
        known = {key: value for key, value in self.__dict__.items() if key != "network"}
        return {**known, "_both_meanings": self._both_meanings, "_meanings": None}

    @property
    def tokens(self) -> int:
        """Number of tokens, T."""
        return self.integer.tokens

    @property
    def n_columns(self) -> int:
        """Number of columns, n."""
        return self.integer.n_columns

    @property
    def n_rows(self) -> int:
        """Number of rows, m."""
        return self.integer.n_rows

    @property
    def n_entries(self) -> int:
        """Stored coefficients of A."""
        return len(self.integer.data)

    @cached_property
    def _both_meanings(self) -> tuple[Meanings, Meanings]:
        return self._meanings()

    @property
    def columns(self) -> Meanings:
        """Meaning of each column: name, kind, rule, token and labels."""
        return self._both_meanings[0]

    @property
    def rows(self) -> Meanings:
        """Meaning of each row."""
        return self._both_meanings[1]

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """n unique names such as `x[1,title,author]`, `begin[title,0]` and `sigma["one title"]`."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def row_names(self) -> tuple[str, ...]:
        """m unique names such as `start`, `flow[0,title]` and `rule["one title"]`."""
        return tuple(row.name for row in self.rows)

    @cached_property
    def file_columns(self) -> tuple[str, ...]:
        """The names of the columns in LP and MPS files and in solvers' models."""
        return file_names(self.column_names)

    @cached_property
    def file_rows(self) -> tuple[str, ...]:
        """The names of the rows in LP and MPS files and in solvers' models."""
        return file_names(self.row_names)

    @property
    def objective(self) -> Floats:
        """(n,) nats, exact; maximised."""
        return self.integer.objective / UNITS_PER_NAT

    @property
    def objective_units(self) -> Integers:
        """(n,) grid units of 2^-20 nats; maximised."""
        return self.integer.objective

    @property
    def constant(self) -> float:
        """The constant of the objective in files and solvers' models, nats: the score of the best path without rules."""
        return (self.integer.shifted().constant or 0) / UNITS_PER_NAT

    @property
    def lower(self) -> Integers:
        """(n,) lower sides of the boxes."""
        return self.integer.lower

    @property
    def upper(self) -> Integers:
        """(n,) upper sides of the boxes; 0 for a forbidden step."""
        return self.integer.upper

    @property
    def indptr(self) -> Integers:
        """(m+1,) begin of each row of A in `indices` and `data`, compressed sparse rows."""
        return self.integer.indptr

    @property
    def indices(self) -> Integers:
        """Columns of the entries of A."""
        return self.integer.indices

    @property
    def data(self) -> Integers:
        """The entries of A, whole numbers."""
        return self.integer.data

    @cached_property
    def row_lower(self) -> Floats:
        """(m,) lower sides of the rows, -inf for none."""
        return self.integer.float_sides[0]

    @cached_property
    def row_upper(self) -> Floats:
        """(m,) upper sides of the rows, inf for none."""
        return self.integer.float_sides[1]

    @cached_property
    def digest(self) -> str:
        """64 hexadecimal digits that change with any number or name of the program."""
        return digest(replace(self.integer, start=None), self.column_names, self.row_names)

    @cached_property
    def network(self) -> CostNetwork:
        """The problem as a network of cost functions, as in wcsp files.

        Rules on single tokens or steps are functions of labels. Each machine of another rule is a chain of states, with a function of
        state, label and next state at each token.

        Raises
        ------
        ValueError
            For a two-phase program, for rules without a machine, and for tables of more than 60 million costs.
        """
        if self._problem is None:
            raise NoNetwork("a two-phase program has no cost network; write it as lp or mps")
        try:
            return cost_network(self._problem())
        except NoNetwork as error:
            raise NoNetwork(f"no cost network: {error}; write the program as lp or mps") from None

    def start_text(self, labels: Sequence[str]) -> str:
        """A warm start from a labelling (MST text of Gurobi): the columns `x` of its path; solvers complete the others.

        Parameters
        ----------
        labels : sequence of str
            T label names.

        Returns
        -------
        str
            A line `name value` for each of T+1 columns.

        Raises
        ------
        ValueError
            For an unknown label, and for another number of labels.
        """
        place = {name: k for k, name in enumerate(self.labels)}
        names = list(labels)
        if len(names) != self.tokens:
            raise ValueError(f"{counted(len(names), 'label')} for {counted(self.tokens, 'token')}")
        for t, name in enumerate(names):
            if name not in place:
                raise ValueError(f"token {t}: no label {brief(name)}")
        columns = self.integer.columns_of(np.array([place[name] for name in names], np.int64))
        lines = [f"{self.file_columns[column]} 1\n" for column in columns.tolist()]
        return f"# MIP start, digest {self.digest}\n{''.join(lines)}"

    def describe(self) -> Description:
        """Columns, rows and entries by rule and kind; prints as a table.

        Returns
        -------
        Description
            The sizes, with a table as its text.
        """
        return describe(self.columns, self.rows, np.diff(self.indptr))

    def read(self, values: Mapping[str, float] | ArrayLike) -> Integers:
        """Round a solver's values to integers and check every row exactly.

        Parameters
        ----------
        values : mapping of str to float or array_like
            (n,) numbers, or a number for each column, by its name or its name in files.

        Returns
        -------
        ndarray of int
            (n,) values of the columns, which satisfy every row.

        Raises
        ------
        ValueError
            For a name of no column, a column without a value, NaN, a value more than 1e-5 from a whole number
            or outside its box, and for a row that is broken, such as those that make the columns `x` a path.
        """
        names = self.column_names
        return feasible_values(by_column(values, names), self.integer, names, self.rows)

    def labelling(self, values: Mapping[str, float] | ArrayLike) -> list[str]:
        """The T labels of a solution's path. Parameters and errors as for `read`.

        Returns
        -------
        list of str
            T label names.
        """
        return [self.labels[k] for k in self.integer.labelling(self.read(values)).tolist()]

    def value(self, values: Mapping[str, float] | ArrayLike) -> float:
        """The objective of a solution, nats. Parameters and errors as for `read`.

        Returns
        -------
        float
            The objective, nats.
        """
        return self.integer.value(self.read(values)) / UNITS_PER_NAT

    def text(self, format: str, *, units: str = "nats") -> str:  # noqa: A002
        """The program as text for a file, in the general form.

        - "lp" maximises, and "mps" minimises the negated objective, since CBC does not read `OBJSENSE`; names are those of
          `file_columns` and `file_rows`;
        - "wcsp" (toulbar2) is the cost network, always in grid units; see `network`. A solution of cost c has the score
          `network.best` - c.

        Scores of each token are differences from the best path without rules, whose score is `constant`, since solvers are slow and
        inexact if scores have a large common part. The file contains the constant: "lp" in the objective, "mps" as the right side
        of the objective (the sign is that of a minimum), so that the reader's objective is that of the program.

        Parameters
        ----------
        format : str
            "lp", "mps" or "wcsp".
        units : str, default "nats"
            "nats" for coefficients of the objective as exact decimals, or "grid" for integers in units of
            2^-20 nats, for solvers whose tolerances are absolute; the entries of A are the same in both.

        Returns
        -------
        str
            The text of the file.

        Raises
        ------
        ValueError
            For another format or unit, for a program in canonical or standard form, and for "wcsp" as `network`.
        """
        if self.form != "general":
            raise ValueError(
                f"files have the general form, this program has the {self.form} form; write program.general()"
            )
        if format not in FORMATS:
            raise ValueError(f"no format {brief(format)}; choose from {', '.join(FORMATS)}")
        check_units(units)
        title = f"ilpinfer_{self.digest[:16]}"
        if format == "wcsp":
            return wcsp(self.network, title)
        sense = "minimises the negative of" if format == "mps" else "maximises"
        scale = "nats" if units == "nats" else "grid units of 2^-20 nats"
        remarks = [
            f"ilpinfer, a {self.program} program{' with folded rules' if self.folded else ''}, general form; "
            f"it {sense} a score in {scale}",
            f"digest {self.digest}",
        ]
        integer = self.integer.shifted()
        if integer.constant:
            remarks.append(
                f"scores of a token are counted from the best path's; the score is their sum plus the constant {exact_decimal(integer.constant, UNITS[units])}"
            )
        if "floor" in self.row_names:
            remarks.append("the row floor_ counts grid units of 2^-20 nats")
        names = self.file_columns, self.file_rows
        return ROWS[format](integer, Style(*names, UNITS[units], title, tuple(remarks)))

    def write(self, path: str | Path, *, units: str = "nats") -> None:
        """Write the program as a file; the suffix determines the format.

        The file appears under its name only when it is complete.

        Parameters
        ----------
        path : str or Path
            A path that ends in `.lp`, `.mps` or `.wcsp`, or compressed in `.lp.gz`, `.mps.gz` or `.wcsp.gz`.
        units : str, default "nats"
            "nats" or "grid", as for `text`.

        Raises
        ------
        ValueError
            For another suffix, and as for `text`.
        """
        target = check_path(path)
        suffix = Path(plain_name(target)).suffix.lower().removeprefix(".")
        if suffix not in FORMATS:
            what = f"programs are written as .{', .'.join(FORMATS)}, or one of them with .gz"
            raise ValueError(f"{target}: {what}; name such a file")
        write_whole(target, self.text(suffix, units=units).encode("ascii"))

    def general(self) -> "Program":
        """The program in general form, with rows of all kinds (Stokman 2011, section 4.1).

        Returns
        -------
        Program
            The program with rows of all kinds.
        """
        return self if self._general is None else self._general

    def canonical(self) -> "Program":
        """The program with `>=` and `=` rows only; a row keeps its name unless it is split.

        Returns
        -------
        Program
            An equivalent program with the same columns.
        """
        program = self.general()
        rows = program.integer.canonical_rows.tolist()
        return replace(
            program,
            integer=program.integer.canonical(),
            form="canonical",
            _general=program,
            _meanings=lambda: (program.columns, _halves([program.rows[r] for r in rows])),
        )

    def standard(self) -> "Program":
        """The program with `=` rows only; the surplus of an inequality is a column `surplus[row]`.

        Returns
        -------
        Program
            An equivalent program with a surplus column for each inequality.
        """
        canonical = self.canonical()
        inequalities = np.flatnonzero(canonical.integer.row_upper == UNBOUNDED).tolist()

        def meanings() -> tuple[Meanings, Meanings]:
            rows = [canonical.rows[r] for r in inequalities]
            surplus = (Meaning(row.under("surplus"), "surplus", row.rule, row.token) for row in rows)
            return (*canonical.columns, *surplus), canonical.rows

        return replace(canonical, integer=canonical.integer.standard(), form="standard", _meanings=meanings)


def check_units(units: str) -> None:
    if not isinstance(units, str) or units not in UNITS:
        raise ValueError(f"no units {brief(units)}; choose from nats, and grid for 2^-20 nats")


def _halves(rows: list[Meaning]) -> Meanings:
    """Rows; the second row of a name is marked as the upper side."""
    names = set[str]()
    result = []
    for row in rows:
        result.append(replace(row, name=row.under("upper")) if row.name in names else row)
        names.add(row.name)
    return tuple(result)
