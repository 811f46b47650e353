"""A labelling with its tokens in plain Python, for the plain checker, independent of the compiled form."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from formulations.labels import schemes
from formulations.labels.label_set import LabelSet
from formulations.labels.schemes import OUTSIDE
from formulations.labels.selectors import Group, Selector, alternatives, holds


@dataclass(frozen=True)
class Reading:
    """T label names and T tokens, read under the scheme of a label set."""

    names: Sequence[str]
    tokens: Sequence[str]
    labels: LabelSet
    _cache: dict[tuple[object, ...], bool] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Cached answers about labels and steps."""

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The fields of "each field": all except `O`."""
        return tuple(f for f in self._all_fields if f != OUTSIDE)

    @cached_property
    def _all_fields(self) -> tuple[str, ...]:
        return tuple(schemes.field_names(map(self.labels.levels, self.labels.names)))

    def __len__(self) -> int:
        return len(self.names)

    def at(self, position: int) -> int | None:
        """The token at a position, negative positions counting from the end; None outside the sequence."""
        token = position + len(self) if position < 0 else position
        return token if 0 <= token < len(self) else None

    def has(self, t: int, selector: Selector) -> bool:
        return self._carries(self.names[t], selector)

    def _carries(self, label: str, selector: Selector) -> bool:
        if isinstance(selector, str):
            return self._belongs(label, selector)
        key = (label, _hashable(selector))
        result = self._cache.get(key)
        if result is None:
            result = self._cache[key] = holds(selector, lambda name: self._belongs(label, name))
        return result

    def _belongs(self, label: str, name: str) -> bool:
        if name not in self._field_names:
            return label == name
        return any(field == name for field, _ in self.labels.levels(label))

    def positions(self, selector: Selector) -> list[int]:
        members = {label for label in set(self.names) if self._carries(label, selector)}
        return [t for t, label in enumerate(self.names) if label in members]

    def run_starts(self, selector: Selector) -> list[int]:
        return [t for t in self.positions(selector) if self.begins(t, selector)]

    def runs(self, selector: Selector) -> list[tuple[int, int]]:
        """(first, last) token of each run of the field."""
        result: list[tuple[int, int]] = []
        for t in range(len(self)):
            if self.begins(t, selector):
                result.append((t, t))
            elif self.has(t, selector):
                result[-1] = (result[-1][0], t)
        return result

    def ends(self, t: int, selector: Selector) -> bool:
        """Whether a run of the field ends at the token."""
        if not self.has(t, selector):
            return False
        return t + 1 == len(self) or not self.has(t + 1, selector) or self.begins(t + 1, selector)

    def changes(self) -> list[int]:
        """Tokens t >= 1 at which a run of any field begins, or `O` is entered."""
        return [t for t in range(1, len(self)) if self.change(t)]

    def change(self, t: int) -> bool:
        """Whether the token is one of `changes`."""
        return t > 0 and self._begins_any(t, outside=True)

    def begins_field(self, t: int) -> bool:
        """Whether a run of a field of "each field" begins at the token."""
        return self._begins_any(t, outside=False)

    def _begins_any(self, t: int, *, outside: bool) -> bool:
        key = ("any", outside, *self._step(t))
        result = self._cache.get(key)
        if result is None:
            here = (name for name, _ in self.labels.levels(self.names[t]))
            result = any(self.begins(t, name) for name in here if outside or name != OUTSIDE)
            self._cache[key] = result
        return result

    @cached_property
    def _field_names(self) -> frozenset[str]:
        return frozenset(self._all_fields)

    def begins(self, t: int, selector: Selector) -> bool:
        key = (*self._step(t), _hashable(selector))
        result = self._cache.get(key)
        if result is None:
            result = self._cache[key] = self._begins(t, selector)
        return result

    def _step(self, t: int) -> tuple[str | None, str]:
        return (self.names[t - 1] if t else None, self.names[t])

    def _begins(self, t: int, selector: Selector) -> bool:
        if not self.has(t, selector):
            return False
        if t == 0 or not self.has(t - 1, selector):
            return True
        if isinstance(selector, str):
            return selector in self._field_names and self._restarts(t, selector)
        leaves = (
            leaf for m in alternatives(selector) for leaf in (m.leaves if isinstance(m, Group) else (m,))
        )
        fields = (leaf for leaf in leaves if isinstance(leaf, str))
        return any(self.has(t - 1, field) and self.begins(t, field) for field in fields)

    def _restarts(self, t: int, field: str) -> bool:
        """Whether a prefix ends the run although the field continues."""
        now, before = (self.labels.levels(self.names[i]) for i in (t, t - 1))
        if self.labels.scheme == "paths":
            depth = field.count("/") + 1
            return any(role == "B" for _, role in now[:depth])
        return dict(now)[field] in ("B", "S") or dict(before)[field] in ("E", "S")


def _hashable(selector: Selector) -> str | Group | tuple[str | Group, ...]:
    return selector if isinstance(selector, str | Group) else tuple(selector)
