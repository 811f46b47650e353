"""Changes of whole runs: a labelling is cut where a run begins, whatever the scheme writes at its first and last token.

`joins` (K, K) says whether a step goes on in the same run. `forms` (K, 4) holds, for a run of the kind of each label, the labels
of its first, an inner, its last and its only token. For plain labels all four are the label itself.
"""

import numpy as np

from ilpinfer.kernels import kernel

FIRST, INNER, LAST, ONLY = 0, 1, 2, 3


@kernel
def _random(seed):  # type: ignore[no-untyped-def]
    """The next 64 random bits (splitmix64; Steele, Lea, Flood 2014)."""
    seed[0] += np.uint64(0x9E3779B97F4A7C15)
    x = seed[0]
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def below(seed, n):  # type: ignore[no-untyped-def]
    return np.int64(_random(seed) % np.uint64(n))


@kernel
def share(seed):  # type: ignore[no-untyped-def]
    return (_random(seed) >> np.uint64(11)) * 2.0**-53


@kernel
def begins(y, t, joins):  # type: ignore[no-untyped-def]
    """Whether a run begins at token t; past the last token one does."""
    return t == 0 or t == len(y) or not joins[y[t - 1], y[t]]


@kernel
def cuts(y, joins, borders):  # type: ignore[no-untyped-def]
    """Write down where runs begin; how many there are."""
    count = 0
    for t in range(len(y)):
        if begins(y, t, joins):
            borders[count] = t
            count += 1
    return count


@kernel
def section(y, seed, joins, borders):  # type: ignore[no-untyped-def]
    """A random run: where it begins, and where it ends."""
    count = cuts(y, joins, borders)
    k = below(seed, count)
    return borders[k], borders[k + 1] if k + 1 < count else len(y)


@kernel
def _form(y, t, runs):  # type: ignore[no-untyped-def]
    """Give token t the label that its place in its run asks for."""
    joins, forms = runs
    first, last = begins(y, t, joins), begins(y, t + 1, joins)
    place = ONLY if first and last else FIRST if first else LAST if last else INNER
    y[t] = forms[y[t], place]


@kernel
def mend(y, t, runs):  # type: ignore[no-untyped-def]
    """Let the run before token t end, and the one at t begin, as the scheme writes it, if it is there that they meet."""
    if begins(y, t, runs[0]):
        if t > 0:
            _form(y, t - 1, runs)
        if t < len(y):
            _form(y, t, runs)


@kernel
def put(y, begin, end, k, runs):  # type: ignore[no-untyped-def]
    """Make tokens begin … end - 1 one run of the kind of label k; first and last of the tokens that may have changed."""
    _, forms = runs
    for t in range(begin, end):
        y[t] = forms[k, INNER]
    y[begin], y[end - 1] = forms[k, FIRST], forms[k, LAST]
    if end == begin + 1:
        y[begin] = forms[k, ONLY]
    mend(y, begin, runs)
    mend(y, end, runs)
    return max(0, begin - 1), min(len(y) - 1, end)


@kernel
def shift_back(y, t, runs):  # type: ignore[no-untyped-def]
    """Let the run that begins at token t begin a token earlier; first and last of the tokens that may have changed."""
    _, forms = runs
    y[t - 1] = forms[y[t], INNER]
    y[t] = forms[y[t], INNER if not begins(y, t + 1, runs[0]) else LAST]
    mend(y, t - 1, runs)
    return max(0, t - 2), t


@kernel
def shift_on(y, t, runs):  # type: ignore[no-untyped-def]
    """Let the run that ends before token t take it in; first and last of the tokens that may have changed."""
    joins, forms = runs
    y[t] = forms[y[t - 1], LAST]
    y[t - 1] = forms[y[t - 1], FIRST if begins(y, t - 1, joins) else INNER]
    mend(y, t + 1, runs)
    return t - 1, min(len(y) - 1, t + 1)


@kernel
def mutate(y, seed, borders, labels, shift, both, runs):  # type: ignore[no-untyped-def]
    """Shift a border by a token, or give a run a random label; first and last of the tokens that may have changed."""
    count = cuts(y, runs[0], borders)
    if share(seed) < shift and count > 1:
        t = borders[1 + below(seed, count - 1)]
        if both and share(seed) < 0.5:
            return shift_on(y, t, runs)
        return shift_back(y, t, runs)
    begin, end = section(y, seed, runs[0], borders)
    return put(y, begin, end, below(seed, labels), runs)
