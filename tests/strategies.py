"""Hypothesis strategies for small trellises and rules, each rule beside its meaning by the oracle."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import oracles
from hypothesis import strategies as st

from formulations import LabelSet, Rule, Trellis
from formulations import constraints as C

LABEL_SETS = [
    ("plain", ("a", "b")),
    ("plain", ("a", "b", "O")),
    ("plain", ("a", "b", "c", "O")),
    ("bio", ("B-a", "I-a", "O")),
    ("bio", ("B-a", "I-a", "B-b", "I-b")),
    ("iobes", ("B-a", "I-a", "E-a", "S-a")),
    ("iobes", ("B-a", "E-a", "S-b", "O")),
    ("paths", ("B-v", "I-v", "I-v/B-p", "I-v/I-p")),
    ("paths", ("B-v/B-p", "I-v/B-q", "I-v/I-q", "O")),
]
TOKENS = (".", "word", "pp", "1999")
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
        found = self.count(names, tokens)
        return min(1, found) if self.rule.distance == "binary" else found


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
    n = draw(st.integers(0, 3))
    how = {"penalty": draw(penalties), "distance": draw(st.sampled_from(("count", "binary")))}
    word = draw(st.sampled_from(TOKENS))

    def matches(token: str) -> bool:
        return token == word

    def punctuation(token: str) -> bool:
        return token == "."

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
    ]
    return draw(st.sampled_from(options))()


@st.composite
def problems(
    draw: st.DrawFn,
    scores: st.SearchStrategy[float] = FORBIDDING,
    penalties: st.SearchStrategy[float] = PENALTIES,
    longest: int = 4,
) -> tuple[Instance, list[Case]]:
    """A trellis and up to four rules on it."""
    instance = draw(instances(scores, longest))
    found = draw(st.lists(cases(instance.trellis.labels, penalties), max_size=4))
    return instance, found


def cost_units(
    instance: Instance, found: list[Case], labelling: tuple[int, ...], *, hard: bool = True
) -> int | None:
    """What a labelling pays by the oracle, in grid units; None where it breaks a hard rule (and `hard`)."""
    names, cost = instance.names(labelling), 0
    for case in found:
        violations = case.violations(names, instance.trellis.tokens)
        if violations and case.rule.penalty == math.inf:
            if hard:
                return None
        elif violations:
            cost += violations * (oracles.snap(case.rule.penalty) or 0)
    return cost
