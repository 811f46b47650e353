"""Decoders on random problems, against brute force: `python tests/stress/decoder.py [--cases N] [--seed N]`.

A round has rules of one label set, one Decoder, and sequences that it decodes in one of several ways, with limits that
are small at times. What it finds is compared with all labellings, which `oracles` and `template_oracles` value.
"""

import argparse
import math
import pickle
import random
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import oracles
from hypothesis import HealthCheck, Phase, given, seed, settings
from strategies import LABEL_SETS, TOKENS, UNIT, cases

import ilpinfer
from formulations import LabelSet, Rule, RuleSet, Trellis
from formulations.compiled import vocabulary
from formulations.compiled.problem import RuleNotice
from formulations.compiled.rules import compile_problem
from ilpinfer.exact import compiled
from stress.statements import Statement, as_hamming, feature, overruled, tied

ABSENT = "Z"
ODD = ("\0", " ", "\u00e9", "e\u0301", "\U0001f600", "\ud800", "\n", "x" * 3000, "\u00a0", "\u2028")
SENSITIVE = ("logic", "linear", "changes_only_after", "numbers_continue")
"""Templates whose oracles know plain tokens only."""
TIED = ("tag_at", "right_before", "tag_phrases", "tag_sequence")
WAYS = ("one by one", "one by one", "function", "many", "threads", "threads", "pickled", "batch")
ROUND = 16
"""Sequences of a round."""


@dataclass(frozen=True)
class Scored:
    """A trellis, and what each step of a labelling adds: step(labels before, next label), None where it is forbidden."""

    trellis: Trellis
    step: Callable[[tuple[int, ...], int], int | None]

    def labellings(self) -> list[tuple[int, tuple[int, ...]]]:
        """Model scores in grid units, and labellings, ascending."""
        found: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        for _ in range(len(self.trellis)):
            found = [
                (units + more, (*y, j))
                for units, y in found
                for j in range(len(self.trellis.labels))
                if (more := self.step(y, j)) is not None
            ]
        return found


@dataclass
class Tally:
    """What was decoded, and what was wrong."""

    cases: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Optimum:
    """The first of the best labellings by brute force; units None where there is none."""

    units: int | None
    labelling: tuple[int, ...] = ()
    model: int = 0
    features: int = 0
    penalty: int = 0
    violations: tuple[int, ...] = ()


def optimum(sequence: Scored, statements: Sequence[Statement]) -> Optimum:
    """All labellings, best first before penalties, until none can be better."""
    names, tokens = sequence.trellis.labels.names, sequence.trellis.tokens
    features = [s for s in statements if s.weight]
    rules = [s for s in statements if not s.weight]
    priced = sorted(rules, key=lambda rule: rule.penalty is not None)
    lost = overruled(rules, names, tokens)
    scored = []
    for model, y in sequence.labellings():
        named = tuple(names[k] for k in y)
        extra = sum(s.weight * s.violations(named, tokens) for s in features)
        scored.append((-model - extra, y, named, model, extra))
    best: Optimum | None = None
    for minus, y, named, model, extra in sorted(scored, key=lambda entry: entry[:2]):
        if best is not None and best.units is not None and -minus < best.units:
            break
        cost: int | None = 0
        for rule in priced:
            broken = rule.violations(named, tokens, lost.get(id(rule), ()))
            if broken and rule.penalty is None:
                cost = None
                break
            cost = (cost or 0) + broken * (rule.penalty or 0)
        if cost is None:
            continue
        if best is None or best.units is None or (-(-minus - cost), y) < (-best.units, best.labelling):
            counts = tuple(rule.violations(named, tokens, lost.get(id(rule), ())) for rule in rules)
            best = Optimum(-minus - cost, y, model, extra, cost, counts)
    return best or Optimum(None)


def units(nats: float) -> int | None:
    return None if nats == -math.inf else round(nats * 2**20)


