"""Scores from lists, arrays and tensors of any library. Large negative numbers forbid, with a notice."""

import math
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

import numpy as np

from formulations.dtypes import Booleans, Floats, Integers
from formulations.errors import ScoreNotice, stack_level
from formulations.messages import brief

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

MASK = -1e8
"""Nats; lower or equal scores count as -inf, since other tools mask with -1e9 or the smallest number of float32."""

LEAST_HALF = float(np.finfo(np.float16).min)
"""The mask of half precision, which is above `MASK`."""

MASKS = "scores at or below -1e8 nats, which are read as -inf"
NUMBERS = (float, int, np.floating, np.integer)


def floats(values: Any, what: str) -> Floats:
    """Convert to float; ValueError for masked arrays, truth values, texts, complex numbers, and rows of different lengths."""
    if _plain(values):
        return _joined(values, what)
    return _read(values, what)


def float_array(values: Any, what: str) -> Floats:
    """As `floats`, in C order; arrays of single precision keep their type."""
    plain = type(values) is np.ndarray and values.dtype in (np.float32, np.float64)
    return np.ascontiguousarray(values if plain else floats(values, what))


def is_plain(rows: Floats, more: float = 0.0) -> bool:
    """Whether no sum of one number of each row, each plus `more`, can reach `MASK` in absolute value; false for NaN."""
    # a fast bound by the norm (Cauchy-Schwarz inequality), so that rows near the limit are not plain
    return math.sqrt(len(rows) * float(np.vdot(rows, rows))) + len(rows) * more < -MASK / 2


def score_array(values: Any, what: str, dimensions: int | None = None) -> Floats:
    """Scores in nats, finite or -inf; large negative numbers become -inf. The number of dimensions may be given."""
    array = floats(values, what)
    if dimensions == 2 and array.shape == (0,):
        array = array.reshape(0, 0)  # a list without rows
    if dimensions is not None and array.ndim != dimensions:
        letters = ", ".join("TKK"[:dimensions]) if dimensions > 1 else "K,"
        hint = "; give one sequence at a time" if array.ndim == dimensions + 1 else ""
        raise ValueError(f"{what} has shape {array.shape}; expected ({letters}){hint}")
    if np.abs(array).max(initial=0.0) < -MASK:  # false for NaN, too
        return array
    check_finite(array, what)
    return without_masks(array, what)


def check_finite(array: Floats, what: str, rows: Integers | None = None) -> None:
    """Raise ValueError for NaN and +inf; `rows` as for `place`."""
    bad = np.isnan(array) | (array == np.inf)
    if bad.any():
        where = place(bad, rows)
        raise ValueError(
            f"{what}{where} is {array[bad][0]}: give a finite number, or -inf (null in JSON) to forbid"
        )


def without_masks(array: Floats, what: str, rows: Integers | None = None) -> Floats:
    """Replace numbers up to `MASK` by -inf, and count them for a notice; `rows` as for `place`."""
    if array.min(initial=0.0) > MASK:
        return array
    masks = (array <= MASK) & ~np.isneginf(array)
    if not masks.any():
        return array
    with OneNotice() as notice:
        notice.add(MASKS, int(masks.sum()), f"{what}{place(masks, rows)} = {array[masks][0]:g}")
    return np.where(masks, -np.inf, array)


def place(mask: Booleans, rows: Integers | None = None) -> str:
    """The index of the first true entry in brackets; `rows` (R, n) replaces the row number. Empty for a scalar."""
    if not mask.ndim:
        return ""
    row, *others = np.argwhere(mask)[0]
    return f"[{', '.join(map(str, [*([row] if rows is None else rows[row]), *others]))}]"


class OneNotice:
    """Gives one notice for each kind of masked scores at the end of the context; with `everywhere`, also for other threads."""

    _lock = threading.Lock()
    _everywhere: "OneNotice | None" = None
    _own = threading.local()

    def __init__(self, *, everywhere: bool = False) -> None:
        self.everywhere = everywhere
        self.found = dict[str, tuple[int, str]]()  # by kind: count, and the first place
        self._outer: OneNotice | None = None

    def __enter__(self) -> "OneNotice":
        self._outer = getattr(self._own, "open", None) or OneNotice._everywhere
        if self.everywhere:
            OneNotice._everywhere = self
        else:
            self._own.open = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.everywhere:
            OneNotice._everywhere = None
        else:
            self._own.open = None if self._outer is OneNotice._everywhere else self._outer
        if error is not None:
            return
        for what, (count, first) in self.found.items():
            if self._outer is not None:
                self._outer.add(what, count, first)
            else:
                warnings.warn(_said(what, count, first), ScoreNotice, stacklevel=stack_level())

    def add(self, what: str, count: int, first: str) -> None:
        with self._lock:
            before, known = self.found.get(what, (0, first))
            self.found[what] = before + count, known

    @property
    def texts(self) -> list[str]:
        """The texts of the notices."""
        return [_said(what, count, first) for what, (count, first) in self.found.items()]


