"""Decoders under strain: shared by threads, with small vocabularies, on trellises that share what they have, on sequences of one to three tokens."""

import random
import sys
import warnings

import numpy as np
import pytest
from stress import decoder as stress
from support.effort import STRICT
from support.kernel_calls import by_the_engine, outcomes

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.automata.lattice import Lattice
from formulations.problem import vocabulary
from formulations.problem.compiled_rules import compile_rules
from ilpinfer import Decoder
from ilpinfer.exact import limits
from ilpinfer.exact.compiled import RuleTables, tables_of

LABELS = ["a", "b", "O"]
WORDS = [f"w{i}" for i in range(200)]
READING = [
    C.tag_at("a", words=WORDS[:99:3], penalty=0.7),
    C.tag_at("b", words=WORDS[::5], previous=C.tokens(WORDS[::2]), penalty=0.9),
    C.at_most_runs("a", 1, penalty=1.1),
    C.changes_only_after(words=WORDS[::7], penalty=0.3),
    C.right_before("b", words=WORDS[::4], penalty=0.4),
    *(C.state_change("a", "b", words=WORDS[k::9], penalty=0.2) for k in range(4)),
]


LOCAL = [
    *READING[:2],
    *READING[3:5],
    C.min_run_length("a", 2, penalty=0.5),
    C.max_gap("a", "b", 3, penalty=0.8),
    C.requires_before("b", "O", penalty=2.0),
]
"""Of which few prefixes have to be told apart."""


def trellises(number: int, seed: int = 0, pools: int = 1, longest: int = 8) -> list[Trellis]:
    """With shared pools of edge scores, and with edge scores of their own."""
    rng = np.random.default_rng(seed)
    transitions, made = rng.normal(size=(pools, 3, 3)), []
    for n in range(number):
        T = int(rng.integers(1, longest + 1))
        given = {"labels": LABELS, "tokens": [f"w{i}" for i in rng.integers(0, len(WORDS), T)]}
        emissions, edges = rng.normal(size=(T, 3)), rng.normal(size=(T - 1, 3, 3))
        shared = Trellis.from_emissions(emissions, transitions[rng.integers(0, pools)], **given)
        made.append(shared if n % 3 else Trellis(emissions[0], edges, **given))
    return made


def undirected(trellises, rules):
    """Optima by the engine alone."""
    return [(s.score, s.ids.tolist()) for s in (by_the_engine(t, rules) for t in trellises)]


@pytest.mark.examples
def test_random_problems_against_brute_force():
    tally = stress.run(4000 if STRICT else 30, 1)
    assert not tally.findings
    assert tally.cases["all"] >= 30 and tally.cases["label setting"] and tally.cases["infeasible"]


@pytest.mark.examples
@pytest.mark.parametrize("passes", [0, limits.PASSES])
def test_short_sequences_against_brute_force(monkeypatch, passes):
    monkeypatch.setattr(limits, "PASSES", passes)
    tally = stress.run(2000 if STRICT else 20, 5 + passes, longest=3)
    assert not tally.findings
    assert tally.cases["all"] >= 20 and tally.cases["optimal"] > 8


@pytest.mark.parametrize("labels", [["a"], ["O"], ["B-a"]])
@pytest.mark.parametrize("T", [1, 2, 3])
def test_one_label_and_scores_that_forbid_everything(labels, T):
    for score, status in ((0.5, "optimal"), (-np.inf, "infeasible")):
        trellis = Trellis([score], np.full((T - 1, 1, 1), score), labels=labels)
        for rules in ([], [C.at_most_tokens(labels, 0, penalty=1.0)]):
            solution = ilpinfer.decode(trellis, rules)
            assert solution.status == status
            assert ilpinfer.verify(trellis, rules, solution).proved


