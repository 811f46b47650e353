"""Feature templates: the attributes of a token and its neighbours that a conditional random field uses."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from itertools import product
from typing import Any

from formulations.caches import LONGEST_TEXT, make_room
from ilpinfer.corpus.tokens import column
from ilpinfer.models.crf.attributes import NUMBERED_ATTRIBUTES, WORD_ATTRIBUTES, Values, WordAttribute
from ilpinfer.models.crf.contexts import CONTEXT_ATTRIBUTES, Column, nearby_values, phrases

Features = list[list[str]]
"""Names of the features of each of T tokens."""
ContextAttribute = Callable[[Sequence[str]], Column]


@dataclass(frozen=True)
class ShiftedAttribute:
    attribute: str
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.attribute}[{self.offset}]"


Conjunction = tuple[ShiftedAttribute, ...]
"""One feature for each combination of values of its atoms; none if an atom has no value."""


@dataclass(frozen=True)
class FeatureTemplate:
    """The features of tokens (Fersini et al. 2014, section 2: state feature functions)."""

    conjunctions: tuple[Conjunction, ...]
    words: Mapping[str, WordAttribute] = field(default_factory=dict)
    contexts: Mapping[str, ContextAttribute] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def features(self, tokens: Sequence[str], at: Iterable[int] | None = None) -> Features:
        """Names of the features of each of T tokens; no features for tokens outside `at`."""
        return self.features_of(tokens, self.columns(tokens), range(len(tokens)) if at is None else list(at))

    def columns(self, tokens: Sequence[str]) -> dict[str, Column]:
        """Values of the context attributes."""
        return {name: self.column(name, tokens) for name in self._context_names}

    def column(self, name: str, tokens: Sequence[str]) -> Column:
        if name in self.contexts:
            return self.contexts[name](tokens)
        if name in CONTEXT_ATTRIBUTES:
            return CONTEXT_ATTRIBUTES[name](tokens)
        return list(map(word_attribute(name, self.words), tokens))

    def features_of(
        self, tokens: Sequence[str], columns: Mapping[str, Column], at: Sequence[int]
    ) -> Features:
        """Names of the features of the tokens in `at`, given the values of context attributes."""
        result: Features = [[] for _ in tokens]
        chosen = [result[t] for t in at]
        words = {offset: _at_offset(tokens, offset, at) for offset in self._offsets}
        for offset, memo in self._singles.items():
            for names, word in zip(chosen, words[offset], strict=True):
                names += memo[word]
        named = {}
        for atom, memo in self._looked_up.items():
            column = columns.get(atom.attribute)
            beside = words[atom.offset] if column is None else _at_offset(column, atom.offset, at)
            named[atom] = [memo[each] for each in beside]
        for conjunction in self._others:
            if len(conjunction) == 1:
                for names, own in zip(chosen, named[conjunction[0]], strict=True):
                    names += own
                continue
            for names, *value_names in zip(chosen, *(named[atom] for atom in conjunction), strict=True):
                if all(value_names):
                    names += map(" & ".join, product(*value_names))
        return result

    @cached_property
    def _context_names(self) -> list[str]:
        used = dict.fromkeys(atom.attribute for c in self.conjunctions for atom in c)
        return [name for name in used if name in self.contexts or name in CONTEXT_ATTRIBUTES]

    @cached_property
    def _values(self) -> dict[str, "_Memo"]:
        """For each word attribute, its values by word."""
        used = dict.fromkeys(atom.attribute for c in self.conjunctions for atom in c)
        return {
            name: _Memo(word_attribute(name, self.words)) for name in used if name not in self._context_names
        }

    @cached_property
    def _offsets(self) -> set[int]:
        """Offsets of atoms with word attributes."""
        return {atom.offset for c in self.conjunctions for atom in c if atom.attribute in self._values}

    @cached_property
    def _singles(self) -> dict[int, "_Memo"]:
        """By offset, the names of features of a single atom with a word attribute, by word."""
        atoms: dict[int, list[ShiftedAttribute]] = {}
        for conjunction in self.conjunctions:
            if len(conjunction) == 1 and conjunction[0].attribute in self._values:
                atoms.setdefault(conjunction[0].offset, []).append(conjunction[0])
        return {offset: _Memo(partial(self._names_of, some)) for offset, some in atoms.items()}

    def _names_of(self, atoms: Sequence[ShiftedAttribute], word: str) -> list[str]:
        return [name for atom in atoms for name in _names(atom, self._values[atom.attribute][word])]

    @cached_property
    def _others(self) -> list[Conjunction]:
        """Features of several atoms, or of a context attribute."""
        return [c for c in self.conjunctions if len(c) > 1 or c[0].attribute in self._context_names]

    @cached_property
    def _looked_up(self) -> dict[ShiftedAttribute, "_Memo"]:
        """For each atom of `_others`, the names of its values by word, or by the values of its context attribute."""
        atoms = dict.fromkeys(atom for c in self._others for atom in c)
        return {
            atom: _Memo(
                partial(self._names_of, (atom,)) if atom.attribute in self._values else partial(_names, atom)
            )
            for atom in atoms
        }


class _Memo(dict[Any, Any]):
    """Cached values of a function of a text, or of a tuple of texts; long texts are not cached. No values for None, outside the sequence."""

    def __init__(self, function: Callable[[Any], Sequence[str]]) -> None:
        self.function = function

    def __missing__(self, key: Any) -> Sequence[str]:
        if key is None:
            return ()
        value = self.function(key)
        if sum(map(len, key)) <= LONGEST_TEXT:
            make_room(self)
            self[key] = value
        return value


def _at_offset(column: Sequence[Any], offset: int, at: Sequence[int]) -> list[Any]:
    """The entries at an offset from each token of `at`; None outside the sequence."""
    T = len(column)
    return [column[t + offset] if 0 <= t + offset < T else None for t in at]


def _names(atom: ShiftedAttribute, values: Values) -> Sequence[str]:
    name = str(atom)
    return [f"{name}={value}" if value else name for value in values]


def word_attribute(name: str, own: Mapping[str, WordAttribute]) -> WordAttribute:
    """The attribute with a name such as `lower` or `prefix:3`, or a word list or pattern of the template."""
    if name in own:
        return own[name]
    base, colon, number = name.partition(":")
    if not colon:
        return WORD_ATTRIBUTES[name]
    function, length = NUMBERED_ATTRIBUTES[base], int(number)
    return lambda word: function(word, length)


def in_words(words: frozenset[str]) -> WordAttribute:
    return lambda word: ("",) if word.lower() in words else ()


def in_phrases(texts: Sequence[str]) -> ContextAttribute:
    by_first: dict[str, list[tuple[str, ...]]] = {}
    for phrase in texts:
        words = tuple(phrase.lower().split())
        by_first.setdefault(words[0], []).append(words)
    return lambda tokens: phrases(tokens, by_first)


def in_column(name: str) -> ContextAttribute:
    return lambda tokens: [(cell,) if cell else () for cell in column(tokens, name)]


def around(name: str, where: str, own: FeatureTemplate) -> ContextAttribute:
    return lambda tokens: nearby_values(own.column(name, tokens), tokens, where)
