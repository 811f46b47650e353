"""Calls of the decoding kernels, without the methods that follow them."""

from typing import Any, NamedTuple

import pytest

import ilpinfer
from formulations.grid import is_forbidden
from ilpinfer.core.request import Request
from ilpinfer.exact.calls import Call


class Outcome(NamedTuple):
    """Whether the kernels prove a labelling; its value in grid units and its label ids, None where there is none."""

    proved: bool
    value: int | None
    path: tuple[int, ...] | None


def outcomes(tables: Any, items: list[Any]) -> list[Outcome | None]:
    """The outcome of each sequence; None for those that tables cannot hold."""
    result: list[Outcome | None] = [None] * len(items)
    groups: dict[Any, list[int]] = {}
    for place, item in enumerate(items):
        if not tables.refusal(item, None):
            groups.setdefault(tables.group(item), []).append(place)
    for places in groups.values():
        call = tables.call([items[place] for place in places], meet=True)
        if not isinstance(call, Call):
            continue
        call.run()
        for n, place in enumerate(places):
            assert call.error(n) is None
            [value], [path] = call.values(n), call.paths_of(n).tolist()
            found = (None, None) if is_forbidden(value) else (value, tuple(path))
            result[place] = Outcome(call.proves(call.codes[n]), *found)
    return result


def by_the_engine(trellis: Any, rules: Any, **options: Any) -> Any:
    """As the engine decodes without the kernels of compiled rules."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Request, "direct", property(lambda _: False))
        return ilpinfer.decode(trellis, rules, **options)
