"""Decoders on random problems, against brute force: `python tests/stress/decoder.py [--cases N] [--seed N]`.

A round has rules of one label set, one Decoder, and sequences that it decodes in one of several ways, with limits that
are small at times. What it finds is compared with all labellings, which `oracles` and `template_oracles` value.
With ILPINFER_KERNELS=checked, reads outside of arrays are errors; see `make bounds`.
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[2]))  # the checkout, whatever is installed
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from support.kernel_calls import outcomes
from support.strategies import LABEL_SETS, TOKENS

import ilpinfer
from formulations import LabelSet, RuleSet, Trellis
from formulations.errors import RuleNotice
from formulations.problem import vocabulary
from formulations.problem.compiled_rules import compile_problem
from formulations.problem.token_scores import TokenScores
from ilpinfer.exact import limits as engine_limits
from ilpinfer.exact.compiled import RuleTables, tables_of
from stress import drawing
from stress.brute_force import Optimum, Stated

WAYS = (
    *("one by one", "threads") * 2,
    "function",
    "many",
    "pickled",
    "batch",
    "top",
    "texts",
    *("scores",) * 2,
)
MOST_FINDINGS = 50
"""After so many there is no need for more."""
ROUND = 10
"""Sequences of a round."""


class TextModel:
    def __init__(self, scores: TokenScores) -> None:
        self.token_scores, self.labels = scores, scores.labels

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        return self.token_scores.trellis(tokens)


@dataclass
class Tally:
    """What was decoded, and what was wrong."""

    cases: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)


def units(nats: float) -> int | None:
    return None if nats == -math.inf else round(nats * 2**20)


def faults(stated: Stated, expected: Optimum, solution: Any, verdict: Any) -> Iterator[str]:
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
    lost = {rule.item.title: stated.lost[id(rule)] for rule in stated.rules if id(rule) in stated.lost}
    if solution.overruled != lost:
        yield f"overruled {solution.overruled}, expected {lost}"


@contextmanager
def limits(rng: random.Random) -> Iterator[str]:
    """Small limits at times."""
    choices: dict[str, tuple[Any, str, tuple[int, ...]]] = {
        "tokens": (vocabulary, "MOST_TOKENS", (2, 3, 8)),
        "classes": (vocabulary, "MOST_CLASSES", (8, 30, 200)),
        "pools": (engine_limits, "MOST_POOLS", (1, 2)),
        "work": (engine_limits, "PASSES", (0, 1)),
        "steps": (engine_limits, "LEAST_STEPS", (0, 100, 2000)),
        "index": (engine_limits, "DIRECT", (0, 16)),
    }
    names = [name for name in choices if rng.random() < 0.2]
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


def at_once(function: Callable[[Any], object], arguments: Iterable[Any]) -> None:
    """Call a function with each argument, at the same time, in threads that often give way to each other."""
    threads = [threading.Thread(target=function, args=(argument,)) for argument in arguments]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)


def in_threads(
    decode: Callable[[Trellis], Any], trellises: Sequence[Trellis], order: list[int], number: int
) -> dict[int, Any]:
    result: dict[int, Any] = {}

    def run(part: list[int]) -> None:
        for n in part:
            result[n] = outcome(decode, trellises[n])

    at_once(run, [order[k::number] for k in range(number)])
    return result


def decoded(
    way: str,
    decoder: ilpinfer.Decoder,
    rules: RuleSet,
    trellises: Sequence[Trellis],
    order: list[int],
    rng: random.Random,
) -> dict[int, Any]:
    if way in ("many", "processes"):
        number = {"n_jobs": 2} if way == "processes" else {"threads": rng.choice((1, 2, 3))}
        given = (trellises[n] for n in order)
        return dict(zip(order, decoder.decode_many(given, **number, on_error="row"), strict=True))
    if way == "scores":
        return by_scores(decoder, trellises, order, rng)
    if way == "threads":
        return in_threads(decoder.decode, trellises, order, rng.choice((1, 2, 4)))
    if way == "function":
        return {n: outcome(lambda trellis: ilpinfer.decode(trellis, rules), trellises[n]) for n in order}
    if way == "texts":
        words = [trellises[n].tokens for n in order]
        if rng.random() < 0.5:
            return {n: outcome(decoder.decode_tokens, text) for n, text in zip(order, words, strict=True)}
        solutions = decoder.decode_texts(words, threads=rng.choice((1, 2, 3)), on_error="row")
        return dict(zip(order, solutions, strict=True))
    half = len(order) // 2
    result = {n: outcome(decoder.decode, trellises[n]) for n in order[:half]}
    again = pickle.loads(pickle.dumps(decoder)) if way == "pickled" else decoder
    return result | {n: outcome(again.decode, trellises[n]) for n in order[half:]}


def padded(trellises: Sequence[Trellis], rng: random.Random) -> dict[str, Any]:
    """Trellises with the same transitions as a batch: padded with odd numbers, perhaps with holes, or as lists."""
    tokens = (
        [list(each.tokens) for each in trellises] if any(map(any, (t.tokens for t in trellises))) else None
    )
    steps = {"transitions": trellises[0].transitions, "tokens": tokens}
    if rng.random() < 0.3:
        return {"emissions": [each.emissions for each in trellises], **steps}
    holes = rng.choice((0, 0, 2))
    T, K = max(map(len, trellises)) + holes, len(trellises[0].labels)
    emissions, mask = np.full((len(trellises), T, K), np.nan), np.zeros((len(trellises), T), bool)
    for n, each in enumerate(trellises):
        places = sorted(rng.sample(range(T), len(each))) if holes else list(range(len(each)))
        emissions[n, places], mask[n, places] = each.emissions, True
    if not holes and rng.random() < 0.5:
        return {"emissions": emissions, "lengths": mask.sum(axis=1), **steps}
    return {"emissions": emissions, "mask": mask, **steps}


def by_scores(
    decoder: ilpinfer.Decoder, trellises: Sequence[Trellis], order: list[int], rng: random.Random
) -> dict[int, Any]:
    """Solutions of batches of scores, whose arrays say the same; of `decode` where sequences fit in none, or one is refused."""
    groups, result = dict[Any, list[int]](), dict[int, Any]()
    for n in order:
        each = trellises[n]
        alike = each.order == 1 and len(each.lattice.pool) == 1
        groups.setdefault((each.lattice.pool.tobytes(), any(each.tokens)) if alike else n, []).append(n)
    for key, some in groups.items():
        known = {} if decoder.labels is not None else {"labels": trellises[some[0]].labels}
        try:
            if isinstance(key, int):
                raise ValueError("no batch")
            given = padded([trellises[n] for n in some], rng)
            batch = decoder.decode_scores(**given, **known, threads=rng.choice((1, 2)))
        except ValueError:
            result |= {n: outcome(decoder.decode, trellises[n]) for n in some}
            continue
        for place, n in enumerate(some):
            solution = result[n] = batch[place]
            found = [] if solution.path is None else solution.ids.tolist()
            arrays = (
                batch.scores[place],
                batch.bounds[place],
                batch.status[place],
                batch.violations[place].tolist(),
            )
            wanted = solution.score, solution.bound, solution.status, list(solution.violations.values())
            assert arrays == wanted or solution.path is None, (arrays, wanted)
            assert [k for k in batch.ids[place].tolist() if k >= 0] == found, (batch.ids[place], found)
    return result


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
    tables = RuleTables(decoder._runner.rules.compiled(trellises[0].labels))
    if tables.folding.excluded:
        return
    for n, (result, best) in enumerate(zip(outcomes(tables, list(trellises)), expected, strict=True)):
        if result is not None and result.proved:
            if (result.value, result.path) != (best.units, best.labelling):
                yield n, f"batch: {result}, expected {best}"
        elif result is not None and best.units is None and result.path is not None:
            yield n, f"batch: {result}, but nothing is feasible"


def top_faults(
    decoder: ilpinfer.Decoder, problems: Sequence[Stated], texts: bool, rng: random.Random
) -> Iterator[tuple[int, str]]:
    """What is wrong with the best few labellings, from a call for each sequence or from one for all."""
    top, trellises = rng.choice((1, 2, 3, 10)), [problem.instance.trellis for problem in problems]
    if any(refused(trellis, decoder.rules) for trellis in trellises):
        return
    threads = rng.choice((1, 2))
    if texts:
        lists = decoder.decode_texts([trellis.tokens for trellis in trellises], top=top, threads=threads)
    elif rng.random() < 0.5:
        lists = decoder.decode_many(trellises, top=top, threads=threads)
    else:
        lists = (decoder.decode(trellis, top=top) for trellis in trellises)
    for n, solutions in enumerate(lists):
        expected = list(islice(problems[n].ranking(), top))
        if [(units(s.score), tuple(s.ids.tolist())) for s in solutions] != expected:
            yield n, f"the best {top}: {solutions}, expected {expected}"
        for solution in solutions:
            verdict = ilpinfer.verify(trellises[n], decoder.rules, solution)
            if not (verdict.proved if solution.certificate.kind == "exact" else verdict.ok):
                yield n, f"the best {top}: not proved: {verdict.reasons}"


def long_faults(
    decoder: ilpinfer.Decoder, make: Callable[..., Any], labels: LabelSet, tokens: Sequence[str]
) -> Iterator[str]:
    """What is wrong with the value of a longer sequence, which makes tables grow."""
    K = len(labels)
    trellis = Trellis.from_emissions(make(len(tokens), K), make(K, K), labels=labels, tokens=tokens)
    tables = tables_of(decoder._runner.rules, labels)
    [result] = outcomes(tables, [trellis])
    if result is not None and result.proved and not tables.folding.excluded:
        value = compile_problem(trellis, decoder.rules).value(np.array(result.path))
        if value.score != result.value:
            yield f"a long sequence is worth {value.score}, not {result.value}"


def run_round(number: int, start: int, tally: Tally, longest: int = 5) -> None:
    """Rules, a Decoder, sequences, and what is wrong with their solutions."""
    rng = random.Random(f"{start} {number}")
    label_set, absent, odd = rng.randrange(len(LABEL_SETS)), rng.random() < 0.2, rng.random() < 0.15
    scheme, names = LABEL_SETS[label_set]
    labels = LabelSet(names, scheme)
    key = start * 10_007 + number // 40, label_set, absent
    words = (
        (*rng.sample(TOKENS, 3), *rng.sample(drawing.ODD, 4))
        if odd
        else TOKENS[: rng.randint(1, len(TOKENS))]
    )
    others = [f"u{rng.randrange(400)}" for _ in range(rng.choice((0, 3, 70, 150)))]
    statements = drawing.draw_statements(
        rng, drawing.drawn(*key), drawing.followed(*key), labels, words, odd, absent
    )
    rules = RuleSet(tuple(s.item for s in statements), (*labels.fields, drawing.ABSENT) if absent else ())
    K, make = len(names), drawing.scores(rng)
    shared = [(make(K, K), make(K, K, K)) for _ in range(rng.randint(1, 3))]
    tokens = [*words, *others[: len(words)], *([""] if rng.random() < 0.3 else [])]
    way = "processes" if rng.random() < 0.01 else rng.choice(WAYS)
    if way == "texts":
        model, sequences = drawing.draw_texts(rng, make, labels, tokens, ROUND, longest)
        decoder = ilpinfer.Decoder(rules, model=TextModel(model))
    else:
        sequences = [drawing.draw_sequence(rng, make, shared, labels, tokens, longest) for _ in range(ROUND)]
        decoder = ilpinfer.Decoder(rules, labels if rng.random() < 0.5 else None)
    trellises = [sequence.trellis for sequence in sequences]
    problems = [Stated(sequence, statements) for sequence in sequences]
    order = list(range(ROUND))
    rng.shuffle(order)
    told = [r.item for r in statements]
    with limits(rng) as how:
        shown = f"seed {start}, round {number} ({way}; {how})"
        try:
            result = decoded(way, decoder, rules, trellises, order[:4], rng)
            if others:
                tally.findings += [
                    f"{shown}: {fault}" for fault in long_faults(decoder, make, labels, others)
                ]
            result |= decoded(way, decoder, rules, trellises, order[4:], rng)
            expected = [problem.optimum() for problem in problems]
            if way in ("top", "texts"):
                for n, fault in top_faults(decoder, problems, way == "texts", rng):
                    tally.findings.append(f"{shown}, sequence {n}: {fault}: {trellises[n]} {told}")
            if way == "batch" and any(trellises[0].tokens):
                for n, fault in batch_faults(decoder, trellises, expected):
                    tally.findings.append(f"{shown}, sequence {n}: {fault}: {trellises[n]} {told}")
        except Exception as error:
            tally.findings.append(f"{shown}: {type(error).__name__}: {error}: {told}")
            return
    for n in order:
        solution, trellis = result[n], trellises[n]
        tally.cases["all"] += 1
        try:
            if isinstance(solution, Exception) or solution.error:
                tally.cases["refused"] += 1
                wrong = [] if refused(trellis, rules) else [f"{solution!r}"]
            else:
                tally.cases[solution.method.removeprefix("auto: ").split(" over")[0].split(";")[0]] += 1
                tally.cases[solution.status] += 1
                verdict = ilpinfer.verify(trellis, decoder.rules, solution)
                wrong = list(faults(problems[n], expected[n], solution, verdict))
        except Exception as error:
            wrong = [f"{type(error).__name__}: {error}"]
        tally.findings += [f"{shown}, sequence {n}: {fault}: {trellis.tokens} {told}" for fault in wrong]


def run(number: int, start: int, seconds: float = math.inf, longest: int = 5) -> Tally:
    """At least so many cases of at most `longest` tokens from a seed, or as many as there is time for, until too much is
    wrong.
    """
    tally, began, rounds = Tally(), time.monotonic(), 0
    with warnings.catch_warnings(action="ignore", category=RuleNotice):
        while tally.cases["all"] < number and time.monotonic() - began < seconds:
            if len(tally.findings) >= MOST_FINDINGS:
                break
            run_round(rounds, start, tally, longest)
            rounds += 1
            if rounds % 30 == 0:
                text = f"{tally.cases['all']} cases, {len(tally.findings)} findings"
                print(text, *tally.findings[-1:], file=sys.stderr, flush=True)
    return tally


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Decoders on random problems, against brute force.")
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--longest", type=int, default=5, help="tokens of a sequence at most")
    given_ = parser.parse_args()
    result = run(given_.cases, given_.seed, longest=given_.longest)
    for entry, count in sorted(result.cases.items()):
        print(f"{entry:50} {count}")
    for finding in result.findings:
        print(finding[:1500])
    print(f"{result.cases['all']} cases, {len(result.findings)} findings")
    sys.exit(bool(result.findings))
