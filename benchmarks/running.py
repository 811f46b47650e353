"""The cells of a study, one process a core, or one after the other in this process where times are measured."""

import json
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread

from benchmarks.journal import Journal
from benchmarks.optimum import take_counts
from benchmarks.study import Cell, Missing, Row, Sources, study_named
from formulations.errors import RuleNotice
from ilpinfer.cli.progress import progress

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def cells_of(
    name: str, sources: Sources, parts: Sequence[str], say: Callable[[str], None] = lambda text: None
) -> list[Cell]:
    """The cells of the parts; a part whose corpus is missing is left out, which is said."""
    result: list[Cell] = []
    for part in parts:
        try:
            result += study_named(name).cells_of(sources, part)
        except Missing as missing:
            say(f"{name}, {part} left out: {missing}")
    return result


def estimate(
    chosen: Sequence[str], parts: Sequence[str], sources: Sources, results: Path, processes: int
) -> str:
    """How long a run will take, from the seconds that a cell took in the committed result: one line a study, and the sum."""
    lines, total, unknown = [], 0.0, []
    for name in chosen:
        study = study_named(name)
        cells = Counter(cell.part for cell in cells_of(name, sources, parts or study.parts))
        path = results / name / "summary.json"
        known = json.loads(path.read_text("utf-8"))["parts"] if path.exists() else {}
        if not cells or cells.keys() - known.keys():
            unknown.append(name)
            continue
        seconds = sum(
            number * known[part]["seconds"] / known[part]["cells"] for part, number in cells.items()
        )
        seconds *= study.growth / (1 if study.timed else processes)
        total += seconds
        lines.append(f"{name}: {cells.total()} cells, about {seconds / 60:.0f} min")
    lines.append(f"in all about {total / 60:.0f} min" + (f", and {', '.join(unknown)}" if unknown else ""))
    return "\n".join(lines)


def run(name: str, sources: Sources, cells: Sequence[Cell], journal: Journal, processes: int) -> None:
    """Measure what the journal lacks."""
    todo = [cell for cell in cells if cell not in journal]
    parts = study_named(name).parts
    places = {cell: (parts.index(cell.part), place) for place, cell in enumerate(cells)}
    with progress(name, len(cells), len(cells) - len(todo)) as advance:
        if processes == 1 or len(todo) < 2:
            for cell in todo:
                journal.add(cell, measured(name, sources, cell) | {"number": places[cell]})
                advance()
            return
        for cell, result in _in_processes(name, sources, todo, processes):
            journal.add(cell, result | {"number": places[cell]})
            advance()


def _in_processes(
    name: str, sources: Sources, cells: Sequence[Cell], processes: int
) -> Iterator[tuple[Cell, Row]]:
    os.environ |= dict.fromkeys(ONE_THREAD, "1")
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _end_with_parent)
    futures = {pool.submit(measured, name, sources, cell): cell for cell in cells}
    left = dict.fromkeys(cells)
    try:
        for future in as_completed(futures):
            result = future.result()
            left.pop(futures[future])
            yield futures[future], result
    except BrokenProcessPool as error:
        running = "; ".join(map(str, list(left)[:processes]))
        raise BrokenProcessPool(f"{name}: a process died at one of the cells {running}") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _end_with_parent() -> None:
    """Begin a thread that ends this process as soon as the one that began it is gone, however it ended."""
    parent = parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def measured(name: str, sources: Sources, cell: Cell) -> Row:
    """The line of a cell: its rows with its own fields, its seconds, and the optima that were rechecked."""
    take_counts()
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuleNotice)
        rows = study_named(name).rows_of(sources, cell)
    seconds = round(time.perf_counter() - began, 3)
    return {"part": cell.part, "rows": rows, "seconds": seconds, **take_counts()}
