"""The families of mined rules: candidates and their base rates by chance."""

import math
from collections.abc import Callable, Mapping
from itertools import combinations

import numpy as np

from formulations import Rule
from formulations import constraints as C
from formulations.dtypes import Booleans, Integers
from ilpinfer.learning.conjunctions import conjunctions
from ilpinfer.learning.rule_trials import count_trials
from ilpinfer.learning.sample import Candidates, Sample, gain

LENGTHS = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30)
"""Minimum run lengths that are tried."""
WIDTHS = (*range(2, 13), 16, 20, 24, 32)
"""Window widths that are tried."""
FIRST_FIELDS = 3
"""Largest number of fields in a rule on the first or last token."""
DELIMITERS = 12
"""Number of most frequent punctuation tokens that are tried as delimiters."""


def _share(held: Booleans) -> float:
    return float(held.mean()) if len(held) else 0.0


def _gain(held: Booleans, base: float) -> float:
    return gain(int(held.sum()), int(len(held) - held.sum()), base)


def _one_run(sample: Sample) -> Candidates:
    """Base: probability of one run given any, if runs of the field were spread at random over sequences (Poisson)."""
    for name in sample.names:
        rate = float(sample.table.field(name).runs.mean())
        base = rate * math.exp(-rate) / -math.expm1(-rate)
        yield C.at_most_runs(name, 1), base


def _requires_present(sample: Sample) -> Candidates:
    """Base: how often the required field is present."""
    base = {name: _share(sample.table.field(name).present) for name in sample.names}
    for a, b in sample.pairs:
        yield C.requires_present(a, b), base[b]


def _never_together(sample: Sample) -> Candidates:
    """Base: probability of not both given either, if the two were independent."""
    present = {name: sample.table.field(name).present for name in sample.names}
    for a, b in combinations(sample.names, 2):
        one, two = present[a], present[b]
        rarer = min(one.sum(), two.sum())
        if sample.related(a, b) or (one & two).sum() > (1 - sample.thresholds.confidence) * rarer:
            continue
        p, q = _share(one), _share(two)
        base = 1 - p * q / (p + q - p * q)
        yield C.never_together(a, b), base


def _precedence(sample: Sample) -> Candidates:
    """Base: the share of the runs of all other fields that the later field follows."""
    _, sequence, _, end = sample.runs
    last = {name: sample.table.field(name).last for name in sample.names}
    base = {b: _share((end < last[b][sequence])[sample.of_others(b)]) for b in sample.names}
    for a, b in sample.pairs:
        yield C.precedence(a, b), base[b]


def _requires_before(sample: Sample) -> Candidates:
    """Base: the share of the runs of all other fields that the earlier field precedes."""
    _, sequence, start, _ = sample.runs
    first = {name: sample.table.field(name).first for name in sample.names}
    base = {a: _share((start > first[a][sequence])[sample.of_others(a)]) for a in sample.names}
    for a, b in sample.pairs:
        yield C.requires_before(a, b), base[a]


def _presence_precedence(sample: Sample) -> Candidates:
    """Base: share of the runs of other fields, in sequences with the field, that are not before it."""
    _, sequence, _, end = sample.runs
    tables = {name: sample.table.field(name) for name in sample.names}
    base = {}
    for a, table in tables.items():
        chosen = sample.of_others(a) & table.present[sequence]
        base[a] = _share((end >= table.last[sequence])[chosen])
    for a, b in sample.pairs:
        if (tables[a].present & tables[b].present).any():
            yield C.presence_precedence(a, b), base[a]


def _adjacency(sample: Sample) -> Candidates:
    """Base: the share of tokens, except first ones, in the required field."""
    later = ~sample.table.opens
    base = {name: _share(sample.table.field(name).member[later]) for name in sample.names}
    for a, b in sample.pairs:
        yield C.adjacency(a, b), base[b]


def _state_change(sample: Sample) -> Candidates:
    """Base: the share of tokens after the delimiter in the required field."""
    table = sample.table
    member = {name: table.field(name).member for name in sample.names}
    inner = ~table.opens & ~table.closes
    for word in _delimiters(sample):
        places = np.flatnonzero(table.matching(C.tokens([word])) & inner)
        base = {name: _share(member[name][places + 1]) for name in sample.names}
        for a in sample.names:
            after = places[member[a][places - 1]] + 1
            for b in sample.names:
                if not sample.related(a, b) and member[b][after].any():
                    yield C.state_change(a, b, words=[word]), base[b]


def _delimiters(sample: Sample) -> list[str]:
    """The most frequent punctuation tokens and line marks with at least the support of a rule."""
    table = sample.table
    counts = np.bincount(table.tokens, minlength=len(table.words))
    patterns = C.tokens(token_class="punctuation"), C.tokens(token_class="newline")
    candidates = [
        (-int(n), word)
        for word, n in zip(table.words, counts, strict=True)
        if n >= sample.thresholds.support and any(pattern.matches(word) for pattern in patterns)
    ]
    return list(dict.fromkeys(word.lower() for _, word in sorted(candidates)))[:DELIMITERS]


