"""Brute-force oracles for constrained sequence labelling, written from the definitions, without the library.

Everything is enumerated and counted with Python integers. Scores and penalties are integers in units
of 2**-20 nats; None stands for a forbidden labelling. A labelling is a tuple of ids, `names` the list of its
label names; T >= 1 throughout. Violations are counts: the binary distance is min(1, count).
"""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from fractions import Fraction
from functools import cache, reduce
from heapq import heappop, heappush
from itertools import groupby, islice, product
from operator import getitem, itemgetter
from typing import Any

UNITS_PER_NAT = 2**20
PREFIXES = {"bio": "BI", "iob1": "IB", "iobes": "BIES", "bilou": "BILU", "bmes": "BMES", "paths": "BI"}

Labelling = tuple[int, ...]
Names = Sequence[str]
Group = str | Collection[str]  # the name of one field or label, or several names
Matches = Callable[[Any], bool]  # a test of a token
Units = Callable[[Labelling], int | None]


def snap(x: float) -> int | None:
    """Nats to grid units, half to even (x * 2**20 is exact); None for -inf; nan and +inf raise."""
    x = float(x)
    return None if x == -math.inf else round(x * UNITS_PER_NAT)


def labellings(T: int, K: int) -> Iterator[Labelling]:
    """All K**T tuples of ids, ascending."""
    return product(range(K), repeat=T)


def score_units(
    labelling: Labelling,
    start: Any = None,
    edges: Any = (),
    *,
    first: Any = None,
    emissions: Any = None,
    end: Any = None,
) -> int | None:
    """The score of a labelling, each of its numbers snapped apart.

    There are emissions (T, K), start and end (K,), first (K, K) of the first step, and edges, one table for each of the
    later steps: [from][to] at all of them, or [before][from][to] from the second step on.
    """
    T, reach = len(labelling), len(labelling) - len(edges) + 1
    numbers = [reduce(getitem, labelling[t : t + reach], table) for t, table in enumerate(edges)]
    numbers += [] if emissions is None else [row[k] for row, k in zip(emissions, labelling, strict=True)]
    numbers += [] if start is None else [start[labelling[0]]]
    numbers += [] if end is None else [end[labelling[-1]]]
    numbers += [] if first is None or T == 1 else [first[labelling[0]][labelling[1]]]
    units = [snap(x) for x in numbers]
    return None if None in units else sum(units)


def fields_of(label: str, scheme: str) -> list[tuple[str, str]]:
    """The (field name, prefix) pairs of a label, outermost first; O and plain labels have the prefix ""."""
    if scheme == "plain" or label == "O":
        return [(label, "")]
    levels = label.split("/") if scheme == "paths" else [label]
    fields: list[tuple[str, str]] = []
    for level in levels:
        prefix, dash, name = level.partition("-")
        if not (dash and name and prefix in tuple(PREFIXES[scheme])):
            raise ValueError(f"{label!r} is not a label of the scheme {scheme}")
        fields.append((f"{fields[-1][0]}/{name}" if fields else name, prefix))
    return fields


@cache
def _prefixes(label: str | None, scheme: str) -> dict[str, str]:
    """{field name: prefix} of a label; None is the position before the first token and has no fields."""
    return {} if label is None else dict(fields_of(label, scheme))


def _begins(previous: str | None, label: str, field: str, scheme: str) -> bool:
    """True if a run of this one field begins at `label` when `previous` stands before it."""
    before, now = _prefixes(previous, scheme), _prefixes(label, scheme)
    if field not in now or field not in before:
        return field in now
    if scheme in ("plain", "bio", "iob1"):
        return now[field] == "B"  # never in plain, whose prefix is ""
    if scheme in ("iobes", "bmes"):
        return now[field] in ("B", "S") or before[field] in ("E", "S")
    if scheme == "bilou":
        return now[field] in ("B", "U") or before[field] in ("L", "U")
    parent = field.rpartition("/")[0]
    return now[field] == "B" or (parent != "" and _begins(previous, label, parent, scheme))


def _steps(names: Names) -> list[tuple[str | None, str]]:
    """(label before t, label at t) for each t; None before the first."""
    return list(zip([None, *names[:-1]], names))


def group(A: Group) -> frozenset[str]:
    return frozenset([A]) if isinstance(A, str) else frozenset(A)


@cache
def names_of(label: str | None, scheme: str) -> frozenset[str]:
    """The names that a token answers to: its label, and the fields that the label belongs to."""
    return frozenset() if label is None else frozenset({label, *_prefixes(label, scheme)})


def belongs(label: str | None, A: Group, scheme: str) -> bool:
    """True if the label is in A, or belongs to a field in A."""
    return not names_of(label, scheme).isdisjoint(group(A))


def tokens_of(names: Names, A: Group, scheme: str) -> list[int]:
    """Positions whose label is in A, or belongs to a field in A."""
    return [t for t, name in enumerate(names) if belongs(name, A, scheme)]


def run_starts(names: Names, A: Group, scheme: str) -> list[int]:
    """Positions where a run of the field or group begins: the group is entered, or a field in it begins again."""

    def starts(i: str | None, j: str) -> bool:
        anew = any(belongs(i, field, scheme) and _begins(i, j, field, scheme) for field in group(A))
        return anew or (belongs(j, A, scheme) and not belongs(i, A, scheme))

    return [t for t, (i, j) in enumerate(_steps(names)) if starts(i, j)]


def changes(names: Names, scheme: str) -> list[int]:
    """Positions t >= 1 whose step from t-1 begins a run of any field, or enters O from something else."""

    def changed(i: str | None, j: str) -> bool:
        return any(_begins(i, j, field, scheme) for field in _prefixes(j, scheme)) or (j == "O" and i != "O")

    return [t for t, (i, j) in enumerate(_steps(names)) if t >= 1 and changed(i, j)]


