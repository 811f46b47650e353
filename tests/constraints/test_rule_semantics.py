"""What each rule counts, case by case, by the plain checker and by the compiled machines."""

import numpy as np
import pytest

from formulations import LabelSet, Trellis
from formulations import constraints as C
from formulations.errors import RuleNotice
from formulations.problem.compiled_rules import compile_problem

PLAIN = LabelSet(("A", "B", "C", "O"), "plain")
BIO = LabelSet(("B-x", "I-x", "B-y", "I-y", "O"))
IOBES = LabelSet(("B-x", "I-x", "E-x", "S-x", "B-y", "E-y", "S-y", "O"))
BILOU = LabelSet(("B-x", "I-x", "L-x", "U-x", "U-y", "O"))
BMES = LabelSet(("B-x", "M-x", "E-x", "S-x", "O"))
IOB1 = LabelSet(("B-x", "I-x", "B-y", "I-y", "O"), "iob1")
PATHS = LabelSet(("B-v", "I-v", "B-v/B-p", "I-v/B-p", "I-v/I-p", "I-v/B-q", "I-v/I-q", "B-v/I-p", "O"))
DEEP = LabelSet(("B-a/B-b/B-c", "B-a/I-b/I-c", "O"))

TABLE = [
    # runs, plain
    (PLAIN, C.at_most_runs("A", 1), "A B A", 1),
    (PLAIN, C.at_most_runs("A", 1), "A A A", 0),
    (PLAIN, C.at_most_runs("A", 1), "B O B", 0),
    (PLAIN, C.at_most_runs("A", 0), "A B A B A", 3),
    (PLAIN, C.at_most_runs("A", 2), "A B A B A", 1),
    (PLAIN, C.at_most_runs("O", 1), "O A O", 1),
    (PLAIN, C.at_most_runs(C.EACH_FIELD, 1), "A B A O A B O", 3),
    (PLAIN, C.at_most_runs(C.EACH_FIELD, 1, distance="binary"), "A B A O A B O", 1),
    (PLAIN, C.at_most_runs(["A", "B"], 1), "A B A", 0),
    (PLAIN, C.at_most_runs(["A", "B"], 1), "A O B", 1),
    (PLAIN, C.at_most_runs(C.other_than("A", "O"), 1), "B C A B", 1),
    (PLAIN, C.at_least_runs("A", 2), "A A B", 1),
    (PLAIN, C.at_least_runs("A", 2), "B B", 2),
    (PLAIN, C.at_least_runs("A", 5, distance="binary"), "B B", 1),
    (PLAIN, C.at_least_runs("A", 1), "B C A", 0),
    (PLAIN, C.at_least_runs(C.EACH_FIELD, 1), "A A", 2),
    (PLAIN, C.between_runs("A", 1, 2), "A B A B A", 1),
    (PLAIN, C.between_runs("B", 4, 5), "A B A B A", 2),
    (BIO, C.exactly_runs("x", 4), "B-x B-x I-x O", 2),
    (IOBES, C.exactly_runs("x", 1), "B-x E-x S-x I-x", 2),
    # tokens
    (PLAIN, C.at_most_tokens("A", 1), "A A B A", 2),
    (PLAIN, C.at_least_tokens(["A", "B"], 7), "A O A A B O A", 2),
    (PLAIN, C.between_tokens("A", 0, 1), "A A A B", 2),
    (PLAIN, C.exactly_tokens("B", 3), "A A A B", 2),
    (BIO, C.exactly_tokens("x", 1), "B-x B-x I-x O", 2),
    (BIO, C.exactly_tokens("B-x", 2), "B-x B-x I-x O", 0),
    (PLAIN, C.at_most_in_window("A", 1, width=3), "A A A B A", 2 + 1 + 1),
    (PLAIN, C.at_most_in_window("A", 1, width=3), "A A", 1),
    (PLAIN, C.at_most_in_window("A", 0, width=2), "A A", 2),
    # lengths of runs
    (BIO, C.min_run_length("x", 2), "B-x B-x I-x O I-x", 1 + 0 + 1),
    (PLAIN, C.min_run_length("B", 5), "A B B", 3),
    (BIO, C.max_run_length("x", 1), "B-x I-x I-x B-x I-x", 2 + 1),
    (PATHS, C.max_run_length("v/p", 1), "B-v/B-p I-v/I-p B-v/I-p", 1),
    (PLAIN, C.at_most_tokens("A", 7), "A A", 0),
    (PLAIN, C.at_least_tokens("A", 2), "B A", 1),
    (PLAIN, C.at_least_tokens("A", 3), "A", 2),
    # single tokens and edges
    (PLAIN, C.forbidden_transition("A", "B"), "A B B A B", 2),
    (PLAIN, C.forbidden_transition("A", "A"), "A A A", 2),
    (PLAIN, C.forbidden_transition("A", ["A", "B", "O"]), "A O A A B O A", 3),
    (PLAIN, C.forbidden_transition(["A", "B"], ["A", "B"]), "A O A A B O A", 2),
    (PLAIN, C.should_not_precede(1, "A", "B"), "A B A", 1),
    (PLAIN, C.should_not_precede(-1, "B", ["A", "C"]), "A B A", 1),
    (PLAIN, C.should_not_precede(-3, "A", "A"), "A B A", 0),
    (PLAIN, C.should_not_precede(3, "A", "A"), "A B A", 0),
    (BIO, C.should_be_tagged(0, "x"), "B-x I-x O", 0),
    (BIO, C.should_be_tagged(-1, "x"), "B-x I-x O", 1),
    (BIO, C.should_be_tagged(-4, "x"), "B-x I-x O", 0),
    (PLAIN, C.adjacency("A", "B"), "A A B A", 1),
    (PLAIN, C.adjacency("A", ["A", "B"]), "A A C A", 1),
    (PLAIN, C.begin_end("A", "B"), "A O B", 0),
    (PLAIN, C.begin_end("A", "B"), "A O O", 1),
    (BIO, C.directly_after("x", "O"), "B-x B-x O B-x", 1),
    (BIO, C.directly_after("x", "O", at_start=False), "B-x B-x O B-x", 2),
    (PLAIN, C.directly_after("A", ["B", "C"], at_start=False), "B A C A", 0),
    (PLAIN, C.starts_with("A"), "B A", 1),
    (PLAIN, C.starts_with(["A", "B"]), "B A", 0),
    (PLAIN, C.ends_with("A"), "A B", 1),
    (PLAIN, C.ends_with("A"), "A", 0),
    # order and presence
    (PLAIN, C.requires_present("A", "B"), "A A C", 1),
    (PLAIN, C.requires_present("A", "B"), "A C B", 0),
    (PLAIN, C.requires_present("A", "B"), "B B", 0),
    (PLAIN, C.requires_present("A", "B"), "C C", 0),
    (PLAIN, C.tag_implies_tag("A", ["B", "C"]), "A C", 0),
    (PLAIN, C.tag_implies_tag(["A", "B"], ["A", "C"]), "B O", 1),
    (PLAIN, C.never_together("A", "B"), "A O B", 1),
    (PLAIN, C.never_together("A", "B"), "A O A", 0),
    (PLAIN, C.requires_before("A", "B"), "B A B C B", 1),
    (PLAIN, C.requires_before("A", "B"), "B C B A", 2),
    (PLAIN, C.requires_before("A", "B"), "A B", 0),
    (PLAIN, C.requires_before("A", "B"), "A A", 0),
    (PLAIN, C.requires_before("A", "A"), "A B A", 1),
    (PLAIN, C.requires_before("A", ["A", "B"]), "A B", 1),
    (BIO, C.requires_before("x", "y"), "B-y B-y B-x I-y", 2),
    (PLAIN, C.max_gap("A", "B", 1), "A O O B O B", 2),
    (PLAIN, C.max_gap("A", "B", 0), "B A O B A B", 1),
    (PLAIN, C.alternation("A", "B"), "A O A B O B A", 2),
    (PATHS, C.alternation("v", "v/p"), "B-v/B-p I-v/B-p", 1),  # v, v/p, v/p
    (PLAIN, C.next_field("A", "B"), "A O B A O A C A", 2),
    (PLAIN, C.next_field("O", "A", required=True), "O A O", 0),  # O is no run
    (BIO, C.next_field("x", "y"), "B-x I-x B-x O B-y", 1),
    (BIO, C.next_field("y", "x", required=True), "B-x I-x B-x O B-y", 1),
    (PATHS, C.next_field("v", "v"), "B-v I-v/B-p I-v B-v", 0),
    (PATHS, C.next_field("v/p", "v/p"), "B-v I-v/B-p I-v B-v", 1),
    # expressions over labels
    (PLAIN, C.matches("A B* | C"), "A B B", 0),
    (BIO, C.matches("x{2} O", "runs"), "B-x I-x B-x O", 0),
    (BIO, C.matches("x{2} O"), "B-x I-x B-x O", 1),
    (BIO, C.matches("'B-x' (!'B-x' | \"B-x\" .?)+"), "B-x I-x B-x O", 0),
    (PLAIN, C.matches("(A B){1,} ."), "A B A B A", 0),
    (PLAIN, C.matches("(A*)* !A{0,1} A{4,9}"), "A A A", 1),
    # BIO: a B cuts a run; an I without a start begins one
    (BIO, C.at_most_runs("x", 1), "B-x I-x B-x", 1),
    (BIO, C.at_most_runs("x", 1), "I-x I-x", 0),
    (BIO, C.at_most_runs("x", 0), "I-x I-x", 1),
    (BIO, C.at_most_runs("x", 0), "B-y I-x", 1),
    (BIO, C.at_most_runs("x", 1), "I-x O I-x", 1),
    (BIO, C.at_most_runs(["x", "y"], 1), "B-x B-y", 0),
    (BIO, C.at_most_runs(["x", "y"], 1), "B-x B-x", 1),
    (BIO, C.at_most_runs(["x", "y"], 0), "B-x B-y I-x B-x", 2),  # moving inside the group begins nothing
    (BIO, C.at_most_runs("x", 0), "B-x B-y I-x B-x", 3),
    (BIO, C.at_most_runs("B-x", 1), "B-x I-x B-x", 1),
    (BIO, C.at_most_tokens("x", 1), "B-x I-x I-y", 1),
    (BIO, C.valid_scheme(), "I-x B-x I-y O I-y", 3),
    (BIO, C.valid_scheme(), "B-x I-x B-x O", 0),
    # IOBES: E and S close a run
    (IOBES, C.at_most_runs("x", 1), "S-x S-x", 1),
    (IOBES, C.at_most_runs("x", 1), "B-x I-x E-x", 0),
    (IOBES, C.at_most_runs("x", 1), "B-x E-x I-x", 1),
    (IOBES, C.at_most_runs("x", 0), "S-x S-x B-x E-x I-x I-x E-x O E-x E-x", 6),
    (IOBES, C.changes_only_after(words=["."]), "S-x S-x O O B-y E-y E-y", 4),
    (IOBES, C.valid_scheme(), "E-x", 1),
    (IOBES, C.valid_scheme(), "B-x E-y", 1),
    (IOBES, C.valid_scheme(), "B-x O I-x S-x E-x", 4),  # B|O, O|I, I|S, S|E
    (IOBES, C.valid_scheme(), "B-x O", 1),
    (IOBES, C.valid_scheme(), "B-x", 1),
    (IOBES, C.valid_scheme(), "I-x", 2),
    (IOBES, C.valid_scheme(), "B-x I-x E-x S-y", 0),
    (IOBES, C.valid_scheme(), "B-x S-y E-x", 2),
    # BILOU and BMES: other letters
    (BILOU, C.at_most_runs("x", 1), "U-x U-x", 1),
    (BILOU, C.at_most_runs("x", 1), "B-x I-x L-x I-x", 1),
    (BILOU, C.valid_scheme(), "B-x I-x L-x U-y U-x", 0),
    (BILOU, C.valid_scheme(), "L-x U-x B-x I-x", 2),
    (BILOU, C.valid_scheme(), "B-x U-y L-x", 2),
    (BILOU, C.changes_only_after(words=["."]), "B-x L-x U-x O", 2),
    (BMES, C.at_most_runs("x", 1), "B-x M-x E-x S-x", 1),
    (BMES, C.valid_scheme(), "B-x M-x M-x E-x S-x O", 0),
    (BMES, C.valid_scheme(), "M-x E-x O B-x", 2),
    # IOB1: I begins a run, B only directly after another of the field
    (IOB1, C.valid_scheme(), "I-x I-x B-x I-y O I-x", 0),
    (IOB1, C.valid_scheme(), "B-x I-y B-x O B-y", 3),
    (IOB1, C.at_most_runs("x", 0), "I-x I-x B-x B-x I-y I-x", 4),
    # paths: every prefix path is a field
    (PATHS, C.at_most_runs("v", 1), "B-v/B-p I-v/I-p I-v/B-q", 0),
    (PATHS, C.at_most_runs("v/p", 1), "B-v/B-p I-v/I-p I-v/B-p", 1),
    (PATHS, C.at_most_runs("v", 1), "B-v/B-p B-v", 1),
    (PATHS, C.at_most_runs("v/p", 1), "I-v/I-p B-v/I-p", 1),
    (PATHS, C.at_most_tokens("v", 1), "B-v/B-p I-v/I-p O", 1),
    (PATHS, C.at_most_runs("v", 0), "B-v I-v/B-p I-v/I-p B-v/I-p I-v I-v/I-p", 2),
    (PATHS, C.at_most_runs("v/p", 0), "B-v I-v/B-p I-v/I-p B-v/I-p I-v I-v/I-p", 3),
    (PATHS, C.at_most_runs(["v", "v/p"], 0), "I-v I-v/B-p I-v/B-p", 2),  # v/p is entered from within at 1
    (DEEP, C.at_most_runs("a/b/c", 0), "B-a/B-b/B-c B-a/I-b/I-c", 2),
    (PATHS, C.valid_scheme(), "I-v B-v/I-p I-v/I-p", 2),
    (PATHS, C.valid_scheme(), "B-v I-v/B-p I-v/I-p I-v O B-v/B-p", 0),
    (PATHS, C.valid_scheme(), "B-v/B-p B-v/I-p", 1),  # the child does not begin anew
    (PATHS, C.valid_scheme(), "B-v/B-p O I-v/I-p I-v/I-q", 2),  # one for each position
    (DEEP, C.valid_scheme(), "B-a/B-b/B-c B-a/I-b/I-c", 1),
    # before a run is before its first token, after it is after its last one
    (PLAIN, C.precedence("A", "B"), "A A B A", 1),
    (PLAIN, C.precedence("A", "B"), "A B A O A", 2),
    (BIO, C.precedence("x", "y"), "B-x B-x B-y", 0),
    (PLAIN, C.presence_precedence("A", "B"), "B A B A B", 2),
    (PLAIN, C.presence_precedence("A", "B"), "A A B", 0),
    (PLAIN, C.inside("A", "B"), "A O A", 2),
    (PLAIN, C.precedence("A", "A"), "A A B A A", 1),
    (PLAIN, C.precedence("A", ["A", "B"]), "A A", 1),
    (PLAIN, C.precedence(["A", "B"], "B"), "A B C", 1),
    (PLAIN, C.precedence(["A", "B"], "B"), "A A O B", 1),
    (PATHS, C.precedence("v", "v/p"), "B-v I-v/B-p", 1),
    (PATHS, C.precedence("v", "v/p"), "B-v B-v/B-p", 1),
    (PATHS, C.precedence("v/p", "v"), "B-v/B-p I-v", 0),
    (PATHS, C.precedence("v/p", "v"), "B-v/B-p I-v/I-p O B-v", 0),
    (PATHS, C.presence_precedence("v/p", "v"), "B-v I-v/B-p", 0),
    (PATHS, C.presence_precedence("v/p", "v"), "B-v B-v/B-p O B-v/B-p", 2),
    (PATHS, C.presence_precedence("v", "v/p"), "B-v/B-p I-v/I-p I-v", 1),
    (PLAIN, C.presence_precedence("A", "A"), "A A B A", 1),
    (PLAIN, C.inside("A", "B"), "A B A A B A", 2),
    (PLAIN, C.inside("A", ["A", "B"]), "A A B A B", 1),
    (PATHS, C.inside("v/p", "v"), "B-v I-v/B-p I-v", 0),
    (PATHS, C.inside("v/p", "v"), "B-v/B-p I-v", 1),
    (PATHS, C.inside("v/p", "v"), "B-v I-v/B-p I-v/I-p", 1),
    (PATHS, C.inside("v/p", "v"), "B-v I-v/B-p O B-v", 0),
    (PATHS, C.inside("v", "v/p"), "B-v/B-p B-v B-v/B-p", 2),
    (PATHS, C.requires_before("v", "v/p"), "B-v/B-p I-v/B-p", 1),
    # changes: any run that begins, or O entered; token 0 changes nothing
    (PLAIN, C.changes_only_after(words=["."]), "A B B O", 2),
    (BIO, C.changes_only_after(words=["."]), "B-x I-x B-x", 1),
    (BIO, C.changes_only_after(words=["."]), "O O B-x I-x O", 2),
    (PATHS, C.changes_only_after(words=["."]), "B-v/B-p I-v/I-p I-v", 0),
    (PATHS, C.changes_only_after(words=["."]), "B-v/B-p I-v/B-q O", 2),
    (PATHS, C.changes_only_after(words=["."]), "B-v/B-p I-v/I-p I-v I-v/I-p B-v/I-p O", 3),
]


