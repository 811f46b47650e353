"""A search that its callback or an interrupt ends leaves its incumbent, and what that claims is true by brute force."""

import os
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.checks import SEARCHES, check_claims
from support.effort import at_most, examples
from support.processes import environment
from support.strategies import near_ties, problems
from support.trellises import random_trellis

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from ilpinfer.core import registry
from ilpinfer.solvers import SOLVERS, pool

LONG = {"auto": {}, "evolutionary": {"time_limit": 60.0}, "lds": {"time_limit": 60.0, "keep_going": True}}
"""Methods, with options by which they take seconds on the hard problem."""


def hard(T=40, K=8):
    """A problem with many equal scores, and sums of which no labelling keeps all."""
    labels = [f"l{k}" for k in range(K)]
    scores = np.random.default_rng(0).integers(0, 2, (T, K)).astype(float)
    rules = [C.at_most_runs(name, T // 16, penalty=1.0) for name in labels]
    rules += [C.at_most_tokens(name, T // 2 - k, penalty=1.0) for k, name in enumerate(labels)]
    rules += [C.at_least_tokens(name, 3 + k, penalty=1.0) for k, name in enumerate(labels)]
    return Trellis.from_emissions(scores, np.zeros((K, K)), labels=labels, tokens=["x"] * T), rules


class Watcher:
    """A callback that keeps what it hears; it returns True at a call, and may have an interrupt sent after an incumbent."""

    def __init__(self, end=10**9, interrupt=None):
        self.heard, self.end, self.seconds, self.timer = [], end, interrupt, None

    def __call__(self, *now):
        self.heard.append(now)
        if self.seconds is not None and self.timer is None and np.isfinite(now[1]):
            self.timer = threading.Timer(self.seconds, os.kill, (os.getpid(), signal.SIGINT))
            self.timer.start()
        return len(self.heard) >= self.end


@pytest.mark.parametrize("method", ["auto", *SEARCHES, "cp-sat"])
@settings(max_examples=examples(80))
@given(problem=problems() | near_ties(), end=st.integers(1, 6))
def test_what_is_left_when_a_callback_ends_the_search_is_true(method, problem, end):
    watcher = Watcher(end)
    solution = ilpinfer.decode(*problem.given, method=method, callback=watcher, **SEARCHES.get(method, {}))
    check_claims(problem, solution)
    verdict = ilpinfer.verify(*problem.given, solution)
    assert verdict.ok, verdict.reasons
    before = [score for _, score, _ in watcher.heard[:-1]]
    assert all(score <= solution.score for score in before), "the incumbent stays"
    assert all(a <= b for a, b in pairwise(before))
    assert "stopped by the callback" not in solution.method or len(watcher.heard) == end + 1


@pytest.mark.parametrize("method", LONG)
def test_the_callback_ends_a_search_at_its_first_labelling(method):
    trellis, rules = hard()
    heard = []

    def enough(seconds, incumbent, bound):
        heard.append((incumbent, bound))
        return np.isfinite(incumbent)

    solution = ilpinfer.decode(trellis, rules, method=method, callback=enough, **LONG[method])
    assert (solution.status, solution.method) == ("feasible", f"{method}: stopped by the callback")
    assert heard[-1] == heard[-2] == (solution.score, solution.bound)
    assert len(solution.incumbents) == 1 and ilpinfer.verify(trellis, rules, solution).ok


@pytest.mark.parametrize("method", LONG)
def test_an_interrupt_ends_a_search_with_its_incumbent(method):
    trellis, rules = hard()
    watcher = Watcher(interrupt=0.05)
    began = time.monotonic()
    solution = ilpinfer.decode(
        trellis, rules, method=method, callback=watcher, keep_on_interrupt=True, **LONG[method]
    )
    assert time.monotonic() - began < at_most(10)
    assert (solution.status, solution.method) == ("feasible", f"{method}: interrupted")
    assert solution.score == max(score for _, score, _ in watcher.heard)
    verdict = ilpinfer.verify(trellis, rules, solution)
    assert verdict.ok, verdict.reasons


def test_an_interrupt_is_an_error_where_nothing_else_is_said():
    with pytest.raises(KeyboardInterrupt):
        ilpinfer.decode(*hard(), callback=Watcher(interrupt=0.0))
    with pytest.raises(KeyboardInterrupt):
        ilpinfer.Decoder(hard()[1]).decode(hard()[0], callback=Watcher(interrupt=0.0))


@pytest.fixture
def waiting(tmp_path, monkeypatch):
    """HiGHS is a solver that tells a labelling and a bound, and never ends."""
    (tmp_path / "orders").write_text("tells waits")
    monkeypatch.setenv("OBEDIENT_SOLVER", str(tmp_path / "orders"))
    monkeypatch.setitem(SOLVERS, "highs", "support.obedient_solver")
    before = pool._idle.pop("highs", [])
    yield
    for worker in pool._idle.pop("highs", []):
        worker.end()
    pool._idle["highs"] = before


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_solver_that_never_ends_leaves_what_it_told(interrupted, waiting):
    trellis = Trellis([0.5, 0.25], [[[0.0, 1.0], [1.5, 0.0]]], labels=["a", "b"])
    rules = [C.at_most_tokens("b", 0)]
    watcher = Watcher(interrupt=0.0) if interrupted else Watcher(end=1)
    decoder = ilpinfer.Decoder(rules, method="highs")
    solution = decoder.decode(trellis, callback=watcher, keep_on_interrupt=interrupted)
    words = "interrupted" if interrupted else "stopped by the callback"
    assert (solution.status, solution.method) == ("feasible", f"highs: {words}")
    assert solution.score == ilpinfer.decode(trellis, rules).score < solution.bound
    assert ilpinfer.verify(trellis, rules, solution).ok
    assert not pool._idle.get("highs"), "its process has ended"


def test_an_interrupt_before_a_labelling_leaves_the_bound_of_the_scores(monkeypatch):
    def long(trellis, rules, *, time_limit, seed):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)

    monkeypatch.setattr(registry, "_registered", {})
    ilpinfer.register_method("long", long)
    trellis = random_trellis()
    solution = ilpinfer.decode(trellis, method="long", keep_on_interrupt=True)
    assert (solution.status, solution.bound) == ("unknown", ilpinfer.decode(trellis).score)
    assert solution.reason == (
        "the method was interrupted before it reached a labelling that keeps the hard rules"
    )


def test_a_list_keeps_what_was_listed():
    def enough(seconds, incumbent, bound):
        return np.isfinite(incumbent)

    trellis, rules = hard(T=12, K=3)
    full = ilpinfer.decode(trellis, rules, method="cp-sat", top=3)
    some = ilpinfer.decode(trellis, rules, method="cp-sat", top=3, callback=enough)
    assert len(full) == 3 and 1 <= len(some) < 3
    assert some[0].score <= full[0].score


@pytest.mark.parametrize("answer", [None, False, 1, "yes", np.False_])
def test_other_answers_do_not_end_a_search(answer):
    trellis, rules = hard(T=10, K=3)
    solution = ilpinfer.decode(trellis, rules, callback=lambda *_: answer)
    assert solution.status == "optimal"


SCRIPT = """
import ilpinfer, threading, signal
from test_stopping import hard
threading.Timer(1.0, signal.raise_signal, [signal.SIGINT]).start()
solution = ilpinfer.decode(*hard(), keep_on_interrupt=True, method="evolutionary", time_limit=60)
try:
    print(solution.status, solution.method)
    while True: pass
except KeyboardInterrupt:
    print("the next one is an error")
"""


@pytest.mark.slow
def test_a_signal_to_a_process_of_its_own():
    here = str(Path(__file__).parent)
    command = [sys.executable, "-u", "-c", f"import sys; sys.path.append({here!r})\n{SCRIPT}"]
    child = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "feasible evolutionary: interrupted\n"
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=60)[0] == "the next one is an error\n"