@pytest.mark.parametrize("most", [20, 1 << 16])
def test_threads_share_tables_that_grow_and_begin_anew(monkeypatch, most):
    monkeypatch.setattr(vocabulary, "MOST_TOKENS", most)
    given = trellises(120)
    expected, result = undirected(given, READING), {}
    for repetition in range(8):
        decoder = Decoder(READING, LABELS)

        def run(part, decoder=decoder, repetition=repetition):
            for n in part:
                solution = decoder.decode(given[n])
                result[repetition, n] = solution.score, solution.ids.tolist()

        stress.at_once(run, [range(k, 120, 4) for k in range(4)])
    assert result == {(r, n): expected[n] for r in range(8) for n in range(120)}


def test_a_batch_may_hold_a_trellis_twice():
    given = [t for t in trellises(30, seed=1) for _ in range(2)]
    found = outcomes(RuleTables(compile_rules(READING, given[0].labels)), given)
    assert all(outcome.proved for outcome in found)
    result = [(outcome.value / 2**20, list(outcome.path)) for outcome in found]
    assert result == undirected(given, READING)


def test_threads_leave_the_filters_of_warnings_alone():
    rules = [C.at_most_runs("a", 1, penalty=1.1, distance="hamming"), C.at_most_runs("b", 1)]
    decoder, given = Decoder(rules, LABELS), trellises(100, seed=2)

    def run(_):
        for trellis in given:
            assert decoder.decode(trellis).violations.keys() == {rule.title for rule in rules}

    before = list(warnings.filters)
    stress.at_once(run, range(4))
    assert before == list(warnings.filters)


def test_machines_count_as_far_as_the_sequence_is_long():
    rules = [
        C.exactly_tokens("a", 13, penalty=1.5),
        C.between_runs("b", 2, 9, penalty=0.9),
        C.linear("tokens(a) - 2*tokens(b) <= 1", penalty=0.2),
    ]
    given, decoder = sorted(trellises(60, seed=7, longest=40), key=len), Decoder(rules, LABELS)
    solutions = [decoder.decode(trellis) for trellis in given]
    assert sum("multipliers" in s.method or "label setting" in s.method for s in solutions) > 15
    assert [(s.score, s.ids.tolist()) for s in solutions] == undirected(given, rules)


@pytest.mark.parametrize("entries", [1, 2, 3])
def test_trellises_share_a_pool_of_several_entries(entries):
    rng, decoder, given = np.random.default_rng(entries), Decoder(READING, LABELS), []
    pool = rng.integers(-(2**21), 2**21, (entries, 3, 3))
    for n in range(24):
        T = int(rng.integers(1, 7)) if n % 4 else entries + 1
        steps = rng.integers(0, entries, T - 1) if n % 4 else np.arange(entries)
        lattice = Lattice(rng.integers(-(2**21), 2**21, (T, 3)), pool, steps)
        tokens = [f"w{i}" for i in rng.integers(0, len(WORDS), T)]
        given.append(Trellis._from(lattice, LABELS, tokens, ""))
    solutions = [decoder.decode(trellis) for trellis in given]
    expected = undirected(given, READING)
    assert [(s.score, s.ids.tolist()) for s in solutions] == expected
    found = outcomes(RuleTables(compile_rules(READING, given[0].labels)), given)
    assert [(o.value / 2**20, list(o.path)) for o in found if o.proved] == expected


def test_threads_and_more_label_sets_than_are_kept():
    rng, decoder, result, given = np.random.default_rng(6), Decoder(READING), {}, []
    sets = ("abO", "ab", "baO", "abc", "abcO", "Oab", "cba")
    for n in range(70):
        labels, T = list(sets[n % len(sets)]), int(rng.integers(1, 7))
        K, tokens = len(labels), [f"w{i}" for i in rng.integers(0, len(WORDS), T)]
        given.append(Trellis(rng.normal(size=K), rng.normal(size=(T - 1, K, K)), labels, tokens=tokens))

    def run(k):
        for n in np.random.default_rng(k).permutation(70).tolist():
            solution = decoder.decode(given[n])
            result[k, n] = solution.score, solution.ids.tolist()

    stress.at_once(run, range(4))
    expected = undirected(given, READING)
    assert result == {(k, n): expected[n] for k in range(4) for n in range(70)}


