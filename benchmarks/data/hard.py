"""Hard instances with names, which stand for the same bytes on every machine; levels of difficulty take turns."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise, permutations
from math import inf
from random import Random

import numpy as np

from benchmarks.data.draws import (
    Document,
    Floats,
    below,
    citation,
    names,
    nats,
    near_ties,
    permutation,
    pick,
    stretches,
)
from benchmarks.data.synthetic import WORDS
from formulations import Rule, RuleSet, Trellis, dump_rules
from formulations import constraints as C
from formulations.grid import UNITS_PER_NAT

UNIT = 1 / UNITS_PER_NAT
Problem = tuple[Document, list[Rule]]


@dataclass(frozen=True)
class Level:
    """T tokens, K labels, and the knob of the family."""

    T: int
    K: int
    knob: float


@dataclass(frozen=True)
class Family:
    """Instances of one kind, from the easiest level to the most difficult one; the smallest is for tests."""

    about: str
    knob: str
    levels: tuple[Level, ...]
    smallest: Level
    make: Callable[[Random, Level], Problem]


@dataclass(frozen=True)
class Instance:
    """A problem with a name: family, T, K and number, such as `implications-60-27-03`."""

    name: str
    family: str
    level: Level
    document: Document
    rules: RuleSet

    def trellis(self) -> Trellis:
        """A fresh trellis, so that nothing that a method keeps with it is timed twice."""
        one = self.document
        return Trellis.from_emissions(
            one.emissions, one.transitions, start=one.start, labels=one.labels, tokens=list(one.tokens)
        )

    @cached_property
    def scores_text(self) -> str:
        """Tokens and scores as a line of JSON that `ilpinfer decode` reads; null forbids."""
        one = self.document
        record: dict[str, object] = {"tokens": one.tokens, "label_names": one.labels.names}
        for key in ("emissions", "transitions", "start"):
            record[key] = _plain(getattr(one, key))
        return json.dumps(record, separators=(",", ":"), allow_nan=False) + "\n"

    @cached_property
    def rules_text(self) -> str:
        return dump_rules(self.rules)

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256((self.scores_text + self.rules_text).encode()).hexdigest()[:16]


def _plain(scores: Floats) -> list[object]:
    values = scores.astype(object)
    values[np.isneginf(scores)] = None
    result: list[object] = values.tolist()
    return result


def instance(family: str, number: int, *, smallest: bool = False) -> Instance:
    one = FAMILIES[family]
    level = one.smallest if smallest else one.levels[number % len(one.levels)]
    name = f"{family}-{level.T}-{level.K}-{number:02}"
    document, rules = one.make(Random(f"{name}-{level.knob}"), level)
    return Instance(name, family, level, document, RuleSet(tuple(rules)))


def by_name(name: str) -> Instance:
    """The instance with that name; ValueError where there is none."""
    family, number = name.split("-")[0], int(name.split("-")[-1])
    for smallest in (False, True):
        result = instance(family, number, smallest=smallest)
        if result.name == name:
            return result
    raise ValueError(f"no instance {name!r}")


def _implications(random: Random, level: Level) -> Problem:
    document = citation(random, level.T, level.K, level.knob)
    pairs = permutation(random, list(permutations(document.fields, 2)))[:60]
    rules = [C.requires_present(a, b, penalty=nats(random, 0.5, 4.0)) for a, b in pairs]
    return document, [*rules, C.at_most_runs(C.EACH_FIELD, 1, penalty=3.0)]


def _exclusions(random: Random, level: Level) -> Problem:
    document = citation(random, level.T, level.K, level.knob)
    pairs = combinations(document.fields, 2)
    rules = [C.never_together(a, b, penalty=nats(random, 0.5, 4.0)) for a, b in pairs]
    return document, [*rules, C.at_most_runs(C.EACH_FIELD, 2, penalty=1.0)]


def _contradictions(random: Random, level: Level) -> Problem:
    document, rules = _implications(random, level)
    pairs = permutation(random, list(combinations(document.fields, 2)))[: int(level.T / 2)]
    return document, [*rules, *(C.never_together(a, b, penalty=nats(random, 0.5, 4.0)) for a, b in pairs)]


def _orders(random: Random, level: Level) -> Problem:
    document = citation(random, level.T, level.K, level.knob)
    pairs = permutations(document.fields, 2)
    rules = [C.presence_precedence(a, b, penalty=nats(random, 0.25, 3.0)) for a, b in pairs]
    return document, [*rules, C.exactly_runs(C.EACH_FIELD, 1)]


def _ties(random: Random, level: Level) -> Problem:
    document = near_ties(random, level.T, level.K, UNIT)
    order = [C.requires_before(a, b) for a, b in pairwise(permutation(random, document.fields))]
    runs = C.at_most_runs(C.EACH_FIELD, 2, penalty=3 * UNIT)
    return document, [runs, C.changes_only_after(penalty=2 * UNIT), *order]


def _gaps(random: Random, level: Level) -> Problem:
    document = citation(random, level.T, level.K, 2.5)
    weights = permutation(random, range(11, 60, 2))
    most = level.T // len(document.fields)
    tokens = {field: 1 + below(random, most) for field in document.fields}
    rules: list[Rule] = []
    for number in range(int(level.knob)):
        chosen = list(zip(weights[4 * number :], permutation(random, document.fields)[:4], strict=False))
        text = " + ".join(f"{weight}*tokens({field})" for weight, field in chosen)
        rules.append(C.linear(f"{text} = {sum(weight * tokens[field] for weight, field in chosen)}"))
    return document, [*rules, C.at_most_runs(C.EACH_FIELD, 2), C.changes_only_after(penalty=4.0)]


def _counts(random: Random, level: Level) -> Problem:
    document = citation(random, level.T, level.K, level.knob)
    number = level.T // (len(document.fields) + 1)
    tokens = [C.exactly_tokens(field, number) for field in document.fields]
    return document, [*tokens, *(C.exactly_runs(field, 2) for field in document.fields)]


def _hamming(random: Random, level: Level) -> Problem:
    document = citation(random, level.T, level.K, level.knob)
    once = [C.at_most_runs(field, 1, penalty=1.5, distance="hamming") for field in document.fields]
    long = [C.min_run_length(field, 3, penalty=0.75, distance="hamming") for field in document.fields]
    return document, [*once, *long]


def _windows(random: Random, level: Level) -> Problem:
    document = citation(random, level.T, level.K, 2.5)
    width = int(level.knob)
    few = [
        C.at_most_in_window(f, width // 4, width=width, penalty=nats(random, 0.25, 1.0))
        for f in document.fields
    ]
    many = [C.at_least_tokens(field, level.T // (level.K // 2 + 1), penalty=2.0) for field in document.fields]
    return document, [*few, *many]


def _consistency(random: Random, level: Level) -> Problem:
    document = names(random, level.T, level.knob)
    penalty = pick(random, (inf, 2.0))
    return document, [C.consistent(token_class="capitalised", penalty=penalty)]


def _timetables(random: Random, level: Level) -> Problem:
    events = [f"event {n}" for n in range(level.K // 2)]
    halves = [(event, 2 + below(random, 2)) for event in events for _ in range(2)]
    free = level.T - sum(slots for _, slots in halves)
    plan = permutation(random, [*halves, *[("O", 1)] * free])
    document = stretches(random, [(event, ["slot"] * slots) for event, slots in plan], level.knob)
    slots = {event: sum(n for name, n in halves if name == event) for event in events}
    pairs = permutation(random, list(permutations(events, 2)))[: len(events)]
    return document, [
        *(C.exactly_tokens(event, slots[event], penalty=2.0) for event in events),
        *(C.at_most_runs(event, 2) for event in events),
        *(C.min_run_length(event, 2) for event in events),
        *(C.at_most_in_window(event, 3, width=8, penalty=1.0) for event in events),
        *(C.requires_before(a, b, penalty=nats(random, 0.5, 2.0)) for a, b in pairs),
    ]


def _invoices(random: Random, level: Level) -> Problem:
    sections, lines = max(1, level.T // 20), list[tuple[str, int]]()
    for _ in range(sections):
        items = [1 + below(random, 40) for _ in range(2 + below(random, 4))]
        discount = below(random, 9)
        subtotal = sum(items) - discount
        tax = subtotal // 5
        lines += [*(("item", each) for each in items), ("discount", discount), ("subtotal", subtotal)]
        lines += [("tax", tax), ("total", subtotal + tax)]
    gaps = permutation(random, [i < len(lines) for i in range(level.T)])
    given = iter(lines)
    rows = [next(given) if is_line else ("O", below(random, 60)) for is_line in gaps]
    document = stretches(random, [(field, [str(amount)]) for field, amount in rows], level.knob)

    def amounts(field: str, sign: str) -> str:
        return "".join(f" {sign} {amount}*at({field}, {t})" for t, (_, amount) in enumerate(rows) if amount)

    sums = (
        amounts("item", "+") + amounts("discount", "-") + amounts("subtotal", "-"),
        amounts("subtotal", "+") + amounts("tax", "+") + amounts("total", "-"),
    )
    closing = [field for field in document.fields if field != "item"]
    return document, [
        *(C.linear(f"{text[3:]} = 0") for text in sums),
        *(C.exactly_tokens(field, sections, penalty=2.0) for field in closing),
        *(C.presence_precedence(a, b, penalty=0.5) for a, b in pairwise(["item", "subtotal", "total"])),
    ]


ADDRESS = {
    "person": 2,
    "firm": 3,
    "street": 3,
    "number": 1,
    "postcode": 1,
    "city": 2,
    "region": 2,
    "country": 1,
    "phone": 3,
}
"""Fields of an address, and their greatest number of tokens."""


def _addresses(random: Random, level: Level) -> Problem:
    usual, runs = list(ADDRESS)[: level.K // 2], list[tuple[str, list[str]]]()
    while len([word for _, words in runs for word in words]) < level.T:
        left_out = pick(random, usual)
        for field in usual:
            words = [pick(random, WORDS) for _ in range(1 + below(random, ADDRESS[field]))]
            runs += [(field, words)] * (field != left_out)
    kept = list[tuple[str, list[str]]]()
    for field, words in runs:
        kept.append((field, words[: level.T - len([word for _, some in kept for word in some])]))
    document = stretches(random, kept, level.knob)
    count = sum(field == usual[-1] for field, _ in kept) + 1
    return document, [
        *(C.at_most_runs(field, count, penalty=1.0) for field in usual),
        *(C.max_run_length(field, ADDRESS[field]) for field in usual),
        *(C.linear(f"runs({a}) - runs({b}) = 0", penalty=1.0) for a, b in pairwise(usual)),
        *(C.alternation(a, b, penalty=nats(random, 0.25, 1.0)) for a, b in combinations(usual, 2)),
    ]


FAMILIES = {
    "implications": Family(
        "60 soft implications between 13 fields, drawn at random; one run of each field",
        "noise, nats",
        (Level(60, 27, 2.5), Level(60, 27, 4.0), Level(60, 27, 6.0)),
        Level(10, 7, 2.5),
        _implications,
    ),
    "contradictions": Family(
        "60 soft implications, and soft rules against some pairs of the same fields, T / 2 in number",
        "noise, nats",
        (Level(20, 17, 2.5), Level(40, 27, 2.5), Level(60, 27, 2.5)),
        Level(10, 7, 2.5),
        _contradictions,
    ),
    "exclusions": Family(
        "a soft rule against each pair of fields together",
        "noise, nats",
        (Level(30, 13, 2.5), Level(60, 19, 2.5), Level(60, 27, 4.0)),
        Level(10, 7, 2.5),
        _exclusions,
    ),
    "orders": Family(
        "exactly one run of each field; a soft rule for each order of two fields, as in linear ordering",
        "noise, nats",
        (Level(20, 9, 1.0), Level(40, 19, 1.0), Level(60, 27, 1.0)),
        Level(10, 5, 1.0),
        _orders,
    ),
    "ties": Family(
        "scores of -3 to 3 grid units, penalties of 2 and 3; each field after the one before it in a chain",
        "none",
        (Level(30, 9, 0), Level(60, 17, 0), Level(80, 21, 0)),
        Level(10, 5, 0),
        _ties,
    ),
    "gaps": Family(
        "hard equations between token counts of four fields, with odd coefficients from 11 to 59, that some labelling keeps",
        "equations",
        (Level(40, 9, 1), Level(60, 13, 2), Level(60, 13, 3)),
        Level(10, 9, 1),
        _gaps,
    ),
    "counts": Family(
        "hard exact numbers of tokens, and two runs, of every field",
        "noise, nats",
        (Level(40, 9, 2.5), Level(60, 13, 2.5), Level(90, 19, 2.5)),
        Level(12, 5, 2.5),
        _counts,
    ),
    "hamming": Family(
        "soft Hamming distances of each field to one run, and to runs of at least three tokens",
        "noise, nats",
        (Level(30, 7, 2.5), Level(45, 9, 2.5), Level(60, 13, 2.5)),
        Level(8, 5, 2.5),
        _hamming,
    ),
    "windows": Family(
        "soft: at most a quarter of each window of tokens is of one field, and each field has its share",
        "width of a window, tokens",
        (Level(40, 7, 8), Level(60, 9, 12), Level(60, 13, 16)),
        Level(10, 5, 4),
        _windows,
    ),
    "consistency": Family(
        "equal capitalised tokens of a document have the same field: hard, or 2 nats",
        "noise, nats; names are worth 2 nats",
        (Level(100, 9, 1.0), Level(200, 9, 2.5), Level(400, 9, 2.5)),
        Level(20, 9, 2.5),
        _consistency,
    ),
    "timetables": Family(
        "events in slots: soft numbers of slots, at most two blocks of at least two slots, soft limits on eight slots in a row, and "
        "some events before others",
        "noise, nats",
        (Level(30, 9, 2.5), Level(45, 13, 2.5), Level(60, 17, 2.5), Level(60, 17, 4.0), Level(60, 21, 2.5)),
        Level(12, 5, 2.5),
        _timetables,
    ),
    "invoices": Family(
        "amounts of lines: items less discounts are the subtotals, with taxes the totals, exactly; soft numbers of these lines",
        "noise, nats",
        (Level(20, 11, 1.5), Level(40, 11, 1.5), Level(40, 11, 2.5), Level(60, 11, 1.5), Level(60, 11, 2.5)),
        Level(10, 11, 1.5),
        _invoices,
    ),
    "addresses": Family(
        "a list of addresses: fields of limited length, as many runs of one field as of the next, in turns with each other field",
        "noise, nats",
        (Level(20, 9, 2.5), Level(40, 13, 2.5), Level(60, 15, 2.5), Level(60, 19, 2.5), Level(60, 19, 4.0)),
        Level(10, 7, 2.5),
        _addresses,
    ),
}
