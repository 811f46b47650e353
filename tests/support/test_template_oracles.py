"""Hand-worked examples for the template oracles; labels are written as one string, tokens too."""

import math
import re

import pytest
from support import template_oracles as o


def is_in(words):
    """A test of tokens: one of the words."""
    return lambda token: token in words.split()


dot, any_word = is_in(". ;"), is_in("p q r")
year = re.compile(r"\d{4}").fullmatch

# name, scheme, labels, tokens (the labels if none), parameters, options, count
CASES = [
    ("should_not_precede", "plain", "a b a", "", (1, "a", "b"), {}, 1),
    ("should_not_precede", "plain", "a b a", "", (-1, "b", ("a", "c")), {}, 1),
    ("should_not_precede", "plain", "a b a", "", (-3, "a", "a"), {}, 0),
    ("should_not_precede", "plain", "a b a", "", (3, "a", "a"), {}, 0),
    ("should_be_tagged", "bio", "B-a I-a O", "", (0, "a"), {}, 0),
    ("should_be_tagged", "bio", "B-a I-a O", "", (-1, "a"), {}, 1),
    ("should_be_tagged", "bio", "B-a I-a O", "", (-4, "a"), {}, 0),
    ("tag_at", "plain", "a b b", "p p .", (any_word, "a"), {}, 1),
    ("tag_at", "plain", "a O a a b O a", "a , 1 a . , 1", (str.isalnum, "a"), {}, 0),
    ("tag_at", "plain", "a O a a b O a", "a , 1 a . , 1", (str.isalnum, "b"), {}, 4),
    ("tag_at", "plain", "b b b", "p p .", (any_word, "a"), {"following": dot}, 1),
    ("tag_at", "plain", "b b b", "p p p", (any_word, "a"), {"previous": any_word}, 2),
    ("tag_at", "plain", "b b b", "p q .", (any_word, "a"), {"previous": any_word, "following": dot}, 1),
    ("contains_only", "plain", "a a b", "p x x", ("a", any_word), {}, 1),
    ("contains_only", "plain", "a b b", "x x x", (("a", "b"), any_word), {}, 3),
    ("tag_phrases", "bio", "O B-a I-a", "new york new", ("a", ("New York",)), {}, 1),
    ("tag_phrases", "bio", "O B-a I-a", "new york new", ("a", ("New York",)), {"ignore_case": False}, 0),
    ("tag_phrases", "bio", "B-a B-a B-a", "x x x", ("a", ("x x",)), {}, 2),  # overlapping occurrences
    ("tag_phrases", "bio", "O O O", "x y z", ("a", ("x", "y z")), {"longer_than": 1}, 2),
    ("tag_phrases", "bio", "B-a O B-a", "x y z", ("a", ("x  y z",)), {}, 1),  # 2 begins after no token of a
    ("tag_sequence", "bio", "B-a B-a O", "p q .", ("a", [any_word, any_word, dot]), {}, 2),
    ("tag_sequence", "bio", "O I-a B-a", "p q r", ("a", [any_word, any_word]), {}, 2),
    ("tag_sequence", "bio", "O O", "p q", ("a", [any_word] * 3), {}, 0),
    ("right_before", "plain", "a b b b", "p p p x", ("a", any_word), {}, 1),
    ("right_before", "plain", "b b b", ". . .", (("a", "O"), dot), {}, 2),
    ("directly_after", "bio", "B-a B-a O B-a", "", ("a", "O"), {}, 1),
    ("directly_after", "bio", "B-a B-a O B-a", "", ("a", "O"), {"at_start": False}, 2),
    ("directly_after", "plain", "b a c a", "", ("a", ("b", "c")), {"at_start": False}, 0),
    ("changes_never_after", "bio", "B-a B-a I-a O O", ". x . . .", (dot,), {}, 1 + 1),
    ("changes_never_after", "plain", "a a b", ". p .", (dot,), {}, 0),
    ("changes_never_after", "iobes", "S-a S-a O", "p p p", (any_word,), {}, 2),
    ("adjacency", "plain", "a a b a", "", ("a", "b"), {}, 1),
    ("adjacency", "plain", "a a c a", "", ("a", ("a", "b")), {}, 1),
    ("between_runs", "plain", "a b a b a", "", ("a", 1, 2), {}, 1),
    ("between_runs", "plain", "a b a b a", "", ("b", 4, 5), {}, 2),
    ("between_runs", "plain", "a O a a b O a", "", ("a", 0, 2), {}, 1),
    ("between_runs", "plain", "a O a a b O a", "", ("a", 0, 3), {}, 0),
    ("between_runs", "plain", "a O a a b O a", "", ({"a", "b"}, 0, 0), {}, 3),
    ("between_runs", "plain", "a O a a b O a", "", ("a", 5, math.inf), {}, 2),
    ("between_runs", "plain", "a O a a b O a", "", ("z", 2, math.inf), {}, 2),
    ("between_runs", "bio", "B-a B-a I-a O", "", ("a", 4, 4), {}, 2),
    ("between_runs", "iobes", "B-a E-a S-a I-a", "", ("a", 1, 1), {}, 2),
    ("between_tokens", "plain", "a a a b", "", ("a", 0, 1), {}, 2),
    ("between_tokens", "plain", "a a a b", "", ("b", 3, 3), {}, 2),
    ("between_tokens", "plain", "a O a a b O a", "", ("a", 0, 4), {}, 0),
    ("between_tokens", "plain", "a O a a b O a", "", ({"a", "b"}, 7, math.inf), {}, 2),
    ("between_tokens", "bio", "B-a B-a I-a O", "", ("a", 1, 1), {}, 2),
    ("between_tokens", "bio", "B-a B-a I-a O", "", ("B-a", 2, 2), {}, 0),
    ("at_most_in_window", "plain", "a a a b a", "", ("a", 1, 3), {}, 2 + 1 + 1),
    ("at_most_in_window", "plain", "a a", "", ("a", 1, 3), {}, 1),
    ("at_most_in_window", "plain", "a a", "", ("a", 0, 2), {}, 2),
    ("min_run_length", "bio", "B-a B-a I-a O I-a", "", ("a", 2), {}, 1 + 0 + 1),
    ("min_run_length", "plain", "a b b", "", ("b", 5), {}, 3),
    ("max_run_length", "bio", "B-a I-a I-a B-a I-a", "", ("a", 1), {}, 2 + 1),
    ("max_run_length", "paths", "B-a/B-b I-a/I-b B-a/I-b", "", ("a/b", 1), {}, 1),
    ("all_different", "bio", "B-a I-a B-b B-a", "1999 x 2000 2001", (("a", "b"), year), {}, 1),
    ("all_different", "plain", "a a a b b", "1999 2000 2001 1 2002", (("a", "b"), year), {}, 2),
    ("consistent", "plain", "a b a a O", "p x p q p", (any_word,), {}, 1),
    ("consistent", "plain", "a b a b", "p p p p", (any_word,), {}, 3),
    ("consistent", "plain", "a b", "p P", (any_word,), {}, 0),
    ("consistent", "plain", "a b", "p P", (lambda token: True,), {"lower": True}, 1),
    ("consistent", "plain", "a b", ". .", (any_word,), {}, 0),
    ("consistent", "bio", "B-a I-a O B-b", "p p . p", (any_word,), {}, 1),
    ("consistent", "paths", "B-v B-v/B-p I-v/I-p", "p p p", (any_word,), {}, 1),
    ("tag_implies_tag", "plain", "a a b", "", ("a", "c"), {}, 1),
    ("tag_implies_tag", "plain", "b b", "", ("a", "c"), {}, 0),
    ("tag_implies_tag", "plain", "b a", "", ("a", "b"), {}, 0),
    ("tag_implies_tag", "plain", "a c", "", ("a", {"b", "c"}), {}, 0),
    ("tag_implies_tag", "plain", "b O", "", ({"a", "b"}, {"a", "c"}), {}, 1),
    ("never_together", "plain", "a O b", "", ("a", "b"), {}, 1),
    ("never_together", "plain", "a O a", "", ("a", "b"), {}, 0),
    ("precedence", "plain", "a b a O a", "", ("a", "b"), {}, 2),
    ("precedence", "bio", "B-a B-a B-b", "", ("a", "b"), {}, 0),
    ("presence_precedence", "plain", "b a b a b", "", ("a", "b"), {}, 2),
    ("presence_precedence", "plain", "a a b", "", ("a", "b"), {}, 0),
    ("inside", "plain", "a s a s a", "", ("a", "s"), {}, 2),
    ("inside", "plain", "a O a", "", ("a", "s"), {}, 2),
    ("precedence", "paths", "B-v I-v/B-p", "", ("v", "v/p"), {}, 1),  # p is within v
    ("precedence", "paths", "B-v/B-p I-v", "", ("v/p", "v"), {}, 0),
    ("precedence", "plain", "a a b a a", "", ("a", "a"), {}, 1),  # no run follows itself
    ("presence_precedence", "paths", "B-v I-v/B-p", "", ("v/p", "v"), {}, 0),
    ("presence_precedence", "paths", "B-v B-v/B-p", "", ("v/p", "v"), {}, 1),
    ("inside", "paths", "B-v I-v/B-p I-v", "", ("v/p", "v"), {}, 0),
    ("inside", "paths", "B-v/B-p I-v", "", ("v/p", "v"), {}, 1),
    ("inside", "paths", "B-v I-v/B-p I-v/I-p", "", ("v/p", "v"), {}, 1),
    ("begin_end", "plain", "a O b", "", ("a", "b"), {}, 0),
    ("begin_end", "plain", "a O O", "", ("a", "b"), {}, 1),
    ("state_change", "plain", "a b c a b", "x . x . x", ("a", "b", dot), {}, 1),
    ("state_change", "plain", "a b c a b", "x . x . x", ("a", "b", dot), {"both": True}, 2),
    ("state_change", "plain", "a b c", ". x .", ("a", "b", dot), {"both": True}, 0),
    ("max_gap", "plain", "a O O b O b", "", ("a", "b", 1), {}, 2),
    ("max_gap", "plain", "b a O b a b", "", ("a", "b", 0), {}, 1),
    ("alternation", "plain", "a O a b O b a", "", ("a", "b"), {}, 2),
    ("alternation", "paths", "B-a/B-b I-a/B-b", "", ("a", "a/b"), {}, 1),  # a, a/b, a/b
    ("next_field", "plain", "a O b a O a c a", "", ("a", "b"), {}, 2),
    ("next_field", "bio", "B-a I-a B-a O B-b", "", ("a", "b"), {}, 1),
    ("next_field", "bio", "B-a I-a B-a O B-b", "", ("b", "a"), {"required": True}, 1),
    ("next_field", "plain", "O a O", "", ("O", "a"), {"required": True}, 0),  # O is no run
    ("next_field", "paths", "B-v I-v/B-p I-v B-v", "", ("v", "v"), {}, 0),
    ("next_field", "paths", "B-v I-v/B-p I-v B-v", "", ("v/p", "v/p"), {}, 1),
    ("numbers_continue", "plain", "n n n n n", "1 xy 2 4 x", ("n",), {}, 2),
    ("numbers_continue", "plain", "n n n n n", "1.2 1.2.1 1.3 2. 2.2", ("n",), {}, 1),
    ("numbers_continue", "plain", "n n O n", "h) (i 7 II.", ("n",), {}, 0),
    ("label_regex", "plain", "a b b", "", ("a b* | c", "tokens"), {}, 0),
    ("label_regex", "bio", "B-a I-a B-a O", "", ("a{2} O", "runs"), {}, 0),
    ("label_regex", "bio", "B-a I-a B-a O", "", ("a{2} O", "tokens"), {}, 1),
    ("label_regex", "bio", "B-a I-a B-a O", "", ("'B-a' (!'B-a' | \"B-a\" .?)+", "tokens"), {}, 0),
    ("label_regex", "plain", "a b a b a", "", ("(a b){1,} .", "tokens"), {}, 0),
    ("label_regex", "plain", "a a a", "", ("(a*)* !a{0,1} a{4,9}", "tokens"), {}, 1),
]


