"""The labellings of a batch of scores, as arrays; solutions are made on access."""

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from formulations.grid import UNITS_PER_NAT
from formulations.messages import counted
from ilpinfer.core.solution import Solution
from ilpinfer.core.status import Status
from ilpinfer.decoding.call_results import CallResult
from ilpinfer.decoding.score_rows import ScoreRows
from ilpinfer.system.extras import require

if TYPE_CHECKING:
    import pandas as pd


class Batch:
    """The best labellings of N sequences under R rules, as arrays, and a `Solution` of each on demand; see `decode_scores`.

    Parameters
    ----------
    rows : ScoreRows
        The scores.
    rules : tuple of str
        Names of the rules.

    Attributes
    ----------
    ids : NDArray[np.int64]
        (N, T) label ids, -1 without a token or a labelling.
    scores, bounds : NDArray[np.float64]
        (N,) nats; see `Solution`.
    status : array of str
        (N,) "optimal", "feasible", "infeasible" or "unknown".
    violations : NDArray[np.int64]
        (N, R) number of violations of each rule by each labelling, in the order of `rules`.
    rules : tuple of str
        Names of the rules.
    names : tuple of str
        Names of the label ids.

    Examples
    --------
    >>> import ilpinfer
    >>> from ilpinfer import constraints as C
    >>> scores = [[[0.0, 1.0], [0.5, 0.0]], [[2.0, 0.0]]]
    >>> batch = ilpinfer.decode_scores(scores, rules=[C.at_most_runs("a", 0)], labels=["a", "b"])
    >>> batch.ids.tolist(), batch.labels, batch.scores.tolist()
    ([[1, 1], [1, -1]], [['b', 'b'], ['b']], [1.0, 0.0])
    >>> batch[0]
    Solution(optimal, score=1, bound=1, 2 tokens)
    """

    def __init__(self, rows: ScoreRows, rules: tuple[str, ...]) -> None:
        N = len(rows)
        self._rows, self.rules, self.names = rows, rules, rows.labels.names
        self.ids = np.full((N, rows.width), -1, np.int64)
        self.scores, self.bounds = np.full(N, -np.inf), np.full(N, np.inf)
        self.status = np.full(N, Status.UNKNOWN.value, "<U10")
        self.violations = np.zeros((N, len(rules)), np.int64)
        self._calls = list[CallResult]()
        self._call, self._at = np.full(N, -1), np.zeros(N, np.int64)
        self._solutions = dict[int, Solution]()

    def _enter_call(self, result: CallResult, places: NDArray[np.int64]) -> None:
        """Enter the results of a call for the sequences `places`; `result` is the result of one of them."""
        call, every = result.call, len(places) == len(self)
        which: Any = slice(None) if every else places
        self._call[which], self._at[which] = len(self._calls), np.arange(len(places))
        self._calls.append(result)
        self.scores[which] = self.bounds[which] = call.best_values / UNITS_PER_NAT
        self.status[which] = Status.OPTIMAL.value
        if self.rules:
            self.violations[which] = call.all_violations
        cells = self._rows.cells
        if not every:
            cells = cells[call.rows]
        self.ids.reshape(-1)[cells if len(cells) < self.ids.size else slice(None)] = call.paths

    def _enter(self, n: int, solution: Solution) -> None:
        """Enter the solution of a sequence."""
        self._solutions[n], self._call[n] = solution, -1
        self.scores[n], self.bounds[n] = solution.score, solution.bound
        self.status[n] = solution.status.value
        self.violations[n] = [solution.violations.get(name, 0) for name in self.rules]
        cells = self._rows.cells[self._rows.begins[n] : self._rows.begins[n + 1]]
        self.ids.reshape(-1)[cells] = -1 if solution.path is None else solution.path

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, n: int) -> Solution:
        """The solution of a sequence, with its proof."""
        if not -len(self) <= index(n) < len(self):
            raise IndexError(f"sequence {n}: the batch has {counted(len(self), 'sequence')}")
        n = range(len(self))[n]
        if n not in self._solutions:
            self._solutions[n] = self._calls[self._call[n]]._replace(n=int(self._at[n])).best()
        return self._solutions[n]

    def __iter__(self) -> Iterator[Solution]:
        return (self[n] for n in range(len(self)))

    def __repr__(self) -> str:
        kinds, counts = np.unique(self.status, return_counts=True)
        found = ", ".join(f"{count} {kind}" for kind, count in zip(kinds, counts, strict=True))
        return f"Batch({counted(len(self), 'sequence')}{': ' * bool(found)}{found})"

    def __getstate__(self) -> dict[str, Any]:
        made = dict(enumerate(self))
        return {**self.__dict__, "_solutions": made, "_calls": [], "_call": np.full(len(self), -1)}

    @cached_property
    def labels(self) -> list[list[str]]:
        """Label names of the tokens of each sequence; an empty list without a labelling."""
        names, begins = self.names, self._rows.begins.tolist()
        flat = self.ids.reshape(-1)[self._rows.cells].tolist()
        rows = (flat[begin:end] for begin, end in pairwise(begins))
        return [[names[k] for k in row] if row and row[0] >= 0 else [] for row in rows]

    def to_frame(self) -> "pd.DataFrame":
        """A pandas data frame with one row per token: `sequence`, `position`, `label`, and `score` and `status` of the sequence.

        Returns
        -------
        pandas.DataFrame
            The rows in order, with the column `token` if tokens were given. Labels of sequences without a labelling are None.

        Raises
        ------
        MissingLibrary
            If pandas is not installed.
        """
        require("to_frame", "frames", "pandas")
        import pandas as pd

        sequence, position = np.divmod(self._rows.cells, max(self._rows.width, 1))
        ids = self.ids.reshape(-1)[self._rows.cells]
        names = np.array([*self.names, None], object)
        columns: dict[str, Any] = {"sequence": sequence, "position": position}
        if self._rows.words is not None:
            columns["token"] = [token for words in self._rows.words for token in words]
        columns |= {"label": names[ids], "score": self.scores[sequence], "status": self.status[sequence]}
        return pd.DataFrame(columns)
