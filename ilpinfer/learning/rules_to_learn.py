"""Rules mined for learning: many, also weak, with penalties that are learnt afterwards."""

from collections.abc import Sequence
from dataclasses import replace

from formulations import Rule, RuleSet
from formulations import constraints as C
from formulations.labels.schemes import OUTSIDE
from ilpinfer.learning.labellings import LabelArrays
from ilpinfer.learning.mining import RuleMiner
from ilpinfer.models.sequences import Labelled, encode

FAMILIES = (
    "one-run",
    "never-together",
    "requires-present",
    "requires-before",
    "precedence",
    "presence-precedence",
)
CONFIDENCE, MOST_SUPPORT, LEAST_SUPPORT, SHARE = 0.6, 20, 4, 0.1
"""Least share of trials that keep a rule; bounds on the least number of trials, and its share of the sequences."""
LEAST, MOST = (2, 3, 4, 6), (1, 2, 3, 5, 8, 12, 20)
"""Minimum and maximum run lengths of the rules."""


def support_for(sequences: int) -> int:
    return min(MOST_SUPPORT, max(LEAST_SUPPORT, round(SHARE * sequences)))


def many_rules(pairs: Sequence[Labelled], scheme: str = "") -> RuleSet:
    """Rules of six families that hold more often than not, and bounds on run lengths; few trials suffice for each."""
    support = support_for(len(pairs))
    miner = RuleMiner(FAMILIES, support=support, confidence=CONFIDENCE, gain=0.0, pruning="none")
    rules = mined(miner, pairs, scheme)
    return replace(rules, items=(*rules.items, *run_lengths(pairs, support, scheme)))


def mined(miner: RuleMiner, pairs: Sequence[Labelled], scheme: str = "") -> RuleSet:
    """The rules that a miner finds; none for data that it refuses: a single label, or fewer sequences than folds."""
    if len(pairs) < miner.folds or len({name for _, labels in pairs for name in labels}) < 2:
        return RuleSet(())
    return miner.fit(pairs, scheme).rules


def run_lengths(pairs: Sequence[Labelled], support: int, scheme: str = "") -> list[Rule]:
    """Bounds on run lengths of each field that occurs in at least `support` sequences."""
    table = LabelArrays.of(*encode(pairs, scheme))
    names = [field.name for field in table.labels.each_field if field.name != OUTSIDE]
    return [
        rule
        for name in sorted(names)
        if table.field(name).present.sum() >= support
        for rule in (
            *(C.min_run_length(name, n, penalty=1.0) for n in LEAST),
            *(C.max_run_length(name, n, penalty=1.0) for n in MOST),
        )
    ]


def keep_scheme(pairs: Sequence[Labelled], scheme: str = "") -> RuleSet:
    """The hard rule on the scheme, if there is a scheme and all labellings keep it."""
    table = LabelArrays.of(*encode(pairs, scheme))
    steps, ends = table.labels.invalid
    broken = steps[table.before, table.ids].any() or ends[table.ids[table.finish]].any()
    some = bool(steps.any() or ends.any()) and not broken
    return RuleSet((C.valid_scheme(),) if some else ())
