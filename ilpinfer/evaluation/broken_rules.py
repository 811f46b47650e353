"""Violations of rules by gold labels and predictions."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from formulations import LabelSet, Trellis
from formulations.rulefiles.loading import rule_set
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.corpus.examples import Example
from ilpinfer.evaluation.checking import count_breaches
from ilpinfer.evaluation.evaluation import Pair, alike_pairs

SIDES, COUNTS = ("gold", "predicted"), ("sequences", "broken", "violations")


def broken_rules(
    pairs: Sequence[Pair], rules: Rules, *, scheme: str = "", labels: LabelSet | None = None
) -> list[dict[str, Any]]:
    """Count how often gold labels and predictions break each rule.

    Parameters
    ----------
    pairs : sequence of Pair
        N sequences, at least one. Sequences without a prediction are left out of the counts of predictions.
    rules : Rules, str or Path
        As for `ilpinfer.decode`; features are left out.
    scheme, labels : str and LabelSet, optional
        As for `ilpinfer.evaluation.evaluation.evaluate`.

    Returns
    -------
    list of dict
        For each rule: `rule` (its name), `hard`, `penalty` in nats (None for a hard rule), and for `gold` and `predicted` the numbers
        `sequences`, `broken` (sequences that break the rule) and `violations`.

    Raises
    ------
    ValueError
        For labels that do not fit the scheme, rules that do not fit the labels, and rules on words if no sequence has words.

    Examples
    --------
    >>> from ilpinfer import constraints as C
    >>> pair = Pair(("Ada", "met", "Bob"), ("name", "O", "name"), ("name", "O", "O"))
    >>> row = broken_rules([pair], [C.at_most_runs("name", 1)])[0]
    >>> row["gold"]["violations"], row["predicted"]["violations"]
    (0, 1)
    """
    given, pairs = replace(rule_set(rules), never=()), list(pairs)  # tokens with helper labels are removed
    if labels is None:
        pairs, labels = alike_pairs(pairs, scheme)
    labels = labels.with_optional_fields(given.fields)
    if not any(any(pair.tokens) for pair in pairs):
        K, T = len(labels), max(len(pair.gold) for pair in pairs)
        scores = Trellis.from_emissions(np.zeros((T, K)), np.zeros((K, K)), labels=labels)
        compiler_of(given.everywhere).quietly(scores)  # raises NoTokens for rules on words
    reports = [
        count_breaches(
            given,
            [
                Example(pair.tokens, own, f"sequence {number}", about={"metadata": dict(pair.metadata)})
                for number, (pair, own) in enumerate(zip(pairs, side, strict=True))
                if own is not None
            ],
            labels,
        )
        for side in ([pair.gold for pair in pairs], [pair.predicted for pair in pairs])
    ]
    return [
        {"rule": gold.rule, "hard": gold.hard, "penalty": gold.penalty}
        | {
            side: {name: getattr(row, name) for name in COUNTS}
            for side, row in zip(SIDES, (gold, found), strict=True)
        }
        for gold, found in zip(*reports, strict=True)
    ]
