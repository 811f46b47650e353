"""Results of the engine and of every method, frozen: `python -m stress.frozen write|check [PART ...] [--data FOLDER]`, in tests/.

A golden file has one line for each problem: a digest of the problem, and what every operation returned. A result differs where labels, grid
score, bound, status, violations or the kind of the certificate differ. Problems are drawn by `stress.drawing`, planted (`benchmarks.data.hard`),
or those of corpora, which are not in the package: of these only results are kept. Times decide nothing: a result that was not proved within the
limit is no part of the file. Errors are compared by their type. Hypothesis draws some values from constants of the source code, so that a
change of the code can turn a drawn problem into another one: these are counted, and not compared.
"""

import argparse
import gzip
import hashlib
import json
import math
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

from support.places import CORPORA
from support.strategies import LABEL_SETS, TOKENS

import ilpinfer
from benchmarks.data import hard, prepared
from benchmarks.data.corpora import read_labelled, resume_rules
from benchmarks.data.models import trained
from formulations import LabelSet, RuleSet, Trellis, dump_rules
from formulations.grid import snap
from stress import drawing

FILE = Path(__file__).parents[1] / "golden" / "frozen.jsonl.gz"
LIMIT = 20.0
"""Seconds of a call; results that are not proved by then are left out."""
HEURISTICS = (
    "beam",
    "lds",
    "evolutionary",
    "hybrid",
    "constrained-viterbi",
    "post-correction",
    "posterior",
    "viterbi",
)
SEEDED = {"evolutionary": {"seed": 7, "iterations": 20}}
"""A number of generations, since a limit of time would give other results on each machine."""
SHORT = 60
"""Tokens up to which the hybrid has no such limit."""


@dataclass(frozen=True)
class Problem:
    """A sequence under rules, and the operations that are frozen."""

    name: str
    trellis: Trellis
    rules: RuleSet
    operations: tuple[str, ...]

    @property
    def digest(self) -> str:
        """Of scores, tokens and rules."""
        lattice, text = self.trellis.lattice, dump_rules(self.rules)
        parts = [lattice.node.tobytes(), lattice.pool.tobytes(), lattice.step.tobytes()]
        parts += [" ".join((*self.trellis.labels.names, *map(repr, self.trellis.tokens), text)).encode()]
        return hashlib.sha256(b"|".join(parts)).hexdigest()[:12]


def units(nats: float) -> int | str:
    return int(snap(nats)) if math.isfinite(nats) else str(nats)


def solved(solution: Any) -> Any:
    """What is frozen of a solution; its times, method texts and multipliers may change."""
    labels = (
        solution.ids.tolist() if solution.score > -math.inf or solution.certificate.kind == "none" else None
    )
    return [
        str(solution.status),
        labels,
        units(solution.score),
        units(solution.bound),
        list(solution.violations.values()),
        solution.certificate.kind,
    ]


def best(p: Problem) -> Any:
    solution = ilpinfer.decode(p.trellis, p.rules, time_limit=LIMIT)
    assert ilpinfer.verify(p.trellis, p.rules, solution).ok, (p.name, solution)
    return solved(solution) if solution.gap == 0 else None


def top(p: Problem) -> Any:
    return [solved(each) for each in ilpinfer.decode(p.trellis, p.rules, top=5)]


