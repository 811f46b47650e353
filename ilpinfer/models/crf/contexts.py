"""Attributes of tokens in their context: lines, segments, brackets, order, and neighbours."""

import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from formulations.tokens.token_pattern import continues, in_class, item_numbers
from ilpinfer.models.crf.attributes import NO, YES, Values, bucket

Column = list[Values]
"""Values of an attribute at each of T tokens."""
Stretches = list[tuple[int, int]]
"""(first, end) of each stretch of tokens; the stretches cover a sequence."""

_DELIMITER = re.compile(r"[^\w\s]+|.*[,;:)\]]", re.DOTALL)
_QUOTE = re.compile(r"[\"“”„«»]|``|''")


def is_line_break(token: str) -> bool:
    return in_class(token, "newline")


def lines(tokens: Sequence[str]) -> Stretches:
    """Lines, each with the line break that ends it."""
    return _cut(tokens, [t for t, token in enumerate(tokens) if is_line_break(token)])


def segments(tokens: Sequence[str]) -> Stretches:
    """Stretches between punctuation, each with the punctuation that ends it."""
    return _cut(tokens, [t for t, token in enumerate(tokens) if _DELIMITER.fullmatch(token)])


def _cut(tokens: Sequence[str], last: list[int]) -> Stretches:
    """Stretches that end with the given tokens; adjacent end tokens belong to one stretch."""
    borders = [t + 1 for t, after in pairwise([*last, len(tokens) + 1]) if after != t + 1]
    places = sorted({0, *borders, len(tokens)})
    return list(pairwise(places))


STRETCHES: Mapping[str, Callable[[Sequence[str]], Stretches]] = {"line": lines, "segment": segments}


def nearby_values(column: Column, tokens: Sequence[str], where: str) -> Column:
    """For each of T tokens, the values of an attribute anywhere in a place relative to the token, one of `PLACES`."""
    which, _, kind = where.rpartition(" ")
    if kind in STRETCHES:
        places = STRETCHES[kind](tokens)
        unions = [_union(column[begin:end]) for begin, end in places]
        if which:
            unions = [*unions[1:], NO] if which == "next" else [NO, *unions[:-1]]
        lengths = (end - begin for begin, end in places)
        return [values for values, length in zip(unions, lengths, strict=True) for _ in range(length)]
    if where == "sequence":
        return [_union(column)] * len(tokens)
    backwards = where == "after"
    order = column[::-1] if backwards else column
    running: dict[str, None] = {}
    result: Column = []
    for values in order:
        result.append(tuple(running))
        running.update(dict.fromkeys(values))
    return result[::-1] if backwards else result


PLACES = (
    *(f"{which}{kind}" for kind in STRETCHES for which in ("", "previous ", "next ")),
    "sequence",
    "before",
    "after",
)
"""Places for `nearby_values`."""


def _union(column: Column) -> Values:
    return tuple(dict.fromkeys(value for values in column for value in values))


def phrases(tokens: Sequence[str], by_first: Mapping[str, Sequence[tuple[str, ...]]]) -> Column:
    """B or I for each token in an occurrence of a listed phrase. Longer phrases take precedence; case is ignored."""
    result: Column = [NO] * len(tokens)
    words = [token.lower() for token in tokens]
    t = 0
    while t < len(tokens):
        fits = (p for p in by_first.get(words[t], ()) if tuple(words[t : t + len(p)]) == p)
        length = max(map(len, fits), default=0)
        result[t : t + length] = [("B",), *[("I",)] * (length - 1)][:length]
        t += max(length, 1)
    return result


def _flags(flags: Sequence[bool]) -> Column:
    return [YES if flag else NO for flag in flags]


_OF_STRETCH: Mapping[str, Callable[[Sequence[str], int, int, int], str]] = {
    "number": lambda tokens, number, begin, end: bucket(number),
    "length": lambda tokens, number, begin, end: bucket(end - begin),
    "first": lambda tokens, number, begin, end: tokens[begin].lower()[:20],
    "last": lambda tokens, number, begin, end: tokens[max(begin, end - 2)].lower()[:20],
    "delimiter": lambda tokens, number, begin, end: tokens[end - 1][-1:],
}
"""Attributes of a stretch, from its number, its first token, and its end."""
_IN_STRETCH: Mapping[str, Callable[[int, int, int], Values]] = {
    "position": lambda t, begin, end: (bucket(t - begin),),
    "start": lambda t, begin, end: YES if t == begin else NO,
    "end": lambda t, begin, end: YES if t == end - 1 else NO,
}
"""Attributes of a token in its stretch."""


