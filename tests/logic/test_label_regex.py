"""Regular expressions over label names: held against Python's `re`, and to their limits."""

import re
import time
from functools import reduce
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.effort import at_most, examples

from formulations import LabelSet
from formulations import constraints as C
from formulations.logic.label_regex import automaton, names, parse
from formulations.logic.texts import FormulaError

# Letter i is the character "abc"[i]; each atom is written here and in Python's syntax.
LETTERS = {"a": {0}, "b-c": {1, 2}, "it's (|)": {2, 0}, "none": set()}
ATOMS = [("a", "a"), ("b-c", "[bc]"), ('"it\'s (|)"', "[ca]"), ("none", "[^abc]"), (".", "."), ("!a", "[^a]")]
REPEATS = ["*", "+", "?", "{0}", "{2}", "{1,}", "{0,2}", "{2,3}"]
WORDS = [word for length in range(6) for word in product(range(3), repeat=length)]


def larger(inner):
    several, signs = st.lists(inner, min_size=2, max_size=3), st.sampled_from(" |")
    joined = st.builds(lambda many, sign: tuple(f"({sign.join(x)})" for x in zip(*many)), several, signs)
    repeat = st.builds(lambda one, sign: tuple(f"({x}){sign}" for x in one), inner, st.sampled_from(REPEATS))
    return joined | repeat


def compiled(text, size=3):
    return automaton(parse(text), LETTERS, size)


@settings(deadline=None, max_examples=examples(300))
@given(st.recursive(st.sampled_from(ATOMS), larger, max_leaves=8))
def test_accepts_what_python_accepts_in_states_that_are_reachable_and_distinct(both):
    expected = [bool(re.fullmatch(both[1].replace(" ", ""), "".join("abc"[i] for i in w))) for w in WORDS]
    assume(any(expected))
    machine = compiled(both[0])
    table, states, accepting = machine.next_state, range(machine.states), machine.final == 0
    assert table.dtype == np.int64 == machine.final.dtype and table.shape == (len(states), 3)
    ends = [reduce(lambda state, letter: table[state, letter], word, 0) for word in WORDS]
    assert accepting[ends].tolist() == expected and not machine.emits.any()
    reached, alike = {0}, accepting[:, None] == accepting
    for _ in states:
        reached |= set(table[list(reached)].flat)
        alike &= np.all([alike[np.ix_(column, column)] for column in table.T], axis=0)
    assert reached == set(states) and alike.sum() == len(states)


KNOWN = {".*": 1, "(a | b-c)*": 1, "a*": 2, ".* a .{2}": 8, "a{1000}": 1002, "a b-c | a a": 4, "(a? !a?)*": 1}


@pytest.mark.parametrize("text, states", [*KNOWN.items(), ("(" * 100 + "a" + " b-c)*" * 100, 102)])
def test_automata_are_as_small_as_known(text, states):
    assert compiled(text).states == states


def test_names_come_in_order_with_their_first_offsets():
    assert names(parse("b-c ('x y' | !\"it's (|)\")* b-c .")) == (("b-c", 0), ("x y", 5), ("it's (|)", 13))


ERRORS = {
    "expected a name, '.'": [("", 0), ("a | | b", 4), ("a ()", 3)],
    "unbalanced": [("b (a", 2), ("a) b", 1)],
    "nothing to repeat": [("* a", 0), ("(+)", 1), ("a | {2}", 4)],
    "expected parentheses": [("a+?", 2), ("(" * 101 + "a" + ")" * 101, 100)],
    "expected m at most n": [("a{3,1}", 1)],
    "at most 1000": [("a{1001}", 1), ("a{0,999999999}", 1)],
    "expected a repetition {m}": [("a{,2}", 1), ("a{1", 1)],
    "unknown character '#': expected a name": [("a #", 2)],
    "expected a closing '": [("a 'b", 2)],
    "right after '!'": [("!(a)", 0)],
    "expected white space between": [("a'b'", 1)],
}


@pytest.mark.parametrize("message, text, offset", [(m, *case) for m in ERRORS for case in ERRORS[m]])
def test_errors_say_where_and_what_was_expected(message, text, offset):
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert message in caught.value.message and message in str(caught.value) and caught.value.offset == offset


MANY = "needs more than 10000 states"
LIMITS = {"(a | b-c)* a (a|b-c){20}": MANY, "((a{50}){50}){50}": MANY, "a? " * 999: "2000000 steps"}


@pytest.mark.parametrize("text, message", LIMITS.items())
def test_limits_are_found_fast(text, message):
    start = time.perf_counter()
    with pytest.raises(ValueError, match=message):
        compiled(text)
    assert time.perf_counter() - start < at_most(3)


def test_automata_that_accept_nothing_have_one_state():
    assert compiled(".*", size=0).next_state.shape == (1, 0)
    nothing = compiled("a none | none+")
    assert nothing.next_state.tolist() == [[0, 0, 0]] and nothing.final.tolist() == [1]


@pytest.mark.parametrize("regex", ["((a*)*)* b", "(a | a)* b", "(((a{0,20}){0,20}){0,20}){20} b"])
def test_the_plain_checker_takes_repetitions_inside_repetitions(regex):
    """A backtracking engine would need more steps than there are seconds."""
    labels, rule = LabelSet(("a", "b")), C.matches(regex)
    assert rule.violations(["a"] * 40, labels=labels) == 1
    assert rule.violations([*["a"] * 40, "b"], labels=labels) == 0
