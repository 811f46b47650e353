"""Verdicts against brute force: what is proved is true, and whatever is tampered with is rejected."""

import math
import os
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.checks import of_any_order
from support.effort import examples
from support.processes import python
from support.proofs import proves
from support.trellises import valued

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.automata.lattice import StepTable
from formulations.automata.sums import Sum, bounded
from formulations.grid import HARD, nats
from formulations.problem.compiled_rules import compile_problem, compile_rules
from formulations.problem.problem import GroundRule
from ilpinfer.core.certificate import Certificate
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.core.solution import Solution
from ilpinfer.core.trees import Leaf, Split
from ilpinfer.proof.leaf import FINE
from ilpinfer.proof.verification import verify

LARGE = 4 * FINE * 2**20


def digest_of(trellis, rules):
    return lambda: compile_rules(rules, trellis.labels).digest_of(trellis)


def claimed(trellis, rules, path, tree, bound=None, excluded=()):
    """A solution that claims the labelling, valued rightly, to be the best but for those excluded."""
    names = trellis.labels.names
    certificate = Certificate(
        "exact", "by hand", tree=tree, excluded=excluded, make_digest=digest_of(trellis, rules)
    )
    common = {"method": "by hand", "certificate": certificate, "names": names}
    if path is None:
        return Solution("infeasible", -math.inf, -math.inf, 0.0, 0.0, {}, -math.inf, **common)
    value = compile_problem(trellis, rules).value(np.array(path))
    bound = value.score if bound is None else bound
    return Solution(
        status="optimal" if bound == value.score else "feasible",
        score=nats(value.score),
        model_score=nats(value.model),
        feature_score=nats(value.features),
        penalty=nats(value.penalty),
        violations=value.violations,
        bound=nats(bound),
        path=np.array(path),
        **common,
    )


def every_machine(rules):
    pairs = [(r, len(rule.machines)) for r, rule in enumerate(rules) if not rule.folds]
    return tuple((r, m) for r, number in pairs for m in range(number))


def follow_all(trellis, rules):
    machines = every_machine(compile_problem(trellis, rules).rules)
    return Leaf(stages=(machines,) if machines else ())


@st.composite
def stages(draw, ground, machines):
    """The machines in one stage or several; those that pay together stay together."""
    groups = {}
    for rule, machine in machines:
        together = ground[rule].binary and len(ground[rule].machines) > 1
        groups.setdefault(rule if together else (rule, machine), []).append((rule, machine))
    place = {group: draw(st.integers(0, 2)) for group in groups}
    result = [[key for group, keys in groups.items() if place[group] == n for key in keys] for n in range(3)]
    return tuple(tuple(stage) for stage in result if stage)


@st.composite
def leaves(draw, ground, fine=False):
    """Leaves of the right form: any machines inside, any followed, any multipliers that the penalties allow."""
    machines = every_machine(ground)
    single = {(r, m) for r, m in machines if not ground[r].binary or len(ground[r].machines) == 1}
    inside = tuple(key for key in machines if key in single and draw(st.integers(0, 3)) == 0)
    followed = draw(st.sampled_from(("none", "some", "all")))
    outside = [key for key in machines if key not in inside]
    if followed == "some":
        outside = [key for key in outside if draw(st.booleans())]
    multipliers = {}
    for r, rule in enumerate(ground):
        first = 0
        for p, part in enumerate(rule.components):
            machine = (r, first)
            first += len(part.machines or ())
            if isinstance(part, Sum) and not rule.binary and not rule.folds and machine not in inside:
                most = LARGE if rule.hard else FINE * rule.penalty
                price = draw(st.integers(-most * (part.low is not None), most * (part.high is not None)))
                multipliers[r, p] = (
                    price if fine else price // FINE * FINE if price > 0 else -(-price // FINE) * FINE
                )
    return Leaf(multipliers, inside, () if followed == "none" else draw(stages(ground, outside)))


@st.composite
def trees(draw, ground, shape, depth=2):
    """Splits on any rows above leaves, or a leaf."""
    if not depth or draw(st.booleans()):
        return draw(leaves(ground, draw(st.booleans())))
    T, K = shape
    tokens = draw(st.lists(st.integers(0, T - 1), min_size=1, unique=True))
    labels = draw(st.lists(st.integers(0, K - 1), min_size=1, unique=True))
    most = draw(st.integers(0, len(tokens)))
    children = [
        draw(trees((*ground, rule), shape, depth - 1)) for rule in split_rules(tokens, labels, most, shape)
    ]
    return Split(tuple(tokens), tuple(labels), most, *children)


