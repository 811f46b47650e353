"""What two approximations of the literature cost: `python -m benchmarks.approximations TRAIN.tsv TEST.tsv`.

Stokman 2011 scores labels by a second-order HMM around one labelling (eq. 47-48), and his tagger drops what is less
probable than a cutoff δ (sections 3.1.2 and 6). Both are held against the exact optimum, without rules and under the
catalogue's citation rules.
"""

import math
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import ilpinfer
from benchmarks.machine import header
from formulations import RuleSet, Trellis, load_rules
from formulations.grid import nats
from formulations.problem.compiled_rules import compile_problem
from formulations.problem.problem import RuleNotice
from ilpinfer.corpus.sequences import read, require_labels
from ilpinfer.models.cutoff import cut
from ilpinfer.models.hmm import HMM
from ilpinfer.models.hmm.second_order import READINGS, SecondOrderHMM

DELTAS = (1e-12, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1)

Texts = Sequence[tuple[str, ...]]


def loss(exact: Trellis, rules: RuleSet, result: ilpinfer.Solution) -> tuple[bool, float]:
    """Whether a labelling differs from the optimum, and how far below it its objective is, nats."""
    best = ilpinfer.decode(exact, rules)
    value = compile_problem(exact, rules).value(result.ids)
    return bool((best.ids != result.ids).any()), best.score - nats(value.score)


def estimates(one: HMM, two: SecondOrderHMM, texts: Texts, rules: RuleSet) -> Iterable[dict[str, Any]]:
    """A row for each reading, labelling that it is made around, and with or without rules."""
    exact = [two.trellis(tokens) for tokens in texts]
    around = {
        "second order": [ilpinfer.decode(trellis).ids for trellis in exact],
        "first order": [ilpinfer.decode(one.trellis(tokens)).ids for tokens in texts],
    }
    for reading in READINGS:
        for name, labellings in around.items():
            for set_of in (RuleSet(()), rules):
                result = [
                    loss(trellis, set_of, ilpinfer.decode(two.estimate(tokens, best, reading), set_of))
                    for trellis, tokens, best in zip(exact, texts, labellings, strict=True)
                ]
                yield {"reading": reading, "around": name, "rules": len(set_of) > 0, **summary(result)}


def cutoffs(hmm: HMM, texts: Texts, rules: RuleSet) -> Iterable[dict[str, Any]]:
    """A row for each δ: rules as they are, and the share without a labelling where they are hard."""
    hard = replace(rules, items=tuple(replace(rule, penalty=math.inf) for rule in rules.rules))
    exact = [hmm.trellis(tokens) for tokens in texts]
    for delta in (0.0, *DELTAS):
        pruned = [cut(trellis, delta) for trellis in exact]
        soft = [ilpinfer.decode(trellis, rules) for trellis in pruned]
        lost = [loss(t, rules, s) for t, s in zip(exact, soft, strict=True) if s.has_labelling]
        impossible = [not ilpinfer.decode(trellis, hard).has_labelling for trellis in pruned]
        yield {
            "delta": delta,
            "none": 1 - len(lost) / len(texts),
            "none, hard": float(np.mean(impossible)),
            **summary(lost),
        }


def summary(result: Sequence[tuple[bool, float]]) -> dict[str, float]:
    """Share that differs, mean and largest loss in nats."""
    losses = np.array([nats for _, nats in result])
    return {
        "differ": float(np.mean([differs for differs, _ in result])),
        "mean": losses.mean(),
        "largest": losses.max(),
    }


def main(train: str, test: str) -> None:
    """Two tables."""
    warnings.simplefilter("ignore", RuleNotice)
    training, rules = require_labels(read(train)), load_rules("citations")
    texts = [tokens for tokens, _ in require_labels(read(test))]
    console = Console(width=140)
    console.print(header())
    console.print(f"\n{len(texts)} sequences against the exact pair trellis, HMMs of {len(training)}")
    shown = Table("reading of eq. 48", "around the best of", "rules", "differ", "mean loss, nats", "largest")
    for row in estimates(HMM.train(training), SecondOrderHMM.train(training), texts, rules):
        lost = f"{row['mean']:.3f}", f"{row['largest']:.2f}"
        shown.add_row(
            row["reading"], row["around"], "yes" if row["rules"] else "no", f"{row['differ']:.0%}", *lost
        )
    console.print(shown)
    for size in (20, len(training)):
        console.print(f"\ncutoff δ on labels and steps, first-order HMM of {size}")
        shown = Table("δ", "no labelling", "no labelling, rules hard", "differ", "mean loss, nats", "largest")
        for row in cutoffs(HMM.train(training[:size]), texts, rules):
            shares = (f"{row[name]:.0%}" for name in ("none", "none, hard", "differ"))
            shown.add_row(f"{row['delta']:g}", *shares, f"{row['mean']:.3f}", f"{row['largest']:.2f}")
        console.print(shown)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