def _begin_end(sample: Sample) -> Candidates:
    """Base: how often the last token belongs to the required field."""
    table = sample.table
    base = {name: _share(table.field(name).member[table.finish]) for name in sample.names}
    for a, b in sample.pairs:
        if table.field(a).member[table.begin].any():
            yield C.begin_end(a, b), base[b]


def _minimum_length(sample: Sample) -> Candidates:
    """Base: the share of the runs of all fields that have at least this length."""
    owner, _, start, end = sample.runs
    length = end - start + 1
    for place, name in enumerate(sample.names):
        own = length[owner == place]
        reached = [n for n in LENGTHS if _share(own >= n) >= sample.thresholds.confidence]
        if reached:
            best = max(reached, key=lambda n: _gain(own >= n, _share(length >= n)))
            yield C.min_run_length(name, best), _share(length >= best)


def _maximum_length(sample: Sample) -> Candidates:
    """Base: probability of a run this short if runs ended after each token with equal probability (geometric)."""
    for name in sample.names:
        field = sample.table.field(name)
        length = field.end - field.start + 1
        going_on = 1 - 1 / float(length.mean())
        base = {n: 1 - going_on**n for n in np.unique(length).tolist()}
        reached = [n for n in base if _share(length <= n) >= sample.thresholds.confidence]
        best = max(reached, key=lambda n: _gain(length <= n, base[n]))
        yield C.max_run_length(name, best), base[best]


def _alternation(sample: Sample) -> Candidates:
    """Base: share of first runs, plus how often a run would follow a run of the other field in random order."""
    for a, b in combinations(sample.names, 2):
        if sample.related(a, b):
            continue
        one, two = sample.table.field(a), sample.table.field(b)
        total = len(one.start) + len(two.start)
        first = float((one.present | two.present).sum()) / total
        p = len(one.start) / total
        yield C.alternation(a, b), first + (1 - first) * 2 * p * (1 - p)


def _spacing(sample: Sample) -> Candidates:
    """At most some tokens between runs of a field, and at most one token of it in a window. Base: tokens or runs spread at random."""
    table, confidence = sample.table, sample.thresholds.confidence
    for name in sample.names:
        field = table.field(name)
        tokens = int(table.lengths[field.present].sum())
        later = np.append(False, field.run_sequence[1:] == field.run_sequence[:-1])
        gaps = (field.start[1:] - field.end[:-1] - 1)[later[1:]]
        miss = 1 - len(field.start) / tokens
        reached = [n for n in np.unique(gaps).tolist() if _share(gaps <= n) >= confidence]
        if reached:
            best = max(reached, key=lambda n: _gain(gaps <= n, 1 - miss ** (n + 1)))
            yield C.max_gap(name, name, best), 1 - miss ** (best + 1)
        miss = 1 - int(field.member.sum()) / tokens
        if miss and (width := _widest(sample, name)):
            base = width * (1 - miss) * miss ** (width - 1) / (1 - miss**width)
            yield C.at_most_in_window(name, 1, width=width), base


def _widest(sample: Sample, name: str) -> int:
    """The widest window with one token of a field given any, at the required confidence; 0 if there is none."""
    result = 0
    for width in WIDTHS:
        trials = count_trials(sample.table, C.at_most_in_window(name, 1, width=width).statement)
        if _share(~trials.broken) < sample.thresholds.confidence:
            break
        result = width
    return result


def _ending(sample: Sample, places: Integers, rule: Callable[..., Rule]) -> Candidates:
    """The fewest fields that contain the required share of these tokens. Base: the share of all tokens in them."""
    member = {name: sample.table.field(name).member for name in sample.names}
    chosen: list[str] = []
    held = np.zeros(len(places), bool)
    while len(chosen) < FIRST_FIELDS and _share(held) < sample.thresholds.confidence:
        best = max(sample.names, key=lambda name: int((member[name][places] & ~held).sum()))
        if not (member[best][places] & ~held).any():
            return
        chosen.append(best)
        held |= member[best][places]
    if chosen and _share(held) >= sample.thresholds.confidence:
        everywhere = np.any([member[name] for name in chosen], axis=0)
        yield rule(chosen[0] if len(chosen) == 1 else tuple(chosen)), _share(everywhere)


FAMILIES: Mapping[str, Callable[[Sample], Candidates]] = {
    "one-run": _one_run,
    "requires-present": _requires_present,
    "never-together": _never_together,
    "requires-before": _requires_before,
    "precedence": _precedence,
    "presence-precedence": _presence_precedence,
    "adjacency": _adjacency,
    "state-change": _state_change,
    "begin-end": _begin_end,
    "minimum-length": _minimum_length,
    "words": Sample.word_rules,
    "next-words": Sample.next_word_rules,
    "conjunctions": conjunctions,
    "maximum-length": _maximum_length,
    "alternation": _alternation,
    "spacing": _spacing,
    "first-field": lambda sample: _ending(sample, sample.table.begin, C.starts_with),
    "last-field": lambda sample: _ending(sample, sample.table.finish, C.ends_with),
}
"""Functions that propose candidates, by name of the family."""
