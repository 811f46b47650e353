"""A labelling as people read it: which tokens and runs belong to a field. Plain Python, no arrays.

The plain checker rests on this alone, so that it can hold the compiled form to account.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from formulations import schemes
from formulations.labels import EACH_FIELD, OUTSIDE, Group, LabelSet, Selector


@dataclass(frozen=True)
class Reading:
    """T label names and T tokens, read under the scheme of a label set."""

    names: Sequence[str]
    tokens: Sequence[str]
    labels: LabelSet

    def each(self, selector: Selector) -> list[Selector]:
        """The selectors that one selector stands for: every field in place of EACH_FIELD."""
        if selector == EACH_FIELD:
            return [f for f in schemes.field_names(self.labels.names, self.labels.scheme) if f != OUTSIDE]
        return [selector]

    def has(self, t: int, selector: Selector) -> bool:
        """Whether token t belongs to the field, label or group."""
        if isinstance(selector, Group):
            return any(self.has(t, member) for member in selector.members) != selector.complement
        if not isinstance(selector, str):
            return any(self.has(t, member) for member in selector)
        if self._is_field(selector):
            return selector in dict(schemes.levels(self.names[t], self.labels.scheme))
        return self.names[t] == selector

    def positions(self, selector: Selector) -> list[int]:
        """Tokens of the field."""
        return [t for t in range(len(self.names)) if self.has(t, selector)]

    def run_starts(self, selector: Selector) -> list[int]:
        """First tokens of the runs of the field."""
        return [t for t in range(len(self.names)) if self._starts(t, selector)]

    def changes(self) -> list[int]:
        """Tokens t >= 1 at which a run of any field begins or `O` is entered."""
        fields = schemes.field_names(self.labels.names, self.labels.scheme)
        return [t for t in range(1, len(self.names)) if any(self._starts(t, f) for f in fields)]

    def _is_field(self, name: str) -> bool:
        return name in schemes.field_names(self.labels.names, self.labels.scheme)

    def _starts(self, t: int, selector: Selector) -> bool:
        if not self.has(t, selector):
            return False
        if t == 0 or not self.has(t - 1, selector):
            return True
        if isinstance(selector, str):
            return self._is_field(selector) and self._restarts(t, selector)
        if isinstance(selector, Group) and selector.complement:
            return False
        members = selector.members if isinstance(selector, Group) else selector
        return any(self.has(t - 1, m) and self._starts(t, m) for m in members)

    def _restarts(self, t: int, field: str) -> bool:
        """Whether a prefix cuts the run although the field goes on."""
        scheme = self.labels.scheme
        now, before = (schemes.levels(self.names[i], scheme) for i in (t, t - 1))
        if scheme == "paths":
            depth = field.count("/") + 1
            return any(prefix == "B" for _, prefix in now[:depth])
        return dict(now)[field] in ("B", "S") or dict(before)[field] in ("E", "S")
