"""Hypothesis strategies for small trellises and rules, each rule beside its meaning by the oracle."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from support import formulas, oracles
from support import template_oracles as more

from formulations import LabelSet, Rule, Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem

LABEL_SETS = [
    ("plain", ("a", "b")),
    ("plain", ("a", "b", "O")),
    ("plain", ("a", "b", "c", "O")),
    ("bio", ("B-a", "I-a", "O")),
    ("bio", ("B-a", "I-a", "B-b", "I-b")),
    ("iobes", ("B-a", "I-a", "E-a", "S-a")),
    ("iobes", ("B-a", "E-a", "S-b", "O")),
    ("bilou", ("B-a", "I-a", "L-a", "U-a")),
    ("bilou", ("B-a", "L-a", "U-b", "O")),
    ("bmes", ("B-a", "M-a", "E-a", "S-a")),
    ("iob1", ("I-a", "B-a", "I-b", "O")),
    ("paths", ("B-v", "I-v", "I-v/B-p", "I-v/I-p")),
    ("paths", ("B-v/B-p", "I-v/B-q", "I-v/I-q", "O")),
]
TOKENS = (".", "word", "pp", "1999", "2000", "2000.1")
UNIT = 2.0**-20


@dataclass(frozen=True)
class Instance:
    """A trellis with the numbers that it was made of."""

    trellis: Trellis
    start: list[float]
    edges: list
    scheme: str

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.trellis), len(self.trellis.labels)

    def names(self, labelling: tuple[int, ...]) -> list[str]:
        return [self.trellis.labels.names[k] for k in labelling]

    def units(self, labelling: tuple[int, ...]) -> int | None:
        return oracles.score_units(labelling, self.start, self.edges)


@dataclass(frozen=True)
class Case:
    """A rule and what the oracle counts for it: f(names, tokens) -> int."""

    rule: Rule
    count: Callable[[list[str], tuple[str, ...]], int]

    def violations(self, names: list[str], tokens: tuple[str, ...]) -> int:
        result = self.count(names, tokens)
        return min(1, result) if self.rule.distance == "binary" else result


NEAR_TIES = st.integers(-3, 3).map(lambda k: k * UNIT)
WIDE = st.floats(-20, 20)
FORBIDDING = st.one_of(WIDE, WIDE, WIDE, st.just(-math.inf))


@st.composite
def instances(draw: st.DrawFn, scores: st.SearchStrategy[float] = FORBIDDING, longest: int = 4) -> Instance:
    scheme, names = draw(st.sampled_from(LABEL_SETS))
    K, T = len(names), draw(st.integers(1, longest))
    start = draw(st.lists(scores, min_size=K, max_size=K))
    flat = draw(st.lists(scores, min_size=(T - 1) * K * K, max_size=(T - 1) * K * K))
    edges = np.array(flat).reshape(T - 1, K, K).tolist()
    tokens = draw(st.lists(st.sampled_from(TOKENS), min_size=T, max_size=T))
    labels = LabelSet(names, scheme)
    return Instance(Trellis(start, edges, labels=labels, tokens=tokens), start, edges, scheme)


def _selectors(labels: LabelSet) -> st.SearchStrategy:
    fields = list(labels.fields)
    one = st.sampled_from(fields)
    if len(fields) == 1:
        return one
    return st.one_of(one, st.lists(one, min_size=2, max_size=2, unique=True).map(tuple))


PENALTIES = st.one_of(st.just(math.inf), st.integers(1, 4).map(lambda k: k * UNIT), st.floats(0.01, 10))


@st.composite
def cases(draw: st.DrawFn, labels: LabelSet, penalties: st.SearchStrategy[float] = PENALTIES) -> Case:
    """Any template on any fields, hard or soft, by either distance."""
    scheme = labels.scheme
    A, B = draw(_selectors(labels)), draw(_selectors(labels))
    n, m = draw(st.integers(0, 3)), draw(st.integers(1, 4))
    how = {"penalty": draw(penalties), "distance": draw(st.sampled_from(("count", "binary")))}
    word, other = draw(st.sampled_from(TOKENS)), draw(st.sampled_from(TOKENS))
    position, flag = draw(st.integers(-4, 4)), draw(st.booleans())
    low, high = sorted((n, draw(st.integers(0, 3))))
    every = tuple(f.name for f in labels.each_field)
    fields = list(labels.fields)

    def matches(token: str) -> bool:
        return token == word

    def punctuation(token: str) -> bool:
        return token == "."

    def matches_other(token: str) -> bool:
        return token == other

    options: list[Callable[[], Case]] = [
        lambda: Case(C.at_most_runs(A, n, **how), lambda y, x: oracles.at_most_runs(y, x, A, n, scheme)),
        lambda: Case(C.at_least_runs(A, n, **how), lambda y, x: oracles.at_least_runs(y, x, A, n, scheme)),
        lambda: Case(C.at_most_tokens(A, n, **how), lambda y, x: oracles.at_most_tokens(y, x, A, n, scheme)),
        lambda: Case(
            C.at_least_tokens(A, n, **how), lambda y, x: oracles.at_least_tokens(y, x, A, n, scheme)
        ),
        lambda: Case(
            C.forbidden_transition(A, B, **how), lambda y, x: oracles.forbidden_transition(y, x, A, B, scheme)
        ),
        lambda: Case(C.starts_with(A, **how), lambda y, x: oracles.starts_with(y, x, A, scheme)),
        lambda: Case(C.ends_with(A, **how), lambda y, x: oracles.ends_with(y, x, A, scheme)),
        lambda: Case(
            C.tag_at(A, words=[word], **how), lambda y, x: oracles.token_has_label(y, x, matches, A, scheme)
        ),
        lambda: Case(
            C.changes_only_after(**how), lambda y, x: oracles.changes_only_after(y, x, punctuation, scheme)
        ),
        lambda: Case(
            C.requires_present(A, B, **how), lambda y, x: oracles.requires_present(y, x, A, B, scheme)
        ),
        lambda: Case(
            C.requires_before(A, B, **how), lambda y, x: oracles.requires_before(y, x, A, B, scheme)
        ),
        lambda: Case(C.valid_scheme(**how), lambda y, x: oracles.valid_scheme(y, x, scheme)),
        lambda: Case(
            C.exactly_runs(A, n, **how), lambda y, x: abs(len(oracles.run_starts(y, A, scheme)) - n)
        ),
        lambda: Case(
            C.exactly_tokens(A, n, **how), lambda y, x: abs(len(oracles.tokens_of(y, A, scheme)) - n)
        ),
        lambda: Case(
            C.at_most_runs(C.EACH_FIELD, n, **how),
            lambda y, x: sum(oracles.at_most_runs(y, x, f.name, n, scheme) for f in labels.each_field),
        ),
        lambda: Case(
            C.should_not_precede(position, A, B, **how),
            lambda y, x: more.should_not_precede(y, x, position, A, B, scheme),
        ),
        lambda: Case(
            C.should_be_tagged(position, A, **how),
            lambda y, x: more.should_be_tagged(y, x, position, A, scheme),
        ),
        lambda: Case(
            C.tag_at(A, words=[word], previous=C.tokens([other]), **how),
            lambda y, x: more.tag_at(y, x, matches, A, scheme, previous=matches_other),
        ),
        lambda: Case(
            C.tag_at(A, unless=[word], following=other, **how),
            lambda y, x: more.tag_at(y, x, lambda t: t != word, A, scheme, following=matches_other),
        ),
        lambda: Case(
            C.contains_only(A, words=[word], **how), lambda y, x: more.contains_only(y, x, A, matches, scheme)
        ),
        lambda: Case(
            C.tag_phrases(A, [f"{word} {other}", "word"], longer_than=n % 2, **how),
            lambda y, x: more.tag_phrases(y, x, A, [f"{word} {other}", "word"], scheme, longer_than=n % 2),
        ),
        lambda: Case(
            C.tag_sequence(A, [C.tokens([word]), other], **how),
            lambda y, x: more.tag_sequence(y, x, A, [matches, matches_other], scheme),
        ),
        lambda: Case(
            C.right_before(A, words=[word], **how), lambda y, x: more.right_before(y, x, A, matches, scheme)
        ),
        lambda: Case(
            C.directly_after(A, B, at_start=flag, **how),
            lambda y, x: more.directly_after(y, x, A, B, scheme, at_start=flag),
        ),
        lambda: Case(
            C.changes_never_after(words=[word], **how),
            lambda y, x: more.changes_never_after(y, x, matches, scheme),
        ),
        lambda: Case(C.adjacency(A, B, **how), lambda y, x: more.adjacency(y, x, A, B, scheme)),
        lambda: Case(
            C.between_runs(A, low, high, **how), lambda y, x: more.between_runs(y, x, A, low, high, scheme)
        ),
        lambda: Case(
            C.between_tokens(A, low, high, **how),
            lambda y, x: more.between_tokens(y, x, A, low, high, scheme),
        ),
        lambda: Case(
            C.at_most_in_window(A, n, m, **how), lambda y, x: more.at_most_in_window(y, x, A, n, m, scheme)
        ),
        lambda: Case(C.min_run_length(A, n, **how), lambda y, x: more.min_run_length(y, x, A, n, scheme)),
        lambda: Case(C.max_run_length(A, n, **how), lambda y, x: more.max_run_length(y, x, A, n, scheme)),
        lambda: Case(
            C.all_different(C.EACH_FIELD, words=[word], **how),
            lambda y, x: more.all_different(y, x, every, matches, scheme),
        ),
        lambda: Case(
            C.consistent(**how), lambda y, x: more.consistent(y, x, lambda token: token != ".", scheme)
        ),
        lambda: Case(
            C.consistent(words=[word], same="lower", **how),
            lambda y, x: more.consistent(y, x, matches, scheme, lower=True),
        ),
        lambda: Case(C.tag_implies_tag(A, B, **how), lambda y, x: more.tag_implies_tag(y, x, A, B, scheme)),
        lambda: Case(
            C.sequence_implies_sequence(A, B, **how),
            lambda y, x: more.sequence_implies_sequence(y, x, A, B, scheme),
        ),
        lambda: Case(C.never_together(A, B, **how), lambda y, x: more.never_together(y, x, A, B, scheme)),
        lambda: Case(C.precedence(A, B, **how), lambda y, x: more.precedence(y, x, A, B, scheme)),
        lambda: Case(
            C.presence_precedence(A, B, **how), lambda y, x: more.presence_precedence(y, x, A, B, scheme)
        ),
        lambda: Case(C.inside(A, B, **how), lambda y, x: more.inside(y, x, A, B, scheme)),
        lambda: Case(C.begin_end(A, B, **how), lambda y, x: more.begin_end(y, x, A, B, scheme)),
        lambda: Case(
            C.state_change(A, B, words=[word], both=flag, **how),
            lambda y, x: more.state_change(y, x, A, B, matches, scheme, both=flag),
        ),
        lambda: Case(C.max_gap(A, B, n, **how), lambda y, x: more.max_gap(y, x, A, B, n, scheme)),
        lambda: Case(C.alternation(A, B, **how), lambda y, x: more.alternation(y, x, A, B, scheme)),
        lambda: Case(
            C.next_field(A, B, required=flag, **how),
            lambda y, x: more.next_field(y, x, A, B, scheme, required=flag),
        ),
        lambda: Case(C.numbers_continue(A, **how), lambda y, x: more.numbers_continue(y, x, A, scheme)),
        lambda: _regex_case(draw(_expressions(labels)), "runs" if flag else "tokens", how, scheme),
        lambda: _formula_case(draw(formulas.formulas(fields)), labels, how),
        lambda: _formula_case(draw(formulas.formulas(fields)), labels, how),
        lambda: _formula_case(draw(formulas.formulas(fields)), labels, how),
        lambda: _inequality_case(draw(formulas.inequalities(fields)), labels, how),
        lambda: _inequality_case(draw(formulas.inequalities(fields)), labels, how),
        lambda: Case(
            C.at_most_runs("X", n, scope="each label", **how),
            lambda y, x: sum(oracles.at_most_runs(y, x, f, n, scheme) for f in every),
        ),
        lambda: Case(
            C.never_together("X", "Y", scope="each pair", **how),
            lambda y, x: sum(more.never_together(y, x, f, g, scheme) for f in every for g in every if f != g),
        ),
    ]
    return draw(st.sampled_from(options))()


def _expressions(labels: LabelSet) -> st.SearchStrategy[str]:
    names = st.sampled_from([f"'{name}'" for name in labels.fields])
    partial = [f"!'{name}'" for name, field in labels.fields.items() if not field.member.all()]
    others = st.sampled_from(partial) if partial else st.nothing()
    letters = st.one_of(names, others, st.just("."))
    return st.recursive(
        letters,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(" ".join),
            st.tuples(inner, inner).map(lambda two: f"({two[0]} | {two[1]})"),
            st.tuples(inner, st.sampled_from(("*", "+", "?", "{2}", "{1,2}"))).map(
                lambda p: f"({p[0]}){p[1]}"
            ),
        ),
        max_leaves=5,
    )


def _regex_case(regex: str, over: str, how: dict, scheme: str) -> Case:
    return Case(C.matches(regex, over, **how), lambda y, x: more.label_regex(y, x, regex, over, scheme))


def _formula_case(formula: formulas.Formula, labels: LabelSet, how: dict) -> Case:
    return Case(
        C.logic(formula.text(), **how),
        lambda y, x: formulas.violations(formula, tuple(y), x, labels.scheme, labels.names),
    )


def _inequality_case(inequality: formulas.Inequality, labels: LabelSet, how: dict) -> Case:
    return Case(
        C.linear(inequality.text(), **how), lambda y, x: inequality.violations(tuple(y), x, labels.scheme)
    )


@st.composite
def problems(
    draw: st.DrawFn,
    scores: st.SearchStrategy[float] = FORBIDDING,
    penalties: st.SearchStrategy[float] = PENALTIES,
    longest: int = 4,
) -> tuple[Instance, list[Case]]:
    """A trellis and up to four rules on it."""
    instance = draw(instances(scores, longest))
    result = draw(st.lists(cases(instance.trellis.labels, penalties), max_size=4))
    compiled = compile_problem(instance.trellis, [case.rule for case in result])
    assume(not any(rule.overruled for rule in compiled.rules))
    return instance, result


def cost_units(
    instance: Instance, result: list[Case], labelling: tuple[int, ...], *, hard: bool = True
) -> int | None:
    """What a labelling pays by the oracle, in grid units; None where it breaks a hard rule (and `hard`)."""
    names, cost = instance.names(labelling), 0
    for case in result:
        violations = case.violations(names, instance.trellis.tokens)
        if violations and case.rule.penalty == math.inf:
            if hard:
                return None
        elif violations:
            cost += violations * (oracles.snap(case.rule.penalty) or 0)
    return cost
