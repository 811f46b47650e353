"""Known labels of some tokens, or sets of them, against brute force over the labellings that have them."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from support.checks import (
    GENERAL_METHODS,
    check_claims,
    check_optimum,
    check_two_phase,
    of_any_order,
    ranking,
)
from support.effort import STRICT, examples
from support.strategies import UNIT, Instance, problems
from support.trellises import random_trellis

import ilpinfer
from formulations import Trellis, parse_rules
from formulations import constraints as C
from ilpinfer.core.methods import WHOLE_PROGRAM
from ilpinfer.models.hmm import HMM

RULES = [C.at_most_runs("a", 1), C.requires_present("a", "b", penalty=1.5)]


METHODS = [each.name for each in GENERAL_METHODS if STRICT or each.runner != WHOLE_PROGRAM]


@dataclass(frozen=True)
class Corrected(Instance):
    """An instance of which only labellings with the known labels count."""

    known: dict[int, set[int]]

    def units(self, labelling):
        keeps = all(labelling[t] in allowed for t, allowed in self.known.items())
        return super().units(labelling) if keeps else None


@st.composite
def corrected(draw, of=None):
    """A problem, and labels or sets of them by name or id; brute force over the labellings that have them."""
    problem = draw(of_any_order() if of is None else of)
    T, K = problem.shape
    sets = st.sets(st.integers(0, K - 1), min_size=1)
    known = draw(st.dictionaries(st.integers(0, T - 1), sets, max_size=T))
    names = problem.trellis.labels.names
    told = {}
    for t, allowed in known.items():
        each = [draw(st.sampled_from([k, names[k]])) for k in draw(st.permutations(sorted(allowed)))]
        kinds = [set, frozenset, list, tuple, *([lambda one: one[0]] if len(each) == 1 else [])]
        told[t] = draw(st.sampled_from(kinds))(each)
    own = problem.instance
    return problem._replace(instance=Corrected(own.trellis, own.numbers, known)), told


def in_order(labels, names):
    """Labels as a trellis shows them: a name, or names in the order of the labels."""
    ordered = tuple(sorted(labels, key=names.index))
    return ordered[0] if len(ordered) == 1 else ordered


def forgeries(known: dict[int, str | tuple[str, ...]], trellis: Trellis):
    """One token less or more, and for each token all other sets of a label less or more, and of the others."""
    names = trellis.labels.names
    for t, allowed in known.items():
        yield {other: labels for other, labels in known.items() if other != t}
        own = {allowed} if isinstance(allowed, str) else set(allowed)
        for forged in (set(names) - own, *(own ^ {name} for name in names)):
            if forged:
                yield {**known, t: in_order(forged, names)}
    yield from ({**known, t: names[0]} for t in range(len(trellis)) if t not in known)


@settings(max_examples=examples(5000, 25))
@drawn(corrected())
def test_the_best_labelling_that_has_them(case):
    problem, told = case
    solution = ilpinfer.decode(*problem.given, given=told)
    check_optimum(problem, solution, first=True)
    names = problem.trellis.labels.names
    known = {t: in_order([names[k] for k in allowed], names) for t, allowed in problem.instance.known.items()}
    assert solution.given == known
    read = type(solution).from_dict(json.loads(json.dumps(solution.to_dict())))
    assert read.given == known
    for each in (solution, read):
        assert ilpinfer.verify(*problem.given, each).proved
        assert ilpinfer.verify(problem.trellis.with_given(told), problem.rules, each).proved
    lattice = problem.trellis.with_given(told).lattice
    for forged in forgeries(solution.given, problem.trellis):
        if problem.trellis.with_given(forged).lattice != lattice:
            assert not ilpinfer.verify(*problem.given, replace(solution, given=forged)).ok
    few = ilpinfer.decode(*problem.given, given=told, top=3)
    assert ranking(few) == problem.top(3)
    assert ilpinfer.verify(*problem.given, few, top=3).ok


@settings(max_examples=examples(400, 20))
@drawn(corrected(), st.sampled_from(METHODS))
def test_every_method_obeys_them(case, method):
    problem, told = case
    check_claims(problem, ilpinfer.decode(*problem.given, given=told, method=method))


@settings(max_examples=examples(1000, 40))
@drawn(corrected(problems()), st.sampled_from((0.0, 0.5, 0.9, 1.0)))
def test_two_phases_and_single_labellings(case, tau):
    problem, told = case
    solution = ilpinfer.decode_two_phase(*problem.given, tau, given=told)
    check_two_phase(solution, problem.two_phase(tau, "relative"))
    assert ilpinfer.verify(*problem.given, solution).proved
    for y in problem.labellings[:20]:
        units, cost = problem.units(y), problem.cost(y)
        worth = -np.inf if units is None or cost is None else (units - cost) * UNIT
        assert ilpinfer.evaluate_labelling(*problem.given, y, given=told).score == worth


@settings(max_examples=examples(1000, 40))
@drawn(corrected(problems(st.floats(-5, 5))))
def test_marginals_are_sums_over_labellings_that_have_them(case):
    problem, told = case
    _, shares = problem.shares()
    if not shares:
        with pytest.raises(ValueError, match="no labelling keeps the hard rules"):
            ilpinfer.marginals(*problem.given, given=told)
        return
    expected = np.zeros(problem.shape)
    for y, share in shares.items():
        expected[np.arange(len(y)), y] += share
    found = ilpinfer.marginals(*problem.given, given=told)
    np.testing.assert_allclose(found.labels, expected, atol=1e-9)


KNOWN = [None, {0: "b"}, {}, {1: ["O", 1], 2: 0}]


def told_of(solutions):
    several = solutions if isinstance(solutions, list) else [solutions]
    return [(each.labels, each.score, each.given, each.method) for each in several]


@pytest.mark.parametrize("method", ["viterbi", "post-correction"])
def test_methods_that_break_rules_obey_them_where_hard_rules_forbid_them(method):
    trellis, known = random_trellis(1, T=4), {0: "O", 2: "b"}
    rules = [C.starts_with("a"), C.should_be_tagged(2, "a"), C.should_be_tagged(1, "a")]
    solution = ilpinfer.decode(trellis, rules, method=method, given=known)
    assert solution.status == "unknown"
    assert [solution.labels[t] for t in known] == list(known.values())
    assert solution.labels[1] == "a" or method == "viterbi"


@pytest.mark.parametrize("options", [{}, {"threads": 2}, {"n_jobs": 2}, {"method": "beam"}, {"top": 2}])
def test_of_many_sequences(options):
    trellises = [random_trellis(seed) for seed in range(len(KNOWN))]
    method = {"method": options.pop("method")} if "method" in options else {}
    decoder = ilpinfer.Decoder(RULES, **method)
    expected = [
        decoder.decode(trellis, given=known, top=options.get("top"))
        for trellis, known in zip(trellises, KNOWN, strict=True)
    ]
    for many in (
        decoder.decode_many(trellises, given=iter(KNOWN), **options),
        ilpinfer.decode_many(iter(trellises), RULES, given=KNOWN, **options, **method),
        decoder.decode_many([t.with_given(k) for t, k in zip(trellises, KNOWN, strict=True)], **options),
    ):
        assert [told_of(each) for each in many] == [told_of(each) for each in expected]


def test_scores_that_a_model_makes_by_token():
    sequences = [(["x", "y", "x"], ["a", "b", "O"]), (["y", "z"], ["b", "O"])] * 3
    model = HMM.train(sequences)
    texts = [["x", "z", "y"], ["y", "y"], ["q"]]
    known = [{1: "a"}, None, {0: "O"}]
    decoder = ilpinfer.Decoder(RULES, model=model)
    found = list(decoder.decode_texts(texts, given=known))
    for text, labels, solution in zip(texts, known, found, strict=True):
        trellis = model.trellis(text)
        assert solution.labels == ilpinfer.decode(trellis, RULES, given=labels).labels
        assert solution.labels == decoder.decode_tokens(text, given=labels).labels
        assert not solution.method.count("not by compiled rules")
        assert ilpinfer.verify(trellis, RULES, solution).proved


@pytest.mark.parametrize(
    "known",
    [
        {-1: "a"},
        {5: "a"},
        {"0": "a"},
        {0: "aa"},
        {0: 3},
        {0: None},
        ["a", None],
        {2: "b"},
        {0: []},
        {0: {"a", "aa"}},
        {0: [["a"]]},
        {0: {"a": 1}},
        {2: {"b", "O"}},
    ],
)
def test_bad_ones_prove_nothing_and_become_rows(known):
    trellis = random_trellis(0, T=5).with_given({2: "a"})
    solution = ilpinfer.decode(trellis, RULES)
    assert not ilpinfer.verify(trellis, RULES, replace(solution, given=known)).ok
    [row] = ilpinfer.decode_many([trellis], RULES, given=[known], on_error="row")
    assert (row.status, row.error) == ("unknown", "ValueError")


def test_reasons_name_them_where_nothing_is_left():
    trellis = Trellis([0.0, 0.0], [[[0.0, 0.0], [0.0, -np.inf]]], labels=["a", "b"], tokens=["x", "y"])
    rules = [C.at_least_tokens("a", 2)]
    forbidden = ilpinfer.decode(trellis, given={0: "b", 1: "b"})
    assert forbidden.status == "infeasible"
    assert forbidden.reason == (
        "the scores themselves forbid every labelling: between token 0 (x) and token 1 (y) no step is allowed; "
        "labels are known at tokens 0 (x), 1 (y)"
    )
    assert "labels are known at token 1 (y)" in ilpinfer.decode(trellis, rules, given={1: "b"}).reason


def test_they_are_a_part_of_the_trellis():
    trellis = random_trellis(0, T=5).with_given({3: "b"}).with_given({0: 0, 3: "b"})
    assert trellis.given == {0: "a", 3: "b"}
    assert trellis.with_given({}) is trellis and trellis.with_given(None) is trellis
    read = Trellis.from_dict(trellis.to_dict())
    assert (read, read.given) == (trellis, trellis.given)
    joined = Trellis.joined([trellis, trellis])
    assert joined.given == {0: "a", 3: "b", 5: "a", 8: "b"}


def test_sets_are_a_part_of_the_trellis():
    plain = random_trellis(0, T=5)
    trellis = plain.with_given({3: {"O", "b"}, 1: ["a"], 4: (1, "a", 0)})
    assert trellis.given == {1: "a", 3: ("b", "O"), 4: ("a", "b")}
    assert trellis == plain.with_given({1: "a", 3: [2, 1], 4: frozenset("ab")})
    assert trellis.to_dict()["given"] == {"1": "a", "3": ["b", "O"], "4": ["a", "b"]}
    read = Trellis.from_dict(json.loads(json.dumps(trellis.to_dict())))
    assert (read, read.given) == (trellis, trellis.given)
    assert Trellis.joined([plain, trellis]).given == {6: "a", 8: ("b", "O"), 9: ("a", "b")}
    both = trellis.with_given({3: {"a", "b"}, 4: ["O", "b", "a"]})
    assert both.given == {1: "a", 3: "b", 4: ("a", "b")}
    assert both == trellis.with_given({3: "b"})


def test_labels_that_are_never_predicted_leave_a_set():
    plain, known = random_trellis(0, T=3), {0: ["a", "O"], 1: {"a", "b"}, 2: "b"}
    for trellis in (plain.with_given(known).with_never(["a"]), plain.with_never(["a"]).with_given(known)):
        assert trellis.given == {0: "O", 1: "b", 2: "b"}
        assert ilpinfer.decode(trellis).labels == ["O", "b", "b"]
    rules = parse_rules('never = ["a"]\n')
    solution = ilpinfer.decode(plain, rules, given=known)
    assert solution.given == {0: "O", 1: "b", 2: "b"} and ilpinfer.verify(plain, rules, solution).proved
    assert ilpinfer.verify(plain.with_given(known), rules, solution).proved
    with pytest.raises(ValueError, match="given: token 1 has the label 'a' or 'b', which is never predicted"):
        plain.with_given({1: {"a", "b"}}).with_never(["a", "b"])


def test_proofs_and_comparisons_take_them():
    trellises = [random_trellis(seed) for seed in range(2)]
    known = {0: ("b", "O"), 1: "b"}
    found = ilpinfer.decode(trellises[0], RULES, given=known, method="beam")
    proved = ilpinfer.prove(trellises[0], RULES, found)
    assert proved.given == known and ilpinfer.verify(trellises[0], RULES, proved).proved
    result = ilpinfer.compare(trellises, RULES, ["auto"], given=[known, None])
    assert result.frame["score"].tolist() == [
        ilpinfer.decode(trellises[0], RULES, given=known).score,
        ilpinfer.decode(trellises[1], RULES).score,
    ]