def _said(what: str, count: int, first: str) -> str:
    return f"{what}: {count}, {'the first is ' if count > 1 else ''}{first}"


def one_notice(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Decorate a function to give at most one notice of each kind per call."""

    @wraps(function)
    def called(*given: Arguments.args, **options: Arguments.kwargs) -> Result:
        with OneNotice():
            return function(*given, **options)

    return called


def _plain(values: Any) -> bool:
    """Whether a value is nested lists of numbers, without True and False."""
    if not isinstance(values, list | tuple):
        return False
    kinds = set(map(type, values))
    if all(issubclass(kind, NUMBERS) and kind is not bool for kind in kinds):
        return True
    return kinds <= {list, tuple} and all(map(_plain, values))


def _joined(values: Sequence[Any], what: str) -> Floats:
    try:
        return np.array(values, np.float64)
    except OverflowError:
        raise ValueError(
            f"{what} holds a number beyond 2^31 nats; rescale the scores, or use -inf (null in JSON) to forbid"
        ) from None
    except (TypeError, ValueError):
        raise ValueError(f"{what} must hold numbers in rows of equal length, not {brief(values)}") from None


def _read(value: Any, what: str) -> Floats:
    if isinstance(value, list | tuple):
        return _rows(value, what)
    refuse_masked(value, what, "use its method filled(-inf), which forbids masked entries")
    try:
        array = np.asarray(in_memory(value))
        kind = array.dtype.kind
        if kind == "V" and not array.dtype.names and not array.dtype.name.startswith("void"):
            return array.astype(np.float32).astype(np.float64)  # a type of another library, such as bfloat16
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{what} must hold numbers, not {brief(value)}: {error}") from None
    if kind in "iuf":
        wide = array.astype(np.float64)
        return np.where(wide == LEAST_HALF, -np.inf, wide) if array.dtype == np.float16 else wide
    if kind == "O":
        return _rows(list(array), what) if array.ndim else _number(array.item(), what)
    if array.size == 0:
        return np.zeros(array.shape)
    way = "; as a score, use 0 to allow and -inf (null in JSON) to forbid" if kind == "b" else ""
    raise ValueError(f"{what} must hold numbers, not {brief(array.reshape(-1).tolist()[0])}{way}")


def refuse_masked(value: Any, what: str, way: str) -> None:
    """Raise ValueError for a masked array of numpy; its mask would be lost."""
    if "numpy.ma" in sys.modules and isinstance(value, np.ma.MaskedArray):  # importing it takes time
        raise ValueError(f"{what} is a masked array; {way}")


def check_columns(values: Any, names: Iterable[str] | None, what: str) -> None:
    """Raise ValueError for a data frame whose columns are the label names in another order."""
    columns = getattr(values, "columns", None)
    if columns is None or names is None:
        return
    known, listed = [*names], [*map(str, columns)]
    if listed != known and sorted(listed) == sorted(known):
        raise ValueError(
            f"{what} has the columns {brief(listed)}, in another order than the labels; give frame[labels]"
        )


def _rows(values: Sequence[Any], what: str) -> Floats:
    inner = f"{what[:-1]}, " if what.endswith("]") else f"{what}["
    rows = [each if isinstance(each, float) else _read(each, f"{inner}{n}]") for n, each in enumerate(values)]
    if len(set(map(np.shape, rows))) > 1:
        raise ValueError(f"{what} must hold numbers in rows of equal length, not {brief(values)}")
    return np.array(rows, np.float64)


def _number(value: Any, what: str) -> Floats:
    """A number of another type, such as a fraction."""
    try:
        if isinstance(value, str | bytes | bool | np.bool_):
            raise TypeError
        return np.array(float(value))
    except OverflowError:
        raise ValueError(
            f"{what} holds a number beyond 2^31 nats; rescale the scores, or use -inf (null in JSON) to forbid"
        ) from None
    except (TypeError, ValueError):
        raise ValueError(f"{what} must hold numbers, not {brief(value)}") from None


def in_memory(value: Any) -> Any:
    """Detach a tensor and copy it to the CPU, in single precision if numpy lacks its type."""
    for step in ("detach", "cpu"):
        value = getattr(value, step)() if callable(getattr(value, step, None)) else value
    if not callable(getattr(value, "numpy", None)):
        return value
    try:
        return value.numpy()
    except TypeError:
        if not hasattr(value, "float"):
            raise
    wide = value.float()
    return wide.numpy() if hasattr(wide, "numpy") else wide
