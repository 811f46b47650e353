"""Rules that look at one token or one edge; they fold into the trellis."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from formulations.compiled import machine
from formulations.compiled.machine import Machine
from formulations.constraints.reading import Reading
from formulations.constraints.rule import Template, template
from formulations.constraints.steps import everywhere, only_at
from formulations.constraints.tokens import PUNCTUATION, TokenPattern
from formulations.labels import LabelSet, Selector


@dataclass(frozen=True)
class ForbiddenTransition(Template):
    """No token of one field directly before a token of another. Each such step is a violation.

    Stokman 2011, Table 4, ShouldNotPrecede, at every token.

    Parameters
    ----------
    from_, to : field, label or group
    """

    from_: Selector
    to: Selector

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Machine]:
        before = np.concatenate([[False], labels.field(self.from_).member])
        step = before[:, None] & labels.field(self.to).member[None, :]
        return [machine.local(everywhere(step, len(tokens)))]

    def count(self, reading: Reading) -> int:
        return sum(
            reading.has(t - 1, self.from_) and reading.has(t, self.to) for t in range(1, len(reading.names))
        )


forbidden_transition = template("forbidden_transition", ForbiddenTransition)


@dataclass(frozen=True)
class _Ending(Template):
    field: Selector
    _token: ClassVar[int]

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Machine]:
        where = np.arange(len(tokens)) == self._token % len(tokens)
        return [machine.local(only_at(~labels.field(self.field).member[None, :], where))]

    def count(self, reading: Reading) -> int:
        return int(not reading.has(self._token % len(reading.names), self.field))


class StartsWith(_Ending):
    """The first token belongs to the field; one violation if it does not.

    Parameters
    ----------
    field : field, label or group
    """

    _token = 0


class EndsWith(_Ending):
    """The last token belongs to the field; one violation if it does not.

    Parameters
    ----------
    field : field, label or group
    """

    _token = -1


starts_with = template("starts_with", StartsWith)
ends_with = template("ends_with", EndsWith)


@dataclass(frozen=True)
class TagAt(Template):
    """Every matching token belongs to the field. Each matching token outside it is a violation.

    Chang et al. 2007, Table 1, rules 4-11: words that are known to lie in a field.

    Parameters
    ----------
    field : field, label or group
    words : tokens that match as wholes
    pattern : regular expression that must match the whole token
    ignore_case : for both
    """

    field: Selector
    words: tuple[str, ...] = ()
    pattern: str = ""
    ignore_case: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self._tokens:
            raise ValueError("tag_at names no token: give words or a pattern")

    @property
    def _tokens(self) -> TokenPattern:
        return TokenPattern(self.words, self.pattern, self.ignore_case)

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Machine]:
        outside = ~labels.field(self.field).member[None, :]
        return [machine.local(only_at(outside, self._tokens.mask(tokens)))]

    def count(self, reading: Reading) -> int:
        matching = [t for t, token in enumerate(reading.tokens) if self._tokens.matches(token)]
        return sum(not reading.has(t, self.field) for t in matching)


tag_at = template("tag_at", TagAt)


@dataclass(frozen=True)
class ChangesOnlyAfter(Template):
    """Fields change only after a matching token, punctuation if not said otherwise.

    A change at token t, a step that begins any run or enters `O`, is a violation where token t-1 does not
    match. Chang et al. 2007, Table 1, rule 2.

    Parameters
    ----------
    words : tokens that match as wholes
    pattern : regular expression that must match the whole token
    ignore_case : for both
    """

    words: tuple[str, ...] = ()
    pattern: str = ""
    ignore_case: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self._tokens:
            object.__setattr__(self, "pattern", PUNCTUATION)

    @property
    def _tokens(self) -> TokenPattern:
        return TokenPattern(self.words, self.pattern, self.ignore_case)

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Machine]:
        after = np.concatenate([[False], ~self._tokens.mask(tokens)[:-1]])
        return [machine.local(only_at(labels.change, after))]

    def count(self, reading: Reading) -> int:
        return sum(not self._tokens.matches(reading.tokens[t - 1]) for t in reading.changes())


changes_only_after = template("changes_only_after", ChangesOnlyAfter)


@dataclass(frozen=True)
class ValidScheme(Template):
    """The labelling keeps its own scheme. Each invalid step, and an entity left open at the end, is one violation.

    BIO: I-x only after B-x or I-x. IOBES: an entity that B opens goes on with I and closes with E. Paths: BIO at
    every level, and where a level begins anew, so do those below it. Plain: nothing to keep.
    """

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Machine]:
        step, last = labels.invalid
        at_end = np.arange(len(tokens)) == len(tokens) - 1
        return [machine.local(everywhere(step, len(tokens))), machine.local(only_at(last[None, :], at_end))]

    def count(self, reading: Reading) -> int:
        scheme = reading.labels.scheme
        if scheme == "plain":
            return 0
        broken = _broken_entities if scheme == "iobes" else _broken_levels
        return broken([_levels(name, scheme) for name in reading.names])


valid_scheme = template("valid_scheme", ValidScheme)


def _levels(name: str, scheme: str) -> list[tuple[str, str]]:
    """(prefix, path) of each level, read anew from the name."""
    if name == "O":
        return []
    parts = name.split("/") if scheme == "paths" else [name]
    return [(part[0], "/".join(p[2:] for p in parts[: i + 1])) for i, part in enumerate(parts)]


def _broken_levels(labelling: list[list[tuple[str, str]]]) -> int:
    broken, before = 0, set[str]()
    for label in labelling:
        prefixes = "".join(prefix for prefix, _ in label)
        orphan = any(prefix == "I" and path not in before for prefix, path in label)
        broken += orphan or "BI" in prefixes
        before = {path for _, path in label}
    return broken


def _broken_entities(labelling: list[list[tuple[str, str]]]) -> int:
    broken, entity = 0, ""
    for label in [*labelling, []]:
        prefix, field = label[0] if label else ("O", "")
        broken += entity != (field if prefix in "IE" else "")
        entity = field if prefix in "BI" else ""
    return broken
