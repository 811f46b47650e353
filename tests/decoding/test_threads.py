"""Batches that threads share: each sequence is decoded once, whoever comes first, and the caller is left with no debris."""

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import numpy as np
import pytest

from formulations import Trellis
from formulations import constraints as C
from ilpinfer import Decoder
from ilpinfer.exact.calls import Call
from ilpinfer.models.hmm import HMM

LABELS = ["a", "b", "O"]
RULES = [C.at_most_runs("a", 1, penalty=1.0), C.tag_at("b", words=["w1"], penalty=0.7)]


def trellises(number, seed=0):
    rng, made = np.random.default_rng(seed), []
    for _ in range(number):
        T = int(rng.integers(1, 30))
        words = [f"w{i}" for i in rng.integers(0, 40, T)]
        made.append(Trellis(rng.normal(size=3), rng.normal(size=(T - 1, 3, 3)), LABELS, tokens=words))
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


def test_two_batches_at_once_and_one_that_is_given_up():
    decoder, given = Decoder(RULES, LABELS), trellises(150)
    expected = result(decoder.decode(trellis) for trellis in given)
    one, other, third = (decoder.decode_many(given, threads=2) for _ in range(3))
    assert result(next(third) for _ in range(30)) == expected[:30]
    third.close()
    assert result(s for pair in zip(one, other, strict=True) for s in pair) == [
        e for e in expected for _ in (0, 1)
    ]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_a_call_is_that_of_its_sequences(threads, monkeypatch, model):
    """In whatever thread it occurs, and after the results before it."""
    decoder, honest, done = Decoder(RULES, LABELS), Call.run, []

    def failing(self, threads=1):
        if self.number > 16:
            raise MemoryError("no room")
        honest(self, threads)

    monkeypatch.setattr(Call, "run", failing)
    given = trellises(75)[1::2]  # which share a pool of scores
    with pytest.raises(MemoryError, match="no room"):
        done.extend(decoder.decode_many(given, threads=threads))
    assert len(done) == 21  # chunks of 1, 4 and 16
    rows = list(decoder.decode_many(given, threads=threads, on_error="row"))
    assert [row.error for row in rows] == [""] * 21 + ["MemoryError"] * 54


@pytest.mark.parametrize("threads", [1, 2])
def test_an_item_that_is_no_trellis_is_an_error_of_its_own(threads):
    given = [*trellises(10), "a trellis", *trellises(10)]
    rows = list(Decoder(RULES, LABELS).decode_many(given, threads=threads, on_error="row"))
    assert [n for n, row in enumerate(rows) if row.error] == [20]
    assert "trellis is 'a trellis'" in rows[20].reason


def test_a_batch_that_is_given_up_ends_its_kernel_and_the_next_one_is_whole(monkeypatch):
    decoder, given = Decoder(RULES, LABELS), trellises(300)
    expected, stopped = result(decoder.decode(trellis) for trellis in given), []
    honest = Call.stop

    def stop(self):
        stopped.append(self)
        honest(self)

    with monkeypatch.context() as patch:
        patch.setattr(Call, "stop", stop)
        solutions = decoder.decode_many(given, threads=2)
        assert result(islice(solutions, 20)) == expected[:20]
        solutions.close()
    assert stopped
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
