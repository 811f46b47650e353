"""Second order: scores that look at two labels before, against brute force over all labellings."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support import oracles
from support import template_oracles as more
from support.checks import ranking
from support.effort import examples
from support.oracles import snap
from support.strategies import FORBIDDING, LABEL_SETS, NEAR_TIES, TOKENS, UNIT, cases, instances
from support.trellises import random_trellis

import ilpinfer
from formulations import LabelSet, Rule, Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from formulations.programs import formulation
from ilpinfer.corpus.sequences import InputError, read


@settings(max_examples=examples(150))
@given(instances() | instances(order=2))
def test_a_score_is_the_sum_of_its_numbers(instance):
    for y in oracles.labellings(*instance.shape):
        expected = instance.units(y)
        assert instance.trellis.score(y) == (-math.inf if expected is None else expected / 2**20)


@settings(max_examples=examples(60))
@given(data=st.data(), instance=instances(order=2))
def test_features_are_added_to_steps_and_tokens(data, instance):
    labels = instance.trellis.labels
    scheme, fields = labels.scheme, list(labels.fields)
    some = st.sampled_from(fields)
    A, B, word = data.draw(some), data.draw(some), data.draw(st.sampled_from(TOKENS))
    features = [
        C.feature(label=A, weight=3 * UNIT, words=[word]),
        C.feature(from_=A, to=B, weight=-2 * UNIT),
        C.feature(to=B, weight=5 * UNIT, words=[word]),
    ]
    tokens = instance.trellis.tokens

    def extra(y: tuple[int, ...]) -> int:
        given = instance.names(y), tokens, scheme
        single, entered = (
            more.feature(*given, label=A, words=[word]),
            more.feature(*given, to=B, words=[word]),
        )
        return 3 * single - 2 * more.feature(*given, from_=A, to=B) + 5 * entered

    def worth(y: tuple[int, ...]) -> int | None:
        units = instance.units(y)
        return None if units is None else units + extra(y)

    result = oracles.top(*instance.shape, worth, lambda y: 0, 1)
    solution = ilpinfer.decode(instance.trellis, features)
    assert solution.status == ("optimal" if result else "infeasible")
    if result:
        assert ranking([solution]) == result
        assert snap(solution.feature_score) == extra(result[0][1])


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


@settings(max_examples=examples(150))
@given(twins())
def test_scores_that_ignore_the_label_before_last_decode_as_first_order(twin):
    one, two, result = twin
    for method in ("auto", "viterbi"):
        a, b = (ilpinfer.decode(t, result, method=method) for t in (one, two))
        assert (a.status, a.score, a.bound, a.violations) == (b.status, b.score, b.bound, b.violations)
        assert not a.has_labelling or a.ids.tolist() == b.ids.tolist()
    few, again = (ranking(ilpinfer.decode(trellis, top=7)) for trellis in (one, two))
    assert few == again


SEARCHES = {
    "constrained-viterbi": {},
    "post-correction": {},
    "best-first": {},
    "greedy": {},
    "lds": {"variant": "admissible", "keep_going": True},
    "evolutionary": {"iterations": 30},
    "annealing": {"iterations": 300},
    "tabu": {"iterations": 60, "refit_rate": 0.0},
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
    scores = random_trellis(0, T, ["0"], order=2)
    for method in ("auto", "viterbi", "beam", "highs", "cp-sat"):
        solution = ilpinfer.decode(scores, [C.at_most_tokens("0", 0, penalty=1.0)], method=method, top=2)
        assert [s.ids.tolist() for s in solution] == [[0] * T]
        assert solution[0].violations == {"at_most_tokens(0, 0)": T}


def test_a_program_too_large_to_build_is_refused(monkeypatch):
    monkeypatch.setattr(formulation, "MOST_COLUMNS", 100)
    scores = random_trellis(0, 9, order=2)
    with pytest.raises(ValueError, match="288 columns for 9 tokens and 3 labels in pairs, and may have 100"):
        ilpinfer.decode(scores, method="highs")
    assert ilpinfer.decode(scores).status == "optimal"


def test_a_trigram_is_told_from_bigrams():
    """Only the label before last says what comes next, which no first-order trellis can say."""
    edges = np.full((4, 2, 2, 2), -5.0)
    for before, previous in itertools.product(range(2), repeat=2):
        edges[:, before, previous, 1 - before] = 0.0
    scores = Trellis.second_order([0.0, -1.0], [[0.0, -1.0], [0.0, 0.0]], edges, labels=["a", "b"])
    assert (scores.order, repr(scores)) == (2, "Trellis(6 tokens, 2 labels, plain, second order)")
    assert ilpinfer.decode(scores).labels == ["a", "a", "b", "b", "a", "a"]
    solution = ilpinfer.decode(scores, [C.at_most_runs("a", 1)])
    assert solution.labels == min(
        (list(y) for y in itertools.product("ab", repeat=6) if "".join(y).strip("b").count("b") == 0),
        key=lambda y: (-scores.score(y), y),
    )
    assert "at_most_runs" in str(ilpinfer.decode(scores, [C.at_most_runs("a", 1, penalty=0.1)]).explain())


def test_what_is_never_reached_takes_no_part_in_the_total():
    Trellis.second_order([1e9], [[1e9]], [])
    Trellis.from_emissions([[0.0]], [[[2e9]]], first=[[2e9]], start=[2e9])
    Trellis.from_emissions([[0.0]] * 3, [[[1e9]]], first=[[1e9]])


def test_scores_of_second_order_come_as_json_lines(tmp_path):
    edges = np.arange(16).reshape(2, 2, 2, 2).tolist()
    edges[1][0][1][1] = None
    records = [
        {"start": [0, 1], "first": [[0, 1], [2, 3]], "edges": edges, "label_names": ["x", "O"]},
        {"start": [0, 1], "first": [], "edges": []},
        {"start": [0, 1], "first": [[0, 1], [2, 3]], "edges": []},
        {"emissions": [[0, 1]] * 4, "transitions": edges[0], "first": [[0, 1], [2, 3]], "end": [0, 7]},
        {"emissions": [[0, 1]] * 4, "transitions": edges[0]},
        {"start": [0, 1], "edges": edges},
        {"first": [[0, 1], [2, 3]], "tokens": ["a"]},
    ]
    path = tmp_path / "scores.jsonl"
    path.write_text("\n".join(map(json.dumps, records[:6])), "utf-8")
    examples = read(path)
    one, two, three, four, five = (e.trellis() for e in examples[:5])
    assert [len(t) for t in (one, two, three, four, five)] == [4, 1, 2, 4, 4]
    assert one.score(["O", "O", "x", "O"]) == 1 + 3 + 6 + (8 + 5)
    assert one.score(["O", "x", "O", "O"]) == -math.inf
    assert three.score([1, 0]) == 3
    assert four.score([1, 1, 1, 1]) == 4 + 3 + 7 + 7 + 7
    assert five.score([1, 1, 1, 1]) == 4 + 7 + 7
    with pytest.raises(InputError, match="second order has first, too"):
        examples[5].trellis()
    path.write_text(json.dumps(records[6]), "utf-8")
    with pytest.raises(InputError, match="has first; expected start and edges, or emissions and transitions"):
        read(path)