def faults(
    sequence: Scored, statements: Sequence[Statement], expected: Optimum, solution: Any, verdict: Any
) -> Iterator[str]:
    """What is wrong with a solution."""
    proved = bool(verdict) if solution.certificate.kind == "exact" else verdict.ok
    if not proved:
        yield f"not proved: {verdict.reasons}"
    if solution.method.startswith(("auto: viterbi", "auto: label")) and solution.certificate.kind != "exact":
        yield f"a proof by {solution.certificate.kind}"
    if expected.units is None:
        if (solution.status, solution.score, solution.bound) != ("infeasible", -math.inf, -math.inf):
            yield f"{solution.status} {solution.score} {solution.bound}, but nothing is feasible"
        return
    if solution.status != "optimal" or solution.gap != 0:
        yield f"status {solution.status}, gap {solution.gap}, optimum {expected}"
        return
    wanted = {
        "score": expected.units,
        "bound": expected.units,
        "model_score": expected.model,
        "feature_score": expected.features,
        "penalty": expected.penalty,
    }
    for name, value in wanted.items():
        if units(getattr(solution, name)) != value:
            yield f"{name} {units(getattr(solution, name))}, expected {value}"
    if tuple(solution.ids.tolist()) != expected.labelling:
        yield f"labelling {solution.ids.tolist()}, expected {expected.labelling}"
    if tuple(solution.violations.values()) != expected.violations:
        yield f"violations {solution.violations}, expected {expected.violations}"
    rules = [s for s in statements if not s.weight]
    lost = overruled(rules, sequence.trellis.labels.names, sequence.trellis.tokens)
    if solution.overruled != {s.item.title: lost[id(s)] for s in rules if id(s) in lost}:
        yield f"overruled {solution.overruled}, expected {lost}"


@cache
def drawn(number: int, label_set: int, absent: bool) -> tuple[Any, ...]:
    """Rules with their meanings, from the strategies that other tests use."""
    scheme, names = LABEL_SETS[label_set]
    labels: Any = LabelSet(names, scheme)
    if absent:
        fields = {**labels.fields, ABSENT: SimpleNamespace(member=np.zeros(len(names), bool))}
        labels = SimpleNamespace(scheme=scheme, names=names, fields=fields, each_field=labels.each_field)
    found: list[Any] = []

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
        found.append(case)

    collect()
    return tuple(found)


def penalty(rng: random.Random) -> float:
    return rng.choice(
        (math.inf, math.inf, UNIT, 2 * UNIT, 3 * UNIT, 0.5, rng.uniform(0.01, 8), rng.uniform(10, 1e4))
    )


def draw_statements(
    rng: random.Random, pool: Sequence[Any], labels: LabelSet, words: Sequence[str], odd: bool, absent: bool
) -> list[Statement]:
    """Up to six rules and features; in most rounds only those that are the same for every sequence."""
    found: list[Statement] = []
    known, whole = labels.declaring((ABSENT,) if absent else ()), rng.random() < 0.7
    if whole:
        pool = [case for case in pool if case.rule.parts(known) is not None]
    for number in range(rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 6))):
        kind = rng.random()
        if kind < 0.12:
            found.append(feature(rng, labels, words, f"feature {number}"))
        elif kind < 0.25:
            made = tied(rng, labels, words, penalty(rng), f"tied {number}", ABSENT if absent else "")
            assert isinstance(made.item, Rule)
            if not whole or made.item.parts(known) is not None:
                found.append(made)
        else:
            case = rng.choice(pool)
            name = case.rule.statement.rule_name
            if name in TIED or (odd and name in SENSITIVE):
                continue
            distance = rng.choice(("count", "count", "count", "binary", "count" if whole else "hamming"))
            rule = replace(case.rule, penalty=penalty(rng), distance=distance)
            made = Statement(rule, case.count)
            found.append(as_hamming(made, labels) if distance == "hamming" else made)
    return found


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


def snapped(array: Any) -> Any:
    """Nested lists of grid units, None where forbidden."""
    return [snapped(each) for each in array] if np.ndim(array) else oracles.snap(array)


def total(*parts: int | None) -> int | None:
    return None if None in parts else sum(part for part in parts if part is not None)


def draw_sequence(
    rng: random.Random,
    make: Callable[..., Any],
    shared: Sequence[Any],
    labels: LabelSet,
    words: Sequence[str],
) -> Scored:
    """A trellis of any kind."""
    K = len(labels)
    T = rng.choice((1, 1, 2, 2, 3, 3, 3, 4, 4, 5)) - (K == 4 and rng.random() < 0.2)
    T = max(T, 1)
    tokens = None if rng.random() < 0.06 else [rng.choice(words) for _ in range(T)]
    named: dict[str, Any] = {"labels": labels, "tokens": tokens}
    kind = rng.choice(("shared", "shared", "shared", "own", "own", "second", "second shared"))
    if kind == "own":
        start, edges = make(K), make(T - 1, K, K)
        first, later = snapped(start), snapped(edges)
        return Scored(
            Trellis(start, edges, **named), lambda y, j: later[len(y) - 1][y[-1]][j] if y else first[j]
        )
    if kind == "second":
        start, step, edges = make(K), make(K, K) if T > 1 else [], make(max(T - 2, 0), K, K, K)
        first, second, later = snapped(start), snapped(np.asarray(step)), snapped(edges)

        def pairs(y: tuple[int, ...], j: int) -> int | None:
            if len(y) > 1:
                return later[len(y) - 2][y[-2]][y[-1]][j]
            return second[y[0]][j] if y else first[j]

        return Scored(Trellis.second_order(start, step, edges, **named), pairs)
    emissions = make(T, K)
    start, end = (make(K) if rng.random() < 0.5 else None for _ in range(2))
    own, begin = snapped(emissions), snapped(np.zeros(K) if start is None else start)
    last = snapped(np.zeros(K) if end is None else end)
    transitions = rng.choice(shared)[kind != "shared"]
    steps = snapped(transitions)

    def factored(y: tuple[int, ...], j: int) -> int | None:
        t, found = len(y), own[len(y)][j]
        if t == 0:
            found = total(found, begin[j])
        elif kind == "shared":
            found = total(found, steps[y[-1]][j])
        elif t > 1:
            found = total(found, steps[y[-2]][y[-1]][j])
        return total(found, last[j]) if t == T - 1 else found

    return Scored(Trellis.from_emissions(emissions, transitions, start, end, **named), factored)


