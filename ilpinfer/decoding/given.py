"""Known labels of some tokens, which come with the sequences that are decoded."""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import zip_longest
from typing import Any

from formulations import Trellis
from formulations.arguments import iterable
from formulations.problem.known_labels import Given
from ilpinfer.decoding.reporting import attempt


def given_to(trellis: Any, given: Given | None) -> Any:
    """A trellis with known labels; another object as it is."""
    return trellis.with_given(given) if given is not None and isinstance(trellis, Trellis) else trellis


def given_to_each(items: Iterable[Any], given: Iterable[Given | None] | None) -> Iterable[Any]:
    """Trellises with their known labels. Where these do not fit, the error takes the place of the trellis."""
    if given is None:
        return items
    return _pairs(items, iterable(given, "given", "a dictionary or None for each sequence"))


def _pairs(items: Iterable[Any], given: Iterable[Any]) -> Iterator[Any]:
    end: Any = object()
    for n, (item, known) in enumerate(zip_longest(items, given, fillvalue=end)):
        if item is end or known is end:
            fewer = "given" if known is end else "the sequences"
            raise ValueError(f"{fewer} end after {n}; expected one entry of given for each sequence")
        yield attempt(partial(given_to, item, known), "row", lambda error, _: error)