def given(p: Problem) -> Any:
    draw, T = random.Random(p.digest), len(p.trellis)
    known = {t: draw.randrange(len(p.trellis.labels)) for t in draw.sample(range(T), max(1, T // 3))}
    return solved(ilpinfer.decode(p.trellis, p.rules, given=known, time_limit=LIMIT))


def two_phase(p: Problem) -> Any:
    solution = ilpinfer.decode_two_phase(p.trellis, p.rules, 0.9, time_limit=LIMIT)
    return [*solved(solution), units(solution.floor), units(solution.cost_bound)]


def frontier(p: Problem) -> Any:
    points = ilpinfer.decode_frontier(p.trellis, p.rules).points
    return [[units(point.score), units(point.cost), list(point.labels)] for point in points]


def marginals(p: Problem) -> Any:
    found = ilpinfer.marginals(p.trellis, p.rules)
    return [f"{value:.8f}" for value in found.labels.reshape(-1).tolist()]


def heuristics(p: Problem) -> Any:
    return {
        name: solved(ilpinfer.decode(p.trellis, p.rules, method=name, **SEEDED.get(name, {})))
        for name in HEURISTICS
        if name != "hybrid" or len(p.trellis) <= SHORT
    }


OPERATIONS: dict[str, Callable[[Problem], Any]] = {
    each.__name__: each for each in (best, top, given, two_phase, frontier, marginals, heuristics)
}


def outcome(p: Problem, operation: str) -> Any:
    """The frozen form of a result, or the error in its place."""
    try:
        return OPERATIONS[operation](p)
    except (ValueError, ilpinfer.InferenceError) as error:
        return None if "unknown (" in str(error) else f"{type(error).__name__}: {error}"


def drawn() -> Iterator[Problem]:
    """Small problems with rules of every template, on every scheme, with ties, -inf and scores of second order."""
    for number in range(1000):
        rng = random.Random(f"frozen {number}")
        label_set, absent = rng.randrange(len(LABEL_SETS)), rng.random() < 0.2
        scheme, names = LABEL_SETS[label_set]
        labels, key = LabelSet(names, scheme), (900 + number // 40, label_set, absent)
        words = TOKENS[: rng.randint(1, len(TOKENS))]
        pools = drawing.drawn(*key), drawing.followed(*key)
        statements = drawing.draw_statements(rng, *pools, labels, words, False, absent)
        rules = RuleSet(tuple(s.item for s in statements), (*labels.fields, drawing.ABSENT) if absent else ())
        make = drawing.scores(rng)
        shared = [(make(len(names), len(names)), make(*(len(names),) * 3))]
        for n in range(5):
            one = drawing.draw_sequence(rng, make, shared, labels, words)
            yield Problem(f"drawn {number}.{n}", one.trellis, rules, tuple(OPERATIONS))


def planted() -> Iterator[Problem]:
    """The hard instances of every family."""
    for family in hard.FAMILIES:
        for number in range(3):
            one = hard.instance(family, number)
            yield Problem(f"hard {one.name}", one.trellis(), one.rules, ("best",))


def corpora(folder: Path) -> Iterator[Problem]:
    """References and sections of résumés under the rules of the studies."""
    few = ("best", "top", "two_phase", "heuristics")
    for size in (5, 20, 300):
        cora = prepared.cora(folder, size)
        for n, trellis in enumerate(cora.trellises):
            yield Problem(f"cora {size} {n}", trellis, cora.rules, few if n % 5 == 0 else ("best", "top"))
    umass = prepared.umass(folder)
    for n, trellis in enumerate(umass.trellises[::4]):
        yield Problem(f"umass {n}", trellis, umass.rules, few[:3] if n % 10 == 0 else ("best",))
    documents = read_labelled(folder / "resume" / "experience_train.tsv")
    model = trained("hmm", documents[::2])
    for n, (tokens, _) in enumerate(documents[1:40:2]):
        for kind in (False, True):
            yield Problem(f"resume {n} {kind}", model.trellis(tokens), resume_rules(hard=kind), ("best",))


def problems(parts: list[str], folder: Path) -> Iterator[Problem]:
    makers: dict[str, Callable[[], Iterator[Problem]]] = {
        "drawn": drawn,
        "planted": planted,
        "corpora": lambda: corpora(folder),
    }
    for part in parts or list(makers):
        yield from makers[part]()


def frozen(p: Problem) -> dict[str, Any]:
    return {"name": p.name, "digest": p.digest, **{name: outcome(p, name) for name in p.operations}}


def write(path: Path, parts: list[str], folder: Path) -> int:
    """Write the results of every problem; how many."""
    count = 0
    with gzip.GzipFile(path, "wb", mtime=0) as out:
        for count, problem in enumerate(problems(parts, folder), 1):
            out.write(f"{json.dumps(frozen(problem), separators=(',', ':'))}\n".encode())
            _show(count, problem)
    return count


def check(path: Path, parts: list[str], folder: Path) -> int:
    """The number of problems whose results are not those of the file; each difference is printed."""
    with gzip.open(path, "rt") as lines:
        known = {record["name"]: record for record in map(json.loads, lines)}
    different = others = 0
    for count, problem in enumerate(problems(parts, folder), 1):
        expected = known[problem.name]
        if problem.digest != expected["digest"]:
            others += 1
            continue
        found = json.loads(json.dumps(frozen(problem)))
        wrong = [key for key in found if not _equal(expected.get(key), found[key])]
        for key in wrong:
            print(f"{problem.name}, {key}:\n  {expected[key]}\n  {found[key]}")
        different += bool(wrong)
        _show(count, problem, different)
    print(f"{count - others} problems compared, {others} are other ones than in the file")
    return different


def _equal(expected: Any, found: Any) -> bool:
    """Whether a result is the frozen one; errors are equal where their types are, and what was not proved in time is not compared."""
    if isinstance(expected, str) and isinstance(found, str):
        return expected.partition(":")[0] == found.partition(":")[0]
    return expected is None or expected == found


def _show(count: int, problem: Problem, different: int = 0) -> None:
    if count % 100 == 0:
        print(f"{count} problems, {problem.name}, {different} differ", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["write", "check"])
    parser.add_argument("parts", nargs="*", help="drawn, planted, corpora; all of them if none is given")
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--data", type=Path, default=CORPORA)
    told = parser.parse_args()
    with warnings.catch_warnings(action="ignore"):
        if told.what == "write":
            print(f"{write(told.file, told.parts, told.data)} problems")
            return 0
        different = check(told.file, told.parts, told.data)
    print(f"{different} problems differ")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
