"""UMass references, CRFs of them, and the rules that are mined from them."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from benchmarks.data.corpora import read_labelled
from benchmarks.data.models import trained
from benchmarks.data.sets import Labelled
from benchmarks.study import Sources
from formulations import RuleSet
from formulations import constraints as C
from ilpinfer.learning import MinedRules, RuleMiner
from ilpinfer.learning.rules_to_learn import FAMILIES
from ilpinfer.models.sequence_model import TrainedModel

PARAMETERS = {"template": "citations", "c1": 0.05, "c2": 0.3, "max_iterations": 120}
"""Of CRFs of references."""
ALL = "all families, pruned"
MANY = "six families, all, with few trials; lengths of runs"
MINERS: Mapping[str, RuleMiner] = {
    ALL: RuleMiner(confidence=0.75, gain=0.0, support=20),
    MANY: RuleMiner(FAMILIES, support=20, confidence=0.6, gain=0.0, pruning="none"),
}
VALID = C.valid_scheme()


def part(sources: Sources, name: str) -> list[Labelled]:
    """References of a part of the corpus, "train" or "dev"; few of them at the smoke scale."""
    result = read_labelled(sources.folder / "umass_cfe" / f"{name}.tsv")
    return result[: sources(smoke=12, sample=len(result), full=len(result))]


def training_part(sources: Sources, number: int) -> list[Labelled]:
    """So many references of the training part, evenly spaced; 0 for all."""
    result = part(sources, "train")
    return [result[place * len(result) // number] for place in range(number)] if number else result


def crf(examples: Sequence[tuple[Sequence[str], Sequence[str]]]) -> TrainedModel:
    return trained("crf", examples, **PARAMETERS)


@cache
def mined_rules(folder: Path, scale: str, number: int, miner: str) -> MinedRules:
    """The rules that so many references of the training part suggest."""
    return MINERS[miner].fit(training_part(Sources(folder, scale), number))


def with_valid(rules: Sequence[object], fields: Sequence[str] = ()) -> RuleSet:
    return RuleSet((*rules, VALID), tuple(fields))  # type: ignore[arg-type]