def split_rules(tokens, labels, most, shape):
    T, K = shape
    values, index = np.zeros((2, 1, K), np.int64), np.zeros(T, np.int64)
    values[1, 0, labels], index[tokens] = 1, 1
    steps = StepTable(values, index)
    parts = [bounded(steps, None, most), bounded(steps, most + 1, None)]
    if len(tokens) == 1 and not most:
        others = np.zeros_like(values)
        others[1, 0] = 1 - values[1, 0]
        parts[1] = bounded(StepTable(others, index), None, 0)
    return [GroundRule("split", HARD, False, (part,)) for part in parts]


@settings(max_examples=examples(400))
@given(of_any_order(), st.data())
def test_no_tree_proves_what_is_false(problem, data):
    whole = problem.machined()
    tree, result = data.draw(trees(whole.rules, problem.shape)), problem.top(3)
    if result:
        assert not proves(whole, tree, result[0][0] - 1)
        assert not proves(whole, tree, None)
    best, second = (*result, None, None)[:2]
    if second:
        assert not proves(whole, tree, second[0] - 1, (best[1],))


@settings(max_examples=examples(200))
@given(of_any_order(), st.data())
def test_any_tree_of_leaves_that_follow_all_proves_the_optimum(problem, data):
    whole = problem.machined()
    tree = complete(data.draw(trees(whole.rules, problem.shape)), whole.rules, problem.shape, data)
    result = problem.top()
    assert proves(whole, tree, result[0][0] if result else None)
    for place in range(1, min(4, len(result))):
        excluded = tuple(y for _, y in result[:place])
        assert proves(whole, tree, result[place][0], excluded)
    if len(result) <= 4:
        assert proves(whole, tree, -(2**52), tuple(y for _, y in result))


def complete(tree, ground, shape, data):
    """The tree, with every machine followed in its leaves."""
    if isinstance(tree, Leaf):
        outside = [key for key in every_machine(ground) if key not in tree.product]
        return replace(tree, stages=data.draw(stages(ground, outside)))
    sides = split_rules(list(tree.tokens), list(tree.labels), tree.most, shape)
    children = (tree.below, tree.above)
    below, above = (complete(t, (*ground, row), shape, data) for t, row in zip(children, sides, strict=True))
    return replace(tree, below=below, above=above)


T, LABELS = 4, ["title", "author", "O"]
RULES = [
    C.at_most_runs("title", 1, penalty=1.5, name="one title"),
    C.requires_before("author", "title", penalty=2.0, name="author before title"),
    C.at_least_tokens("author", 1, name="an author"),
    C.requires_present("title", "author", distance="binary", penalty=0.5, name="no title alone"),
    C.never_together("X", "Y", scope="each pair", distance="binary", penalty=0.25, name="pairs"),
    C.feature(label="title", weight=0.125),
]


def example(seed=7, words="abcd"):
    random = np.random.default_rng(seed)
    start, edges = random.normal(size=3).round(2), random.normal(size=(len(words) - 1, 3, 3)).round(2)
    return Trellis(start, edges, labels=LABELS, tokens=list(words))


TRELLIS = example()
PROBLEM = compile_problem(TRELLIS, RULES)
ORDER = valued(PROBLEM)
BEST = claimed(TRELLIS, RULES, ORDER[0][1], follow_all(TRELLIS, RULES))
NUMBER = {rule.name: r for r, rule in enumerate(PROBLEM.rules)}


def refused(solution, words, trellis=TRELLIS, rules=RULES):
    verdict = verify(trellis, rules, solution)
    assert not verdict.ok and not verdict.proved
    assert words in " ".join(verdict.reasons), verdict.reasons


def with_tree(tree, solution=BEST):
    return replace(solution, certificate=replace(solution.certificate, tree=tree))


