"""Positions of the pieces of overlapping windows in the document."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ilpinfer.adapters.decisions import AdapterError

Key = tuple[Any, ...]
"""Begin and end of a piece in the document, and further values that identify it."""


@dataclass(frozen=True)
class Alignment:
    """The pieces of a document, and the first piece of each of its windows."""

    keys: list[Key]
    first: list[int]


def align(windows: Sequence[Sequence[Key]], text: str | None, numbered: bool) -> Alignment:
    """Merge the pieces of overlapping windows, and locate the first piece of each window."""
    keys = list[Key]()
    first = list[int]()
    last = -1
    for w, window in enumerate(windows):
        if not window:
            first.append(len(keys))
            continue
        _check_order(w, window)
        if not keys:
            _check_gap(f"window {w} begins", 0, window[0][0], text, numbered)
            first.append(0)
            keys += window
        else:
            place = _overlap(keys, first[last], window)
            if place is None:
                _check_next(w, last, keys, first[last], window, text, numbered)
                place = len(keys)
            first.append(place)
            keys += window[len(keys) - place :]
        last = w
    if text is not None and not numbered:
        if keys and keys[-1][1] > len(text):
            raise AdapterError(
                f"offsets: window {last} ends at character {keys[-1][1]}, but the text has {len(text)} characters"
            )
        _check_gap(f"window {last}, the last one, ends", keys[-1][1] if keys else 0, len(text), text, False)
    return Alignment(keys, first)


def _check_order(w: int, window: Sequence[Key]) -> None:
    for i, (before, after) in enumerate(pairwise(window)):
        if after[0] < before[0]:
            raise AdapterError(
                f"offsets: window {w}, piece {i + 1} begins at {after[0]}, before the piece before it ({before[0]})"
            )


def _overlap(keys: list[Key], begin: int, window: Sequence[Key]) -> int | None:
    """The first position at which the window continues the pieces so far; None if it overlaps none."""
    for place in range(begin, len(keys)):
        if keys[place] == window[0]:
            shared = min(len(keys) - place, len(window))
            if keys[place : place + shared] == list(window[:shared]):
                return place
    return None


def _check_next(
    w: int, last: int, keys: list[Key], begin: int, window: Sequence[Key], text: str | None, numbered: bool
) -> None:
    """Raise AdapterError unless a window that does not overlap begins where the previous window ends."""
    start, end = window[0][0], keys[-1][1]
    if start < keys[begin][0]:
        raise AdapterError(f"offsets: window {w} begins at {start}, before window {last} ({keys[begin][0]})")
    if start < end:
        raise AdapterError(
            f"offsets: windows {last} and {w} overlap from {start} to {end}, but with different pieces there; "
            "windows are stretches of one sequence of pieces"
        )
    if start > end and text is None and not numbered:
        raise AdapterError(
            f"offsets: windows {last} and {w} have no piece in common, and characters {end} to {start} are in neither; "
            "let windows overlap, or give text=, which shows whether something is missing"
        )
    _check_gap(f"window {w} begins", end, start, text, numbered)


def _check_gap(what: str, end: int, start: int, text: str | None, numbered: bool) -> None:
    """Raise AdapterError if there is visible text between two positions."""
    if numbered and start > end:
        raise AdapterError(f"offsets: {what} at piece {start}, so that pieces from {end} on are in no window")
    if numbered or text is None:
        return
    left_out = "".join(c for c in text[end:start] if c.isprintable()).strip()
    if left_out:
        place = start if "begins" in what else end
        raise AdapterError(
            f"offsets: {what} at character {place}, so that {left_out[:30]!r} at character {end} is in no window; "
            "was the text cut short?"
        )
