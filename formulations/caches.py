"""Bounded caches of objects and of functions of short texts."""

from collections.abc import Callable, MutableMapping
from functools import lru_cache, wraps
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")

MOST_LABEL_SETS = 4
"""Number of label sets for which compiled rules are cached; a set of 200 labels takes about 10 MB."""
MOST_TEXTS = 1 << 14  # texts in the cache of a function
LONGEST_TEXT = 256  # characters of a cached text, so that the number of texts bounds the memory


class Recent(Generic[Item]):
    """A cache of a few objects, most recently used first. It is thread-safe: its tuple is replaced, never changed."""

    def __init__(self, most: int) -> None:
        self.most, self._items = most, tuple[Item, ...]()

    def __reduce__(self) -> Any:
        return Recent, (self.most,)

    @property
    def items(self) -> tuple[Item, ...]:
        return self._items

    def find(self, fits: Callable[[Item], bool], make: Callable[[], Item]) -> Item:
        """The object that fits; created if there is none."""
        kept = self._items
        for place, one in enumerate(kept):
            if fits(one):
                if place:
                    self._items = (one, *kept[:place], *kept[place + 1 :])
                return one
        made = make()
        self._items = (made, *self._items[: self.most - 1])
        return made

    def drop(self, spent: Callable[[Item], bool]) -> None:
        self._items = tuple(one for one in self._items if not spent(one))


class RecentValues(Generic[Value]):
    """A cache of values for the last keys, which are compared by identity, then by equality."""

    def __init__(self, most: int) -> None:
        self._pairs = Recent[tuple[Any, Value]](most)

    def get(self, key: Any, make: Callable[[], Value]) -> Value:
        return self._pairs.find(lambda one: one[0] is key or one[0] == key, lambda: (key, make()))[1]


def remembered(function: Callable[..., Value]) -> Callable[..., Value]:
    """Cache a function of a text and further hashable arguments; values for long texts are not cached."""
    kept = lru_cache(MOST_TEXTS)(function)

    @wraps(function)
    def find(text: str, *more: Any) -> Value:
        return kept(text, *more) if len(text) <= LONGEST_TEXT else function(text, *more)

    return find


def make_room(memo: MutableMapping[Any, Any], most: int = MOST_TEXTS) -> None:
    """Empty a full memo."""
    if len(memo) >= most:
        memo.clear()