def test_the_example_is_proved_and_has_a_binary_rule_on_several_machines():
    verdict = verify(TRELLIS, RULES, BEST)
    assert verdict and verdict.proved
    assert any(rule.binary and len(rule.machines) > 1 and rule.penalty for rule in PROBLEM.rules)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"path": np.array(ORDER[1][1])}, "score"),
        ({"path": np.array([0, 1])}, "shape"),
        ({"path": np.array([0, 1, 2, 3])}, "label id"),
        ({"path": np.array([0.0, 1.0, 2.0, 1.0])}, "label id"),
        ({"path": "abcd"}, "path"),
        ({"score": BEST.score + 2**-20}, "score"),
        ({"score": math.nan}, "score"),
        ({"score": None}, "cannot be read"),
        ({"model_score": BEST.model_score + 2**-20}, "model_score"),
        ({"feature_score": 1.0}, "feature_score"),
        ({"penalty": BEST.penalty + 1}, "penalty"),
        ({"violations": {**BEST.violations, "one title": 3}}, "one title"),
        ({"violations": {**BEST.violations, "another": 0}}, "another"),
        ({"violations": {}}, "one title"),
        ({"violations": None}, "cannot be read"),
        ({"names": ("author", "title", "O")}, "names"),
        ({"bound": BEST.bound - 2**-20}, "bound"),
        ({"bound": math.nan}, "bound"),
        ({"bound": BEST.bound + 2**-20}, "status"),
        ({"status": "feasible"}, "status"),
        ({"status": "infeasible"}, "status"),
        ({"certificate": None}, "cannot be read"),
        ({"certificate": replace(BEST.certificate, kind="sure")}, "kind"),
        ({"certificate": replace(BEST.certificate, make_digest=str)}, "digest"),
        ({"certificate": replace(BEST.certificate, excluded=(ORDER[1][1],))}, "excludes"),
        ({"certificate": replace(BEST.certificate, excluded=None)}, "cannot be read"),
    ],
)
def test_whatever_is_changed_in_a_solution_is_rejected(change, words):
    refused(replace(BEST, **change), "" if "path" in words else words)


def other_rules(number, **change):
    return [*RULES[:number], replace(RULES[number], **change), *RULES[number + 1 :]]


KEPT = [r for r, rule in enumerate(PROBLEM.rules) if not BEST.violations[rule.name] and rule.penalty]


@pytest.mark.parametrize(
    "trellis, rules",
    [
        (TRELLIS, RULES[1:]),
        (TRELLIS, RULES[:-1]),
        (TRELLIS, other_rules(KEPT[0], penalty=RULES[KEPT[0]].penalty + 2**-20)),
        (TRELLIS, other_rules(0, name="another title")),
        (example(8), RULES),
        (example(words="abce"), RULES),
        (Trellis(*(np.zeros(s) for s in (3, (T - 1, 3, 3))), labels=["title", "author", "rest"]), RULES),
    ],
)
def test_a_certificate_is_of_one_trellis_and_its_rules(trellis, rules):
    assert not verify(trellis, rules, BEST).ok
    assert BEST.certificate.digest != digest_of(trellis, rules)()
    again = claimed(trellis, rules, BEST.path, follow_all(trellis, rules), bound=2**40)
    refused(replace(again, certificate=BEST.certificate), "digest", trellis, rules)


TITLE, AUTHOR, BINARY, PAIRS = (NUMBER[n] for n in ("one title", "an author", "no title alone", "pairs"))
GOOD = Split((0, 1), (0,), 1, BEST.certificate.tree, BEST.certificate.tree)


