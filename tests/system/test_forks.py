"""A forked child decodes, whatever locks other threads of its parent held."""

import os
import signal
import sys
import threading
import time
from functools import cached_property

import numpy as np
import pytest

from formulations import Trellis, forks
from formulations import constraints as C
from formulations.labels.label_set import LabelSet
from ilpinfer import decode
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.decoding import outside
from ilpinfer.exact.compiled import tables_of
from ilpinfer.solvers import pool

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
TRELLIS = Trellis(np.zeros(2), np.zeros((1, 2, 2)), labels=["a", "O"], tokens=["x", "y"])
RULES = [C.at_most_runs("each field", 1), C.tag_at("a", pattern="x+")]
PATIENCE = 60.0


def child_ends(work) -> bool:
    """Whether a forked child comes through."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        done, state = os.waitpid(child, os.WNOHANG)
        if done:
            return state == 0
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def held(lock):
    """A thread that holds a lock until the returned event is set."""
    release, taken = threading.Event(), threading.Event()

    def hold():
        with lock:
            taken.set()
            release.wait()

    threading.Thread(target=hold, daemon=True).start()
    assert taken.wait(PATIENCE)
    return release


def tables():
    decode(TRELLIS, RULES)
    return tables_of(compiler_of(RULES), TRELLIS.labels)


LOCKS = {
    "tables": lambda: tables()._lock,
    "decoders": lambda: outside._lock,
    "solvers": lambda: pool._lock,
    "property": lambda: LabelSet.__dict__["fields"].lock,
}
"""Locks by name; the one of properties exists before Python 3.12 only."""


@pytest.mark.parametrize("name", [name for name in LOCKS if name != "property" or sys.version_info < (3, 12)])
def test_a_lock_that_another_thread_holds_is_free_in_the_child(name):
    decode(TRELLIS, RULES)
    lock = LOCKS[name]()
    release = held(lock)

    def work():
        assert decode(TRELLIS, RULES).labels and LabelSet(("c", "O")).fields
        assert (LOCKS[name]() if name == "property" else lock).acquire(timeout=1)

    try:
        assert child_ends(work)
        assert not lock.acquire(blocking=False)
    finally:
        release.set()


def test_the_locks_of_all_cached_properties_are_known():
    known = set(map(id, forks._cached_properties()))
    assert id(LabelSet.__dict__["fields"]) in known
    assert all(isinstance(each, cached_property) for each in forks._cached_properties())


def test_children_of_busy_threads_decode():
    stop = threading.Event()

    def work(seed):
        random = np.random.default_rng(seed)
        number = 0
        while not stop.is_set():
            number += 1
            tokens = [f"t{seed}x{number}", "xx", "y"]
            labels = ["a", f"b{number % 7}", "O"]
            decode(Trellis(np.zeros(3), random.normal(size=(2, 3, 3)), labels=labels, tokens=tokens), RULES)

    decode(TRELLIS, RULES)
    threads = [threading.Thread(target=work, args=(seed,), daemon=True) for seed in range(3)]
    for thread in threads:
        thread.start()
    try:
        assert all(child_ends(lambda: decode(TRELLIS, RULES)) for _ in range(8))
    finally:
        stop.set()
        for thread in threads:
            thread.join(PATIENCE)
