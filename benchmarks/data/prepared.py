"""Sequences under rules that are compiled once, with what decodes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import ilpinfer
from benchmarks.data.corpora import UMASS_RULES, soft_rules, train_and_dev
from benchmarks.data.models import trained
from benchmarks.data.sets import Labelled
from formulations import RuleSet, Trellis, load_rules
from ilpinfer.models.sequence_model import SequenceModel


@dataclass(frozen=True)
class Prepared:
    """Sequences with the same transitions, and a decoder of the rules."""

    decoder: ilpinfer.Decoder
    trellises: Sequence[Trellis]

    @property
    def rules(self) -> RuleSet:
        return self.decoder.rules

    def every(self, step: int, begin: int = 0) -> "Prepared":
        """One sequence of so many."""
        return Prepared(self.decoder, self.trellises[begin::step])


@cache
def cora(folder: Path, size: int) -> Prepared:
    """The development references under the citation rules, scored by an HMM of so many others."""
    train, dev = train_and_dev(folder, "cora")
    return _prepared(trained("hmm", train[:size]), load_rules("citations"), dev)


@cache
def umass(folder: Path) -> Prepared:
    """The development references with labels of several levels under mined rules."""
    train, dev = train_and_dev(folder, "umass")
    return _prepared(trained("hmm", train), RuleSet(tuple(soft_rules(train, UMASS_RULES))), dev)


def _prepared(model: SequenceModel, rules: RuleSet, examples: Sequence[Labelled]) -> Prepared:
    return Prepared(ilpinfer.Decoder(rules, model=model), [model.trellis(tokens) for tokens, _ in examples])
