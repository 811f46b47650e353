"""Every method on every data set, each after a warm-up call, row by row."""

import time
from collections.abc import Callable, Sequence

from benchmarks.study.agreement import Disagreement, check
from benchmarks.study.data import BASIC, DataSet
from benchmarks.study.journal import Journal, Row
from benchmarks.study.methods import run, warm_up
from benchmarks.study.peers import CannotState

EVERY = "*"
"""In place of a sequence: the row speaks of all of them."""


def run_all(sets: Sequence[DataSet], journal: Journal, step: Callable[[], None]) -> None:
    """Run what the journal lacks; `step` is called after each method.

    Raises
    ------
    Disagreement
        as soon as two programs cannot both be right.
    """
    for data in sets:
        for method in data.methods:
            run_method(method, data, journal)
            step()


def run_method(method: str, data: DataSet, journal: Journal) -> None:
    """One method on its sequences of a data set, but `auto` until a budget is spent; a rival that breaks down is noted."""
    if journal.has(data.name, EVERY, method):
        return
    items = data.sample(method)
    left = [item for item in items if not journal.has(data.name, item.key, method)]
    if not left:
        return
    try:
        warm_up(method, data)
        began = time.perf_counter()
        for number, item in enumerate(left):
            if method != "auto" and time.perf_counter() - began > data.budget:
                note = f"{len(left) - number} of {len(items)} not run: over {data.budget:g} s"
                journal.add(whole(data, method, "over budget", note))
                return
            row = run(method, data, item)
            check(row, journal.get(data.name, item.key, "auto"))
            journal.add(row)
    except CannotState as reason:
        journal.add(whole(data, method, "cannot state", str(reason)))
    except Disagreement:
        raise
    except Exception as error:
        if method in BASIC:
            raise
        journal.add(whole(data, method, "failed", f"{type(error).__name__}: {error}"[:200]))


def whole(data: DataSet, method: str, status: str, note: str) -> Row:
    """A row about all sequences."""
    return {"data": data.name, "item": EVERY, "method": method, "status": status, "note": note}
