"""Trellises are read back to the last bit, in the form that they were made in."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import LABEL_SETS, NEAR_TIES, instances

from formulations import LabelSet, Trellis
from formulations.problem.compiled_rules import compile_rules
from ilpinfer.corpus.records import example

SCORES = st.one_of(st.floats(-100, 100), st.just(-math.inf), NEAR_TIES)


@st.composite
def trellises(draw, order=None, label_sets=LABEL_SETS):
    order = order or draw(st.sampled_from((1, 2)))
    words = "", "é", "a b", "\0"
    return draw(instances(SCORES, order=order, words=words, label_sets=label_sets)).trellis


@settings(max_examples=200)
@given(trellises())
def test_a_trellis_is_read_back(trellis):
    values = json.loads(json.dumps(trellis.to_dict(), allow_nan=False))
    read = Trellis.from_dict(values)
    assert read == trellis and "node" not in values
    assert [x.dtype for x in vars(read.lattice).values()] == [np.int64] * 3
    rules = compile_rules([], trellis.labels), compile_rules([], read.labels)
    assert rules[0].digest_of(trellis) == rules[1].digest_of(read)
    assert json.dumps(read.to_dict()) == json.dumps(values)


@given(st.data(), st.sampled_from(LABEL_SETS), st.sampled_from((1, 2)))
def test_joined_trellises_are_read_back(data, label_set, order):
    several = data.draw(st.lists(trellises(order, [label_set]), min_size=2, max_size=3))
    joined = Trellis.joined(several)
    assert Trellis.from_dict(json.loads(json.dumps(joined.to_dict()))) == joined


@pytest.mark.parametrize("scheme", ["plain", ""])
def test_optional_fields_are_read_back(scheme):
    labels = LabelSet(["B-x", "I-x"], scheme, frozenset(["y"]))
    trellis = Trellis([0.0, 1.0], np.zeros((1, 2, 2)), labels)
    assert Trellis.from_dict(trellis.to_dict()) == trellis


def test_the_parts_stay_apart():
    factored = Trellis.from_emissions(np.zeros((50, 9)), np.zeros((9, 9)))
    assert set(factored.to_dict()) == {"tokens", "label_names", "scheme", "emissions", "transitions"}
    assert len(Trellis.from_dict(factored.to_dict()).lattice.pool) == 1


@given(trellises())
def test_commands_read_the_scores(trellis):
    values = trellis.to_dict()
    own = {key: x for key, x in values.items() if key not in ("scheme", "optional_fields")}
    read = example(json.loads(json.dumps(own)), "here", None)
    assert (
        read.scores.trellis(read.scores.label_names, read.tokens, values["scheme"]).lattice == trellis.lattice
    )


def test_equality_sees_every_part():
    parts = {"start": [0.0, 1.0], "edges": [[[0, 1], [2, 3]]], "labels": ["a", "b"], "tokens": ["x", "y"]}
    base = Trellis(**parts)
    changes = [
        {"start": [0.0, 1.5]},
        {"edges": [[[0, 1], [2, 4]]]},
        {"labels": ["a", "c"]},
        {"tokens": ["x", "z"]},
        {"edges": [[[0, 1], [2, 3]]] * 2, "tokens": ["x", "y", "y"]},
    ]
    assert base == Trellis(**parts) and base != 3
    assert all(base != Trellis(**{**parts, **change}) for change in changes)


BASE = {
    "tokens": ["x", "y"],
    "label_names": ["a", "b"],
    "scheme": "plain",
    "start": [0, 1],
    "edges": [[[0, 1], [2, 3]]],
}
GENERAL = {"node": [[0, 1], [2, 3]], "pool": [[[0, 0], [0, 0]]], "step": [0]}
PAIRS = {
    "node": [[0, 1, None, None, None, None], [None, None, 0, 0, 0, 0]],
    "pool": [[[0, 0]] * 6],
    "step": [0],
}


def general(change):
    return {**{key: BASE[key] for key in ("tokens", "label_names", "scheme")}, **change}


def test_general_forms_are_read():
    for form, order in ((GENERAL, 1), (PAIRS, 2)):
        assert Trellis.from_dict(general(form)).order == order


def test_one_token_trellises_are_joined():
    single = Trellis([0.0, 1.0], [])
    assert Trellis.joined([single, single, single]).score([0, 1, 1]) == 2.0
