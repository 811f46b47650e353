"""The best few labellings by compiled rules: against brute force, against the method itself, and as users read them."""

import math
import pickle
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.checks import ranking
from support.effort import examples, seeds
from support.kernel_calls import by_the_engine
from support.strategies import Problem, instances, near_ties, problems

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from ilpinfer import Decoder
from ilpinfer.decoding import chunks
from ilpinfer.decoding.call_results import CallResult
from ilpinfer.decoding.runner import handovers
from ilpinfer.exact import limits
from ilpinfer.exact.instance import Instance
from ilpinfer.models.hmm import HMM

FIELDS = ("author", "title", "date", "O")
WORDS = ("Smith", ",", ".", "1999", "proceedings", "of", "data")


def content(solutions):
    return [(s.score, s.ids.tolist(), s.violations, s.penalty, s.status) for s in solutions]


@settings(max_examples=examples(180))
@given(
    problem=problems() | near_ties() | instances().map(lambda instance: Problem(instance, [])),
    top=st.sampled_from([1, 2, 5, 20, 400]),
)
def test_the_best_few_and_their_proofs(problem, top):
    result = ilpinfer.decode(*problem.given, top=top)
    assert ranking(result) == problem.top(top), "equal scores are ordered by label ids"
    assert not result or ilpinfer.verify(*problem.given, result, top=top).proved
    for solution in result:
        assert list(solution.violations.values()) == problem.violations(tuple(solution.ids.tolist()))


def sequences(count, labels=FIELDS, seed=0, longest=14):
    rng = np.random.default_rng(seed)
    edges = rng.normal(size=(len(labels), len(labels)))
    for _ in range(count):
        T = int(rng.integers(1, longest))
        scores = 2 * rng.normal(size=(T, len(labels)))
        yield Trellis.from_emissions(scores, edges, labels=labels, tokens=list(rng.choice(WORDS, T)))


def random_rules(number):
    draw = random.Random(number)
    penalties = [math.inf, 0.3, 1.0, 2.5]
    every = [
        lambda f, g, **p: C.at_most_runs(f, 1, **p),
        lambda f, g, **p: C.at_most_tokens(f, 3, **p),
        lambda f, g, **p: C.requires_present(f, g, **p),
        lambda f, g, **p: C.precedence(f, g, **p),
        lambda f, g, **p: C.never_together(f, g, **p),
        lambda f, g, **p: C.at_least_runs(f, 1, distance="binary", **p),
        lambda f, g, **p: C.changes_only_after(words=[","], **p),
        lambda f, g, **p: C.max_run_length(f, 3, **p),
        lambda f, g, **p: C.consistent(same="token", **p),
        lambda f, g, **p: C.starts_with(f, **p),
    ]
    return [draw.choice(every)(*draw.sample(FIELDS, 2), penalty=draw.choice(penalties)) for _ in range(6)]


@seeds(12, 1)
def test_random_rules_give_what_the_method_gives(seed):
    rules, top = random_rules(seed), (2, 10, 30)[seed % 3]
    for trellis in sequences(3, seed=seed):
        result, expected = ilpinfer.decode(trellis, rules, top=top), by_the_engine(trellis, rules, top=top)
        assert content(result) == content(expected)
        assert not result or ilpinfer.verify(trellis, rules, result, top=top).proved


READING = [C.at_most_runs(C.EACH_FIELD, 1, penalty=2.0), C.tag_at("date", pattern=r"\d{4}", penalty=1.0)]


def model():
    labels = ["author"] * 2 + ["title"] * 3 + ["date"] * 2
    one = ["Smith", ",", "Data", "structures", ".", "1999", "."]
    two = ["Lee", ".", "On", "graphs", ",", "2001"]
    return HMM.train([(text, labels[: len(text)]) for text in (one, two)])


def test_every_way_to_decode_gives_the_same_lists():
    given = list(sequences(20))
    rules = [*random_rules(3), C.at_most_runs("author", 1)]
    decoder = Decoder(rules)
    expected = [content(decoder.decode(trellis, top=7)) for trellis in given]
    assert [content(by_the_engine(trellis, rules, top=7)) for trellis in given[:6]] == expected[:6]
    for options in ({}, {"threads": 2}, {"n_jobs": 2}, {"on_error": "row"}):
        assert [content(s) for s in decoder.decode_many(given, top=7, **options)] == expected
    assert [content(s) for s in ilpinfer.decode_many(given, rules, top=7, threads=2)] == expected
    limited = Decoder(rules, time_limit=60)
    assert [content(s) for s in limited.decode_many(given, top=7)] == expected
    for read in (decoder, limited, Decoder(rules, within=1e6), pickle.loads(pickle.dumps(decoder))):
        assert [content(s) for s in read.decode_many(given, top=7)] == expected


