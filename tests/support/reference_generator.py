"""Random instances for references, with synthetic labels and tokens. The same arguments give the same instances in
every process.

An instance has two random labellings. The hidden one keeps all rules, except the contradictory rules of an infeasible instance. The
rival is drawn independently of the rules. `hardness` divides the scores between the two.

`python -m support.reference_generator`, in tests/, makes the references that come with the package anew.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, log2
from random import Random

from formulations import LabelSet, Rule, RuleSet, Trellis
from formulations import constraints as C
from formulations.labels.reading import Reading
from ilpinfer.decoding.decode import decode
from ilpinfer.references.files import write
from ilpinfer.references.making import make
from ilpinfer.references.shipped import FOLDER, KINDS

STRENGTH = 3.0
"""Nats at each token that are divided between hidden labelling and rival."""
NOISE = 2.0
"""Nats, the spread of scores."""
ATTEMPTS = 200
"""Largest number of draws: of an instance until two labellings are best, and of a rule until the hidden labelling keeps
it.
"""
WORDS = ("alpha", "beta", "gamma", "delta", "1999", "2004", ",", ".")


@dataclass(frozen=True)
class Instance:
    """A trellis with rules, generated at random."""

    name: str
    kind: str
    trellis: Trellis
    rules: RuleSet
    hidden: tuple[str, ...]
    rival: tuple[str, ...]


@dataclass(frozen=True)
class Sizes:
    """Arguments of `generate` for instances of one size."""

    count: int
    T: int
    K: int
    rules: int
    hardness: float


SMALL, MIDDLE = Sizes(8, 8, 4, 3, 0.5), Sizes(8, 25, 8, 4, 0.6)
LARGE = Sizes(3, 80, 12, 5, 0.7)
LARGEST = Sizes(1, 200, 30, 4, 0.5)
SIZES = {
    "plain": (SMALL, MIDDLE, LARGE, LARGEST),
    "ties": (SMALL, MIDDLE, LARGE, LARGEST),
    "infeasible": (SMALL, MIDDLE, LARGE, LARGEST),
    "second-order": (SMALL, Sizes(8, 20, 5, 3, 0.6), Sizes(3, 40, 6, 3, 0.7), Sizes(1, 200, 5, 3, 0.5)),
    "soft-and-hard": (SMALL, MIDDLE, LARGE, Sizes(1, 200, 30, 3, 0.5)),
}
"""Twenty instances of each kind, which come with the package."""


def shipped(kind: str) -> Iterator[Instance]:
    """The instances from which the references of a kind were made."""
    return (
        instance
        for seed, size in enumerate(SIZES[kind])
        for instance in generate(kind, seed=seed, **vars(size))
    )


def generate(
    kind: str, count: int, *, seed: int = 0, T: int = 20, K: int = 6, rules: int = 4, hardness: float = 0.5
) -> Iterator[Instance]:
    """Random instances of a kind; a larger count gives the same instances first.

    Infeasible instances have two more rules. At each token, the label of the hidden labelling gains (1 - hardness) · `STRENGTH` nats,
    and that of the rival hardness · `STRENGTH` nats.
    """
    return (_instance(kind, f"{kind}-{seed}-{place}", T, K, rules, hardness) for place in range(count))


def _instance(kind: str, name: str, T: int, K: int, rules: int, hardness: float) -> Instance:
    for attempt in range(ATTEMPTS):
        made = _draw(Random(f"{name}-{T}-{K}-{rules}-{attempt}"), kind, name, T, K, rules, hardness)
        if kind != "ties" or _is_tied(made):
            return made
    raise ValueError(f"{name}: {ATTEMPTS} draws have one best labelling each; give more tokens or labels")


def _is_tied(instance: Instance) -> bool:
    return len(decode(instance.trellis, instance.rules, top=2, within=0)) == 2


def _draw(random: Random, kind: str, name: str, T: int, K: int, rules: int, hardness: float) -> Instance:
    labels = _labels(random, K)
    tokens = tuple(_pick(random, WORDS) for _ in range(T))
    hidden, rival = (tuple(labels.names[k] for k in _runs(random, T, K)) for _ in range(2))
    trellis = _trellis(random, kind, labels, tokens, hidden, rival, hardness)
    stated = list(_rules(random, kind, labels, tokens, hidden, rules))
    if kind == "infeasible":
        stated += _contradiction(random, labels, T)
    return Instance(name, kind, trellis, RuleSet(tuple(stated)), hidden, rival)


def _labels(random: Random, K: int) -> LabelSet:
    """Plain names, or BIO names; the last field may have no inner label."""
    if random.random() < 0.5:
        return LabelSet((*(f"f{n}" for n in range(K - 1)), "O"), "plain")
    names = [f"{prefix}-f{n}" for n in range(K // 2) for prefix in "BI"]
    return LabelSet((*names[: K - 1], "O"), "bio")


def _runs(random: Random, T: int, K: int) -> list[int]:
    """Label ids in stretches of about three tokens."""
    result = [_below(random, K)]
    while len(result) < T:
        result.append(_below(random, K) if random.random() < 0.35 else result[-1])
    return result


def _trellis(
    random: Random,
    kind: str,
    labels: LabelSet,
    tokens: Sequence[str],
    hidden: Sequence[str],
    rival: Sequence[str],
    hardness: float,
) -> Trellis:
    K, grain = len(labels), 2.0 ** -max(0, round(log2(len(tokens) / 8))) if kind == "ties" else 2.0**-6
    favours = ((hidden, (1 - hardness) * STRENGTH), (rival, hardness * STRENGTH))

    def score() -> float:
        return (random.random() + random.random() - 1) * NOISE

    def emission(t: int, name: str) -> float:
        return score() + sum(nats for labelling, nats in favours if labelling[t] == name)

    def on_grid(nats: float) -> float:
        return round(nats / grain) * grain

    emissions = [[on_grid(emission(t, name)) for name in labels.names] for t in range(len(tokens))]
    steps = [[on_grid(score() / 2) for _ in range(K)] for _ in range(K)]
    if kind != "second-order":
        return Trellis.from_emissions(emissions, steps, labels=labels, tokens=tokens)
    pairs = [[[on_grid(score() / 2) for _ in range(K)] for _ in range(K)] for _ in range(K)]
    return Trellis.from_emissions(emissions, pairs, labels=labels, tokens=tokens, first=steps)


def _rules(
    random: Random, kind: str, labels: LabelSet, tokens: Sequence[str], hidden: Sequence[str], count: int
) -> Iterator[Rule]:
    """Different rules that the hidden labelling keeps."""
    reading, names = Reading(hidden, tokens, labels), set[str]()
    hard_share = {"soft-and-hard": 0.5, "infeasible": 0.5}.get(kind, 0.0)
    for _ in range(count):
        for _ in range(ATTEMPTS):
            nats = 1.0 + _below(random, 4) if kind == "ties" else (16 + _below(random, 240)) / 64
            penalty = inf if random.random() < hard_share else nats
            rule = _rule(random, labels, hidden, penalty)
            kept = not any(trial.amount for trial in rule.trials(reading))
            if kept and rule.title not in names:
                names.add(rule.title)
                yield rule
                break


def _rule(random: Random, labels: LabelSet, hidden: Sequence[str], penalty: float) -> Rule:
    """A rule of one of ten templates on random fields."""
    fields = list(labels.fields)
    a, b = _two(random, fields)
    least = sum(labels.fields[a].member[labels.names.index(name)] for name in hidden)
    options = (
        lambda: C.at_most_runs(a, 1 + _below(random, 2), penalty=penalty),
        lambda: C.at_least_tokens(a, max(1, int(least)), penalty=penalty),
        lambda: C.at_most_tokens(a, max(1, int(least)), penalty=penalty),
        lambda: C.forbidden_transition(a, b, penalty=penalty),
        lambda: C.starts_with(a, penalty=penalty),
        lambda: C.ends_with(a, penalty=penalty),
        lambda: C.requires_before(a, b, penalty=penalty),
        lambda: C.precedence(a, b, penalty=penalty),
        lambda: C.tag_at(a, words=[_pick(random, WORDS)], penalty=penalty),
        lambda: C.min_run_length(a, 2, penalty=penalty),
    )
    return options[_below(random, len(options))]()


def _contradiction(random: Random, labels: LabelSet, T: int) -> list[Rule]:
    """Two hard rules that no labelling keeps."""
    a, b = _two(random, list(labels.fields))
    n = 1 + _below(random, max(1, T // 2))
    options = (
        [C.at_least_tokens(a, n, name="enough"), C.at_most_tokens(a, n - 1, name="few")],
        [C.starts_with(b, name="first"), C.requires_before(a, b, name="after another")],
        [C.ends_with(a, name="last"), C.at_most_tokens(a, 0, name="none")],
    )
    return options[_below(random, len(options))]


def _below(random: Random, end: int) -> int:
    """A whole number from 0; `random` alone is the same in every version of Python."""
    return int(random.random() * end)


def _pick(random: Random, options: Sequence[str]) -> str:
    return options[_below(random, len(options))]


def _two(random: Random, options: Sequence[str]) -> tuple[str, str]:
    first = _below(random, len(options))
    second = _below(random, len(options) - 1)
    return options[first], options[second + (second >= first)]


if __name__ == "__main__":
    for kind in KINDS:
        made = (make(each.trellis, each.rules, name=each.name) for each in shipped(kind))
        write(FOLDER / f"{kind}.jsonl.gz", made)
