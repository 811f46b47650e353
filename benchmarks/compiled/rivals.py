"""Searches with the same compiled rules, solvers and other programs on some of the references."""

import time
from collections.abc import Iterator
from functools import partial

import numpy as np

import ilpinfer
from benchmarks.compiled.singles import Sequences, of_tokens
from benchmarks.compiled.timing import Seconds, Work, interleaved
from benchmarks.data import SOLVERS, Scale
from benchmarks.engine.methods import worker
from benchmarks.engine.peers import Answer, installed
from benchmarks.synthetic import document, labels_of_size
from formulations import Trellis
from formulations import constraints as C
from formulations.compiled.rules import compile_problem
from formulations.grid import nats
from formulations.rules import RuleSet
from ilpinfer.solution import Solution

SEARCHES = ("beam", "greedy", "best-first", "relaxation-guided", "lds", "annealing", "tabu", "evolutionary")
PROGRAMS = {**dict.fromkeys(SOLVERS), "toulbar2": 1000, "pulp": 20_000, "cpmpy": None}
"""Exact rivals, and how many times as long as certified decoding each is expected to take at least."""
LIMIT = 60.0
"""Seconds a reference for exact rivals; searches have what they take by themselves, or 0.8 s."""
HEAD = f"{'':20} {'sequences':>9} {'mean, ms':>9}  | × {'median':>8} {'p90':>8} {'of means':>8}  not proved  not the optimum"


def rivals(sequences: Sequences, scale: Scale) -> Iterator[str]:
    """A line for each method, and multiples of the time that certified decoding from tokens takes."""
    number = min(scale(20, 2), len(sequences.trellises))
    chosen = [sequences.trellises[i * len(sequences.trellises) // number] for i in range(number)]
    few = Sequences(sequences.name, sequences.rules, sequences.decoder, chosen)
    best = [few.decoder.decode(trellis).score for trellis in chosen]
    searches = {name: searching(few, name) for name in SEARCHES}
    spent = interleaved({"ours": of_tokens(few), **searches}, scale(3, 1))
    ours = spent["ours"]
    yield f"\nRivals on {number} of them, {few.name}; ours {1e6 * ours.mean():.1f} µs in the mean\n{HEAD}"
    for name, works in searches.items():
        missed = sum(work().score != top for work, top in zip(works, best, strict=True))  # type: ignore[attr-defined]
        yield line(f"{name} 10" if name == "beam" else name, spent[name], ours, "-", missed)
    for name, least in PROGRAMS.items():
        if not installed(name):
            yield f"{name}: not installed"
            continue
        yield exact(name, few, best, ours, least)


def searching(sequences: Sequences, name: str) -> list[Work]:
    """A search on token texts, its rules compiled beforehand."""
    options = {"width": 10} if name == "beam" else {}
    decoder = ilpinfer.Decoder(sequences.rules, model=sequences.decoder.model, method=name, **options)
    return [partial(decoder.decode_tokens, trellis.tokens) for trellis in sequences.trellises]


def exact(name: str, sequences: Sequences, best: list[float], ours: Seconds, least: float | None) -> str:
    """The line of an exact rival, which gets ready-made trellises."""
    rival = worker(name)
    rival(document(8, 0, labels_of_size(5), 1.0), RuleSet((C.at_most_runs(C.EACH_FIELD, 1),)), 5.0)
    seconds, unproved, missed = np.empty(len(best)), 0, 0
    for n, trellis in enumerate(sequences.trellises):
        began = time.perf_counter()
        answer = rival(trellis, sequences.rules, LIMIT)
        seconds[n] = time.perf_counter() - began
        unproved += not (answer.status == "optimal" if isinstance(answer, Solution) else answer.proved)
        missed += score_of(answer, trellis, sequences.rules) != best[n]
    return line(name, seconds, ours, str(unproved), missed, least)


def score_of(answer: Solution | Answer, trellis: Trellis, rules: RuleSet) -> float:
    """In nats, recomputed from the labels; -inf where there are none."""
    if isinstance(answer, Solution):
        return answer.score
    return (
        nats(compile_problem(trellis, rules).value(answer.path).score) if answer.path is not None else -np.inf
    )


def line(
    name: str, seconds: Seconds, ours: Seconds, unproved: str, missed: int, least: float | None = None
) -> str:
    """Times, multiples of certified decoding, and failures; the target is for the multiple of the means."""
    each, mean = seconds / ours, seconds.mean() / ours.mean()
    cells = f"{np.median(each):8.0f} {np.percentile(each, 90):8.0f} {mean:8.0f}"
    aim = f"  target over {least:g}: {'met' if mean > least else 'NOT met'}" if least else ""
    return f"{name:20} {len(seconds):9} {1e3 * seconds.mean():9.2f}  |   {cells}  {unproved:>10}  {missed:>15}{aim}"
