"""Every method on every data set, each after a warm-up call, row by row."""

import time
from collections.abc import Callable, Sequence

from benchmarks.data.sets import SOLVERS, DataSet
from benchmarks.engine.agreement import check
from benchmarks.engine.methods import BASIC, run, warm_up
from benchmarks.engine.peers import CannotState, is_installed
from benchmarks.journal import Journal, Row
from benchmarks.study import Disagreement

RIVALS = (*SOLVERS, "pulp", "toulbar2", "conin", "conin a-star")
"""Methods that run on a fixed sample."""
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
        for method in methods_of(data):
            run_method(method, data, journal)
            step()


def methods_of(data: DataSet) -> list[str]:
    """Every method that runs on a data set and is installed, `auto` first."""
    return [*BASIC, *(name for name in RIVALS if data.rivals.get(name) and is_installed(name))]


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