@contextmanager
def limits(rng: random.Random) -> Iterator[str]:
    """Small limits at times."""
    choices: dict[str, tuple[Any, str, tuple[int, ...]]] = {
        "tokens": (vocabulary, "MOST_TOKENS", (2, 3, 8)),
        "classes": (vocabulary, "MOST_CLASSES", (8, 30, 200)),
        "pools": (compiled, "MOST_POOLS", (1, 2)),
        "work": (compiled, "PASSES", (0, 1)),
        "index": (compiled, "DIRECT", (0, 16)),
    }
    names = [name for name in choices if rng.random() < 0.15]
    patches = [mock.patch.object(choices[n][0], choices[n][1], rng.choice(choices[n][2])) for n in names]
    for patch in patches:
        patch.start()
    try:
        yield ", ".join(names) or "usual"
    finally:
        for patch in patches:
            patch.stop()


def outcome(decode: Callable[[Trellis], Any], trellis: Trellis) -> Any:
    """A solution, or the error in its place."""
    try:
        return decode(trellis)
    except Exception as error:
        return error


def in_threads(
    decode: Callable[[Trellis], Any], trellises: Sequence[Trellis], order: list[int], number: int
) -> dict[int, Any]:
    found: dict[int, Any] = {}

    def run(part: list[int]) -> None:
        for n in part:
            found[n] = outcome(decode, trellises[n])

    threads = [threading.Thread(target=run, args=(order[k::number],)) for k in range(number)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    return found


def decoded(
    way: str,
    decoder: ilpinfer.Decoder,
    rules: RuleSet,
    trellises: Sequence[Trellis],
    order: list[int],
    rng: random.Random,
) -> dict[int, Any]:
    """Solutions by number."""
    if way in ("many", "processes"):
        jobs = 2 if way == "processes" else 1
        given = (trellises[n] for n in order)
        return dict(zip(order, decoder.decode_many(given, n_jobs=jobs, on_error="row"), strict=True))
    if way == "threads":
        return in_threads(decoder.decode, trellises, order, rng.choice((1, 2, 4)))
    if way == "function":
        return {n: outcome(lambda trellis: ilpinfer.decode(trellis, rules), trellises[n]) for n in order}
    half = len(order) // 2
    found = {n: outcome(decoder.decode, trellises[n]) for n in order[:half]}
    again = pickle.loads(pickle.dumps(decoder)) if way == "pickled" else decoder
    return found | {n: outcome(again.decode, trellises[n]) for n in order[half:]}


def refused(trellis: Trellis, rules: RuleSet) -> bool:
    """Whether the rules cannot be stated on a trellis."""
    try:
        compile_problem(trellis, rules)
    except ValueError as error:
        return "looks at tokens" in str(error) or 'distance "hamming"' in str(error)
    return False


def batch_faults(
    decoder: ilpinfer.Decoder, trellises: Sequence[Trellis], expected: Sequence[Optimum]
) -> Iterator[tuple[int, str]]:
    """What is wrong with outcomes of kernels, where the tables hold all rules."""
    tables = compiled.Tables(decoder._rules.compiled(trellises[0].labels))
    if tables.folding.left:
        return
    for n, (found, best) in enumerate(zip(tables.decode(trellises), expected, strict=True)):
        if found is not None and found.proved:
            if (found.value, tuple(found.path.tolist())) != (best.units, best.labelling):
                yield n, f"batch: {found}, expected {best}"
        elif found is not None and best.units is None and found.incumbent is not None:
            yield n, f"batch: {found}, but nothing is feasible"


def long_faults(
    decoder: ilpinfer.Decoder, make: Callable[..., Any], labels: LabelSet, tokens: Sequence[str]
) -> Iterator[str]:
    """What is wrong with the value of a longer sequence, which makes tables grow."""
    K = len(labels)
    trellis = Trellis.from_emissions(make(len(tokens), K), make(K, K), labels=labels, tokens=tokens)
    tables = decoder._rules.tables(labels)
    (found,) = tables.decode([trellis])
    if found is not None and found.proved and not tables.folding.left and found.incumbent is not None:
        value = compile_problem(trellis, decoder.rules).value(found.path)
        if value.score != found.value:
            yield f"a long sequence is worth {value.score}, not {found.value}"


def run_round(number: int, start: int, tally: Tally) -> None:
    """Rules, a Decoder, sequences, and what is wrong with their solutions."""
    rng = random.Random(f"{start} {number}")
    label_set, absent, odd = rng.randrange(len(LABEL_SETS)), rng.random() < 0.2, rng.random() < 0.15
    scheme, names = LABEL_SETS[label_set]
    labels = LabelSet(names, scheme)
    pool = drawn(start * 10_007 + number // 60, label_set, absent)
    words = (*rng.sample(TOKENS, 3), *rng.sample(ODD, 4)) if odd else TOKENS[: rng.randint(1, len(TOKENS))]
    others = [f"u{rng.randrange(400)}" for _ in range(rng.choice((0, 3, 70, 150)))]
    statements = draw_statements(rng, pool, labels, words, odd, absent)
    rules = RuleSet(tuple(s.item for s in statements), (*labels.fields, ABSENT) if absent else ())
    K, make = len(names), scores(rng)
    shared = [(make(K, K), make(K, K, K)) for _ in range(rng.randint(1, 3))]
    tokens = [*words, *others[: len(words)]]
    sequences = [draw_sequence(rng, make, shared, labels, tokens) for _ in range(ROUND)]
    trellises = [sequence.trellis for sequence in sequences]
    decoder = ilpinfer.Decoder(rules, labels if rng.random() < 0.5 else None)
    way = "processes" if rng.random() < 0.01 else rng.choice(WAYS)
    order = list(range(ROUND))
    rng.shuffle(order)
    told = [r.item for r in statements]
    with limits(rng) as how:
        shown = f"seed {start}, round {number} ({way}; {how})"
        try:
            found = decoded(way, decoder, rules, trellises, order[:6], rng)
            if others:
                tally.findings += [
                    f"{shown}: {fault}" for fault in long_faults(decoder, make, labels, others)
                ]
            found |= decoded(way, decoder, rules, trellises, order[6:], rng)
            expected = [optimum(sequence, statements) for sequence in sequences]
            if way == "batch" and any(trellises[0].tokens):
                for n, fault in batch_faults(decoder, trellises, expected):
                    tally.findings.append(f"{shown}, sequence {n}: {fault}: {trellises[n]} {told}")
        except Exception as error:
            tally.findings.append(f"{shown}: {type(error).__name__}: {error}: {told}")
            return
    for n in order:
        solution, trellis = found[n], trellises[n]
        tally.cases["all"] += 1
        try:
            if isinstance(solution, Exception) or solution.error:
                tally.cases["refused"] += 1
                wrong = [] if refused(trellis, rules) else [f"{solution!r}"]
            else:
                tally.cases[solution.method.removeprefix("auto: ").split(" over")[0].split(";")[0]] += 1
                tally.cases[solution.status] += 1
                verdict = decoder.verify(trellis, solution)
                wrong = list(faults(sequences[n], statements, expected[n], solution, verdict))
        except Exception as error:
            wrong = [f"{type(error).__name__}: {error}"]
        tally.findings += [f"{shown}, sequence {n}: {fault}: {trellis.tokens} {told}" for fault in wrong]


def run(number: int, start: int, seconds: float = math.inf) -> Tally:
    """At least so many cases from a seed, or as many as there is time for."""
    tally, began, rounds = Tally(), time.monotonic(), 0
    with warnings.catch_warnings(action="ignore", category=RuleNotice):
        while tally.cases["all"] < number and time.monotonic() - began < seconds:
            run_round(rounds, start, tally)
            rounds += 1
            if rounds % 30 == 0:
                text = f"{tally.cases['all']} cases, {len(tally.findings)} findings"
                print(text, *tally.findings[-1:], file=sys.stderr, flush=True)
    return tally


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Decoders on random problems, against brute force.")
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    given_ = parser.parse_args()
    result = run(given_.cases, given_.seed)
    for entry, count in sorted(result.cases.items()):
        print(f"{entry:50} {count}")
    for finding in result.findings[:50]:
        print(finding[:1500])
    print(f"{result.cases['all']} cases, {len(result.findings)} findings")
    sys.exit(bool(result.findings))