def check(labels, rule, labelling, tokens, expected):
    """The plain checker and the compiled machines count the same."""
    names, K = labelling.split(), len(labels)
    trellis = Trellis(np.zeros(K), np.zeros((len(names) - 1, K, K)), labels=labels, tokens=tokens)
    assert rule.violations(names, tokens=tokens, labels=labels) == expected
    compiled = compile_problem(trellis, [rule]).value(trellis.ids(names))
    assert list(compiled.violations.values()) == [expected]


@pytest.mark.filterwarnings("ignore:.*runs of the field")
@pytest.mark.parametrize(("labels", "rule", "labelling", "expected"), TABLE)
def test_what_a_rule_counts(labels, rule, labelling, expected):
    check(labels, rule, labelling, ["word"] * len(labelling.split()), expected)


WORD, DOT, YEAR = {"words": ["p", "q", "r"]}, {"words": [".", ";"]}, {"pattern": r"\d{4}"}
CITATION, NOTED = "Pages 1999 , x --", PLAIN.with_optional_fields(["note"])
DATES, NESTED = LabelSet(("author", "date")), LabelSet(("B-x", "B-B-x", "I-B-x"))


@pytest.mark.filterwarnings("ignore:.*runs of the field")
@pytest.mark.parametrize(
    ("labels", "rule", "labelling", "tokens", "expected"),
    [
        (PLAIN, C.tag_at("B", words=["pages", "x"]), "A A B B A", CITATION, 1),
        (PLAIN, C.tag_at("B", words=["pages"], ignore_case=False), "A A B B A", CITATION, 0),
        (PLAIN, C.tag_at("A", pattern=r"(19|20)\d\d"), "A A B B A", CITATION, 0),
        (PLAIN, C.tag_at("B", pattern=r"\d"), "A A B B A", CITATION, 0),  # the whole token has to match
        (PLAIN, C.changes_only_after(), "A A A B B", CITATION, 0),
        (PLAIN, C.changes_only_after(), "A B B B A", CITATION, 2),
        (DATES, C.changes_only_after(), "author author date date", "a b c d", 1),
        (DATES, C.changes_only_after(distance="binary"), "author author date date", "a b c d", 1),
        (PLAIN, C.tag_at("A", **WORD, following=C.tokens(**DOT)), "B B B", "p p .", 1),
        (PLAIN, C.tag_at("A", **WORD, previous=C.tokens(**WORD)), "B B B", "p p p", 2),
        (PLAIN, C.tag_at("A", **WORD, previous=C.tokens(**WORD), following=";"), "B B B", "p q ;", 1),
        (PLAIN, C.contains_only("A", **WORD), "A A B", "p x x", 1),
        (PLAIN, C.contains_only(["A", "B"], **WORD), "A B B", "x x x", 3),
        (PLAIN, C.right_before("A", **WORD), "A B B B", "p p p x", 1),
        (PLAIN, C.right_before(["A", "O"], **DOT), "B B B", ". . .", 2),
        (BIO, C.changes_never_after(**DOT), "B-x B-x I-x O O", ". x . . .", 1 + 1),
        (PLAIN, C.changes_never_after(**DOT), "A A B", ". p .", 0),
        (IOBES, C.changes_never_after(**WORD), "S-x S-x O", "p p p", 2),
        (BIO, C.all_different(**YEAR), "B-x I-x B-y B-x", "1999 x 2000 2001", 1),
        (PLAIN, C.all_different(**YEAR), "A A A B B", "1999 2000 2001 1 2002", 2),
        (PLAIN, C.consistent(**WORD), "A B A A O", "p x p q p", 1),
        (PLAIN, C.consistent(**WORD), "A B A B", "p p p p", 3),
        (PLAIN, C.consistent(**WORD), "A B", "p P", 0),
        (PLAIN, C.consistent("lower"), "A B", "p P", 1),
        (PLAIN, C.consistent(**WORD), "A B", ". .", 0),
        (BIO, C.consistent(**WORD), "B-x I-x O B-y", "p p . p", 1),
        (PATHS, C.consistent(**WORD), "B-v B-v/B-p I-v/I-p", "p p p", 1),
        (PLAIN, C.state_change("A", "B", **DOT), "A B C A B", "x . x . x", 1),
        (PLAIN, C.state_change("A", "B", **DOT, both=True), "A B C A B", "x . x . x", 2),
        (PLAIN, C.state_change("A", "B", **DOT, both=True), "A B C", ". x .", 0),
        (PLAIN, C.numbers_continue("A"), "A A A A A", "1 xy 2 4 x", 2),
        (PLAIN, C.numbers_continue("A"), "A A A A A", "1.2 1.2.1 1.3 2. 2.2", 1),
        (PLAIN, C.numbers_continue("A"), "A A O A", "h) (i 7 II.", 0),
        (PLAIN, C.numbers_continue("A"), "A A A A", "(1.12] [1.13. MCMXCIX MM)", 1),
        # a label used as a field
        (BIO, C.at_most_runs("B-x", 0), "B-x B-x I-x B-x", "a b c d", 2),
        (BIO, C.at_most_runs("x", 0), "B-x B-x I-x B-x", "a b c d", 3),
        (BIO, C.at_most_tokens("I-x", 0), "B-x I-x I-y", "a b c", 1),
        (NESTED, C.at_most_tokens("B-x", 0), "B-x B-B-x I-B-x", "a b c", 2),  # the field first
        # a declared field that is absent
        (NOTED, C.at_most_runs("note", 0), "A B", "x x", 0),
        (NOTED, C.at_least_runs("note", 1), "A B", "x x", 1),
        (NOTED, C.requires_before("note", "A"), "A B", "x x", 1),
        (NOTED, C.tag_at(["note", "A"], words=["x"]), "A B", "x x", 1),
        # phrases count a token once, also where they overlap
        (BIO, C.tag_phrases("x", ["a b c", "b c d"]), "B-x I-x I-x I-x", "a b c d", 0),
        # b is within the other
        (BIO, C.tag_phrases("x", ["a b c", "b c d"]), "B-x B-x I-x I-x", "a b c d", 1),
        (BIO, C.tag_phrases("x", ["a b c", "b c d"]), "O O O O", "a b c d", 4),
        (BIO, C.tag_phrases("x", ["New York"]), "O B-x I-x", "new york new", 1),
        (BIO, C.tag_phrases("x", ["New York"], ignore_case=False), "O B-x I-x", "new york new", 0),
        (BIO, C.tag_phrases("x", ["x x"]), "B-x B-x B-x", "x x x", 2),
        (BIO, C.tag_phrases("x", ["x", "y z"], longer_than=1), "O O O", "x y z", 2),
        (BIO, C.tag_phrases("x", ["x  y z"]), "B-x O B-x", "x y z", 1),  # 2 begins after no token of x
        (BIO, C.tag_sequence("x", [C.tokens(**WORD), C.tokens(**WORD), "."]), "B-x B-x O", "p q .", 2),
        (BIO, C.tag_sequence("x", [C.tokens(**WORD)] * 2), "O I-x B-x", "p q r", 2),
        (BIO, C.tag_sequence("x", [C.tokens(**WORD)] * 3), "O O", "p q", 0),
        (BIO, C.tag_phrases("x", ["a b c", "b c d"]), "B-x I-x O B-x", "a b c d", 1),
    ],
)
def test_what_a_rule_counts_of_tokens(labels, rule, labelling, tokens, expected):
    check(labels, rule, labelling, tokens.split(), expected)


