"""Searches with the same compiled rules, solvers and other programs on some of the references."""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

import ilpinfer
from benchmarks.answers import Answer, is_installed
from benchmarks.compiled.singles import Sequences, of_tokens
from benchmarks.compiled.timing import Seconds, Work, time_rounds
from benchmarks.data.sets import SOLVERS, Scale
from benchmarks.data.synthetic import document, labels_of_size
from benchmarks.methods import worker
from formulations import Trellis
from formulations import constraints as C
from formulations.constraints.rule_set import RuleSet
from formulations.grid import nats
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.solution import Solution

OWN = ("greedy", "best-first", "relaxation-guided", "lds", "annealing", "tabu", "evolutionary")
SEARCHES: Mapping[str, dict[str, int]] = {"beam": {"width": 10}, **{name: {} for name in OWN}}
PROGRAMS = {**dict.fromkeys(SOLVERS), "toulbar2": 1000, "cpmpy": None, "pulp": 20_000}
"""Exact rivals, and how many times as long as certified decoding each is expected to take at least."""
REPEATS = 9
"""Calls of certified decoding, of which the median is taken."""
LIMIT = 60.0
"""Seconds a reference for exact rivals; searches have what they take by themselves, or 0.8 s."""
HEAD = f"{'':20} {'sequences':>9} {'mean, ms':>9} {'ours, µs':>9}  | × {'median':>8} {'p90':>8} {'of means':>8}  not proved  not the optimum"


def rivals(sequences: Sequences, scale: Scale) -> Iterator[str]:
    """A line for each method, and multiples of the time that certified decoding from tokens takes."""
    number = min(scale(10, 2), len(sequences.trellises))
    chosen = [sequences.trellises[i * len(sequences.trellises) // number] for i in range(number)]
    few = Sequences(sequences.name, sequences.rules, sequences.decoder, chosen)
    yield f"\nRivals on {number} references, {few.name}\n{HEAD}"
    for name, options in SEARCHES.items():
        yield searching(name, options, few)
    for name, least in PROGRAMS.items():
        yield exact(name, few, least) if is_installed(name) else f"{name}: not installed"


def searching(name: str, options: dict[str, int], sequences: Sequences) -> str:
    """The line of a search, its rules compiled beforehand."""
    decoder = ilpinfer.Decoder(sequences.rules, model=sequences.decoder.model, method=name, **options)
    decoder.decode(sequences.trellises[0])
    seconds, ours, result = beside(
        [partial(decoder.decode_tokens, t.tokens) for t in sequences.trellises], sequences
    )
    missed = sum(solution.score != top for solution, top in zip(result, optima(sequences), strict=True))
    return line(" ".join([name, *map(str, options.values())]), seconds, ours, "-", missed)


def exact(name: str, sequences: Sequences, least: float | None) -> str:
    """The line of an exact rival, which gets ready-made trellises."""
    rival, rules = worker(name), sequences.rules
    rival(document(8, 0, labels_of_size(5), 1.0), RuleSet((C.at_most_runs(C.EACH_FIELD, 1),)), 5.0)
    seconds, ours, result = beside([partial(rival, t, rules, LIMIT) for t in sequences.trellises], sequences)
    unproved = sum(not (a.status == "optimal" if isinstance(a, Solution) else a.proved) for a in result)
    scores = [score_of(answer, t, rules) for answer, t in zip(result, sequences.trellises, strict=True)]
    missed = sum(score != top for score, top in zip(scores, optima(sequences), strict=True))
    return line(name, seconds, ours, str(unproved), missed, least)


def optima(sequences: Sequences) -> list[float]:
    """The proved scores, nats."""
    solutions = [sequences.decoder.decode(trellis) for trellis in sequences.trellises]
    assert all(solution.status == "optimal" for solution in solutions)
    return [solution.score for solution in solutions]


def beside(works: Sequence[Work], sequences: Sequences) -> tuple[Seconds, Seconds, list[Any]]:
    """Seconds of one call of each piece of work, of certified decoding right after it, and what the calls returned."""
    seconds, ours, result = np.empty(len(works)), np.empty(len(works)), []
    for n, (work, own) in enumerate(zip(works, of_tokens(sequences), strict=True)):
        began = time.perf_counter()
        result.append(work())
        seconds[n] = time.perf_counter() - began
        ours[n] = time_rounds({"ours": [own]}, REPEATS)["ours"][0]
    return seconds, ours, result


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
    return f"{name:20} {len(seconds):9} {1e3 * seconds.mean():9.2f} {1e6 * ours.mean():9.1f}  |   {cells}  {unproved:>10}  {missed:>15}{aim}"