@pytest.mark.parametrize("name, scheme, labels, tokens, parameters, options, count", CASES)
def test_counts(name, scheme, labels, tokens, parameters, options, count):
    y, x = labels.split(), tuple((tokens or labels).split())
    assert getattr(o, name)(y, x, *parameters, scheme, **options) == count


def test_token_class():
    examples = {"punctuation": ". --", "number": "7 1,000.5 3-4", "capitalised": "Ab (McDonald)"}
    examples |= {"uppercase": "AB A1 U.S.", "lowercase": "ab a1", "year": "1999 2024"}
    examples |= {"newline": "@newline@ <NEWLINE> NEWLINE", "numbering": "1 2. 1.3 IV. a)"}
    others = {"punctuation": "a 1.", "number": "1. x1 -3", "capitalised": "A AB aB", "uppercase": "Ab aB"}
    others |= {"lowercase": "1 aB", "year": "1899 19999", "newline": "newline", "numbering": "ab 1.) IIII iV"}
    for name in examples:
        assert all(o.token_class(token, name) for token in examples[name].split())
        assert not any(o.token_class(token, name) for token in others[name].split())
    assert o.token_class("\n", "newline")


def test_numbering_readings():
    assert o.numbering_readings("(1.12]") == {("number", (1, 12))}
    assert o.numbering_readings("[i.") == {("roman", (1,)), ("letter", (9,))}
    assert o.numbering_readings("MCMXCIX") == {("roman", (1999,))} and not o.numbering_readings("((1)")
