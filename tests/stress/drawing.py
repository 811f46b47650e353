"""Random rules of every kind and random trellises of every kind, with what they mean."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from support.strategies import LABEL_SETS, UNIT, Instance, cases, factored

from formulations import LabelSet, Rule, RuleSet, Trellis
from formulations.problem.compiled_rules import compile_rules
from formulations.problem.folding import Folding
from formulations.problem.token_scores import TokenScores
from stress.statements import Statement, as_hamming, feature, tied

ABSENT = "Z"
ODD = ("\0", " ", "\u00e9", "e\u0301", "\U0001f600", "\n", "x" * 3000, "\u00a0", "\u2028")
SENSITIVE = ("logic", "linear", "changes_only_after", "numbers_continue")
"""Templates whose oracles know plain tokens only."""
TIED = ("tag_at", "right_before", "tag_phrases", "tag_sequence")


@cache
def drawn(number: int, label_set: int, absent: bool) -> tuple[Any, ...]:
    """Rules with their meanings, from the strategies that other tests use."""
    scheme, names = LABEL_SETS[label_set]
    labels: Any = LabelSet(names, scheme)
    if absent:
        fields = {**labels.fields, ABSENT: SimpleNamespace(member=np.zeros(len(names), bool))}
        labels = SimpleNamespace(
            scheme=scheme,
            names=names,
            fields=fields,
            each_field=labels.each_field,
            nothing_to_keep=labels.nothing_to_keep,
        )
    result: list[Any] = []

    @seed(number)
    @settings(
        max_examples=40,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases(labels))
    def collect(case: Any) -> None:
        result.append(case)

    collect()
    return tuple(result)


@cache
def followed(number: int, label_set: int, absent: bool) -> tuple[Any, ...]:
    """Those of the rules drawn that have machines, whatever the sequence."""
    scheme, names = LABEL_SETS[label_set]
    labels, fields = LabelSet(names, scheme), (ABSENT,) if absent else ()
    foldings = {
        case: Folding(compile_rules(RuleSet((case.rule,), fields), labels))
        for case in drawn(number, label_set, absent)
    }
    return tuple(case for case, folding in foldings.items() if folding.machines(8))


def penalty(rng: random.Random) -> float:
    return rng.choice(
        (math.inf, math.inf, UNIT, 2 * UNIT, 3 * UNIT, 0.5, rng.uniform(0.01, 8), rng.uniform(10, 1e4))
    )


def draw_statements(
    rng: random.Random,
    pool: Sequence[Any],
    machines: Sequence[Any],
    labels: LabelSet,
    words: Sequence[str],
    odd: bool,
    absent: bool,
) -> list[Statement]:
    """Up to six rules and features; in most rounds only those that are the same for every sequence."""
    result: list[Statement] = []
    tying, hard = rng.choice(((0.15, False), (0.15, False), (0.7, True)))
    known, whole = labels.with_optional_fields((ABSENT,) if absent else ()), rng.random() < 0.7
    few = (0, 1, 1, 2, 2, 3, 3, 4, 6)
    if machines and rng.random() < 0.5:
        pool, tying, whole, few = machines, 0.05, True, (2, 3, 4, 6, 8)
    elif whole:
        pool = [case for case in pool if case.rule.components(known) is not None]
    for number in range(rng.choice(few)):
        kind = rng.random()
        if kind < 0.12:
            result.append(feature(rng, labels, words, f"feature {number}"))
        elif kind < 0.12 + tying:
            price = math.inf if hard and rng.random() < 0.7 else penalty(rng)
            made = tied(rng, labels, words, price, f"tied {number}", ABSENT if absent else "")
            assert isinstance(made.item, Rule)
            if not whole or made.item.components(known) is not None:
                result.append(made)
        else:
            case = rng.choice(pool)
            name = case.rule.statement.rule_name
            if name in TIED or (odd and name in SENSITIVE):
                continue
            distance = rng.choice(("count", "count", "count", "binary", "count" if whole else "hamming"))
            rule = replace(case.rule, penalty=penalty(rng), distance=distance)
            made = Statement(rule, case.count)
            result.append(as_hamming(made, labels) if distance == "hamming" else made)
    return result


def scores(rng: random.Random) -> Callable[..., Any]:
    """What makes arrays of scores of one kind."""
    kind = rng.choice(
        ("ties", "near ties", "wide", "wide", "forbidding", "mostly forbidden", "large", "zero")
    )
    draw = np.random.default_rng(rng.randrange(2**32))

    def make(*shape: int) -> Any:
        if kind in ("ties", "near ties"):
            return draw.integers(-3, 4, shape) * (1.0 if kind == "ties" else UNIT)
        values = draw.uniform(-20, 20, shape) if kind != "zero" else np.zeros(shape)
        if kind == "large":
            return values * 1e5
        forbidden = {"forbidding": 0.15, "mostly forbidden": 0.5}.get(kind, 0.0)
        return np.where(draw.random(shape) < forbidden, -np.inf, values)

    return make


def draw_sequence(
    rng: random.Random,
    make: Callable[..., Any],
    shared: Sequence[Any],
    labels: LabelSet,
    words: Sequence[str],
    longest: int = 5,
) -> Instance:
    K = len(labels)
    T = rng.choice((1, 1, 2, 2, 3, 3, 3, 4, 4, 5)) - (K == 4 and rng.random() < 0.2)
    T = min(max(T, 1), longest)
    tokens = None if rng.random() < 0.06 else [rng.choice(words) for _ in range(T)]
    named: dict[str, Any] = {"labels": labels, "tokens": tokens}
    kind = rng.choice(("shared", "shared", "shared", "own", "own", "second", "second shared"))
    if kind == "own":
        numbers = {"start": make(K), "edges": make(T - 1, K, K)}
        return Instance(Trellis(**numbers, **named), numbers)
    if kind == "second":
        start, first, edges = make(K), make(K, K) if T > 1 else [], make(max(T - 2, 0), K, K, K)
        numbers = {"start": start, "first": first, "edges": edges}
        return Instance(Trellis.second_order(**numbers, **named), numbers)
    transitions = rng.choice(shared)[kind != "shared"]
    emissions = make(T, K)
    ends = {end: make(K) if rng.random() < 0.5 else None for end in ("start", "end")}
    trellis = Trellis.from_emissions(emissions, transitions, **ends, **named)
    return Instance(trellis, factored(emissions, transitions, **ends))


def draw_texts(
    rng: random.Random,
    make: Callable[..., Any],
    labels: LabelSet,
    words: Sequence[str],
    number: int,
    longest: int = 5,
) -> tuple[TokenScores, list[Instance]]:
    """A model of token scores, and texts with their scores."""
    K = len(labels)
    ends = {end: make(K) if rng.random() < 0.5 else None for end in ("start", "end")}
    rows, transitions = {"": make(K), **dict(zip(words, make(len(words), K)))}, make(K, K)
    scores = TokenScores(
        labels, lambda tokens: np.array([rows[token] for token in tokens]), transitions, **ends
    )
    result = []
    for _ in range(number):
        tokens = [rng.choice(words) for _ in range(rng.randint(1, min(longest, 4)))]
        numbers = factored([rows[token] for token in tokens], transitions, **ends)
        result.append(Instance(scores.trellis(tokens), numbers))
    return scores, result