@pytest.mark.parametrize(
    ("labelling", "expected"),
    [
        ("B-x I-x I-x O", 0),
        ("O B-x I-x O", 1),  # the run begins within the phrase: its first token is outside
        ("B-x O B-x O", 1),  # the second run begins after a token that counts already
        ("B-x B-x I-x O", 1),  # two runs, one directly after the other
        ("B-x B-x B-x B-x", 2),  # the last token is no part of the phrase
        ("O O O O", 3),
        ("B-y I-x I-x I-x", 1),
    ],
)
def test_phrases_lie_in_one_run(labelling, expected):
    for rule in (
        C.tag_phrases("x", ["New York City"]),
        C.tag_sequence("x", [C.tokens(["new"]), C.tokens(["york"]), C.tokens(["city"])]),
    ):
        check(BIO, rule, labelling, ["new", "york", "city", "hall"], expected)


@pytest.mark.parametrize(
    ("formula", "labelling", "expected"),
    [
        ("forall t: not edge(t) = (A, B)", "A B B A B", 2),
        ("forall t: not edge(t) = (B, A)", "A B B A B", 1),
        ("forall t: not edge(t) = (A, A)", "A A A", 2),
        ("edge(0) = (A, A)", "A A", 1),
        ("edge(1) = (A, B)", "A B", 0),
        ("edge(2) = (A, B)", "A B", 1),
        ("edge(1) = edge(2)", "A B A", 1),
        ("edge(1) = edge(2)", "A A A", 0),
        ("edge(0) = edge(0)", "A", 0),
        ("edge(0) = edge(1)", "A A", 1),
        ("forall t: label(t) = A", "A B A", 1),
    ],
)
def test_an_edge_is_the_step_into_its_token(formula, labelling, expected):
    check(PLAIN, C.logic(formula), labelling, ["word"] * len(labelling.split()), expected)


