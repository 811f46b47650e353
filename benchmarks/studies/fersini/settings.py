"""Corpora, models and mined rules of the study."""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.data.corpora import read_labelled
from benchmarks.data.held_out import Setting, setting_of
from benchmarks.data.models import trained
from benchmarks.data.sets import Labelled
from benchmarks.study import Sources
from formulations import Rule, RuleSet, load_rules
from formulations import constraints as C
from formulations.constraints.local import Adjacency
from formulations.constraints.order import Precedence, PresencePrecedence, StateChange
from formulations.constraints.presence import BeginEnd
from formulations.constraints.template import Template
from ilpinfer.learning import MinedRules, RuleMiner

FOLDERS = {"cora": "cora", "umass": "umass_cfe", "names": "conll2002_esp"}
FAMILIES: dict[str, type[Template]] = {
    "adjacency": Adjacency,
    "precedence": Precedence,
    "state-change": StateChange,
    "begin-end": BeginEnd,
    "presence-precedence": PresencePrecedence,
}
"""The paper's five categories, eq. 17-21, as the miner names them."""
CONFIDENCE = {"cora": 0.9, "umass": 0.9, "names": 0.5}
"""Least share of occasions at which a mined rule holds; names have no rule above 0.65."""
MOST = 60
"""Rules of a set, the ones with the largest gain in likelihood."""
BLOCK = 50
"""Sequences of a cell."""
OPTIONS: dict[str, dict[str, Any]] = {
    "cora": {"template": "citations", "c1": 0.05, "c2": 0.3, "max_iterations": 100},
    "umass": {"template": "citations", "c1": 0.05, "c2": 0.3, "max_iterations": 60},
    "names": {"template": "entities", "scheme": "bio", "c1": 0.1, "c2": 0.05, "max_iterations": 100},
}
"""Of conditional random fields."""


class Pairing(NamedTuple):
    """A model and the rules that it is decoded under."""

    model: str
    rules: str = "mined"

    @property
    def size(self) -> int:
        return int(self.model.split()[-1])

    @property
    def rule_size(self) -> int:
        return int(self.rules.split()[-1]) if self.rules.startswith("mined from") else self.size


CORA = (
    Pairing("CRF of 300"),
    Pairing("HMM of 300"),
    Pairing("HMM of 20"),
    Pairing("HMM of 20", "mined from 300"),
)
UMASS = (Pairing("CRF of 400"), Pairing("CRF of 1457"))
NAMES = (
    Pairing("CRF of 1500"),
    Pairing("CRF of 1500", "catalogue"),
    Pairing("CRF of 8323"),
    Pairing("CRF of 8323", "catalogue"),
)


def pairings(sources: Sources, part: str) -> tuple[Pairing, ...]:
    some = {"cora": CORA, "umass": UMASS, "names": NAMES}[part]
    number = {
        "cora": sources(smoke=1, sample=4, full=4),
        "umass": sources(smoke=1, sample=1, full=2),
        "names": sources(smoke=1, sample=2, full=4),
    }
    return some[: number[part]]


def blocks(sources: Sources, part: str) -> range:
    number = len(_sequences(sources.folder, part, "dev"))
    most = {"cora": 2, "umass": 2, "names": 4}[part]
    return range(sources(smoke=1, sample=min(most, -(-number // BLOCK)), full=-(-number // BLOCK)))


def setting(sources: Sources, part: str, pairing: Pairing, block: int) -> Setting:
    """A block of the development part under the rules; labels keep their scheme."""
    length = sources(smoke=3, sample=BLOCK, full=BLOCK)
    some = _sequences(sources.folder, part, "dev")[block * length : (block + 1) * length]
    train = _sequences(sources.folder, part, "train")[: pairing.size]
    kind = pairing.model.split()[0].lower()
    model = trained(kind, train, **(OPTIONS[part] if kind == "crf" else {}))
    rules = soft_rules(sources.folder, part, pairing)
    return setting_of(pairing.model, model, some, RuleSet((*rules, C.valid_scheme())))


def soft_rules(folder: Path, part: str, pairing: Pairing) -> tuple[Rule, ...]:
    if pairing.rules == "catalogue":
        return tuple(load_rules("entities").rules)
    return tuple(one.rule for one in mined(folder, part, pairing.rule_size).rules)


def categories(folder: Path, part: str, pairing: Pairing) -> Iterator[dict[str, Any]]:
    """Rules of each category: their number, and the least and greatest cost in nats."""
    rules = soft_rules(folder, part, pairing)
    for family, kind in FAMILIES.items():
        costs = [rule.penalty for rule in rules if isinstance(rule.statement, kind)]
        yield {
            "category": family,
            "number": len(costs),
            "least": min(costs, default=None),
            "greatest": max(costs, default=None),
        }


@cache
def mined(folder: Path, part: str, size: int) -> MinedRules:
    """Rules of the five categories, each with the cost of eq. 30."""
    miner = RuleMiner(tuple(FAMILIES), confidence=CONFIDENCE[part], pruning="none", most=MOST)
    return miner.fit(_sequences(folder, part, "train")[:size])


def _sequences(folder: Path, part: str, name: str) -> Sequence[Labelled]:
    return read_labelled(folder / FOLDERS[part] / f"{name}.tsv")
