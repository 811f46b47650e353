"""Hard instances with names, which stand for the same bytes on every machine; levels of difficulty take turns."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise, permutations
from math import inf
from random import Random

import numpy as np

from benchmarks.data import draws
from benchmarks.data.synthetic import WORDS
from formulations import Rule, RuleSet, Trellis, dump_rules
from formulations import constraints as C
from formulations.grid import UNITS_PER_NAT

UNIT = 1 / UNITS_PER_NAT
Problem = tuple[draws.Document, list[Rule]]


@dataclass(frozen=True)
class Level:
    """T tokens, K labels, and the knob of the family."""

    T: int
    K: int
    knob: float


Make = Callable[[Random, Level], Problem]


@dataclass(frozen=True)
class Family:
    """Instances of one kind, from the easiest level to the most difficult one; the smallest is for tests."""

    about: str
    knob: str
    levels: tuple[Level, ...]
    smallest: Level
    make: Make


@dataclass(frozen=True)
class Instance:
    """A problem with a name: family, T, K and number, such as `implications-60-27-03`."""

    name: str
    family: str
    level: Level
    document: draws.Document
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


def _plain(scores: draws.Floats) -> list[object]:
    values = scores.astype(object)
    values[np.isneginf(scores)] = None
    result: list[object] = values.tolist()
    return result


FAMILIES: dict[str, Family] = {}


def family(
    knob: str, levels: Sequence[tuple[int, int, float]], smallest: tuple[int, int, float]
) -> Callable[[Make], Make]:
    """A family of the function's name, about which its docstring tells."""

    def add(make: Make) -> Make:
        name, about = make.__name__.strip("_"), make.__doc__ or ""
        FAMILIES[name] = Family(about, knob, tuple(Level(*one) for one in levels), Level(*smallest), make)
        return make

    return add


def level_and_name(kind: str, number: int, *, smallest: bool = False) -> tuple[Level, str]:
    one = FAMILIES[kind]
    level = one.smallest if smallest else one.levels[number % len(one.levels)]
    return level, f"{kind}-{level.T}-{level.K}-{number:02}"


def instance(kind: str, number: int, *, smallest: bool = False) -> Instance:
    level, name = level_and_name(kind, number, smallest=smallest)
    document, rules = FAMILIES[kind].make(Random(f"{name}-{level.knob}"), level)
    return Instance(name, kind, level, document, RuleSet(tuple(rules)))


def by_name(name: str) -> Instance:
    """The instance with that name; ValueError where there is none."""
    kind, number = name.split("-")[0], int(name.split("-")[-1])
    for smallest in (False, True):
        if level_and_name(kind, number, smallest=smallest)[1] == name:
            return instance(kind, number, smallest=smallest)
    raise ValueError(f"no instance {name!r}")


@family("noise, nats", ((60, 27, 2.5), (60, 27, 4.0), (60, 27, 6.0)), (10, 7, 2.5))
def _implications(random: Random, level: Level) -> Problem:
    """60 soft implications between 13 fields, drawn at random; one run of each field"""
    document = draws.citation(random, level.T, level.K, level.knob)
    pairs = draws.permutation(random, list(permutations(document.fields, 2)))[:60]
    rules = [C.requires_present(a, b, penalty=draws.nats(random, 0.5, 4.0)) for a, b in pairs]
    return document, [*rules, C.at_most_runs(C.EACH_FIELD, 1, penalty=3.0)]


@family("noise, nats", ((20, 17, 2.5), (40, 27, 2.5), (60, 27, 2.5)), (10, 7, 2.5))
def _contradictions(random: Random, level: Level) -> Problem:
    """60 soft implications, and soft rules against some pairs of the same fields, T / 2 in number"""
    document, rules = _implications(random, level)
    pairs = draws.permutation(random, list(combinations(document.fields, 2)))[: int(level.T / 2)]
    return document, [
        *rules,
        *(C.never_together(a, b, penalty=draws.nats(random, 0.5, 4.0)) for a, b in pairs),
    ]


@family("noise, nats", ((30, 13, 2.5), (60, 19, 2.5), (60, 27, 4.0)), (10, 7, 2.5))
def _exclusions(random: Random, level: Level) -> Problem:
    """a soft rule against each pair of fields together"""
    document = draws.citation(random, level.T, level.K, level.knob)
    pairs = combinations(document.fields, 2)
    rules = [C.never_together(a, b, penalty=draws.nats(random, 0.5, 4.0)) for a, b in pairs]
    return document, [*rules, C.at_most_runs(C.EACH_FIELD, 2, penalty=1.0)]


