"""Counts of candidates, and removal of those below the thresholds or in contradiction to others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from formulations import Rule
from formulations.constraints.template import Template
from formulations.dtypes import Integers
from formulations.labels.selectors import alternatives
from ilpinfer.learning.evidence import FoldCounts, Thresholds, cost, gain, survives
from ilpinfer.learning.labellings import Labellings
from ilpinfer.learning.mined_rules import DroppedCandidates, MinedRule
from ilpinfer.learning.rule_families import FAMILIES
from ilpinfer.learning.rule_relations import claims, contradict
from ilpinfer.learning.rule_trials import count_trials
from ilpinfer.learning.sample import Candidate, Sample


@dataclass(frozen=True, eq=False)
class CandidateCounts:
    """A candidate with its counts."""

    candidate: Candidate
    counts: FoldCounts
    thresholds: Thresholds
    smoothing: float

    @property
    def statement(self) -> Template:
        """The claim of the candidate."""
        return self.candidate.statement

    @property
    def held(self) -> int:
        """Number of trials that hold."""
        return int(self.counts.held.sum())

    @property
    def broken(self) -> int:
        """Number of trials that do not hold."""
        return int(self.counts.broken.sum())

    @property
    def gain(self) -> float:
        """Nats over the base rate."""
        return gain(self.held, self.broken, self.candidate.base)

    @property
    def complexity(self) -> int:
        """How many fields and patterns the statement names."""
        fields = sum(len(alternatives(selector)) for selector in self.statement.selectors())
        return fields + len(_patterns(self.statement))

    def rule(self) -> MinedRule:
        """The rule, with the counts as its reason."""
        several = len(self.counts.held) > 1
        holds, applies = map(int, self.held_out) if several else (0, 0)
        penalty = cost(self.held, self.broken, self.smoothing)
        mined = MinedRule(
            Rule(self.statement, round(penalty, 4)),
            self.candidate.family,
            self.held,
            self.broken,
            self.candidate.base,
            self.gain,
            holds,
            applies,
        )
        folds = f", {holds} of {applies} folds" if several else ""
        reason = (
            f"held {mined.held}, broken {mined.broken} of {mined.support} ({100 * mined.confidence:.1f} %), "
            f"lift {mined.lift:.1f}{folds}"
        )
        return replace(mined, rule=replace(mined.rule, reason=reason))

    @property
    def held_out(self) -> tuple[Integers, Integers]:
        """In how many folds it holds on held-out sequences, and in how many it applies."""
        return self.counts.held_out(self.thresholds.support, self.thresholds.confidence)


def _patterns(statement: Template) -> list[str]:
    given = (
        getattr(statement, name, None)
        for name in ("words", "token_class", "pattern", "previous", "following")
    )
    return [str(value) for value in given if value]


def count(table: Labellings, statement: Template, fold: Integers) -> FoldCounts:
    """The trials of a statement in each fold."""
    trials = count_trials(table, statement)
    number = int(fold.max()) + 1
    cells = fold[trials.sequence]
    broken = np.bincount(cells[trials.broken], minlength=number)
    return FoldCounts(np.bincount(cells, minlength=number) - broken, broken)


def measure(
    sample: Sample, families: Sequence[str], smoothing: float, step: Callable[[str], None]
) -> tuple[list[CandidateCounts], list[DroppedCandidates]]:
    """The candidates that reach the thresholds and hold in folds, and the others by reason."""
    t = sample.thresholds
    kept: list[CandidateCounts] = []
    numbers = dict.fromkeys(("below the support", "below the confidence", "below the gain"), 0)
    unstable: list[MinedRule] = []
    for family in families:
        for candidate in FAMILIES[family](sample):
            counts = count(sample.table, candidate.statement, sample.fold)
            m = CandidateCounts(candidate, counts, t, smoothing)
            held, total = m.held, m.held + m.broken
            if total < t.support:
                numbers["below the support"] += 1
            elif held < t.confidence * total:
                numbers["below the confidence"] += 1
            elif m.gain < t.gain:
                numbers["below the gain"] += 1
            elif len(counts.held) > 1 and not bool(survives(*m.held_out)):
                unstable.append(m.rule())
            else:
                kept.append(m)
        step(family)
    dropped = [DroppedCandidates(reason, number) for reason, number in numbers.items() if number]
    if unstable:
        dropped.append(DroppedCandidates("not held in folds", len(unstable), tuple(unstable)))
    return kept, dropped


def without_contradictions(
    measured: Sequence[CandidateCounts], nested: bool
) -> tuple[list[CandidateCounts], list[DroppedCandidates]]:
    """The candidates without those that contradict another one with a larger gain."""
    dropped: list[MinedRule] = []
    known = {m: claims(m.statement) for m in measured}
    speaking = [m for m in measured if known[m].holds or known[m].denied or known[m].exclusive]
    lost: set[CandidateCounts] = set()
    by_key: dict[object, list[CandidateCounts]] = {}
    for m in sorted(speaking, key=lambda m: (-m.gain, m.statement.sentence())):
        about = known[m].exclusive
        keys = [*sorted(known[m].holds | known[m].denied), *([about[0]] if about else [])]
        near = [other for key in keys for other in by_key.get(key, ())]
        against = next((other for other in near if contradict(known[m], known[other], nested)), None)
        if against is not None:
            lost.add(m)
            mined = m.rule()
            reason = f"{mined.rule.reason}; contradicts {against.statement.sentence()}"
            dropped.append(replace(mined, rule=replace(mined.rule, reason=reason)))
            continue
        for key in keys:
            by_key.setdefault(key, []).append(m)
    kept = [m for m in measured if m not in lost]
    return kept, [DroppedCandidates("contradictory", len(dropped), tuple(dropped))] if dropped else []