def forbidden_transition(names: Names, tokens: Sequence, A: Group, B: Group, scheme: str) -> int:
    """Steps from a token of A to a token of B."""
    return sum(belongs(i, A, scheme) and belongs(j, B, scheme) for i, j in zip(names, names[1:]))


def starts_with(names: Names, tokens: Sequence, A: Group, scheme: str) -> int:
    """1 if the first token is not in A."""
    return int(not belongs(names[0], A, scheme))


def ends_with(names: Names, tokens: Sequence, A: Group, scheme: str) -> int:
    """1 if the last token is not in A."""
    return int(not belongs(names[-1], A, scheme))


def changes_only_after(names: Names, tokens: Sequence, matches: Matches, scheme: str) -> int:
    """Changes at t whose token t-1 does not match."""
    return sum(not matches(tokens[t - 1]) for t in changes(names, scheme))


def requires_before(names: Names, tokens: Sequence, A: Group, B: Group, scheme: str) -> int:
    """Runs of B that begin with no token of A anywhere before."""
    return sum(not tokens_of(names[:t], A, scheme) for t in run_starts(names, B, scheme))


def valid_scheme(names: Names, tokens: Sequence, scheme: str) -> int:
    """Invalid positions (bio, iob1, paths) or invalid junctions, both ends included (the others); 0 for plain."""
    if scheme == "plain":
        return 0
    if scheme in ("iobes", "bilou", "bmes"):
        return sum(not _valid_junction(i, j, scheme) for i, j in zip([None, *names], [*names, None]))
    if scheme == "iob1":
        return sum(j[0] == "B" and (i is None or i[1:] != j[1:]) for i, j in _steps(names))
    return sum(not _valid_after(previous, name, scheme) for previous, name in _steps(names))


def _valid_junction(previous: str | None, label: str | None, scheme: str) -> bool:
    """After an open x (B-x or the inner label) comes the inner or the last label, and only there; None is START or END."""
    inner, last = {"iobes": "IE", "bilou": "IL", "bmes": "ME"}[scheme]
    inside = None if label is None or label[:2] not in (f"{inner}-", f"{last}-") else label[2:]
    is_open = None if previous is None or previous[:2] not in ("B-", f"{inner}-") else previous[2:]
    return inside == is_open


def _valid_after(previous: str | None, label: str, scheme: str) -> bool:
    """BIO at every level: I needs the same path just before it, and no level above it with B."""
    parent_begins = False
    for field, prefix in fields_of(label, scheme):
        if prefix == "I" and (parent_begins or field not in _prefixes(previous, scheme)):
            return False
        parent_begins = parent_begins or prefix == "B"
    return True


def hamming(labelling: Sequence, kept: Collection[Sequence]) -> int:
    """Fewest tokens to relabel until a labelling is among those kept; all of them if none is."""
    return min((sum(a != b for a, b in zip(labelling, y, strict=True)) for y in kept), default=len(labelling))


def ranked(T: int, K: int, score_fn: Units, penalty_fn: Units) -> Iterator[tuple[int, Labelling]]:
    """(total, labelling), total = score - penalty, the best first, equal ones by ids; no penalty is negative."""
    waiting: list[tuple[int, Labelling]] = []
    for minus, y in sorted((-score, y) for y in labellings(T, K) if (score := score_fn(y)) is not None):
        while waiting and waiting[0][0] < minus:
            least, labelling = heappop(waiting)
            yield -least, labelling
        if (penalty := penalty_fn(y)) is not None:
            heappush(waiting, (minus + penalty, y))
    yield from ((-least, labelling) for least, labelling in sorted(waiting))


def top(T: int, K: int, score_fn: Units, penalty_fn: Units, k: int | None) -> list[tuple[int, Labelling]]:
    """The k best; None: all."""
    return list(islice(ranked(T, K, score_fn, penalty_fn), k))


def best(T: int, K: int, score_fn: Units, penalty_fn: Units) -> tuple[int | None, set[Labelling]]:
    """The best total and all labellings that reach it, or (None, set())."""
    _, group = next(groupby(ranked(T, K, score_fn, penalty_fn), key=itemgetter(0)), (None, ()))
    first = list(group)
    return (first[0][0], {y for _, y in first}) if first else (None, set())


def score_floor(Z: int, tau: float | Fraction, bound: str) -> int | None:
    """Least score allowed in the second phase, rounded up to the grid; None: no floor (odds with tau = 0)."""
    assert 0 <= tau <= 1
    if bound == "relative":
        return math.ceil(Z - (1 - Fraction(tau) + Fraction(math.ulp(float(tau))) / 2) * abs(Z))
    if bound == "odds":
        return None if tau == 0 else Z + math.ceil(math.log(tau) * UNITS_PER_NAT)
    raise ValueError(f"unknown bound {bound!r}")


def two_phase(
    T: int, K: int, score_fn: Units, penalty_fn: Units, cost_fn: Units, tau: float | Fraction, bound: str
) -> tuple[int, int | None, list[tuple[int, int, Labelling]]] | None:
    """(Z, floor, (cost, -score, labelling) of all above it in their order); hard rules, whose penalty is None, hold in both phases."""
    scored = ((y, score_fn(y)) for y in labellings(T, K) if penalty_fn(y) is not None)
    scores = {y: score for y, score in scored if score is not None}
    if not scores:
        return None
    Z = max(scores.values())
    floor = score_floor(Z, tau, bound)
    kept = [y for y, score in scores.items() if floor is None or score >= floor]
    return Z, floor, sorted((cost_fn(y), -scores[y], y) for y in kept)
