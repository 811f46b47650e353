"""Feature templates: which attributes of a token and its neighbours a conditional random field looks at."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

from formulations.caches import LONGEST_TEXT, make_room
from ilpinfer.corpus.tokens import column
from ilpinfer.models.crf.attributes import NUMBERED_ATTRIBUTES, WORD_ATTRIBUTES, Values, WordAttribute
from ilpinfer.models.crf.contexts import CONTEXT_ATTRIBUTES, Column, nearby_values, phrases

Features = list[list[str]]
"""Names of the features that hold at each of T tokens."""
ContextAttribute = Callable[[Sequence[str]], Column]


@dataclass(frozen=True)
class Atom:
    attribute: str
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.attribute}[{self.offset}]"


Conjunction = tuple[Atom, ...]
"""Holds where all its atoms have a value, once for each combination of their values."""


@dataclass(frozen=True)
class Template:
    """The features of tokens (Fersini et al. 2014, section 2: state feature functions)."""

    conjunctions: tuple[Conjunction, ...]
    words: Mapping[str, WordAttribute] = field(default_factory=dict)
    contexts: Mapping[str, ContextAttribute] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)
    _cache: "dict[str, _Word]" = field(default_factory=dict, init=False, repr=False, compare=False)
    _value_cache: dict[Atom, dict[Values, Sequence[str]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def features(self, tokens: Sequence[str], at: Iterable[int] | None = None) -> Features:
        """Names of the features at each of T tokens; none at those that `at` leaves out."""
        return self.features_of(tokens, self.columns(tokens), range(len(tokens)) if at is None else list(at))

    def columns(self, tokens: Sequence[str]) -> dict[str, Column]:
        """Values of the attributes that look at the sequence."""
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
        """Names of the features at the tokens of `at`, with the values of `columns`."""
        T = len(tokens)
        result: Features = [[] for _ in tokens]
        words: list[_Word] = [_NONE] * T
        needed = range(T) if len(at) == T else {t + o for t in at for o in self._reach if 0 <= t + o < T}
        for t in needed:
            words[t] = self._word(tokens[t])
        for offset in self._singles:
            for t in at:
                if 0 <= t + offset < T:
                    result[t] += words[t + offset][0][offset]
        chosen = [result[t] for t in at]
        named = {atom: self._at(atom, words, columns, at) for atom in self._looked_up}
        for conjunction in self._others:
            if len(conjunction) == 1:
                for names, own in zip(chosen, named[conjunction[0]], strict=True):
                    names += own
                continue
            for names, *value_names in zip(chosen, *(named[atom] for atom in conjunction), strict=True):
                if all(value_names):
                    names += map(" & ".join, product(*value_names))
        return result

    def _at(
        self, atom: Atom, words: "list[_Word]", columns: Mapping[str, Column], at: Sequence[int]
    ) -> list[Sequence[str]]:
        """Names of an atom's values at each token of `at`."""
        T, offset, column = len(words), atom.offset, columns.get(atom.attribute)
        if column is None:
            part = self._joined_atoms[atom]
            return [words[t + offset][1][part] if 0 <= t + offset < T else () for t in at]
        known = self._value_cache.setdefault(atom, {})
        make_room(known)
        new = {values: _names(atom, values) for values in set(column) - known.keys()}
        if all(sum(map(len, values)) <= LONGEST_TEXT for values in new):
            known.update(new)
        else:
            known = known | new
        return [known[column[t + offset]] if 0 <= t + offset < T else () for t in at]

    def _word(self, word: str) -> "_Word":
        """The features of a word at each offset, and its values for each atom of a conjunction."""
        known = self._cache.get(word)
        if known is None:
            values = {name: attribute(word) for name, attribute in self._word_attributes.items()}
            singles = {
                offset: [name for atom in atoms for name in _names(atom, values[atom.attribute])]
                for offset, atoms in self._singles.items()
            }
            value_names = [_names(atom, values[atom.attribute]) for atom in self._joined_atoms]
            known = singles, value_names
            if len(word) <= LONGEST_TEXT:
                make_room(self._cache)
                self._cache[word] = known
        return known

    @cached_property
    def _context_names(self) -> list[str]:
        used = dict.fromkeys(atom.attribute for c in self.conjunctions for atom in c)
        return [name for name in used if name in self.contexts or name in CONTEXT_ATTRIBUTES]

    @cached_property
    def _word_attributes(self) -> dict[str, WordAttribute]:
        used = dict.fromkeys(atom.attribute for c in self.conjunctions for atom in c)
        return {name: word_attribute(name, self.words) for name in used if name not in self._context_names}

    @cached_property
    def _singles(self) -> dict[int, list[Atom]]:
        """Atoms on single words that are features by themselves, by offset."""
        result: dict[int, list[Atom]] = {}
        for conjunction in self.conjunctions:
            if len(conjunction) == 1 and conjunction[0].attribute in self._word_attributes:
                result.setdefault(conjunction[0].offset, []).append(conjunction[0])
        return result

    @cached_property
    def _reach(self) -> set[int]:
        return self._singles.keys() | {atom.offset for atom in self._joined_atoms}

    @cached_property
    def _others(self) -> list[Conjunction]:
        """Features of several atoms, or of one that looks at the sequence."""
        return [c for c in self.conjunctions if len(c) > 1 or c[0].attribute in self._context_names]

    @cached_property
    def _looked_up(self) -> list[Atom]:
        return list(dict.fromkeys(atom for c in self._others for atom in c))

    @cached_property
    def _joined_atoms(self) -> dict[Atom, int]:
        """Atoms on single words that conjunctions join, numbered."""
        atoms = [atom for atom in self._looked_up if atom.attribute in self._word_attributes]
        return {atom: number for number, atom in enumerate(atoms)}


_Word = tuple[dict[int, list[str]], list[Sequence[str]]]
_NONE: _Word = {}, []


def _names(atom: Atom, values: Values) -> Sequence[str]:
    name = str(atom)
    return [f"{name}={value}" if value else name for value in values]


def word_attribute(name: str, own: Mapping[str, WordAttribute]) -> WordAttribute:
    """The attribute of a name such as `lower`, `prefix:3`, or one that the template defines."""
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


def around(name: str, where: str, own: Template) -> ContextAttribute:
    return lambda tokens: nearby_values(own.column(name, tokens), tokens, where)
