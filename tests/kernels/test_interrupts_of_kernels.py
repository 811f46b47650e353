"""An interrupt ends a kernel that would run on for a long time."""

import os
import signal
import threading
from contextlib import contextmanager

import numpy as np
import pytest
from support.endless import ENDLESS, Hard, plain_batch

from ilpinfer.kernels.native import kernels

SOON = 0.1
"""Seconds until the interrupt."""


@contextmanager
def interrupted():
    """The process has an interrupt soon, which ends what it does."""
    timer = threading.Timer(SOON, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        timer.cancel()
        timer.join()


@pytest.mark.parametrize("threads", [1, 2])
def test_the_last_of_many_sequences_are_not_begun(threads):
    T, N = 1000, 20_000
    tables, batch, buffer = plain_batch(T, 64, N)
    with interrupted():
        kernels.decode_best(tables, batch, (0, 0, 0), 1, buffer, threads, np.zeros(1, np.int64))
    results = buffer[(T + 1) * N : (T + 8) * N].reshape(N, 7)
    assert not results[-1].any()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_single_sequence_in_whichever_thread(threads):
    hard = Hard()
    with interrupted():
        hard.decode_best(threads)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_number_that_another_thread_sets(threads):
    hard = Hard()
    timer = threading.Timer(SOON, hard.end.fill, (1,))
    timer.start()
    with pytest.raises(RuntimeError, match="interrupted"):
        hard.decode_best(threads)
    timer.join()


def test_a_list_of_labellings():
    hard = Hard()
    with interrupted():
        hard.list_best()


def test_a_search_over_prefixes_which_then_goes_on():
    search = Hard().search()
    with interrupted():
        search.advance(ENDLESS)
    before = search.made
    assert before > 0
    assert not search.advance(10_000) and search.made > before
