"""Rules of requests: decoders for TOML texts, the latest of which are kept."""

import math
import re
import time

from formulations.caches import RecentValues
from formulations.constraints.rule import SCOPES
from formulations.constraints.rule_set import RuleError, RuleSet
from formulations.labels.selectors import EACH_FIELD, names_in
from formulations.rulefiles.loading import catalogue, load_rules
from formulations.rulefiles.reader import read
from formulations.time_limits import OutOfTime, time_limit
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.serving.decoding import DeadlinePassed
from ilpinfer.serving.refusal import invalid, too_large

MOST_RULE_TEXTS = 8
"""Texts whose compiled rules are kept."""
MOST_STATEMENTS, MOST_STEPS = 1000, 2**23
"""Statements of a text, one for each field where a rule is about each, and steps between labels of all of them: their automata take
less than a second and 200 MB."""

MOST_PARTS = 16
DOTTED = re.compile(rf"""(?<![\w-])(?:([\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MOST_PARTS}}}""")
"""Keys of more parts, which take the reader of TOML time that grows with the square of their number."""


class RuleTexts:
    """Decoders that differ from that of the service in their rules; threads may share them."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._decoders = RecentValues[Decoder](MOST_RULE_TEXTS)

    def decoder(self, text: str | None, labels: int, seconds: float) -> Decoder:
        """The decoder for a text, that of the service for None.

        `labels` is the number of labels of the scores, 0 for those of the model. Refusal for an invalid text, DeadlinePassed if
        time ends.
        """
        return self._decoder if text is None else self._of(text, labels, seconds)

    def _of(self, text: str, labels: int, seconds: float) -> Decoder:
        known = self._decoder.labels
        fields = labels if known is None else len(known.field_names)
        size = labels if known is None else len(known)

        def made() -> Decoder:
            rules = _rules(text)
            _check_size(rules, fields, size)
            return self._decoder.with_rules(rules)

        end = time.perf_counter() + seconds
        try:
            with time_limit(lambda: time.perf_counter() > end, lambda: end - time.perf_counter()):
                decoder = self._decoders.get(text, made)
        except OutOfTime:
            raise DeadlinePassed from None
        except RuleError as error:
            raise invalid(error.message) from None
        except ValueError as error:
            raise invalid(f"rules: {error}") from None
        _check_size(decoder.rules, fields, size)
        return decoder


def _rules(text: str) -> RuleSet:
    """The rules of a text, which names no files, or of an entry of the catalogue."""
    if text in catalogue():
        return load_rules(text)
    if found := DOTTED.search(text):
        raise invalid(f"rules: {found[0][:40]}…: more than {MOST_PARTS} names joined by dots")
    return read(text, "rules", None)


def _check_size(rules: RuleSet, fields: int, labels: int) -> None:
    """Refusal for rules that are too many for this number of fields and labels."""
    count = 0
    for rule in rules.rules:
        each = EACH_FIELD in names_in(rule.statement.selectors())
        count += math.perm(fields, len(SCOPES[rule.scope])) * (fields if each else 1)
    most = min(MOST_STATEMENTS, MOST_STEPS // max(labels, 1) ** 2)
    if count > most:
        raise too_large(
            f"rules: {count} statements, one for each field where a rule is about each; at most {most} are taken here for "
            f"{labels} labels"
        )
