"""Conditions of rules on the metadata of a sequence, such as its intent."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from formulations.messages import brief

_CONDITION = re.compile(r"\s*([^=!|]*[^=!|\s])\s*(!?=)\s*(.*\S)\s*", re.DOTALL)
EXPECTED = 'expected "KEY = VALUE", "KEY = ONE | OTHER" or "KEY != VALUE"'


@dataclass(frozen=True)
class Condition:
    key: str
    values: frozenset[str]
    negated: bool

    def holds(self, metadata: Mapping[str, Any]) -> bool:
        """Whether the value of the key is among the values (or not, if negated); false without the key."""
        if self.key not in metadata:
            return False
        value = metadata[self.key]
        shown = {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)}
        if isinstance(value, float) and value.is_integer():
            shown.add(str(int(value)))  # tables with gaps have whole numbers as floats
        return self.values.isdisjoint(shown) == self.negated


def condition(text: str) -> Condition:
    """Parse a condition; ValueError for other texts."""
    found = _CONDITION.fullmatch(text)
    values = [part.strip() for part in found[3].split("|")] if found else []
    if found is None or "" in values or any("=" in value for value in values):
        raise ValueError(f"when is {brief(text)}; {EXPECTED}")
    return Condition(found[1], frozenset(values), found[2] == "!=")