@pytest.mark.parametrize(
    "tree, words",
    [
        ("a tree", "neither leaf nor split"),
        (replace(GOOD, below=None), "neither leaf nor split"),
        (replace(GOOD, above=()), "neither leaf nor split"),
        (replace(GOOD, tokens=(0, T)), "token"),
        (replace(GOOD, tokens=(-1,)), "token"),
        (replace(GOOD, labels=(3,)), "label id"),
        (replace(GOOD, labels=(True,)), "label id"),
        (replace(GOOD, labels=None), "cannot be read"),
        (replace(GOOD, most=math.nan), "side of a split"),
        (replace(GOOD, most=2**70), "side of a split"),
        (Leaf({(TITLE, 0): 2**70}), "more than the penalty"),
        (Leaf({(AUTHOR, 0): -(2**70)}), "add up to"),
        (Leaf({(AUTHOR, 0): 1}), "wrong sign"),
        (Leaf({(TITLE, 0): -1}), "wrong sign"),
        (Leaf({(TITLE, 0): 1536 * 2**20 + 1}), "more than the penalty"),
        (Leaf({(TITLE, 0): 0.5}), "whole number"),
        (Leaf({(TITLE, 0): math.nan}), "whole number"),
        (Leaf({(BINARY, 0): 1}), "not a sum"),
        (Leaf({(99, 0): 1}), "rule"),
        (Leaf({(TITLE, 1): 1}), "an index into"),
        (Leaf({TITLE: 1}), "pair"),
        (Leaf(None), "cannot be read"),
        (Leaf({(TITLE, 0): 1}, ((TITLE, 0),)), "also in the product"),
        (Leaf({}, ((TITLE, 0),), (((AUTHOR, 0), (TITLE, 0)),)), "named twice"),
        (Leaf({}, (), (((AUTHOR, 0),), ((AUTHOR, 0),))), "named twice"),
        (Leaf({}, ((TITLE, 0), (TITLE, 0))), "twice"),
        (Leaf({}, (), (((TITLE, 0), (TITLE, 0)),)), "twice"),
        (Leaf({}, ((PAIRS, 0),)), "several machines"),
        (Leaf({}, (), (((-1, 0),),)), "rule"),
        (Leaf({}, (), (((PAIRS, 0),), ((PAIRS, 1),))), "in different stages"),
        (Leaf({}, 5), "cannot be read"),
    ],
)
def test_malformed_trees_are_rejected_and_never_raise(tree, words):
    refused(with_tree(tree), words)


def test_rules_that_have_folded_cannot_be_named():
    rules = [*RULES, C.ends_with("O", penalty=0.25)]
    _, path = valued(compile_problem(TRELLIS, rules))[0]
    solution = claimed(TRELLIS, rules, path, follow_all(TRELLIS, rules))
    assert verify(TRELLIS, rules, solution).proved
    refused(with_tree(Leaf(stages=(((len(PROBLEM.rules), 0),),)), solution), "folded", TRELLIS, rules)


def test_rules_are_compiled_anew():
    """A fault among the compiled rules that decode keeps is found."""
    trellis = Trellis([1.0, 0.0], np.zeros((2, 2, 2)), labels=["a", "O"])
    rules = [C.at_most_tokens("a", 0)]
    wrong = [C.at_most_tokens("a", 3)]
    compiler_of(rules)._compiled.find(lambda _: False, lambda: compile_rules(wrong, trellis.labels))
    solution = ilpinfer.decode(trellis, rules)
    assert solution.status == "optimal" and solution.labels[0] == "a"
    verdict = ilpinfer.verify(trellis, rules, solution)
    assert not verdict.ok and "penalty: 0.0 is claimed, but inf was found" in verdict.reasons


def test_deep_and_endless_trees_are_rejected():
    deep = Leaf()
    for _ in range(5000):
        deep = Split((0,), (0,), 0, deep, deep)
    refused(with_tree(deep), "deeper")
    endless = Split((0,), (0,), 0, Leaf(), Leaf())
    object.__setattr__(endless, "below", endless)
    refused(with_tree(endless), "deeper")


def test_children_that_are_swapped_prove_nothing():
    trellis = Trellis([0.0, 0.0], [[[0.0, 0.0], [0.0, 0.0]]], labels=["a", "b"])
    rules = [C.at_most_tokens("b", 1), C.at_least_tokens("b", 2)]
    tree = Split((0, 1), (1,), 1, Leaf(product=((1, 0), (2, 0))), Leaf(product=((0, 0), (2, 0))))
    solution = claimed(trellis, rules, None, tree)
    assert verify(trellis, rules, solution).proved
    swapped = replace(tree, below=tree.above, above=tree.below)
    refused(with_tree(swapped, solution), "not excluded", trellis, rules)
    refused(with_tree(replace(tree, most=0), solution), "folded", trellis, rules)