def test_priorities_need_no_rules_on_steps():
    given = Trellis([0, 0, 1], np.zeros((2, 3, 3)), labels=LABELS, tokens=["x", "y", "x"])
    solution = ilpinfer.decode(given, [C.tag_at("a", words=["x"]), C.tag_at("b", words=["x", "y"])])
    assert solution.labels == ["a", "b", "a"]
    assert solution.method == "auto: viterbi"
    assert ilpinfer.verify(given, solution.context.rules, solution).proved


@pytest.mark.parametrize("T", [300, 2000])
def test_long_sequences_are_decoded_as_the_engine_does(monkeypatch, T):
    monkeypatch.setattr(limits, "PASSES", 100_000)
    rng, decoder = np.random.default_rng(T), Decoder(LOCAL, LABELS)
    given = []
    for transitions in (rng.normal(size=(3, 3)), None):
        emissions, edges = 8 * rng.normal(size=(T, 3)), 8 * rng.normal(size=(T - 1, 3, 3))
        named = {"labels": LABELS, "tokens": [f"w{i}" for i in rng.integers(0, len(WORDS), T)]}
        own = Trellis(emissions[0], edges, **named)
        given.append(own if transitions is None else Trellis.from_emissions(emissions, transitions, **named))
    solutions = [decoder.decode(trellis) for trellis in given]
    assert all(solution.method.startswith("auto: label setting") for solution in solutions)
    assert all(ilpinfer.verify(t, decoder.rules, s).proved for t, s in zip(given, solutions))
    assert [(s.score, s.ids.tolist()) for s in solutions] == undirected(given, LOCAL)


@pytest.mark.parametrize("most", [1, 3, limits.MOST_POOLS])
def test_tables_of_many_pools_come_and_go(monkeypatch, most):
    monkeypatch.setattr(limits, "MOST_POOLS", most)
    given = trellises(150, seed=3, pools=limits.MOST_POOLS + 4, longest=40)
    decoder = Decoder(READING, LABELS)
    solutions = [decoder.decode(trellis) for trellis in [*given, *given[::-1]]]
    assert sum(solution.method.startswith("auto: label setting") for solution in solutions) > 100
    expected = undirected(given, READING)
    assert [(s.score, s.ids.tolist()) for s in solutions] == [*expected, *expected[::-1]]
    tables = tables_of(decoder._runner.rules, given[0].labels)
    kept = {id(pool) for pool, _ in tables._pools}
    assert len(kept) <= most and {key[0] for key in tables._instances} <= kept


@pytest.mark.parametrize("most", [8, 100, 1000])
def test_too_many_classes_are_left_to_the_engine(monkeypatch, most):
    monkeypatch.setattr(vocabulary, "MOST_CLASSES", most)
    given, decoder = trellises(60, seed=4), Decoder(READING, LABELS)
    solutions = [decoder.decode(trellis) for trellis in given]
    assert [(s.score, s.ids.tolist()) for s in solutions] == undirected(given, READING)


def interrupted(frame, event, _):
    """Trace the lines of what grows, and be interrupted at some of them."""
    growing = frame.f_code.co_filename.endswith(("problem/vocabulary.py", "exact/compiled.py"))
    if not growing or frame.f_code.co_name == "call_of":  # which holds the lock
        return None
    if event == "line" and interrupted.chance.random() < 0.003:
        raise KeyboardInterrupt
    return interrupted


def test_an_interrupt_does_no_harm(monkeypatch):
    monkeypatch.setattr(vocabulary, "MOST_TOKENS", 70)
    given, interrupts, before = trellises(300, seed=5), 0, sys.gettrace()
    expected = undirected(given, READING)
    interrupted.chance = random.Random(0)
    for _ in range(4):
        decoder = Decoder(READING, LABELS)
        for trellis, optimum in zip(given, expected, strict=True):
            sys.settrace(interrupted)
            try:
                solution = decoder.decode(trellis)
            except KeyboardInterrupt:
                interrupts += 1
                continue
            finally:
                sys.settrace(before)
            assert (solution.score, solution.ids.tolist()) == optimum
    assert interrupts > 50
