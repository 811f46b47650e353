"""Equal tokens have equal fields at any distance (Finkel, Grenager, Manning 2005; as edges that skip tokens: Sutton and
McCallum 2004)."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from formulations.automata.agreement import Agreement
from formulations.constraints.matching import Matching
from formulations.constraints.rule_functions import maker
from formulations.constraints.template import Trial, template
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.schemes import strip
from formulations.tokens.token_pattern import TokenPattern

__all__ = ["consistent"]


@template("consistent")
class Consistent(Matching):
    """Tokens that are equal must have the same field.

    A token is a violation if its field differs from that of the nearest equal token before it. Fields are the innermost
    ones, and `O` is one of them. If no words or pattern are given, the rule applies to tokens with a letter or digit.

    Parameters
    ----------
    same : {"token", "lower"}, default "token"
        "token" for tokens that are equal as they stand, "lower" for those that are equal in lower case.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.consistent().violations(["person", "O", "O"], tokens=["Paris", "and", "Paris"])
    1
    """

    same: Literal["token", "lower"] = "token"
    _default = TokenPattern(pattern=r".*[^\W_].*")

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Agreement]:
        fields = [strip(name, labels.scheme) for name in labels.names]
        number = {field: kind for kind, field in enumerate(dict.fromkeys(fields))}
        kind = np.array([number[field] for field in fields], np.int64)
        if len(number) == 1:
            return []
        return [Agreement(kind, np.array(group, np.int64), len(tokens)) for group in self._groups(tokens)]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        fields = [strip(name, reading.labels.scheme) for name in reading.names]
        for group in self._groups(reading.tokens):
            for before, token in pairwise(group):
                yield Trial((token, before), int(fields[before] != fields[token]))

    def _groups(self, tokens: Sequence[str]) -> list[list[int]]:
        """Places of equal tokens, where there are two or more."""
        places: dict[str, list[int]] = {}
        for place, token in enumerate(tokens):
            if self.pattern_of_tokens.matches(token):
                places.setdefault(token.lower() if self.same == "lower" else token, []).append(place)
        return [group for group in places.values() if len(group) > 1]


consistent = maker(Consistent)