@pytest.mark.parametrize(
    ("token_class", "members", "others"),
    [
        ("punctuation", ". --", "a 1."),
        ("number", "7 1,000.5 3-4", "1. x1 -3"),
        ("capitalised", "Ab McDonald", "A AB aB"),
        ("uppercase", "AB A1 U.S.", "Ab aB"),
        ("lowercase", "ab a1", "1 aB"),
        ("year", "1999 2024", "1899 19999"),
        ("newline", "@newline@ <NEWLINE> NEWLINE", "newline"),
        ("numbering", "1 2. 1.3 IV. a)", "ab 1.) IIII iV ((1)"),
    ],
)
def test_tokens_of_a_class(token_class, members, others):
    matches = C.tokens(token_class=token_class).matches
    assert all(map(matches, members.split())) and not any(map(matches, others.split()))


def test_steps_are_counted():
    assert C.linear("steps(A, B) <= 0").violations(["A", "B", "B", "A", "B"], labels=PLAIN) == 2


def test_a_label_is_no_field_that_a_formula_can_compare_with():
    names = ["B-x", "I-x"]
    assert C.logic('forall t: label(t) = "B-x"').violations(names, labels=BIO) == 1
    assert C.logic("forall t: label(t) = x").violations(names, labels=BIO) == 0
    assert C.logic("forall t: field(t) = x").violations(names, labels=BIO) == 0
    for formula in ('forall t: field(t) = "B-x"', 'forall t: field(t) != "B-x"'):
        with pytest.raises(
            ValueError, match=r'"B-x" is a label, not a field.*label\(t\) = "B-x", or name its field, "x"'
        ):
            C.logic(formula).violations(names, labels=BIO)
        with pytest.raises(ValueError, match='"B-x" is a label, not a field'):
            C.logic(formula).ground(BIO, ["", ""])


