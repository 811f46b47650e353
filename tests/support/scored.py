"""Small scored examples, with brute force over all their labellings."""

from collections.abc import Sequence

import numpy as np
from support import oracles, template_oracles
from support.oracles import Labelling

from formulations import Feature, LabelSet, Rule, RuleSet, Trellis
from formulations import constraints as C
from ilpinfer.learning import ScoredExample

NAMES = ("a", "b", "c")
LABELS = LabelSet(NAMES)
TOKENS = ("red", "7", "green", "8", "blue")


RULES = RuleSet(
    (
        C.at_most_runs("b", 1, penalty=0.7),
        C.feature(label="c", weight=-0.4),
        C.at_most_tokens("c", 3),
        C.at_most_tokens("a", 1, penalty=0.2, distance="binary"),
        C.feature(from_="a", to="b", weight=0.9),
        C.requires_before("a", "b", penalty=0.9),
    )
)


def scored(seed: int, gold: Sequence[str] = (), *, T: int = 4, names: Sequence[str] = NAMES) -> ScoredExample:
    """Random scores of T tokens; gold is random, too, where it is not given."""
    random = np.random.default_rng(seed)
    K = len(names)
    emissions, transitions = random.normal(size=(T, K)), random.normal(size=(K, K))
    trellis = Trellis.from_emissions(emissions, transitions, labels=names, tokens=TOKENS[:T])
    drawn = tuple(names[k] for k in random.integers(K, size=T))
    return ScoredExample(trellis, tuple(gold) or drawn)


def labellings(example: ScoredExample) -> list[Labelling]:
    return list(oracles.labellings(len(example.trellis), len(example.trellis.labels)))


def named(example: ScoredExample, ids: Labelling) -> list[str]:
    return [example.trellis.labels.names[k] for k in ids]


def spans(names: Sequence[str]) -> set[tuple[int, int, str]]:
    """Runs of plain labels: first token, end and label."""
    starts = [t for t in range(len(names)) if t == 0 or names[t] != names[t - 1]]
    return {(a, b, names[a]) for a, b in zip(starts, [*starts[1:], len(names)], strict=True)}


def firings(feature: Feature, names: Sequence[str], tokens: Sequence[str]) -> int:
    """How many tokens or steps fit a feature on single labels and words."""
    named = feature.label, feature.from_, feature.to, feature.words
    return template_oracles.feature(names, tokens, "plain", *named)


def activation(
    item: Rule | Feature, names: Sequence[str], tokens: Sequence[str], labels: LabelSet = LABELS
) -> int:
    """Minus the violations of a rule by its plain checker, or the firings of a feature."""
    if isinstance(item, Feature):
        return firings(item, names, tokens)
    return -item.violations(list(names), tokens=list(tokens), labels=labels)


def learnt_items(rules: RuleSet) -> list[Rule | Feature]:
    """Soft rules and features."""
    return [item for item in rules if isinstance(item, Feature) or not item.hard]


def best(example: ScoredExample, rules: RuleSet, weights: Sequence[float]) -> Labelling | None:
    """The best labelling under other weights; None where hard rules leave none."""
    items, tokens, labels = learnt_items(rules), example.trellis.tokens, example.trellis.labels
    hard = [rule for rule in rules.rules if rule.hard]
    totals = {}
    for ids in labellings(example):
        names = named(example, ids)
        if not any(rule.violations(names, tokens=list(tokens), labels=labels) for rule in hard):
            extra = (
                w * activation(item, names, tokens, labels) for w, item in zip(weights, items, strict=True)
            )
            totals[ids] = example.trellis.score(ids) + sum(extra)
    return max(totals, key=lambda ids: totals[ids]) if totals else None
