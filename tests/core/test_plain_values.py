"""What `to_dict` writes is read back to equality, and nothing else is read."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.strategies import NEAR_TIES, problems
from support.trellises import random_trellis

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from ilpinfer.core.certificate import Certificate, Rest, proof
from ilpinfer.core.explanation import Explanation
from ilpinfer.core.infeasibility import Infeasibility
from ilpinfer.core.trees import Leaf, Split, TooManyCases, tree_of

SCORES = st.one_of(NEAR_TIES, st.just(-math.inf), st.floats(-5, 5))


def through_json(values):
    return json.loads(json.dumps(values, allow_nan=False))


def small() -> Trellis:
    return random_trellis(T=6)


def hard_rules():
    return [
        C.at_most_runs("a", 1, penalty=0.5),
        C.requires_before("b", "a"),
        C.exactly_tokens("a", 2, penalty=3),
    ]


def check(solution, trellis, rules, **options):
    """Equal after reading, and of the same verdict."""
    values = through_json(solution.to_dict(incumbents=True))
    loaded = type(solution).from_dict(values)
    assert loaded == solution and loaded.incumbents == solution.incumbents
    digest = solution.certificate.digest if solution.certificate.tree else ""
    assert (loaded.gap, loaded.certificate.digest) == (solution.gap, digest)
    assert through_json(loaded.to_dict(incumbents=True)) == values
    copy = Trellis.from_dict(through_json(trellis.to_dict()))
    assert ilpinfer.verify(copy, rules, loaded) == ilpinfer.verify(trellis, rules, solution, **options)


@settings(max_examples=examples(60))
@given(problems(SCORES), st.sampled_from(("auto", "auto", "highs", "beam", "viterbi")))
def test_solutions_and_trellises_are_read_back(problem, method):
    check(ilpinfer.decode(*problem.given, method=method), *problem.given)


@settings(max_examples=examples(30))
@given(problems(SCORES), st.sampled_from((0.5, 0.9, 1.0)))
def test_two_phase_solutions_are_read_back(problem, tau):
    check(ilpinfer.decode_two_phase(*problem.given, tau), *problem.given)


@settings(max_examples=examples(30))
@given(problems(NEAR_TIES, longest=3))
def test_lists_are_read_back(problem):
    solutions = ilpinfer.decode(*problem.given, top=40)
    loaded = [ilpinfer.Solution.from_dict(through_json(each.to_dict())) for each in solutions]
    assert loaded == solutions
    verdicts = [ilpinfer.verify(*problem.given, each, top=40) for each in (loaded, solutions)]
    assert verdicts[0] == verdicts[1]


def test_lists_of_equal_tokens_are_read_back():
    rng = np.random.default_rng(5)
    trellis = Trellis.from_emissions(
        rng.normal(size=(30, 4)), rng.normal(size=(4, 4)), tokens=[f"w{t % 5}" for t in range(30)]
    )
    rules = [C.consistent(penalty=0.8)]
    solution = ilpinfer.decode(trellis, rules)
    assert any('"shares"' in json.dumps(tree.to_dict()) for tree in solution.certificate.trees)
    check(solution, trellis, rules)


def test_a_deep_tree_is_read_back_and_a_deeper_one_refused():
    tree = Leaf({(0, 0): 3}, ((1, 0),), (((2, 1), (3, 0)),), ({(4, 0): [[1, -2], [0, 5]]},))
    for depth in range(200):
        odd = Split((depth,), (0, 1), depth % 3, tree, Leaf())
        tree = odd if depth % 2 else Split((1,), (0,), 0, Leaf(), tree)
    values = through_json(tree.to_dict())
    assert tree_of(values) == tree
    certificate = proof("by hand", tree, ((1, 2),), Rest(-math.inf, tree))
    assert Certificate.from_dict(through_json(certificate.to_dict())) == certificate
    deeper = {"tokens": [0], "labels": [0], "most": 0, "below": Leaf().to_dict(), "above": values}
    with pytest.raises(TooManyCases, match="deeper than 200 splits"):
        tree_of(deeper)


def test_a_tree_of_too_many_leaves_is_refused():
    values = Leaf().to_dict()
    for _ in range(14):
        values = {"tokens": [0], "labels": [0], "most": 0, "below": values, "above": values}
    with pytest.raises(TooManyCases, match="more than 10000 leaves"):
        tree_of(values)


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_saved_files_are_read_back_and_written_as_before(suffix, tmp_path):
    trellis, rules = small(), hard_rules()
    solution = ilpinfer.decode(trellis, rules)
    files = tmp_path / f"trellis{suffix}", tmp_path / f"solution{suffix}"
    trellis.save(files[0])
    solution.save(files[1])
    first = [file.read_bytes() for file in files]
    loaded = Trellis.load(files[0]), ilpinfer.Solution.load(files[1])
    assert loaded == (trellis, solution) and loaded[1].names == solution.names
    assert ilpinfer.verify(loaded[0], rules, loaded[1]).proved
    loaded[0].save(files[0])
    loaded[1].save(files[1])
    assert [file.read_bytes() for file in files] == first
    assert sorted(tmp_path.iterdir()) == sorted(files)


def test_names_that_the_labelling_does_not_use_need_not_be_known_and_must_not_be_wrong():
    trellis = Trellis([5.0, 0, 0], [], labels=["a", "b", "O"])
    solution = ilpinfer.decode(trellis)
    read = ilpinfer.Solution.from_dict(solution.to_dict())
    assert read.names == ("a",) and ilpinfer.verify(trellis, [], read).proved
    for names in (["a", "c"], ["a", "b", "O", "d"]):
        wrong = ilpinfer.Solution.from_dict({**solution.to_dict(), "label_names": names})
        assert not ilpinfer.verify(trellis, [], wrong).ok


def test_an_infeasible_solution_is_read_back_with_its_reasons(tmp_path):
    trellis, rules = small(), [C.starts_with("a", name="one"), C.at_most_tokens("a", 0, name="two")]
    solution = ilpinfer.decode(trellis, rules)
    assert solution.infeasibility.places
    check(solution, trellis, rules)
    solution.save(tmp_path / "x.json")
    assert ilpinfer.Solution.load(tmp_path / "x.json").infeasibility == solution.infeasibility
    report = Infeasibility(reason="the scores themselves forbid every labelling")
    assert Infeasibility.from_dict(through_json(report.to_dict())) == report


def test_explanations_are_read_back():
    trellis = small()
    for rules in (
        hard_rules(),
        [C.at_most_tokens("a", 0), C.at_most_tokens("b", 0), C.at_most_tokens("O", 1)],
    ):
        explanation = ilpinfer.decode(trellis, rules, method="viterbi").explain()
        assert Explanation.from_dict(through_json(explanation.to_dict())) == explanation
    item = explanation.broken[0]
    for without, gain in ((None, -math.inf), (item.labels if hasattr(item, "labels") else ("a",), math.inf)):
        other = Explanation((replace(item, without=without, gain=gain),), {"r": (1, 2)})
        assert Explanation.from_dict(through_json(other.to_dict())) == other


def test_a_solution_of_two_phases_says_so(tmp_path):
    solution = ilpinfer.decode_two_phase(small(), hard_rules())
    solution.save(tmp_path / "two.json")
    assert ilpinfer.TwoPhaseSolution.load(tmp_path / "two.json") == solution
    with pytest.raises(
        ValueError, match=r"two\.json: the solution is of two-phase inference; read it as a Two"
    ):
        ilpinfer.Solution.load(tmp_path / "two.json")