@family("noise, nats", ((20, 9, 1.0), (40, 19, 1.0), (60, 27, 1.0)), (10, 5, 1.0))
def _orders(random: Random, level: Level) -> Problem:
    """exactly one run of each field; a soft rule for each order of two fields, as in linear ordering"""
    document = draws.citation(random, level.T, level.K, level.knob)
    pairs = permutations(document.fields, 2)
    rules = [C.presence_precedence(a, b, penalty=draws.nats(random, 0.25, 3.0)) for a, b in pairs]
    return document, [*rules, C.exactly_runs(C.EACH_FIELD, 1)]


@family("none", ((30, 9, 0), (60, 17, 0), (80, 21, 0)), (10, 5, 0))
def _ties(random: Random, level: Level) -> Problem:
    """scores of -3 to 3 grid units, penalties of 2 and 3; each field after the one before it in a chain"""
    document = draws.near_ties(random, level.T, level.K, UNIT)
    order = [C.requires_before(a, b) for a, b in pairwise(draws.permutation(random, document.fields))]
    runs = C.at_most_runs(C.EACH_FIELD, 2, penalty=3 * UNIT)
    return document, [runs, C.changes_only_after(penalty=2 * UNIT), *order]


@family("equations", ((40, 9, 1), (60, 13, 2), (60, 13, 3)), (10, 9, 1))
def _gaps(random: Random, level: Level) -> Problem:
    """hard equations between token counts of four fields, with odd coefficients from 11 to 59, that some labelling keeps"""
    document = draws.citation(random, level.T, level.K, 2.5)
    weights = draws.permutation(random, range(11, 60, 2))
    most = level.T // len(document.fields)
    tokens = {field: 1 + draws.below(random, most) for field in document.fields}
    rules: list[Rule] = []
    for number in range(int(level.knob)):
        chosen = list(
            zip(weights[4 * number :], draws.permutation(random, document.fields)[:4], strict=False)
        )
        text = " + ".join(f"{weight}*tokens({field})" for weight, field in chosen)
        rules.append(C.linear(f"{text} = {sum(weight * tokens[field] for weight, field in chosen)}"))
    return document, [*rules, C.at_most_runs(C.EACH_FIELD, 2), C.changes_only_after(penalty=4.0)]


@family("noise, nats", ((40, 9, 2.5), (60, 13, 2.5), (90, 19, 2.5)), (12, 5, 2.5))
def _counts(random: Random, level: Level) -> Problem:
    """hard exact numbers of tokens, and two runs, of every field"""
    document = draws.citation(random, level.T, level.K, level.knob)
    number = level.T // (len(document.fields) + 1)
    tokens = [C.exactly_tokens(field, number) for field in document.fields]
    return document, [*tokens, *(C.exactly_runs(field, 2) for field in document.fields)]


@family("noise, nats", ((30, 7, 2.5), (45, 9, 2.5), (60, 13, 2.5)), (8, 5, 2.5))
def _hamming(random: Random, level: Level) -> Problem:
    """soft Hamming distances of each field to one run, and to runs of at least three tokens"""
    document = draws.citation(random, level.T, level.K, level.knob)
    once = [C.at_most_runs(field, 1, penalty=1.5, distance="hamming") for field in document.fields]
    long = [C.min_run_length(field, 3, penalty=0.75, distance="hamming") for field in document.fields]
    return document, [*once, *long]