def test_texts_give_the_lists_of_their_trellises():
    hmm, texts = model(), [["Kim", ",", "Trees", "."], ["On", "data", "1999"], ["A"]]
    expected = [content(ilpinfer.decode(hmm.trellis(tuple(t)), READING, top=9)) for t in texts]
    for options in ({}, {"time_limit": 60}, {"within": 1e6}):
        decoder = Decoder(READING, model=hmm, **options)
        assert [content(s) for s in decoder.decode_texts(texts, top=9)] == expected
        assert [content(decoder.decode_tokens(t, top=9)) for t in texts] == expected


def test_long_lists_are_decoded_in_parts(monkeypatch):
    given, decoder = list(sequences(30)), Decoder([C.at_most_runs("title", 1, penalty=1.0)])
    expected = [content(few) for few in decoder.decode_many(given, top=5)]
    monkeypatch.setattr(chunks, "MOST_LISTED", 100)
    assert [content(few) for few in decoder.decode_many(given, top=5)] == expected


def test_fewer_labellings_than_wanted_and_none():
    trellis = next(sequences(1, labels=("a", "b"), longest=2))
    (solution,) = ilpinfer.decode(trellis, [C.at_most_tokens("a", 0)], top=10_000)
    assert solution.certificate.rest is not None
    impossible = [C.at_least_tokens("a", 2)]
    assert list(Decoder(impossible).decode_many([trellis], top=3)) == [[]]


def test_little_time_gives_an_empty_list_or_fewer():
    given = list(sequences(3))
    decoder = Decoder(random_rules(1), time_limit=1e-9)
    assert list(decoder.decode_many(given, top=4)) == [[], [], []]


def test_what_the_kernel_leaves_open_is_decoded_by_the_method(monkeypatch):
    rules, given = random_rules(2), list(sequences(6, seed=5, longest=9))
    expected = [content(s) for s in Decoder(rules).decode_many(given, top=6)]
    monkeypatch.setattr(limits, "EFFORT", 0)
    before = handovers[chunks.STEPS]
    lists = list(Decoder(rules).decode_many(given, top=6))
    assert [content(s) for s in lists] == expected
    left = [s for s in lists if s[0].method.endswith("; not by compiled rules: too many steps")]
    assert 0 < len(left) == handovers[chunks.STEPS] - before


def test_proofs_and_violations_are_made_when_they_are_asked_for(monkeypatch):
    trellis, made = next(sequences(1)), []
    monkeypatch.setattr(CallResult, "certificate", lambda *a: made.append(a))
    solutions = ilpinfer.decode(trellis, [C.at_most_runs("title", 1)], top=4)
    assert [len(s.ids) for s in solutions] == [len(trellis.tokens)] * 4 and solutions[0].score
    assert not made
    monkeypatch.undo()
    assert [len(s.certificate.excluded) for s in solutions] == [0, 1, 2, 3]
    assert len({s.certificate.digest for s in solutions}) == 1


@pytest.mark.parametrize("top", [3, 40])
def test_proofs_with_multipliers_and_products_hold(monkeypatch, top):
    """Steps so few that both are needed."""
    monkeypatch.setattr(limits, "EFFORT", 1)
    monkeypatch.setattr(Instance, "work", property(lambda self: (0, 12_000, limits.DIRECT)))
    ways = set()
    counted = [C.at_most_tokens(field, 1, penalty=1.5) for field in FIELDS]
    counted.append(C.at_least_tokens("date", 3, penalty=2.0))
    for number in range(4):
        rules = [*counted, *random_rules(20 + number)[:2]]
        for trellis in sequences(8, seed=number):
            solutions = ilpinfer.decode(trellis, rules, top=top)
            ways |= {word for s in solutions for word in ("multipliers", "machines") if word in s.method}
            ways |= {"product" for s in solutions if s.certificate.tree.product}
            assert not solutions or ilpinfer.verify(trellis, rules, solutions, top=top).proved
            assert content(solutions) == content(by_the_engine(trellis, rules, top=top))
    assert ways == {"multipliers", "machines", "product"}
