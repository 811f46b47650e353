"""The row of a sequence and a method, and the consistency check of the rows of a sequence."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from formulations import LabelSet, Trellis
from formulations.errors import InferenceError
from formulations.grid import is_forbidden
from formulations.labels.schemes import OUTSIDE
from ilpinfer.comparison.plan import PlannedMethod
from ilpinfer.core.rule_compiler import RuleCompiler
from ilpinfer.core.solution import Solution, finite
from ilpinfer.decoding.evaluation import evaluate_labelling
from ilpinfer.evaluation.counts import LabelCounter
from ilpinfer.exact.viterbi import viterbi
from ilpinfer.system.checkpoint import Row

ERRORS = ("search", "model", "rule", "tie")
"""Kinds of errors; see `error_of`."""
FIRST_STAGE = "compiled rules"
"""The first stage of the engine, including the preparation of the sequence."""
COUNTS = ("gold_tokens", "correct", "correct_labels", "predicted_fields", "gold_fields", "matching_fields")
"""Counts of a sequence with gold: tokens, tokens with the right field, tokens with the right label, and fields predicted, gold and both."""


class MethodError(InferenceError, RuntimeError):
    """A method raised an error, which is the cause; the message names sequence and method."""


class Contradiction(InferenceError):
    """Two methods contradict each other; the message names sequence, methods and scores."""


@dataclass(frozen=True)
class ScoredGold:
    """A gold labelling, its score (-inf if infeasible), and the counts of Viterbi without rules against it.

    Tokens with a helper label (`never`) are not counted.
    """

    labels: tuple[str, ...]
    score: float
    breaks_rules: bool = False
    without_rules: Mapping[str, Any] = field(default_factory=dict)
    never: frozenset[str] = frozenset()

    @classmethod
    def of(cls, trellis: Trellis, rules: RuleCompiler, labels: Sequence[str] | None) -> "ScoredGold | None":
        if labels is None:
            return None
        score, path = viterbi(trellis.lattice)
        best = None if is_forbidden(score) else [trellis.labels.names[i] for i in path]
        never = trellis.labels.never.union(rules.rules.never)
        without_rules = field_counts(best, labels, trellis.labels.notation, never)
        if not set(labels) <= set(trellis.labels.names) - never:
            return cls(tuple(labels), -math.inf, without_rules=without_rules, never=never)
        worth = evaluate_labelling(trellis, rules, labels)
        impossible = math.isinf(worth.score) and math.isfinite(worth.model_score)
        return cls(tuple(labels), worth.score, impossible, without_rules, never)

    def agrees(self, predicted: Sequence[str] | None) -> bool:
        """Whether all counted tokens have the gold label."""
        return predicted is not None and all(
            own in (name, *self.never) for name, own in zip(predicted, self.labels, strict=True)
        )


def error_of(predicted: Sequence[str] | None, score: float, gold: ScoredGold) -> str:
    """The kind of error of a labelling; empty if it agrees with gold.

    "rule": gold breaks hard rules, so that no method can find it. "search": gold scores higher, so that the method missed it or a
    better labelling. "model": gold scores lower, so that the model prefers another labelling. "tie": equal scores.
    """
    if gold.agrees(predicted):
        return ""
    if gold.breaks_rules:
        return "rule"
    if gold.score > score:
        return "search"
    return "tie" if gold.score == score > -math.inf else "model"


def field_counts(
    predicted: Sequence[str] | None, gold: Sequence[str], scheme: str, never: Collection[str] = ()
) -> dict[str, Any]:
    """The counts of `COUNTS`, and fields predicted, gold and both by name; a missing labelling has nothing right.

    Tokens whose gold label is in `never` are left out.
    """
    kept = [t for t, name in enumerate(gold) if name not in never]
    predicted, gold = None if predicted is None else [predicted[t] for t in kept], [gold[t] for t in kept]
    names = sorted({*gold, *(predicted or ())}) or [OUTSIDE]
    counter = _counter(tuple(names), scheme)
    counts = counter.count_names(predicted, gold)
    values = (counts.tokens, counts.right, counts.right_labels, *counts.spans.sum(axis=0).tolist())
    return {
        **dict(zip(COUNTS, values, strict=True)),
        "fields": dict(zip(counter.fields, counts.spans.tolist(), strict=True)),
    }


@lru_cache(16)
def _counter(names: tuple[str, ...], scheme: str) -> LabelCounter:
    return LabelCounter(LabelSet(names, scheme))


def row_of(
    sequence: int, entry: PlannedMethod, solution: Solution, gold: ScoredGold | None, scheme: str
) -> Row:
    """The row of `results.jsonl`; a failure has no measures against gold."""
    labels = list(solution.labels) if solution.has_labelling else None
    account = {**dict.fromkeys(COUNTS), "fields": None, "gold_score": None, "differs_by": ""}
    if gold is not None and not solution.error:
        account = field_counts(labels, gold.labels, scheme, gold.never) | {
            "gold_score": finite(gold.score),
            "differs_by": error_of(labels, solution.score, gold),
        }
    improvements = solution.incumbents if solution.improvements else ()
    return {
        "sequence": sequence,
        "method": entry.name,
        "kind": entry.kind,
        "seed": entry.seed,
        "status": str(solution.status),
        "score": finite(solution.score),
        "bound": finite(solution.bound),
        "seconds": None if entry.request is None else solution.seconds,
        "labels": labels,
        "violations": solution.violations,
        "reason": solution.reason,
        "error": solution.error,
        "route": solution.method,
        "stages": _stages(entry, solution),
        "incumbents": [[each.seconds, finite(each.score)] for each in improvements],
        **account,
    }


def _stages(entry: PlannedMethod, solution: Solution) -> list[tuple[str, float]] | None:
    """Seconds by stage of the engine; None for other methods and failures."""
    if entry.request is None or entry.request.method.name != "auto" or solution.error:
        return None
    later = sum(seconds for _, seconds in solution.stages)
    return [(FIRST_STAGE, max(0.0, solution.seconds - later)), *solution.stages]


def check_agreement(rows: Sequence[Row], where: str) -> None:
    """Raise Contradiction if a score exceeds a bound that another method proved; scores on the grid need no tolerance."""
    bounded = [row for row in rows if row["bound"] is not None or row["status"] == "infeasible"]
    for row_with_bound in bounded:
        limit = -math.inf if row_with_bound["bound"] is None else row_with_bound["bound"]
        for row in rows:
            if row["score"] is not None and row["score"] > limit:
                raise Contradiction(
                    f"{where}: {row['method']} found a labelling of score {row['score']!r}, but {row_with_bound['method']} "
                    f"claims that none is above {limit!r}"
                )
