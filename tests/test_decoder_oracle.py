"""Decoders under strain: shared by threads, with small vocabularies, on trellises that share what they have."""

import sys
import threading
import warnings

import numpy as np
import pytest

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.compiled import vocabulary
from formulations.compiled.rules import compile_rules
from ilpinfer import Decoder
from ilpinfer.exact.compiled import Tables
from ilpinfer.options import Request

LABELS = ["a", "b", "O"]
WORDS = [f"w{i}" for i in range(60)]
READING = [
    C.tag_at("a", words=WORDS[:30:3], penalty=0.7),
    C.tag_at("b", words=WORDS[::5], previous=C.tokens(WORDS[::2]), penalty=0.9),
    C.at_most_runs("a", 1, penalty=1.1),
    C.changes_only_after(words=WORDS[::7], penalty=0.3),
    C.right_before("b", words=WORDS[::4], penalty=0.4),
    *(C.state_change("a", "b", words=WORDS[k::9], penalty=0.2) for k in range(4)),
]


def trellises(number: int, seed: int = 0) -> list[Trellis]:
    """With a shared pool of edge scores, and with edge scores of their own."""
    rng = np.random.default_rng(seed)
    transitions, made = rng.normal(size=(3, 3)), []
    for n in range(number):
        T = int(rng.integers(1, 9))
        given = {"labels": LABELS, "tokens": [f"w{i}" for i in rng.integers(0, 60, T)]}
        emissions, edges = rng.normal(size=(T, 3)), rng.normal(size=(T - 1, 3, 3))
        shared = Trellis.from_emissions(emissions, transitions, **given)
        made.append(shared if n % 3 else Trellis(emissions[0], edges, **given))
    return made


def undirected(monkeypatch, trellises, rules):
    """Optima by the engine alone."""
    with monkeypatch.context() as patch:
        patch.setattr(Request, "direct", property(lambda _: False))
        return [(s.score, s.ids.tolist()) for s in (ilpinfer.decode(t, rules) for t in trellises)]


def in_threads(function, arguments):
    """Call a function with each argument, at the same time, in threads that often give way to each other."""
    threads = [threading.Thread(target=function, args=(argument,)) for argument in arguments]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize("most", [20, 1 << 16])
def test_threads_share_tables_that_grow_and_begin_anew(monkeypatch, most):
    monkeypatch.setattr(vocabulary, "MOST_TOKENS", most)
    given = trellises(120)
    expected, found = undirected(monkeypatch, given, READING), {}
    for repetition in range(8):
        decoder = Decoder(READING, LABELS)

        def run(part, decoder=decoder, repetition=repetition):
            for n in part:
                solution = decoder.decode(given[n])
                found[repetition, n] = solution.score, solution.ids.tolist()

        in_threads(run, [range(k, 120, 4) for k in range(4)])
    assert found == {(r, n): expected[n] for r in range(8) for n in range(120)}


def test_a_batch_may_hold_a_trellis_twice(monkeypatch):
    given = [t for t in trellises(30, seed=1) for _ in range(2)]
    tables = Tables(compile_rules(READING, given[0].labels))
    outcomes = tables.decode(given)
    assert all(outcome.proved for outcome in outcomes)
    found = [(outcome.value / 2**20, outcome.path.tolist()) for outcome in outcomes]
    assert found == undirected(monkeypatch, given, READING)


def test_threads_leave_the_filters_of_warnings_alone():
    rules = [C.at_most_runs("a", 1, penalty=1.1, distance="hamming"), C.at_most_runs("b", 1)]
    decoder, given = Decoder(rules, LABELS), trellises(100, seed=2)

    def run(_):
        for trellis in given:
            assert decoder.decode(trellis).violations.keys() == {rule.title for rule in rules}

    before = list(warnings.filters)
    in_threads(run, range(4))
    assert before == list(warnings.filters)


def test_priorities_need_no_rules_on_steps():
    given = Trellis([0, 0, 1], np.zeros((2, 3, 3)), labels=LABELS, tokens=["x", "y", "x"])
    solution = ilpinfer.decode(given, [C.tag_at("a", words=["x"]), C.tag_at("b", words=["x", "y"])])
    assert solution.labels == ["a", "b", "a"]
    assert solution.method == "auto: viterbi"
    assert ilpinfer.verify(given, solution.context.rules, solution).proved
