"""Rules of requests: decoders for TOML texts, the latest of which are kept."""

import time

from formulations.caches import RecentValues
from formulations.constraints.rule_set import RuleError, RuleSet
from formulations.rulefiles.loading import catalogue, load_rules
from formulations.rulefiles.reader import read
from formulations.time_limits import OutOfTime, time_limit
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.serving.decoding import DeadlinePassed
from ilpinfer.serving.refusal import invalid

MOST_RULE_TEXTS = 8
"""Texts whose compiled rules are kept."""


class RuleTexts:
    """Decoders that differ from that of the service in their rules; threads may share them."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder, self._decoders = decoder, RecentValues[Decoder](MOST_RULE_TEXTS)

    def decoder(self, text: str | None, seconds: float) -> Decoder:
        """The decoder for a text, that of the service for None; Refusal for an invalid text, DeadlinePassed if time ends."""
        return self._decoder if text is None else self._decoders.get(text, lambda: self._made(text, seconds))

    def _made(self, text: str, seconds: float) -> Decoder:
        end = time.perf_counter() + seconds
        try:
            with time_limit(lambda: time.perf_counter() > end, lambda: end - time.perf_counter()):
                return self._decoder.with_rules(_rules(text))
        except OutOfTime:
            raise DeadlinePassed from None
        except RuleError as error:
            raise invalid(error.message) from None
        except ValueError as error:
            raise invalid(f"rules: {error}") from None


def _rules(text: str) -> RuleSet:
    """The rules of a text, which names no files, or of an entry of the catalogue."""
    return load_rules(text) if text in catalogue() else read(text, "rules", None)
