"""Second order: scores that look at two labels before, against brute force over all labellings."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.strategies import FORBIDDING, LABEL_SETS, NEAR_TIES, TOKENS, cases
from support.trellises import random_trellis

import ilpinfer
from formulations import LabelSet, Rule, Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from formulations.programs import formulation
from ilpinfer.corpus.sequences import read


@st.composite
def twins(draw: st.DrawFn) -> tuple[Trellis, Trellis, list[Rule]]:
    """The same scores as a first-order trellis and as a second-order one, with rules."""
    scheme, names = draw(st.sampled_from(LABEL_SETS))
    K, T = len(names), draw(st.integers(1, 4))
    size = K + (T - 1) * K * K
    scores = draw(st.sampled_from((FORBIDDING, NEAR_TIES)))
    flat = np.array(draw(st.lists(scores, min_size=size, max_size=size)))
    start, edges = flat[:K], flat[K:].reshape(T - 1, K, K)
    tokens = draw(st.lists(st.sampled_from(TOKENS), min_size=T, max_size=T))
    named = {"labels": LabelSet(names, scheme), "tokens": tokens}
    rules = [case.rule for case in draw(st.lists(cases(named["labels"]), max_size=4))]
    first = edges[0] if T > 1 else None
    later = np.repeat(edges[1:, None], K, axis=1)
    return Trellis(start, edges, **named), Trellis.second_order(start, first, later, **named), rules


SEARCHES = {
    "constrained-viterbi": {},
    "post-correction": {},
    "lds": {"variant": "admissible", "keep_going": True},
    "evolutionary": {"iterations": 30},
}


@settings(max_examples=examples(60))
@given(twins())
def test_searches_take_the_same_steps_in_second_order(twin):
    one, two, result = twin
    assume(not any(rule.machineless for rule in compile_problem(one, result).rules))
    for method, options in SEARCHES.items():
        a, b = (ilpinfer.decode(t, result, method=method, **options) for t in (one, two))
        assert (a.has_labelling, a.score) == (b.has_labelling, b.score)
        assert not a.has_labelling or a.labels == b.labels


@settings(max_examples=examples(40))
@given(twins())
def test_reasons_for_infeasibility_are_those_of_first_order(twin):
    one, two, result = twin
    a, b = (ilpinfer.decode(t, [replace(r, penalty=math.inf) for r in result]) for t in (one, two))
    assert a.status == b.status
    if a.status == "infeasible":
        assert a.infeasibility.conflict == b.infeasibility.conflict
        assert sum(a.infeasibility.relaxation.values()) == sum(b.infeasibility.relaxation.values())


@pytest.mark.parametrize("T", [1, 2, 3])
def test_one_label_leaves_one_labelling(T):
    scores = random_trellis(0, T, ["a"], order=2)
    for method in ("auto", "viterbi", "beam", "highs", "cp-sat"):
        solution = ilpinfer.decode(scores, [C.at_most_tokens("a", 0, penalty=1.0)], method=method, top=2)
        assert [s.ids.tolist() for s in solution] == [[0] * T]
        assert solution[0].violations == {"at_most_tokens(a, 0)": T}


def test_a_program_too_large_to_build_is_refused(monkeypatch):
    monkeypatch.setattr(formulation, "MOST_COLUMNS", 100)
    scores = random_trellis(0, 9, order=2)
    with pytest.raises(ValueError, match="288 columns for 9 tokens and 3 labels in pairs, and may have 100"):
        ilpinfer.decode(scores, method="highs")
    assert ilpinfer.decode(scores).status == "optimal"


def test_what_is_never_reached_takes_no_part_in_the_total():
    Trellis.second_order([1e9], [[1e9]], [])
    Trellis.from_emissions([[0.0]], [[[2e9]]], first=[[2e9]], start=[2e9])
    Trellis.from_emissions([[0.0]] * 3, [[[1e9]]], first=[[1e9]])


FIRST, EDGES = [[0, 1], [2, 3]], np.arange(16).reshape(2, 2, 2, 2).tolist()
EDGES[1][0][1][1] = None
EMISSIONS = {"emissions": [[0, 1]] * 4, "transitions": EDGES[0]}


@pytest.mark.parametrize(
    ("record", "ids", "score"),
    [
        ({"start": [0, 1], "first": FIRST, "edges": EDGES}, [1, 1, 0, 1], 1 + 3 + 6 + (8 + 5)),
        ({"start": [0, 1], "first": FIRST, "edges": EDGES}, [1, 0, 1, 1], -math.inf),
        ({"start": [0, 1], "first": [], "edges": []}, [1], 1),
        ({"start": [0, 1], "first": FIRST, "edges": []}, [1, 0], 1 + 2),
        ({**EMISSIONS, "first": FIRST, "end": [0, 7]}, [1, 1, 1, 1], 4 + 3 + 7 + 7 + 7),
        (EMISSIONS, [1, 1, 1, 1], 4 + 7 + 7),
    ],
)
def test_scores_of_second_order_come_as_json_lines(tmp_path, record, ids, score):
    (tmp_path / "x.jsonl").write_text(json.dumps({**record, "label_names": ["x", "O"]}))
    (example,) = read(tmp_path / "x.jsonl")
    assert example.trellis().score(ids) == score
