"""How violations are counted: by machines as by the checker, and by the fewest tokens to relabel."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import oracles
from support.effort import examples
from support.strategies import LABEL_SETS, TOKENS, cases

import ilpinfer
from formulations import LabelSet, Trellis
from formulations import constraints as C
from formulations.automata.machine import Machine
from formulations.labels import schemes
from formulations.problem.compiled_rules import compile_problem


def test_worked_examples_of_the_hamming_distance():
    labels = LabelSet(("AUTH", "DATE"))
    names, tokens = ["AUTH", "AUTH", "DATE", "DATE"], ["Ada", "Lovelace", "May", "1843"]
    counts = {
        d: C.changes_only_after(distance=d).violations(names, tokens=tokens, labels=labels)
        for d in C_DISTANCES
    }
    assert counts == {"count": 1, "binary": 1, "hamming": 2}
    ones = LabelSet(("1", "0"))
    word, rule = list("11101000"), C.matches("'1'* '0'*", distance="hamming")
    assert rule.violations(word, labels=ones) == 1
    repairs = []
    for t in range(8):
        changed = [("0" if c == "1" else "1") if i == t else c for i, c in enumerate(word)]
        if not rule.violations(changed, labels=ones):
            repairs.append("".join(changed))
    assert sorted(repairs) == ["11100000", "11111000"]


C_DISTANCES = ("count", "binary", "hamming")


@settings(max_examples=examples(60))
@given(st.sampled_from([s for s in LABEL_SETS if len(s[1]) < 5]), st.integers(1, 4), st.data())
def test_the_hamming_distance_is_that_to_the_nearest_labelling(pair, length, data):
    labels = LabelSet(pair[1], pair[0])
    case = data.draw(cases(labels, st.just(1.0)))
    tokens = tuple(data.draw(st.lists(st.sampled_from((".", "pp")), min_size=length, max_size=length)))
    rule = C.Rule(case.rule.statement, 1.0, "hamming", scope=case.rule.scope)
    everything = [[labels.names[k] for k in y] for y in oracles.labellings(length, len(labels))]
    good = [y for y in everything if not case.count(y, tokens)]
    trellis = Trellis(
        [0.0] * len(labels), [[[0.0] * len(labels)] * len(labels)] * (length - 1), labels, tokens=tokens
    )
    problem = compile_problem(trellis, [rule])
    for names in random.Random(0).sample(everything, min(len(everything), 30)):
        nearest = oracles.hamming(names, good)
        path = trellis.ids(names)
        assert problem.rules[0].violations(path) == nearest
        assert sum(machine.violations(path) for machine in problem.rules[0].machines) == nearest


def test_tokens_share_the_states_of_a_hamming_distance():
    labels, draws = LabelSet(("B-title", "I-title", "O")), random.Random(0)
    tokens = [draws.choice((".", "pp", "x")) for _ in range(60)]
    trellis = Trellis([0.0] * 3, [[[0.0] * 3] * 3] * 59, labels, tokens=tokens)
    rules = [C.at_most_runs("title", 1), C.min_run_length("title", 3), C.tag_at("title", words=["pp"])]
    problem = compile_problem(trellis, [C.Rule(rule.statement, 1.0, "hamming") for rule in rules])
    for rule, most in zip(problem.rules, (3000, 100, 20), strict=True):
        (machine,) = rule.machines
        assert machine.states <= most
        for _ in range(20):
            path = np.array([k for _ in range(60) for k in [draws.randrange(3)] * draws.randint(1, 4)][:60])
            assert machine.violations(path) == rule.components[0].nearest(path)[0]


LACKING = [
    C.at_least_runs("title", 1),
    C.at_most_runs("title", 0),
    C.logic("exists t: title(t)"),
    C.linear("runs(title) >= 1"),
    C.matches(".* title .*"),
    C.tag_at("title", words=["x"]),
    C.requires_present("title", "author"),
    C.tag_implies_tag("author", C.group("either", ["title", "note"])),
]


@pytest.mark.parametrize("distance", C_DISTANCES)
@pytest.mark.parametrize(
    ("labelling", "labels"),
    [
        (["author", "author"], ["author", "title", "note"]),
        (["B-author", "I-author"], [f"{m}-{f}" for f in ("author", "title", "note") for m in "BI"]),
        (["B-author", "E-author"], [f"{m}-{f}" for f in ("author", "title", "note") for m in "BIES"]),
        (
            ["B-author", "I-author/B-part"],
            [f"{m}-{f}" for f in ("author", "title", "note") for m in "BI"] + ["I-author/B-part"],
        ),
    ],
)
def test_a_labelling_may_lack_a_field_that_the_rule_names(distance, labelling, labels):
    tokens = ["x", "y"]
    trellis = Trellis([0.0] * len(labels), [[[0.0] * len(labels)] * len(labels)], labels, tokens=tokens)
    for each in LACKING:
        rule = C.Rule(each.statement, 1.0, distance)
        (expected,) = ilpinfer.evaluate_labelling(trellis, [rule], labelling).violations.values()
        assert rule.violations(labelling, tokens=tokens) == expected, each.title
        for known in (trellis, trellis.labels, labels, ilpinfer.Decoder([rule], labels)):
            assert rule.violations(labelling, tokens=tokens, labels=known) == expected, each.title
        assert rule.violations(trellis.ids(labelling), tokens=tokens, labels=trellis) == expected, each.title


def test_a_field_inside_another_has_labels_of_all_levels():
    labelling = ["B-venue", "I-venue", "I-venue"]
    rule = C.at_least_tokens("venue/publisher", 2, distance="hamming")
    assert rule.violations([*labelling, "B-venue/B-other"]) == 2
    assert schemes.labels_of("a/b", "paths") == ["B-a/B-b", "B-a/I-b", "I-a/B-b", "I-a/I-b"]


def test_labels_say_which_fields_there_are():
    each, scoped = C.at_least_runs(C.EACH_FIELD, 1), C.at_least_tokens("X", 2, scope="each label")
    trellis = Trellis([0.0] * 3, [[[0.0] * 3] * 3], ["a", "b", "O"])
    assert [rule.violations(["a", "a"]) for rule in (each, scoped)] == [0, 0]
    assert [rule.violations(["a", "a"], labels=trellis) for rule in (each, scoped)] == [1, 2]
    solution = ilpinfer.evaluate_labelling(trellis, [each, scoped], ["a", "a"])
    assert list(solution.violations.values()) == [1, 2]


@settings(max_examples=examples(150))
@given(st.sampled_from(LABEL_SETS), st.integers(1, 4), st.data())
def test_machines_count_what_the_checker_counts(pair, length, data):
    labels = LabelSet(pair[1], pair[0])
    case = data.draw(cases(labels, st.just(1.0)))
    tokens = data.draw(st.lists(st.sampled_from(TOKENS), min_size=length, max_size=length))
    parts = case.rule.ground(labels, tokens)
    most = (
        1 if case.rule.distance == "binary" else math.inf
    )  # a formula that counts once may stop at the first
    for y in list(oracles.labellings(length, len(labels)))[:200]:
        names, path = [labels.names[k] for k in y], labels.ids(y)
        expected = min(case.count(names, tuple(tokens)), most)
        machines = [machine for part in parts for machine in part.machines or ()]
        early = [Machine(machine.steps, machine.automaton.early) for machine in machines]
        for some in (machines, early):
            assert min(sum(machine.violations(path) for machine in some), most) == expected
        for machine in machines:
            if machine.automaton.backward is not None:
                assert backwards(
                    Machine(machine.steps, machine.automaton.backward), path
                ) == machine.violations(path)


def backwards(machine, path) -> int:
    state, total = 0, 0
    for symbol in machine.steps.along(path)[::-1].tolist():
        total += int(machine.emits[state, symbol])
        state = int(machine.next_state[state, symbol])
    return total + int(machine.final[state])


def test_a_sequence_too_short_for_a_hamming_rule_pays_for_all_its_tokens():
    labels = LabelSet(("a", "b"))
    trellis = Trellis([0.0, 1.0], [], labels=labels)
    soft, hard = (C.at_least_tokens("a", 2, distance="hamming", penalty=p) for p in (0.5, math.inf))
    for method in ("auto", "cp-sat"):
        assert ilpinfer.decode(trellis, [soft], method=method).score == 0.5
        assert ilpinfer.decode(trellis, [hard], method=method).status == "infeasible"