def _of_stretch(kind: str, what: str) -> Callable[[Sequence[str]], Column]:
    def column(tokens: Sequence[str]) -> Column:
        result: Column = []
        for number, (begin, end) in enumerate(STRETCHES[kind](tokens)):
            if what in _OF_STRETCH:
                result += [(_OF_STRETCH[what](tokens, number, begin, end),)] * (end - begin)
            else:
                result += [_IN_STRETCH[what](t, begin, end) for t in range(begin, end)]
        return result

    return column


def _in_brackets(tokens: Sequence[str]) -> Column:
    depth, result = 0, list[bool]()
    for token in tokens:
        opened = sum(token.count(c) for c in "([{")
        closed = sum(token.count(c) for c in ")]}")
        result.append(depth > 0 or opened > 0)
        depth = max(0, depth + opened - closed)
    return _flags(result)


def _in_quotes(tokens: Sequence[str]) -> Column:
    inside, result = False, list[bool]()
    for token in tokens:
        marks = len(_QUOTE.findall(token))
        result.append(inside or marks > 0)
        inside ^= marks % 2 == 1
    return _flags(result)


def _is_repetition(tokens: Sequence[str]) -> Column:
    known, result = set[str](), list[bool]()
    for token in tokens:
        result.append(token.lower() in known)
        known.add(token.lower())
    return _flags(result)


def _item_number(tokens: Sequence[str]) -> Column:
    """Whether an item number continues a recent one (Trompper 2016: congruent with previous numbers)."""
    recent: deque[str] = deque(maxlen=8)
    result: Column = []
    for token in tokens:
        read = item_numbers(token)
        if not read:
            result.append(NO)
            continue
        begins = any(numbers[-1] == 1 for _, numbers in read)
        goes_on = any(continues(before, token) for before in recent)
        result.append(("goes-on" if goes_on else "begins" if begins else "breaks",))
        recent.append(token)
    return result


def _subsection(tokens: Sequence[str]) -> Column:
    """Tokens between an item number and its first subsection, as in `6. Reasons 6.1`, except line breaks."""
    result: Column = [NO] * len(tokens)
    places = [t for t, token in enumerate(tokens) if not is_line_break(token)]
    for before, t, after in zip(places, places[1:], places[2:], strict=False):
        numbers = {numbers for _, numbers in item_numbers(tokens[before])}
        if any((*n, 1) == m for n in numbers for _, m in item_numbers(tokens[after])):
            result[t] = YES
    return result


def _breaks_before(tokens: Sequence[str]) -> Column:
    result, number = list[int](), 0
    for token in tokens:
        result.append(number)
        number = number + 1 if is_line_break(token) else 0
    return [(bucket(n),) for n in result]


CONTEXT_ATTRIBUTES: Mapping[str, Callable[[Sequence[str]], Column]] = {
    "first": lambda tokens: _flags([t == 0 for t in range(len(tokens))]),
    "last": lambda tokens: _flags([t == len(tokens) - 1 for t in range(len(tokens))]),
    "position": lambda tokens: [(bucket(t),) for t in range(len(tokens))],
    "tenth": lambda tokens: [(str(10 * t // len(tokens)),) for t in range(len(tokens))],
    "in-brackets": _in_brackets,
    "in-quotes": _in_quotes,
    "repeated": _is_repetition,
    "numbering": _item_number,
    "subsection": _subsection,
    "breaks-before": _breaks_before,
    "breaks-after": lambda tokens: _breaks_before(tokens[::-1])[::-1],
    **{
        f"{kind}-{what}": _of_stretch(kind, what)
        for kind in STRETCHES
        for what in (*_OF_STRETCH, *_IN_STRETCH)
    },
}
"""Attributes by name, each a function of the tokens."""
