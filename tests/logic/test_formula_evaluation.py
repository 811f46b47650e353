"""Reading a labelling: the truth of formulas against brute force, and work that grows with the tokens, not with their square."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import effort, formulas

from formulations import LabelSet
from formulations import constraints as C
from formulations.logic import evaluation

SETS = {
    "plain": ("a", "b", "O"),
    "bio": ("B-a", "I-a", "B-b", "I-b", "O"),
    "paths": ("B-a", "I-a", "I-a/B-b", "I-a/I-b", "B-b", "O"),
    "iobes": ("B-a", "I-a", "E-a", "S-a", "B-b", "E-b", "S-b", "O"),
}
TEMPLATES = [
    C.at_most_runs(C.EACH_FIELD, 1),
    C.at_least_runs("a", 3),
    C.exactly_runs("a", 3),
    C.between_runs("a", 1, 3),
    C.at_most_tokens("a", 3),
    C.at_least_tokens("a", 3),
    C.exactly_tokens("a", 3),
    C.between_tokens("a", 1, 3),
    C.at_most_in_window("a", 2, width=5),
    C.all_different(words=["x"]),
    C.min_run_length("a", 2),
    C.max_run_length("a", 2),
    C.max_gap("a", "b", 2),
    C.tag_at("a", words=["x"]),
    C.right_before("a", words=["x"]),
    C.contains_only("a", words=["x"]),
    C.tag_phrases("a", ["x y", "y x"]),
    C.tag_sequence("a", [C.tokens(["x"]), C.tokens(["y"])]),
    C.consistent(),
    C.numbers_continue("a"),
    C.starts_with("a"),
    C.ends_with("a"),
    C.changes_never_after(words=["x"]),
    C.forbidden_transition("a", "b"),
    C.should_not_precede(3, "a", "b"),
    C.should_be_tagged(3, "a"),
    C.adjacency("a", "b"),
    C.directly_after(["a", "b"], "O"),
    C.changes_only_after(),
    C.requires_before("a", "b"),
    C.precedence("a", "b"),
    C.presence_precedence("a", "b"),
    C.inside("a", "b"),
    C.state_change("a", "b", words=["x"]),
    C.matches("(a+ | b+ | O* a)*"),
    C.matches("(a | b O?)+", over="runs"),
    C.valid_scheme(),
    C.tag_implies_tag("a", "b"),
    C.sequence_implies_sequence("a", "b"),
    C.requires_present("a", "b"),
    C.never_together("a", "b"),
    C.begin_end("a", "b"),
    C.alternation("a", "b"),
    C.next_field("a", "b"),
]
INEQUALITIES = [
    "runs(a) - tokens(b) <= 1",
    "changes() <= 3",
    "steps(a, b) >= 2",
    "at(a, 3) + at(b, -2) = 1",
    "count(t: change(t) and a(t - 1)) <= 2",
    "count(t: exists X in fields: X(t) and X(t - 1)) <= 2",
]
FORMULAS = [
    "forall t: a(t) and b(t + 1) -> begins(a, t) or ends(b, t + 1)",
    "forall t: change(t) -> not ends(a, t)",
    "forall t: edge(t) = (a, b) or field(t) = a",
    "forall t: change(t) -> exists s < t: label(s) = label(t)",
    "forall t: exists s != t: label(s + 1) = label(t)",
    "forall t: forall s > t: field(s) != field(t)",
    "forall t: a(t) -> exists s: s < t - 1 and edge(s) = edge(t)",
    "forall t: exists s < t: label(s) != label(t) and change(s)",
    "forall t: exists s > t: token(s) = token(t) and a(s)",
    "forall t: forall s < t: token(s) != token(t) or label(s) = label(t)",
    "forall t: exists s < t: token(s) != token(t)",
    'forall s, t > s: token(s) = token(t) and not token(t) in ["x", "y"] -> label(s) = label(t)',
    "forall s, t: a(s) and begins(a, s) and t = s + 2 -> label(s) = label(t)",
    "forall t: exists X in fields: X(t) and exists s > t + 1: X(s) and begins(X, s)",
    "forall X in labels, t: X(t) -> forall s > t: not (X(s) and change(s))",
    "forall t: a(t) -> exists s in t - 40..t + 40: exists u < s: b(u) or label(u) = label(s)",
    "exists t: a(t) and not exists s < t, u < s: a(s) and label(u) = label(s)",
    "forall t: a(t) <-> (exists s < t: b(s)) or (forall s > t: label(s) = label(t))",
]
RULES = [*TEMPLATES, *map(C.linear, INEQUALITIES), *map(C.logic, FORMULAS)]


def work(rule, length):
    """Instructions of the interpreter for the violations of a labelling of so many tokens."""
    labels = LabelSet(SETS["bio"])
    stretch = ["B-a", "I-a", "O", "B-b", "O", "B-a", "B-a", "O", "O", "B-b", "I-b", "O", "B-a"]
    labelling = (stretch * length)[:length]
    tokens = [f"w{t // 3}" if t % 3 else "xy"[t % 2] for t in range(length)]
    instructions = 0

    def count(frame, event, argument):
        nonlocal instructions
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        instructions += event == "opcode"
        return count

    rule.violations(labelling, tokens=tokens, labels=labels)  # texts and readings that are kept
    before = sys.gettrace()
    sys.settrace(count)
    try:
        rule.violations(labelling, tokens=tokens, labels=labels)
    finally:
        sys.settrace(before)
    return instructions


def test_every_template_is_measured():
    built_in = {n for n, t in C.TEMPLATES.items() if t.__module__.startswith("formulations.")}
    assert {rule.statement.rule_name for rule in RULES} == built_in


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.title)
def test_twice_the_tokens_take_twice_the_work(rule):
    assert work(rule, 128) < 2.3 * work(rule, 64)


@settings(max_examples=effort.examples(1500, 60), deadline=None)
@given(st.data())
def test_formulas_hold_where_brute_force_says(data):
    """With and without the search for all tokens at once, which short ranges do not use."""
    scheme = data.draw(st.sampled_from(sorted(SETS)))
    names, T = SETS[scheme], data.draw(st.integers(1, 7))
    formula = data.draw(formulas.formulas(["a", "b"]))
    try:
        rule = C.logic(formula.text())
    except ValueError:  # such as a range that is empty for all tokens
        return
    y = data.draw(st.lists(st.sampled_from(names), min_size=T, max_size=T))
    x = data.draw(st.lists(st.sampled_from(formulas.TOKENS), min_size=T, max_size=T))
    expected = formulas.violations(formula, y, x, scheme, names)
    few = evaluation.FEW
    try:
        for evaluation.FEW in (0, 2, few):
            assert rule.violations(y, tokens=x, labels=LabelSet(names, scheme)) == expected
    finally:
        evaluation.FEW = few
