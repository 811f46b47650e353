"""Batches that threads share: each sequence is decoded once, whoever comes first, and the caller is left with no debris."""

import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from formulations import Trellis
from formulations import constraints as C
from ilpinfer import Decoder
from ilpinfer.decoding import chunks
from ilpinfer.decoding.chunks import decode_chunks
from ilpinfer.kernels.share import DONE, ENTERED, NEXT
from ilpinfer.kernels.work import Work
from ilpinfer.models.hmm import HMM

LABELS = ["a", "b", "O"]
RULES = [C.at_most_runs("a", 1, penalty=1.0), C.tag_at("b", words=["w1"], penalty=0.7)]


def trellises(number, seed=0):
    rng, made = np.random.default_rng(seed), []
    for _ in range(number):
        T = int(rng.integers(1, 30))
        words = [f"w{i}" for i in rng.integers(0, 40, T)]
        made.append(Trellis(rng.normal(size=3), rng.normal(size=(T - 1, 3, 3)), LABELS, words))
        made.append(Trellis.from_emissions(rng.normal(size=(T, 3)), np.eye(3), labels=LABELS, tokens=words))
    return made


def texts(number, seed=0):
    rng = np.random.default_rng(seed)
    return [[f"w{i}" for i in rng.integers(0, 60, rng.integers(1, 30))] for _ in range(number)]


def result(solutions):
    return [(s.status, s.score, s.ids.tolist(), s.method) for s in solutions]


@pytest.fixture
def model():
    rng = np.random.default_rng(1)
    return HMM.train([(words, rng.choice(LABELS, len(words)).tolist()) for words in texts(60, seed=2)])


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("number", [1, 2, 6, 400])
def test_threads_find_what_one_does(model, threads, number):
    decoder, given, words = Decoder(RULES, LABELS), trellises(number), texts(number)
    expected = result(decoder.decode(trellis) for trellis in given)
    assert result(decoder.decode_many(given, threads=threads)) == expected
    reader = Decoder(RULES, model=model)
    expected = result(reader.decode(model.trellis(tokens)) for tokens in words)
    assert result(Decoder(RULES, model=model).decode_texts(words, threads=threads)) == expected
    assert result(reader.decode_texts(words)) == expected


def test_callers_in_threads_of_their_own(model):
    decoder, words = Decoder(RULES, model=model), texts(200)
    expected = result(decoder.decode_tokens(tokens) for tokens in words)
    fresh, interval = Decoder(RULES, model=model), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            batches = [pool.submit(lambda: result(fresh.decode_texts(words, threads=2))) for _ in range(8)]
            assert all(batch.result() == expected for batch in batches)
    finally:
        sys.setswitchinterval(interval)


def test_each_piece_is_taken_once():
    from ilpinfer.kernels.atomics import add
    from ilpinfer.kernels.jit import kernel

    @kernel
    def mark(marks, share):
        add(share, ENTERED, 1)
        n = add(share, NEXT, 1)
        while n < len(marks):
            marks[n] += 1
            add(share, DONE, 1)
            n = add(share, NEXT, 1)

    marks = np.zeros(200_000, np.int64)
    work = Work(mark, (marks,), len(marks))
    with ThreadPoolExecutor(3) as pool:
        others = [pool.submit(work) for _ in range(3)]
        work()
        for other in others:
            other.result()
    assert (marks == 1).all() and work.share[DONE] == len(marks) and work.share[ENTERED] == 4
    assert work.wait(None, 3)
    stopped = Work(mark, (marks,), len(marks))
    stopped.stop()
    stopped()
    assert not stopped.wait(None, 0) and (marks == 1).all()


def test_two_batches_at_once_and_one_that_is_given_up():
    decoder, given = Decoder(RULES, LABELS), trellises(150)
    expected = result(decoder.decode(trellis) for trellis in given)
    one, other, third = (decoder.decode_many(given, threads=2) for _ in range(3))
    assert result(next(third) for _ in range(30)) == expected[:30]
    third.close()
    assert result(s for pair in zip(one, other, strict=True) for s in pair) == [
        e for e in expected for _ in (0, 1)
    ]


def test_an_error_of_a_chunk_in_another_thread_is_logged_and_its_items_are_answered_alone(
    caplog, monkeypatch
):
    monkeypatch.setattr(chunks, "unexplained", 0)
    main, raised = threading.get_ident(), threading.Event()

    def failing(number, share):
        if threading.get_ident() != main:
            raised.set()
            raise MemoryError("no room")
        assert number == 1 or raised.wait(60)
        share[DONE] = 1

    def answer(chunk):
        yield Work(failing, (len(chunk),), len(chunk))
        return ["done"] * len(chunk)

    expected = [(n, "done") for n in range(40)]
    assert list(decode_chunks(range(40), answer, lambda *pair: pair, threads=2)) == expected
    assert chunks.unexplained == len(caplog.messages) > 0
    assert caplog.messages[0] == (
        "4 sequences were decoded one by one, as decoding them together failed (error 1 of this kind): "
        "MemoryError('no room')"
    )


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_one_item_is_the_answer_of_that_item(threads, caplog):
    def answer(chunk):
        yield Work(lambda share: False, (), len(chunk))
        if 3 in chunk:
            raise ZeroDivisionError("of 3")
        return ["done"] * len(chunk)

    answers = dict(decode_chunks(range(40), answer, lambda *pair: pair, threads))
    assert isinstance(answers.pop(3), ZeroDivisionError)
    assert set(answers.values()) == {"done"} and len(answers) == 39
    assert not caplog.messages


def test_an_interrupt_ends_a_batch_and_the_next_one_is_whole(monkeypatch):
    decoder, given = Decoder(RULES, LABELS), trellises(300)
    expected, calls = result(decoder.decode(trellis) for trellis in given), []
    honest = chunks._Begun.answers

    def interrupted(self, following=None):
        calls.append(self)
        if len(calls) == 4:
            signal.raise_signal(signal.SIGINT)
        return honest(self, following)

    with monkeypatch.context() as patch:
        patch.setattr(chunks._Begun, "answers", interrupted)
        solutions = decoder.decode_many(given, threads=2)
        with pytest.raises(KeyboardInterrupt):
            list(solutions)
    assert calls[3].work.share[NEXT] >= calls[3].work.number
    assert result(decoder.decode_many(given, threads=2)) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_has_threads_of_its_own():
    decoder, given = Decoder(RULES, LABELS), trellises(100)
    expected = result(decoder.decode_many(given, threads=2))
    child = os.fork()
    if not child:
        signal.alarm(60)
        os._exit(result(decoder.decode_many(given, threads=2)) != expected)
    assert os.waitpid(child, 0)[1] == 0
    assert result(decoder.decode_many(given, threads=2)) == expected
