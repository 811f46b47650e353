"""Caches of bounded size: of a few objects, and of functions of short texts."""

from collections.abc import Callable, MutableMapping
from functools import lru_cache, wraps
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")

MOST_LABEL_SETS = 4
"""Label sets for which rules, and what follows from them, are kept. One of 200 labels takes about 10 MB."""
MOST_TEXTS = 1 << 14  # texts for which a function of texts keeps its values
LONGEST_TEXT = 256  # characters of the texts that caches keep, so that a number of texts bounds their memory


class Recent(Generic[Item]):
    """A cache of a few objects, the latest used first. Threads may share it, as its tuple is replaced and never changed."""

    def __init__(self, most: int) -> None:
        self.most, self._items = most, tuple[Item, ...]()

    def __reduce__(self) -> Any:
        return Recent, (self.most,)

    @property
    def items(self) -> tuple[Item, ...]:
        return self._items

    def find(self, fits: Callable[[Item], bool], make: Callable[[], Item]) -> Item:
        """The object that fits, created where there is none."""
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
    """A cache of the values for the last few keys, which are compared by identity, then by equality."""

    def __init__(self, most: int) -> None:
        self._pairs = Recent[tuple[Any, Value]](most)

    def get(self, key: Any, make: Callable[[], Value]) -> Value:
        return self._pairs.find(lambda one: one[0] is key or one[0] == key, lambda: (key, make()))[1]


def remembered(function: Callable[..., Value]) -> Callable[..., Value]:
    """A function of a text, and of further arguments that can be hashed, whose values for short texts are kept."""
    kept = lru_cache(MOST_TEXTS)(function)

    @wraps(function)
    def find(text: str, *more: Any) -> Value:
        return kept(text, *more) if len(text) <= LONGEST_TEXT else function(text, *more)

    return find


def make_room(memo: MutableMapping[Any, Any], most: int = MOST_TEXTS) -> None:
    """Empty a memo that holds as many values as it may."""
    if len(memo) >= most:
        memo.clear()