def test_several_solutions_are_checked_in_their_order():
    tree, paths = follow_all(TRELLIS, RULES), [y for _, y in ORDER[:4]]
    many = [claimed(TRELLIS, RULES, y, tree, excluded=tuple(paths[:i])) for i, y in enumerate(paths)]
    verdict = verify(TRELLIS, RULES, many)
    assert verdict.ok and verdict.proved, verdict.reasons
    assert verify(TRELLIS, RULES, []).ok
    refused([many[1], many[0]], "excludes")
    refused([many[0], many[2]], "excludes")
    refused([many[0], many[0]], "solution 0 has the same labelling")
    refused([many[0], replace(many[1], certificate=many[2].certificate)], "excludes")
    skipped = claimed(TRELLIS, RULES, paths[2], tree, excluded=(paths[0],))
    refused([many[0], skipped], "not excluded")
    unordered = [replace(s, certificate=Certificate("none", "a beam")) for s in (many[1], many[0])]
    refused(unordered, "better than")
    refused([many[0], None], "cannot be read")


def test_a_claim_of_too_much_infeasibility_is_rejected():
    impossible = [*RULES, C.at_most_tokens("author", 0)]
    solution = claimed(TRELLIS, impossible, None, follow_all(TRELLIS, impossible))
    assert verify(TRELLIS, impossible, solution).proved
    by_multiplier = with_tree(Leaf({(AUTHOR, 0): -FINE}), solution)
    assert verify(TRELLIS, impossible, by_multiplier).proved
    refused(with_tree(Leaf(), solution), "not excluded", TRELLIS, impossible)
    refused(replace(solution, bound=0.0), "status", TRELLIS, impossible)


def test_words_of_others_are_no_proof():
    for kind, source in (("solver", "CBC 2.10"), ("none", "depth-first search")):
        verdict = verify(TRELLIS, RULES, replace(BEST, certificate=Certificate(kind, source)))
        assert verdict.ok and not verdict.proved and not verdict
        assert f"the status optimal is claimed by {source}" in verdict.reasons[0]


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(
    "certificate, words",
    [
        (Certificate("none"), "without a proof"),
        (Certificate("solver"), "without a proof"),
        (Certificate("exact", "label setting"), "contains no proof: label setting"),
        (Certificate("exact"), "contains no proof: no reason is given"),
    ],
)
def test_a_status_with_nothing_behind_it_is_not_ok(place, certificate, words):
    solution = claimed(TRELLIS, RULES, ORDER[place][1], Leaf())
    assert solution.status == "optimal"
    refused(replace(solution, certificate=certificate), words)
    unclaimed = replace(solution, status="feasible", bound=math.inf, certificate=Certificate("none"))
    verdict = verify(TRELLIS, RULES, unclaimed)
    assert verdict.ok and not verdict.proved and "no bound is claimed" in verdict.reasons[0]


def test_a_loose_bound_is_no_proof_and_no_fault():
    tree = follow_all(TRELLIS, RULES)
    for bound in (ORDER[0][0] + 1, 2**45):
        verdict = verify(TRELLIS, RULES, claimed(TRELLIS, RULES, ORDER[0][1], tree, bound=bound))
        assert verdict.ok and not verdict.proved and "the status is feasible" in verdict.reasons[0]
    for bound in (math.inf, 1e300):
        loose = replace(BEST, status="feasible", bound=bound)
        assert verify(TRELLIS, RULES, loose).ok
        assert not verify(TRELLIS, RULES, loose).proved


DIGESTED = [
    *RULES,
    C.logic("forall t: author(t) -> exists s < t: title(s)"),
    C.logic("forall t: title(t) -> exists s > t: O(s)"),
    C.at_most_runs("O", 1, penalty=1.0, distance="hamming"),
    C.logic("exists t: author(t) and not title(t + 1)", penalty=1.0, distance="hamming"),
]


def test_a_digest_is_the_same_in_every_process_and_before_and_after_machines():
    code = (
        "from test_verification import *; problem = compile_problem(TRELLIS, DIGESTED);"
        "result = digest_of(TRELLIS, DIGESTED)(); [rule.machines for rule in problem.rules];"
        "assert result == digest_of(TRELLIS, DIGESTED)(); print(result)"
    )
    path = os.pathsep.join(["tests", *sys.path])
    runs = [{"PYTHONHASHSEED": seed, "PYTHONPATH": path} for seed in ("1", "2")]
    result = {python("-c", code, variables=variables, check=True).stdout for variables in runs}
    assert result == {f"{digest_of(TRELLIS, DIGESTED)()}\n"}
