"""Hypothesis strategies for small trellises and rules, each rule beside its meaning by the oracle."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from support import formulas, oracles
from support import template_oracles as more

from formulations import LabelSet, Rule, Trellis
from formulations import constraints as C
from formulations.problem import compiled_rules
from formulations.problem.compiled_rules import compile_problem

LABEL_SETS = [
    ("plain", ("a",)),
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
    """A trellis with the numbers that it was made of, as `oracles.score_units` takes them."""

    trellis: Trellis
    numbers: dict[str, Any]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.trellis), len(self.trellis.labels)

    def names(self, labelling: tuple[int, ...]) -> list[str]:
        return [self.trellis.labels.names[k] for k in labelling]

    def units(self, labelling: tuple[int, ...]) -> int | None:
        return oracles.score_units(labelling, **self.numbers)


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


def factored(emissions: Any, transitions: Any, **ends: Any) -> dict[str, Any]:
    """The numbers of emissions (T, K) and of transitions that are the same at every step, of either order."""
    steps = max(len(emissions) - np.ndim(transitions) + 1, 0)
    return {"emissions": emissions, "edges": [transitions] * steps, **ends}


@st.composite
def instances(
    draw: st.DrawFn,
    scores: st.SearchStrategy[float] = FORBIDDING,
    longest: int = 4,
    order: int = 1,
    words: Sequence[str] = TOKENS,
    label_sets: Sequence[tuple[str, tuple[str, ...]]] = LABEL_SETS,
) -> Instance:
    """Scores of each step, or emissions and transitions; those of second order are one token longer where that is cheap."""
    scheme, names = draw(st.sampled_from(label_sets))
    K = len(names)
    T = draw(st.integers(1, longest + (order == 2 and K < 4)))

    def array(*shape: int) -> list:
        size = math.prod(shape)
        return np.reshape(draw(st.lists(scores, min_size=size, max_size=size)), shape).tolist()

    tokens = draw(st.lists(st.sampled_from(words), min_size=T, max_size=T))
    named = {"labels": LabelSet(names, scheme), "tokens": tokens}
    square, cube = (K, K), (K,) * (order + 1)
    if draw(st.booleans()):
        numbers = {"start": array(K), "edges": array(max(T - order, 0), *cube)}
        if order == 1:
            return Instance(Trellis(**numbers, **named), numbers)
        numbers["first"] = array(*square) if T > 1 else []
        return Instance(Trellis.second_order(**numbers, **named), numbers)
    emissions, transitions = array(T, K), array(*cube)
    shapes = {"start": (K,), "end": (K,), **({"first": square} if order == 2 else {})}
    ends = {name: array(*shape) for name, shape in shapes.items() if draw(st.booleans())}
    trellis = Trellis.from_emissions(emissions, transitions, **ends, **named)
    return Instance(trellis, factored(emissions, transitions, **ends))


def _selectors(labels: LabelSet) -> st.SearchStrategy:
    fields = list(labels.fields)
    one = st.sampled_from(fields)
    if len(fields) == 1:
        return one
    return st.one_of(one, st.lists(one, min_size=2, max_size=2, unique=True).map(tuple))


PENALTIES = st.one_of(st.just(math.inf), st.integers(1, 4).map(lambda k: k * UNIT), st.floats(0.01, 10))
NEAR_PENALTIES = st.one_of(st.just(math.inf), st.integers(1, 3).map(lambda k: k * UNIT))


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

    def case(rule: Rule, meaning: Callable[..., int], *given: object, **options: object) -> Case:
        return Case(rule, lambda y, x: meaning(y, x, *given, scheme, **options))

    def each(rule: Rule, meaning: Callable[..., int], *given: object) -> Case:
        return Case(rule, lambda y, x: sum(meaning(y, x, field, *given, scheme) for field in every))

    phrases, pairs = [f"{word} {other}", "word"], [(f, g) for f in every for g in every if f != g]
    options: list[Callable[[], Case]] = [
        lambda: case(C.at_most_runs(A, n, **how), more.between_runs, A, 0, n),
        lambda: case(C.at_least_runs(A, n, **how), more.between_runs, A, n, math.inf),
        lambda: case(C.at_most_tokens(A, n, **how), more.between_tokens, A, 0, n),
        lambda: case(C.at_least_tokens(A, n, **how), more.between_tokens, A, n, math.inf),
        lambda: case(C.forbidden_transition(A, B, **how), oracles.forbidden_transition, A, B),
        lambda: case(C.starts_with(A, **how), oracles.starts_with, A),
        lambda: case(C.ends_with(A, **how), oracles.ends_with, A),
        lambda: case(C.tag_at(A, words=[word], **how), more.tag_at, matches, A),
        lambda: case(C.changes_only_after(**how), oracles.changes_only_after, punctuation),
        lambda: case(C.requires_present(A, B, **how), more.tag_implies_tag, A, B),
        lambda: case(C.requires_before(A, B, **how), oracles.requires_before, A, B),
        *([] if labels.nothing_to_keep else [lambda: case(C.valid_scheme(**how), oracles.valid_scheme)]),
        lambda: case(C.exactly_runs(A, n, **how), more.between_runs, A, n, n),
        lambda: case(C.exactly_tokens(A, n, **how), more.between_tokens, A, n, n),
        lambda: each(C.at_most_runs(C.EACH_FIELD, n, **how), more.between_runs, 0, n),
        lambda: case(C.should_not_precede(position, A, B, **how), more.should_not_precede, position, A, B),
        lambda: case(C.should_be_tagged(position, A, **how), more.should_be_tagged, position, A),
        lambda: case(
            C.tag_at(A, words=[word], previous=C.tokens([other]), **how),
            *(more.tag_at, matches, A),
            previous=matches_other,
        ),
        lambda: case(
            C.tag_at(A, unless=[word], following=other, **how),
            *(more.tag_at, lambda token: token != word, A),
            following=matches_other,
        ),
        lambda: case(C.contains_only(A, words=[word], **how), more.contains_only, A, matches),
        lambda: case(
            C.tag_phrases(A, phrases, longer_than=n % 2, **how),
            *(more.tag_phrases, A, phrases),
            longer_than=n % 2,
        ),
        lambda: case(
            C.tag_sequence(A, [C.tokens([word]), other], **how),
            more.tag_sequence,
            A,
            [matches, matches_other],
        ),
        lambda: case(C.right_before(A, words=[word], **how), more.right_before, A, matches),
        lambda: case(C.directly_after(A, B, at_start=flag, **how), more.directly_after, A, B, at_start=flag),
        lambda: case(C.changes_never_after(words=[word], **how), more.changes_never_after, matches),
        lambda: case(C.adjacency(A, B, **how), more.adjacency, A, B),
        lambda: case(C.between_runs(A, low, high, **how), more.between_runs, A, low, high),
        lambda: case(C.between_tokens(A, low, high, **how), more.between_tokens, A, low, high),
        lambda: case(C.at_most_in_window(A, n, width=m, **how), more.at_most_in_window, A, n, m),
        lambda: case(C.min_run_length(A, n, **how), more.min_run_length, A, n),
        lambda: case(C.max_run_length(A, n, **how), more.max_run_length, A, n),
        lambda: case(C.all_different(C.EACH_FIELD, words=[word], **how), more.all_different, every, matches),
        lambda: case(C.consistent(**how), more.consistent, lambda token: token != "."),
        lambda: case(C.consistent(words=[word], same="lower", **how), more.consistent, matches, lower=True),
        lambda: case(C.tag_implies_tag(A, B, **how), more.tag_implies_tag, A, B),
        lambda: case(C.sequence_implies_sequence(A, B, **how), more.tag_implies_tag, A, B),
        lambda: case(C.never_together(A, B, **how), more.never_together, A, B),
        lambda: case(C.precedence(A, B, **how), more.precedence, A, B),
        lambda: case(C.presence_precedence(A, B, **how), more.presence_precedence, A, B),
        lambda: case(C.inside(A, B, **how), more.inside, A, B),
        lambda: case(C.begin_end(A, B, **how), more.begin_end, A, B),
        lambda: case(
            C.state_change(A, B, words=[word], both=flag, **how), more.state_change, A, B, matches, both=flag
        ),
        lambda: case(C.max_gap(A, B, n, **how), more.max_gap, A, B, n),
        lambda: case(C.alternation(A, B, **how), more.alternation, A, B),
        lambda: case(C.next_field(A, B, required=flag, **how), more.next_field, A, B, required=flag),
        lambda: case(C.numbers_continue(A, **how), more.numbers_continue, A),
        lambda: _regex_case(draw(_expressions(labels)), "runs" if flag else "tokens", how, labels),
        *[lambda: _formula_case(draw(formulas.formulas(fields)), labels, how)] * 3,
        *[lambda: _inequality_case(draw(formulas.inequalities(fields)), labels, how)] * 2,
        lambda: each(C.at_most_runs("X", n, scope="each label", **how), more.between_runs, 0, n),
        lambda: Case(
            C.never_together("X", "Y", scope="each pair", **how),
            lambda y, x: sum(more.never_together(y, x, f, g, scheme) for f, g in pairs),
        ),
    ]
    return draw(st.sampled_from(options))()


def _expressions(labels: LabelSet) -> st.SearchStrategy[tuple[str, str]]:
    """Regular expressions over labels, and what they are in Python, where letter k stands for label k."""
    letters = [(".", ".")]
    for name in labels.fields:
        members = [k for k, label in enumerate(labels.names) if oracles.belongs(label, name, labels.scheme)]
        inside = "".join(more.LETTERS[k] for k in members)
        letters.append((f"'{name}'", f"[{inside}]" if members else "(?!)"))
        if len(members) < len(labels.names):
            letters.append((f"!'{name}'", f"[^{inside}]" if members else "."))

    def both(form: str, *parts: tuple[str, str]) -> tuple[str, str]:
        own, python = (form.format(*texts) for texts in zip(*parts, strict=True))
        return own, python.replace(" ", "")

    return st.recursive(
        st.sampled_from(letters),
        lambda inner: st.one_of(
            st.builds(both, st.sampled_from(("{} {}", "({} | {})")), inner, inner),
            st.builds(both, st.sampled_from(("({})*", "({})+", "({})?", "({}){{2}}", "({}){{1,2}}")), inner),
        ),
        max_leaves=5,
    )


def _regex_case(texts: tuple[str, str], over: str, how: dict, labels: LabelSet) -> Case:
    regex, pattern = texts
    count = lambda y, x: more.label_regex(y, x, pattern, over, labels.names, labels.scheme)  # noqa: E731
    return Case(C.matches(regex, over, **how), count)


def _formula_case(formula: formulas.Formula, labels: LabelSet, how: dict) -> Case:
    return Case(
        C.logic(formula.text(), **how),
        lambda y, x: formulas.violations(formula, tuple(y), x, labels.scheme, labels.names),
    )


def _inequality_case(inequality: formulas.Inequality, labels: LabelSet, how: dict) -> Case:
    return Case(
        C.linear(inequality.text(), **how), lambda y, x: inequality.violations(tuple(y), x, labels.scheme)
    )


class Problem(NamedTuple):
    """A trellis and rules on it, with what brute force says of them; scores and costs are grid units."""

    instance: Instance
    cases: list[Case]

    @property
    def trellis(self) -> Trellis:
        return self.instance.trellis

    @property
    def rules(self) -> list[Rule]:
        return [case.rule for case in self.cases]

    @property
    def given(self) -> tuple[Trellis, list[Rule]]:
        """What functions of the package are called with."""
        return self.trellis, self.rules

    @property
    def shape(self) -> tuple[int, int]:
        return self.instance.shape

    @property
    def labellings(self) -> list[oracles.Labelling]:
        return list(oracles.labellings(*self.shape))

    def compiled(self) -> compiled_rules.Problem:
        return compile_problem(*self.given)

    def machined(self) -> compiled_rules.Problem:
        """The compiled problem; none of its rules is without machines."""
        compiled = self.compiled()
        assume(not any(rule.machineless for rule in compiled.rules))
        return compiled

    def names(self, labelling: oracles.Labelling) -> list[str]:
        return self.instance.names(labelling)

    def units(self, labelling: oracles.Labelling) -> int | None:
        return self.instance.units(labelling)

    def violations(self, labelling: oracles.Labelling) -> list[int]:
        return [case.violations(self.names(labelling), self.trellis.tokens) for case in self.cases]

    def cost(self, labelling: oracles.Labelling, *, hard: bool = True) -> int | None:
        """None where a hard rule is broken; hard rules cost nothing if not `hard`."""
        return cost_units(self.instance, self.cases, labelling, hard=hard)

    def best(self) -> tuple[int | None, set[oracles.Labelling]]:
        return oracles.best(*self.shape, self.units, self.cost)

    def two_phase(self, tau: float, bound: str) -> tuple | None:
        """What `oracles.two_phase` says."""
        cost = lambda y: self.cost(y, hard=False)  # noqa: E731
        return oracles.two_phase(*self.shape, self.units, self.cost, cost, tau, bound)

    def shares(self) -> tuple[float, dict[oracles.Labelling, float]]:
        """log Σ exp, nats, and the probability of each labelling; scores may be far beyond what exp can bear."""
        totals = {y: units * UNIT for units, y in self.top()}
        best = max(totals.values(), default=-math.inf)
        weights = {y: math.exp(total - best) for y, total in totals.items()}
        whole = math.fsum(weights.values())
        partition = best + math.log(whole) if weights else -math.inf
        return partition, {y: weight / whole for y, weight in weights.items()}

    def top(self, k: int | None = None) -> list[tuple[int, oracles.Labelling]]:
        """The best few or all by score, equal ones by label ids."""
        return oracles.top(*self.shape, self.units, self.cost, k)


@st.composite
def problems(
    draw: st.DrawFn,
    scores: st.SearchStrategy[float] = FORBIDDING,
    penalties: st.SearchStrategy[float] = PENALTIES,
    longest: int = 4,
    order: int = 1,
) -> Problem:
    """A trellis and up to four rules on it."""
    instance = draw(instances(scores, longest, order))
    problem = Problem(instance, draw(st.lists(cases(instance.trellis.labels, penalties), max_size=4)))
    assume(not any(rule.overruled for rule in problem.compiled().rules))
    return problem


def near_ties(**more: Any) -> st.SearchStrategy[Problem]:
    """Problems whose scores and penalties are a few grid units."""
    return problems(NEAR_TIES, NEAR_PENALTIES, **more)


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


def by_numbers(start: Any, edges: Any, labels: Sequence[str], *given: tuple[Rule, Callable]) -> Problem:
    """A problem of plain labels by its scores, and rules beside what they count of a list of label names."""
    start, edges = np.asarray(start).tolist(), np.asarray(edges).tolist()
    counted = [Case(rule, lambda y, x, count=count: count(y)) for rule, count in given]
    return Problem(Instance(Trellis(start, edges, labels=labels), {"start": start, "edges": edges}), counted)


def counts(seed: int, T: int = 6, scale: int = 4) -> Problem:
    """A random problem of counting rules; with the scale of 2^20, its scores are a few grid units."""
    rng = np.random.default_rng(seed)
    start, edges = rng.integers(-8, 8, 3) / scale, rng.integers(-8, 8, (T - 1, 3, 3)) / scale
    one, two, three, four = (rng.choice([1, 2, 4, 8, math.inf], 4) / scale).tolist()
    return by_numbers(
        *(start, edges, ["a", "b", "O"]),
        (C.at_most_runs("a", 1, penalty=one), lambda y: more.between_runs(y, y, "a", 0, 1, "plain")),
        (C.at_least_tokens("b", 3, penalty=two), lambda y: max(0, 3 - y.count("b"))),
        (C.at_most_tokens("O", 1, penalty=three), lambda y: max(0, y.count("O") - 1)),
        (C.requires_present("a", "O", penalty=four), lambda y: int("a" in y and "O" not in y)),
    )
