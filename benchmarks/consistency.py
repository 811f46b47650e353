"""Equal names of one field over whole documents: seconds to proof of the engine beside those of a solver.

`python -m benchmarks.consistency [DOCUMENTS]` : generated documents of 50 to 400 tokens, in which names come up to 20
times, with confident and noisy scores, hard and soft; a limit of 20 seconds each.
"""

import statistics
import sys
import time
from collections.abc import Iterator
from itertools import product

import numpy as np

import ilpinfer
from benchmarks.machine import header
from formulations import LabelSet, Rule, Trellis
from formulations import constraints as C

LENGTHS = (50, 100, 200, 400)
NOISE = {"confident": 1.0, "noisy": 2.5}
"""Standard deviation of the scores of tokens, in nats, around a gold label that is worth `GOLD` more."""
GOLD, PENALTY = 2.0, 2.0
DOCUMENTS, LIMIT = 20, 20.0
METHODS = ("auto", "cp-sat")
FIELDS = ("person", "place", "firm", "work")
LABELS = LabelSet((*(f"{p}-{name}" for name in FIELDS for p in "BI"), "O"), "bio")
RULES: dict[str, Rule] = {
    kind: C.consistent(token_class="capitalised", penalty=penalty)
    for kind, penalty in (("hard", float("inf")), ("soft", PENALTY))
}


def document(T: int, seed: int, noise: float) -> Trellis:
    """About two names in five tokens; a name is one or two words, which come up to 20 times, in one field mostly."""
    rng = np.random.default_rng([T, seed])
    words, labels = list[str](), list[str]()
    for word, label in _text(T, rng):
        words.append(word)
        labels.append(label)
    gold = LABELS.ids(labels[:T])
    emissions = rng.normal(scale=noise, size=(T, len(LABELS)))
    emissions[np.arange(T), gold] += GOLD
    wrong, last = LABELS.invalid
    steps = np.where(wrong[1:], -np.inf, rng.normal(scale=0.5, size=(len(LABELS),) * 2))
    start, end = (np.where(each, -np.inf, 0.0) for each in (wrong[0], last))
    return Trellis.from_emissions(emissions, steps, start, end, LABELS, words[:T])


def _text(T: int, rng: np.random.Generator) -> Iterator[tuple[str, str]]:
    """Words and their labels, T or more."""
    names = list[tuple[str, ...]]()
    fields, number = dict[tuple[str, ...], str](), 0
    while len(names) < T // 4:
        name = tuple(f"Name{number + i}" for i in range(int(rng.integers(1, 3))))
        number += len(name)
        fields[name] = str(rng.choice(FIELDS))
        names += [name] * int(rng.integers(2, 21))
    for place in rng.permutation(len(names))[: T // 4].tolist():
        name = names[place]
        field = fields[name] if rng.random() < 0.9 else str(rng.choice(FIELDS))
        yield from ((word, f"{'I' if i else 'B'}-{field}") for i, word in enumerate(name))
        yield from ((f"word{rng.integers(10 * T)}", "O") for _ in range(int(rng.integers(2, 4))))
    yield from (("word", "O") for _ in range(T))


def measure(T: int, scores: str, kind: str, number: int) -> str:
    """A row of the table: medians and means of seconds, proofs, and how often an incumbent is the better one."""
    seconds: dict[str, list[float]] = {method: [] for method in METHODS}
    optimal, worse = dict.fromkeys(METHODS, 0), dict.fromkeys(METHODS, 0)
    for seed in range(number):
        trellis, result = document(T, seed, NOISE[scores]), {}
        for method in METHODS:
            began = time.perf_counter()
            result[method] = ilpinfer.decode(trellis, [RULES[kind]], method=method, time_limit=LIMIT)
            seconds[method].append(time.perf_counter() - began)
            optimal[method] += result[method].status == "optimal"
        best = max(solution.score for solution in result.values())
        for method in METHODS:
            worse[method] += result[method].score < best
        exact = result["auto"].certificate.kind == "exact"
        optimal["exact"] = optimal.get("exact", 0) + exact
    medians = {method: statistics.median(each) for method, each in seconds.items()}
    cells = [f"{medians[m]:8.3f} {max(seconds[m]):8.3f} {optimal[m]:4} {worse[m]:4}" for m in METHODS]
    ratio = medians["auto"] / medians["cp-sat"]
    return f"{T:4} {scores:10} {kind:5} {'  '.join(cells)}  {optimal['exact']:5} {ratio:6.2f}"


def main(arguments: list[str]) -> None:
    """Print the table."""
    number = int(arguments[0]) if arguments else DOCUMENTS
    lengths = [int(each) for each in arguments[1:]] or LENGTHS
    for method in METHODS:
        ilpinfer.decode(document(50, 0, 1.0), [RULES["hard"]], method=method)
    ilpinfer.warm_up()
    print(header())
    print(
        f"{number} documents each, limit {LIMIT:g} s; seconds: median and longest; proofs; documents with a worse labelling\n"
    )
    print(f"{'':21} {'  '.join(f'{m:>27}' for m in METHODS)}  exact  ratio")
    for T, scores, kind in product(lengths, NOISE, RULES):
        print(measure(T, scores, kind, number), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
