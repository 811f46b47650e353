"""Brute-force oracles for the rule templates, written from the meanings, without the library.

Each template is a function of the label names y, the tokens x, its parameters and the scheme, and returns
the count of its violations. A test of tokens is any callable; `previous` and `following` of None ask nothing.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from support.oracles import Group, Matches, Names, belongs, changes, fields_of, group, run_starts, tokens_of

Reading = tuple[str, tuple[int, ...]]  # a kind of numbering, and its numbers


def run_lengths(y: Names, A: Group, scheme: str) -> list[int]:
    """The length of each run, up to the next begin or the first token outside."""
    starts, members = run_starts(y, A, scheme), tokens_of(y, A, scheme)
    ends = [t for t in range(len(y) + 1) if t in starts or t not in members]
    return [min(end for end in ends if end > start) - start for start in starts]


def _place(y: Names, position: int) -> int | None:
    """The position counted from 0, or None outside the sequence; negative ones count from the end."""
    t = position if position >= 0 else len(y) + position
    return t if 0 <= t < len(y) else None


def _roman(n: int) -> str:
    """The canonical roman numeral of 1 to 3999."""
    numerals = {1000: "M", 900: "CM", 500: "D", 400: "CD", 100: "C", 90: "XC", 50: "L"}
    numerals |= {40: "XL", 10: "X", 9: "IX", 5: "V", 4: "IV", 1: "I"}
    text = ""
    for value, numeral in numerals.items():
        while n >= value:
            text, n = text + numeral, n - value
    return text


ROMAN = {case(_roman(n)): n for n in range(1, 4000) for case in (str.upper, str.lower)}
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def numbering_readings(token: str) -> set[Reading]:
    """Every reading as a numbering: (number, its parts), (roman, (value,)) or (letter, (place,))."""
    bodies = {token} | ({token[1:]} if token[:1] in ("(", "[") else set())
    bodies |= {body[:-1] for body in bodies if body[-1:] in (".", ")", "]")}
    readings: set[Reading] = set()
    for body in bodies:
        if re.fullmatch(r"[0-9]+(\.[0-9]+)*", body):
            readings.add(("number", tuple(int(part) for part in body.split("."))))
        if body in ROMAN:
            readings.add(("roman", (ROMAN[body],)))
        for place, letter in enumerate(LETTERS, 1):
            if body in (letter, letter.upper()):
                readings.add(("letter", (place,)))
    return readings


def _continues(a: Reading, b: Reading) -> bool:
    (kind, before), (other, now) = a, b
    if kind != other or kind != "number":
        return kind == other and now[0] == before[0] + 1
    following = [(*before[:k], before[k] + 1) for k in range(len(before))]
    return now in [*following, (*before, 1)]


# On single tokens and steps


def should_not_precede(y: Names, x: Sequence, position: int, first: Group, second: Group, scheme: str) -> int:
    """1 if the token at the position is in second and the one before it in first."""
    t = _place(y, position)
    return int(
        t is not None and t >= 1 and belongs(y[t - 1], first, scheme) and belongs(y[t], second, scheme)
    )


def should_be_tagged(y: Names, x: Sequence, position: int, field: Group, scheme: str) -> int:
    """1 if the token at the position is not in the field."""
    t = _place(y, position)
    return int(t is not None and not belongs(y[t], field, scheme))


def tag_at(
    y: Names,
    x: Sequence,
    matches: Matches,
    field: Group,
    scheme: str,
    previous: Matches | None = None,
    following: Matches | None = None,
) -> int:
    """Matching tokens outside the field, those whose neighbours match where that is asked."""
    count = 0
    for t in range(len(x)):
        before = previous is None or (t >= 1 and previous(x[t - 1]))
        after = following is None or (t + 1 < len(x) and following(x[t + 1]))
        if matches(x[t]) and before and after and not belongs(y[t], field, scheme):
            count += 1
    return count


def contains_only(y: Names, x: Sequence, field: Group, matches: Matches, scheme: str) -> int:
    """Tokens of the field that do not match."""
    return sum(not matches(x[t]) for t in tokens_of(y, field, scheme))


def _one_run(y: Names, occurrences: Iterable[range], field: Group, scheme: str) -> int:
    """Covered positions outside the field, and inner ones at which a run begins just after the field."""
    occurrences = list(occurrences)
    covered = {t for occurrence in occurrences for t in occurrence}
    inner = {t for occurrence in occurrences for t in occurrence[1:]}
    members, starts = tokens_of(y, field, scheme), run_starts(y, field, scheme)
    outside = sum(t not in members for t in covered)
    return outside + sum(t in members and t - 1 in members and t in starts for t in inner)


def tag_phrases(
    y: Names, x: Sequence, field: Group, phrases: Collection[str], scheme: str, longer_than: int = 0
) -> int:
    """Tokens of the occurrences outside the field, and begins of runs inside an occurrence."""
    occurrences = []
    for phrase in phrases:
        words = phrase.casefold().split()
        n = len(words)
        places = [t for t in range(len(x) - n + 1) if [token.casefold() for token in x[t : t + n]] == words]
        occurrences += [range(t, t + n) for t in places if n > longer_than]
    return _one_run(y, occurrences, field, scheme)


def tag_sequence(y: Names, x: Sequence, field: Group, sequence: Sequence[Matches], scheme: str) -> int:
    """The same for tests of tokens, one after the other."""
    n = len(sequence)
    places = [t for t in range(len(x) - n + 1) if all(sequence[i](x[t + i]) for i in range(n))]
    return _one_run(y, [range(t, t + n) for t in places], field, scheme)


def right_before(y: Names, x: Sequence, field: Group, matches: Matches, scheme: str) -> int:
    """Matching tokens, but the first, just before which there is no token of the field."""
    return sum(bool(matches(x[t])) and not belongs(y[t - 1], field, scheme) for t in range(1, len(x)))


def directly_after(
    y: Names, x: Sequence, field: Group, allowed: Group, scheme: str, at_start: bool = True
) -> int:
    """Runs of the field that begin just after none of the allowed, or, unless at_start, at 0."""
    starts = run_starts(y, field, scheme)
    return sum(not at_start if t == 0 else not belongs(y[t - 1], allowed, scheme) for t in starts)


def changes_never_after(y: Names, x: Sequence, matches: Matches, scheme: str) -> int:
    """Changes just after a matching token."""
    return sum(bool(matches(x[t - 1])) for t in changes(y, scheme))


def adjacency(y: Names, x: Sequence, field: Group, next: Group, scheme: str) -> int:  # noqa: A002
    """Tokens of the field, but the last token, just after which there is none of next."""
    members = tokens_of(y, field, scheme)
    return sum(t in members and not belongs(y[t + 1], next, scheme) for t in range(len(y) - 1))


# Counts


def _outside(number: int, low: float, high: float) -> int:
    return int(max(0, number - high) + max(0, low - number))


def between_runs(y: Names, x: Sequence, field: Group, low: float, high: float, scheme: str) -> int:
    """Runs beyond high or missing to low."""
    return _outside(len(run_starts(y, field, scheme)), low, high)


def between_tokens(y: Names, x: Sequence, field: Group, low: float, high: float, scheme: str) -> int:
    """Tokens beyond high or missing to low."""
    return _outside(len(tokens_of(y, field, scheme)), low, high)


def at_most_in_window(y: Names, x: Sequence, field: Group, n: int, width: int, scheme: str) -> int:
    """Tokens of the field beyond n in each window, summed; a short sequence is one window."""
    if len(y) < width:
        return max(0, len(tokens_of(y, field, scheme)) - n)
    windows = [y[t : t + width] for t in range(len(y) - width + 1)]
    return sum(max(0, len(tokens_of(window, field, scheme)) - n) for window in windows)


def min_run_length(y: Names, x: Sequence, field: Group, n: int, scheme: str) -> int:
    """Tokens missing to n in each run, summed."""
    return sum(max(0, n - length) for length in run_lengths(y, field, scheme))


def max_run_length(y: Names, x: Sequence, field: Group, n: int, scheme: str) -> int:
    """Tokens beyond n in each run, summed."""
    return sum(max(0, length - n) for length in run_lengths(y, field, scheme))


def all_different(y: Names, x: Sequence, field: Group, matches: Matches, scheme: str) -> int:
    """Matching tokens beyond the first in each of the fields, summed."""
    numbers = [sum(bool(matches(x[t])) for t in tokens_of(y, f, scheme)) for f in group(field)]
    return sum(max(0, number - 1) for number in numbers)


def consistent(y: Names, x: Sequence, matches: Matches, scheme: str, lower: bool = False) -> int:
    """Matching tokens whose innermost field is not that of the nearest equal one before them."""
    fields = [fields_of(label, scheme)[-1][0] for label in y]
    words = [(x[t].lower() if lower else x[t]) if matches(x[t]) else None for t in range(len(x))]
    count = 0
    for t in range(len(x)):
        equal = [s for s in range(t) if words[t] is not None and words[s] == words[t]]
        count += bool(equal) and fields[equal[-1]] != fields[t]
    return count


# Which go together, and in what order


def tag_implies_tag(y: Names, x: Sequence, field: Group, required: Group, scheme: str) -> int:
    """1 if the field has a token and the required one has none."""
    return int(bool(tokens_of(y, field, scheme)) and not tokens_of(y, required, scheme))


def never_together(y: Names, x: Sequence, field: Group, other: Group, scheme: str) -> int:
    """1 if both have a token."""
    return int(bool(tokens_of(y, field, scheme)) and bool(tokens_of(y, other, scheme)))


def _runs(y: Names, A: Group, scheme: str) -> list[tuple[int, int]]:
    """The first and the last token of each run."""
    return [
        (start, start + n - 1)
        for start, n in zip(run_starts(y, A, scheme), run_lengths(y, A, scheme), strict=True)
    ]


def precedence(y: Names, x: Sequence, field: Group, later: Group, scheme: str) -> int:
    """Runs of the field with no token of later after their last token."""
    return sum(not any(s > end for s in tokens_of(y, later, scheme)) for _, end in _runs(y, field, scheme))


def presence_precedence(y: Names, x: Sequence, later: Group, field: Group, scheme: str) -> int:
    """Runs of the field with a token of later after their last token."""
    return sum(any(s > end for s in tokens_of(y, later, scheme)) for _, end in _runs(y, field, scheme))


def inside(y: Names, x: Sequence, field: Group, span: Group, scheme: str) -> int:
    """Runs of the field without tokens of span before their first token and after their last."""
    spans = tokens_of(y, span, scheme)
    runs = _runs(y, field, scheme)
    return sum(all(s >= start for s in spans) or all(s <= end for s in spans) for start, end in runs)


def begin_end(y: Names, x: Sequence, first: Group, last: Group, scheme: str) -> int:
    """1 if the first token is in first and the last one not in last."""
    return int(belongs(y[0], first, scheme) and not belongs(y[-1], last, scheme))


def state_change(
    y: Names, x: Sequence, before: Group, after: Group, matches: Matches, scheme: str, both: bool = False
) -> int:
    """Matching tokens from before to a token not in after; with both, all that are not from before to after."""
    count = 0
    for t in range(1, len(x) - 1):
        comes, goes = belongs(y[t - 1], before, scheme), belongs(y[t + 1], after, scheme)
        if matches(x[t]):
            count += (not comes or not goes) if both else (comes and not goes)
    return count


def max_gap(y: Names, x: Sequence, earlier: Group, field: Group, n: int, scheme: str) -> int:
    """Runs of the field that begin with more than n tokens between them and the last token of earlier."""
    count = 0
    for t in run_starts(y, field, scheme):
        before = [s for s in tokens_of(y, earlier, scheme) if s < t]
        count += bool(before) and t - max(before) - 1 > n
    return count


def alternation(y: Names, x: Sequence, field: Group, other: Group, scheme: str) -> int:
    """Runs that repeat the kind of the run before, among the runs of the two."""
    runs = [(t, 0) for t in run_starts(y, field, scheme)] + [(t, 1) for t in run_starts(y, other, scheme)]
    kinds = [kind for _, kind in sorted(runs)]
    return sum(kinds[i - 1] == kinds[i] for i in range(1, len(kinds)))


def next_field(
    y: Names, x: Sequence, field: Group, allowed: Group, scheme: str, required: bool = False
) -> int:
    """Tokens in field at which a run of any name but O begins, where the next such token is not in allowed."""
    every = {name for label in y for name, _ in fields_of(label, scheme)} - {"O"}
    begins = sorted({t for name in every for t in run_starts(y, name, scheme)})
    wrong = 0
    for i, t in enumerate(begins):
        if belongs(y[t], field, scheme):
            last = i + 1 == len(begins)
            wrong += required if last else not belongs(y[begins[i + 1]], allowed, scheme)
    return wrong


def numbers_continue(y: Names, x: Sequence, field: Group, scheme: str) -> int:
    """Numberings in the field, but the first, that do not continue the one before."""
    read = [numbering_readings(x[t]) for t in tokens_of(y, field, scheme)]
    read = [readings for readings in read if readings]
    pairs = [(read[i - 1], read[i]) for i in range(1, len(read))]
    return sum(not any(_continues(a, b) for a in before for b in now) for before, now in pairs)


def label_regex(y: Names, x: Sequence, pattern: str, over: str, names: Names, scheme: str) -> int:
    """1 if the tokens, or the first token and those at which a change happens, do not match; letter k stands for label k."""
    assert over in ("tokens", "runs")
    places = range(len(y)) if over == "tokens" else [0, *changes(y, scheme)]
    word = "".join(LETTERS[names.index(y[t])] for t in places)
    return int(re.fullmatch(pattern, word) is None)


def feature(
    y: Names,
    x: Sequence,
    scheme: str,
    label: Group | None = None,
    from_: Group | None = None,
    to: Group | None = None,
    words: Collection[str] = (),
) -> int:
    """Tokens of a label, or steps from one to another, at all tokens or at certain words, whatever their case."""
    fits = [t for t in range(len(y)) if not words or x[t].lower() in words]
    if label is not None:
        return sum(belongs(y[t], label, scheme) for t in fits)
    ends = [t for t in fits if t and (to is None or belongs(y[t], to, scheme))]
    return sum(from_ is None or belongs(y[t - 1], from_, scheme) for t in ends)
