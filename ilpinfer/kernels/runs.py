# mypy: allow-untyped-defs
"""Changes of whole runs in any scheme of labels.

`joins` (K, K) is true where a step stays in the same run. `forms` (K, 6) has labels for a run of the field of each label: of its first,
an inner, its last and its only token, and of the first and the only token directly after a run of the same field, where IOB1 uses
another label. For plain labels all six are the label itself.
"""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Booleans, Integers
from ilpinfer.kernels.jit import kernel, subroutine


class Runs(NamedTuple):
    """The scheme of the labels, as above."""

    joins: Booleans
    forms: Integers


FIRST, INNER, LAST, ONLY, AGAIN, ONLY_AGAIN = 0, 1, 2, 3, 4, 5


@subroutine
def _random(seed):
    """The next 64 random bits (splitmix64; Steele, Lea, Flood 2014)."""
    seed[0] += np.uint64(0x9E3779B97F4A7C15)
    x = seed[0]
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@subroutine
def below(seed, n):
    return np.int64(_random(seed) % np.uint64(n))


@subroutine
def share(seed):
    return (_random(seed) >> np.uint64(11)) * 2.0**-53


@subroutine
def begins(y, t, joins):
    """Whether a run begins at token t; true after the last token."""
    return t == 0 or t == len(y) or not joins[y[t - 1], y[t]]


@kernel
def cuts(y, joins, borders):
    """Fill borders with the first tokens of runs; returns the number of runs."""
    count = 0
    for t in range(len(y)):
        if begins(y, t, joins):
            borders[count] = t
            count += 1
    return count


@subroutine
def section(y, seed, joins, borders):
    """A random run: its first token, and the token after its last."""
    count = cuts(y, joins, borders)
    k = below(seed, count)
    return borders[k], borders[k + 1] if k + 1 < count else len(y)


@subroutine
def _opening(y, t, k, only, forms):
    """The label of the first token, or the `only` one, of a run of the kind of label k that begins at token t."""
    again = t > 0 and forms[y[t - 1], INNER] == forms[k, INNER]
    if only:
        return forms[k, ONLY_AGAIN if again else ONLY]
    return forms[k, AGAIN if again else FIRST]


@subroutine
def _form(y, t, runs):
    """Give token t the label for its position in its run."""
    joins, forms = runs
    last = begins(y, t + 1, joins)
    if begins(y, t, joins):
        y[t] = _opening(y, t, y[t], last, forms)
    else:
        y[t] = forms[y[t], LAST if last else INNER]


@subroutine
def repair_border(y, t, runs):
    """If a run begins at token t, correct the labels of the last token before it and of its first token by the scheme."""
    if begins(y, t, runs[0]):
        if t > 0:
            _form(y, t - 1, runs)
        if t < len(y):
            _form(y, t, runs)


@subroutine
def _part(y, t, begun, runs):
    """Relabel token t, where a run had `begun`, if its label would join it with the run before."""
    joins, forms = runs
    if begun and t < len(y) and not begins(y, t, joins) and forms[y[t], AGAIN] != forms[y[t], FIRST]:
        y[t] = forms[y[t], AGAIN]


@kernel
def put(y, begin, end, k, runs):
    """Make tokens begin … end - 1 one run of the field of label k; returns the first and the last token that may have
    changed.
    """
    joins, forms = runs
    begun = begins(y, end, joins)
    for t in range(begin, end):
        y[t] = forms[k, INNER]
    y[end - 1] = forms[k, LAST]
    y[begin] = _opening(y, begin, k, end == begin + 1, forms)
    _part(y, end, begun, runs)
    repair_border(y, begin, runs)
    repair_border(y, end, runs)
    return max(0, begin - 1), min(len(y) - 1, end)


@kernel
def shift_back(y, t, runs):
    """Let the run that begins at token t begin one token earlier; returns the first and the last token that may have
    changed.
    """
    joins, forms = runs
    k, only = y[t], begins(y, t + 1, joins)
    y[t - 1] = forms[k, INNER]
    y[t] = forms[k, LAST if only else INNER]
    repair_border(y, t - 1, runs)
    return max(0, t - 2), t


@kernel
def shift_on(y, t, runs):
    """Extend the run that ends before token t by that token; returns the first and the last token that may have
    changed.
    """
    joins, forms = runs
    begun = begins(y, t + 1, joins)
    y[t] = forms[y[t - 1], LAST]
    if begins(y, t - 1, joins):
        y[t - 1] = _opening(y, t - 1, y[t - 1], False, forms)
    else:
        y[t - 1] = forms[y[t - 1], INNER]
    _part(y, t + 1, begun, runs)
    repair_border(y, t + 1, runs)
    return t - 1, min(len(y) - 1, t + 1)


@kernel
def mutate(y, seed, borders, labels, shift, both, runs):
    """Shift a border by a token, or give a run a random label; returns the first and the last token that may have
    changed.
    """
    count = cuts(y, runs[0], borders)
    if share(seed) < shift and count > 1:
        t = borders[1 + below(seed, count - 1)]
        if both and share(seed) < 0.5:
            return shift_on(y, t, runs)
        return shift_back(y, t, runs)
    begin, end = section(y, seed, runs[0], borders)
    return put(y, begin, end, below(seed, labels), runs)
