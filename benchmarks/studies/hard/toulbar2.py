"""toulbar2 on an instance, in a process of its own that is ended shortly after the limit."""

import time
from collections.abc import Callable
from importlib.metadata import version
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.data.hard import Instance, by_name
from benchmarks.study import Row
from formulations.grid import nats
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.solution import finite

STARTING, GRACE = 60.0, 2.0
"""Seconds for the process to load its libraries, and beyond the limit."""


def answer(one: Instance, limit: float) -> Row:
    """Status, score recomputed from the labels, bound, path and seconds."""
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(sender, one.name, limit), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(STARTING):
            return {"status": "failed", "note": "the process did not start"}
        ready = receiver.recv()
        if ready is not None:
            return {"status": "not run", "note": ready}
        row: Row = {"status": "unknown", "seconds": limit, "score": None, "bound": None, "path": None}
        if receiver.poll(limit + GRACE):
            row = receiver.recv()
        return row
    except EOFError:
        return {"status": "failed", "note": "the process died"}
    finally:
        process.kill()
        process.join()


def _work(sender: Connection, name: str, limit: float) -> None:
    try:
        import pytoulbar2  # noqa: F401

        from benchmarks.methods import CannotState
        from benchmarks.studies.peers import weighted_csp
    except ImportError as error:
        sender.send(str(error))
        return
    one = by_name(name)
    compile_problem(one.trellis(), one.rules)
    sender.send(None)
    try:
        sender.send(_solve(weighted_csp.decode, one, limit))
    except CannotState as error:
        sender.send({"status": "no form", "note": str(error)})
    except MemoryError as error:
        sender.send({"status": "failed", "note": str(error)})


def _solve(decode: Callable[..., Any], one: Instance, limit: float) -> Row:
    trellis, began = one.trellis(), time.perf_counter()
    result = decode(trellis, one.rules, limit)
    seconds = time.perf_counter() - began
    proved = result.proved and seconds <= limit + GRACE
    row = {
        "seconds": seconds,
        "by": f"pytoulbar2 {version('pytoulbar2')}",
        "score": None,
        "bound": None,
        "path": None,
    }
    if result.path is None:
        return {**row, "status": "infeasible" if proved else "unknown"}
    score = finite(nats(compile_problem(trellis, one.rules).value(result.path).score))
    status = "optimal" if proved else "feasible"
    return {
        **row,
        "status": status,
        "score": score,
        "bound": score if proved else None,
        "path": result.path.tolist(),
    }