@pytest.mark.parametrize(
    ("names", "scheme"),
    [
        (("B-x", "I-x", "O"), "bio"),
        (("I-x", "O"), "io"),
        (("B-x", "E-x", "O"), "iobes"),
        (("S-x",), "iobes"),
        (("B-x", "I-x", "L-x", "U-x", "O"), "bilou"),
        (("U-x", "O"), "bilou"),
        (("B-x", "M-x", "E-x", "S-x"), "bmes"),
        (("B-x", "E-x", "S-x"), "iobes"),
        (("B-x", "M-x", "L-x"), "plain"),
        (("B-N/A", "I-N/A", "O"), "bio"),
        (("I-v/B-p", "O"), "paths"),
        (("title", "O"), "plain"),
        (("O",), "plain"),
        (("B-x", "title"), "plain"),
    ],
)
def test_schemes_are_inferred(names, scheme):
    assert LabelSet(names).scheme == scheme
    assert LabelSet(names, "plain").scheme == "plain"


@pytest.mark.parametrize(
    ("other", "scheme", "names"),
    [
        ("biluo", "bilou", ("B-x", "L-x")),
        ("iob2", "bio", ("B-x",)),
        ("bioes", "iobes", ("B-x", "E-x")),
        ("BILOU", "bilou", ("B-x", "L-x")),
        ("BIOES", "iobes", ("B-x", "E-x")),
    ],
)
def test_schemes_have_other_names(other, scheme, names):
    assert LabelSet(names, other) == LabelSet(names, scheme)
    assert Trellis([0.0] * len(names), [], LabelSet(names, scheme), scheme=other).labels.scheme == scheme


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("B-x", "I-x", "O"), ""),
        (("B-x", "L-x", "U-x", "O"), ""),
        (("U-turn", "O"), ""),
        (("E-mail", "title", "O"), ""),
        (("x", "B-y"), "some labels begin with B- and others, such as 'x', do not: each label is read"),
        (
            ("B-x", "M-x", "L-x"),
            "labels begin with B-, L-, M-, which are not the prefixes of one scheme: each label is read",
        ),
        (
            ("B_x", "M_x", "L_x"),
            "labels begin with B_, L_, M_, which are not the prefixes of one scheme: each label is read",
        ),
        (("B", "M", "E", "S"), "labels B, M, E, S are prefixes without a field: each label is read"),
        (
            ("B-x", "I-x", "S-y"),
            "labels are read as iobes, but no run of 'x' with several tokens can end: there are B-x and I-x, and no E-x",
        ),
        (("I-x", "O"), ""),
        (
            ("B-y", "I-y", "I-x"),
            "labels are read as bio, but no run of 'x' can begin: there is I-x, and no B-x",
        ),
        (("B-x/U-y", "U-x"), "label 'B-x/U-y' looks nested"),
    ],
)
def test_what_was_taken_is_said_where_names_are_odd(names, said):
    labels = LabelSet(names)
    assert labels.notice.startswith(said) and bool(labels.notice) == bool(said)
    assert LabelSet(names, labels.scheme).notice == "", "nobody is told what they have said themselves"


def test_rules_on_odd_names_give_a_notice():
    trellis = Trellis([0.0, 0.0], [], labels=("x", "B-y"))
    with pytest.warns(RuleNotice, match="each label is read"):
        compile_problem(trellis, [C.at_most_runs("x", 1)])
    compile_problem(trellis, [])


def test_each_field_leaves_o_out_and_paths_have_every_prefix():
    assert [f.name for f in BIO.each_field] == ["x", "y"]
    assert [f.name for f in PATHS.each_field] == ["v", "v/p", "v/q"]
    assert "O" in BIO.fields
