"""Regular expressions over label names: held against Python's `re`, and against their limits."""

import re
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.language.regular import LabelRegexError, automaton, names, parse

# Letter i is the character "abc"[i]; a name in the syntax under test, the set of letters it matches.
LETTERS = {"a": {0}, "b-c": {1, 2}, "it's (|)": {2, 0}, "none": set()}
ATOMS = {
    "a": "a",
    "b-c": "[bc]",
    '"it\'s (|)"': "[ca]",
    "none": "[^abc]",
    ".": "[abc]",
    "!a": "[^a]",
    "!b-c": "a",
}
BOUNDS = ["*", "+", "?", "{0}", "{2}", "{1,}", "{0,2}", "{2,3}"]
WORDS = [word for length in range(6) for word in product(range(3), repeat=length)]

expressions = st.recursive(
    st.sampled_from(list(ATOMS.items())),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda many: tuple(map(" ".join, zip(*many)))),
        st.lists(inner, min_size=2, max_size=3).map(
            lambda many: tuple(f"({'|'.join(m)})" for m in zip(*many))
        ),
        st.tuples(inner, st.sampled_from(BOUNDS)).map(
            lambda one: tuple(f"({text}){one[1]}" for text in one[0])
        ),
    ),
    max_leaves=8,
)


def compiled(text, size=3):
    return automaton(parse(text), LETTERS, size)


def accepts(machine, word):
    state = 0
    for letter in word:
        state = machine.next_state[state, letter]
    return machine.accepting[state]


@settings(deadline=None, max_examples=300)
@given(expressions)
def test_accepts_what_the_regular_expressions_of_python_accept(both):
    ours, theirs = both
    expected = [
        bool(re.fullmatch(theirs.replace(" ", ""), "".join("abc"[i] for i in word))) for word in WORDS
    ]
    try:
        machine = compiled(ours)
    except ValueError as error:
        assert "accepts nothing" in str(error) and not any(expected)
        return
    assert machine.next_state.dtype == np.int64 and machine.accepting.dtype == bool
    assert machine.next_state.shape == (len(machine.accepting), 3)
    assert [accepts(machine, word) for word in WORDS] == expected


@settings(deadline=None)
@given(expressions)
def test_states_are_reachable_and_no_two_are_equivalent(both):
    try:
        machine = compiled(both[0])
    except ValueError:
        return
    states = range(len(machine.accepting))
    reached = {0}
    alike = {(p, q) for p in states for q in states if machine.accepting[p] == machine.accepting[q]}
    for _ in states:
        reached |= {int(target) for state in reached for target in machine.next_state[state]}
        alike = {
            (p, q)
            for p, q in alike
            if all((machine.next_state[[p, q]].T[i][0], machine.next_state[q, i]) in alike for i in range(3))
        }
    assert reached == set(states) and len(alike) == len(states)


@pytest.mark.parametrize(
    "text, states",
    [
        (".*", 1),
        ("a*", 2),
        (".* a .{2}", 8),
        ("(a | b-c)*", 1),
        ("a{1000}", 1002),
        ("a b-c | a a | a !a", 4),
        ("(a? !a?)*", 1),
    ],
)
def test_automata_are_as_small_as_known(text, states):
    assert len(compiled(text).accepting) == states


def test_names_keep_their_order_and_first_offsets():
    assert names(parse("b-c ('x y' | !\"it's (|)\")* b-c .")) == (("b-c", 0), ("x y", 5), ("it's (|)", 13))


@pytest.mark.parametrize(
    "text, message, offset",
    [
        ("", "expected a name", 0),
        ("a | | b", "expected a name", 4),
        ("a ()", "expected a name", 3),
        ("b (a", "expected a ')'", 2),
        ("a) b", "expected a '('", 1),
        ("* a", "nothing to repeat", 0),
        ("(+)", "nothing to repeat", 1),
        ("a+?", "expected parentheses", 2),
        ("a{3,1}", "m at most n", 1),
        ("a{1001}", "at most 1000", 1),
        ("a{" + "9" * 9 + ",}", "at most 1000", 1),
        ("a{,2}", "expected a repetition {m}", 1),
        ("a #", "unknown character '#'", 2),
        ("a 'b", "expected a closing '", 2),
        ("!(a)", "right after '!'", 0),
        ("a'b'", "white space between", 1),
        ("(" * 101 + "a" + ")" * 101, "at most 100 deep", 100),
    ],
)
def test_errors_say_where_and_what_was_expected(text, message, offset):
    with pytest.raises(LabelRegexError) as caught:
        parse(text)
    assert message in caught.value.message and caught.value.offset == offset and message in str(caught.value)


@pytest.mark.parametrize("text", ["(a | b-c)* a (a|b-c){20}", "((a{50}){50}){50}", "((a | b-c a){900}){900}"])
def test_too_many_states_fail_fast(text):
    start = time.perf_counter()
    with pytest.raises(ValueError, match="needs more than 10000 states"):
        automaton(parse(text), {"a": [0], "b-c": [1]}, 2)
    assert time.perf_counter() - start < 3


def test_limits_hold_elsewhere():
    with pytest.raises(ValueError, match="steps to compile"):
        compiled("a? " * 600)
    with pytest.raises(ValueError, match="accepts nothing"):
        compiled("a none | none+")
    deep = "(" * 100 + "a" + " b-c? | a a)*" * 100
    assert accepts(compiled(deep), (0, 1)) and not accepts(compiled(deep), (1,))
    assert compiled("none*", 0).next_state.shape == (1, 0)