@family("width of a window, tokens", ((40, 7, 8), (60, 9, 12), (60, 13, 16)), (10, 5, 4))
def _windows(random: Random, level: Level) -> Problem:
    """soft: at most a quarter of each window of tokens is of one field, and each field has its share"""
    document = draws.citation(random, level.T, level.K, 2.5)
    width = int(level.knob)
    few = [
        C.at_most_in_window(f, width // 4, width=width, penalty=draws.nats(random, 0.25, 1.0))
        for f in document.fields
    ]
    many = [C.at_least_tokens(field, level.T // (level.K // 2 + 1), penalty=2.0) for field in document.fields]
    return document, [*few, *many]


@family("noise, nats; names are worth 2 nats", ((100, 9, 1.0), (200, 9, 2.5), (400, 9, 2.5)), (20, 9, 2.5))
def _consistency(random: Random, level: Level) -> Problem:
    """equal capitalised tokens of a document have the same field: hard, or 2 nats"""
    document = draws.names(random, level.T, level.knob)
    penalty = draws.pick(random, (inf, 2.0))
    return document, [C.consistent(token_class="capitalised", penalty=penalty)]


@family(
    "noise, nats", ((30, 9, 2.5), (45, 13, 2.5), (60, 17, 2.5), (60, 17, 4.0), (60, 21, 2.5)), (12, 5, 2.5)
)
def _timetables(random: Random, level: Level) -> Problem:
    """events in slots: soft numbers of slots, at most two blocks of at least two slots, soft limits on eight slots in a row, and some events before others"""
    events = [f"event {n}" for n in range(level.K // 2)]
    halves = [(event, 2 + draws.below(random, 2)) for event in events for _ in range(2)]
    free = level.T - sum(slots for _, slots in halves)
    plan = draws.permutation(random, [*halves, *[("O", 1)] * free])
    document = draws.stretches(random, [(event, ["slot"] * slots) for event, slots in plan], level.knob)
    slots = {event: sum(n for name, n in halves if name == event) for event in events}
    pairs = draws.permutation(random, list(permutations(events, 2)))[: len(events)]
    return document, [
        *(C.exactly_tokens(event, slots[event], penalty=2.0) for event in events),
        *(C.at_most_runs(event, 2) for event in events),
        *(C.min_run_length(event, 2) for event in events),
        *(C.at_most_in_window(event, 3, width=8, penalty=1.0) for event in events),
        *(C.requires_before(a, b, penalty=draws.nats(random, 0.5, 2.0)) for a, b in pairs),
    ]


@family(
    "noise, nats", ((20, 11, 1.5), (40, 11, 1.5), (40, 11, 2.5), (60, 11, 1.5), (60, 11, 2.5)), (10, 11, 1.5)
)
def _invoices(random: Random, level: Level) -> Problem:
    """amounts of lines: items less discounts are the subtotals, with taxes the totals, exactly; soft numbers of these lines"""
    sections, lines = max(1, level.T // 20), list[tuple[str, int]]()
    for _ in range(sections):
        items = [1 + draws.below(random, 40) for _ in range(2 + draws.below(random, 4))]
        discount = draws.below(random, 9)
        subtotal = sum(items) - discount
        tax = subtotal // 5
        lines += [*(("item", each) for each in items), ("discount", discount), ("subtotal", subtotal)]
        lines += [("tax", tax), ("total", subtotal + tax)]
    gaps = draws.permutation(random, [i < len(lines) for i in range(level.T)])
    given = iter(lines)
    rows = [next(given) if is_line else ("O", draws.below(random, 60)) for is_line in gaps]
    document = draws.stretches(random, [(field, [str(amount)]) for field, amount in rows], level.knob)

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


@family(
    "noise, nats", ((20, 9, 2.5), (40, 13, 2.5), (60, 15, 2.5), (60, 19, 2.5), (60, 19, 4.0)), (10, 7, 2.5)
)
def _addresses(random: Random, level: Level) -> Problem:
    """a list of addresses: fields of limited length, as many runs of one field as of the next, in turns with each other field"""
    usual, runs = list(ADDRESS)[: level.K // 2], list[tuple[str, list[str]]]()
    while len([word for _, words in runs for word in words]) < level.T:
        left_out = draws.pick(random, usual)
        for field in usual:
            words = [draws.pick(random, WORDS) for _ in range(1 + draws.below(random, ADDRESS[field]))]
            runs += [(field, words)] * (field != left_out)
    kept = list[tuple[str, list[str]]]()
    for field, words in runs:
        kept.append((field, words[: level.T - len([word for _, some in kept for word in some])]))
    document = draws.stretches(random, kept, level.knob)
    count = sum(field == usual[-1] for field, _ in kept) + 1
    return document, [
        *(C.at_most_runs(field, count, penalty=1.0) for field in usual),
        *(C.max_run_length(field, ADDRESS[field]) for field in usual),
        *(C.linear(f"runs({a}) - runs({b}) = 0", penalty=1.0) for a, b in pairwise(usual)),
        *(C.alternation(a, b, penalty=draws.nats(random, 0.25, 1.0)) for a, b in combinations(usual, 2)),
    ]
