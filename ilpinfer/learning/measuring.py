"""Counts of candidate rules, removal of candidates that miss thresholds or contradict others, and choice of the least confidence."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from formulations import Rule
from formulations.constraints.template import LONGEST_NAME, Template
from formulations.dtypes import Floats, Integers
from formulations.labels.selectors import alternatives
from formulations.messages import cut
from ilpinfer.learning.labellings import LabelArrays
from ilpinfer.learning.mined_rules import DroppedCandidates, MinedRule
from ilpinfer.learning.rule_families import FAMILIES
from ilpinfer.learning.rule_trials import claims, contradict, count_trials, violations
from ilpinfer.learning.sample import FoldCounts, Sample, Thresholds, cost, gain, survives
from ilpinfer.learning.selection import largest, select
from ilpinfer.learning.wrong_labellings import WrongLabellings


@dataclass(frozen=True, eq=False)
class CandidateCounts:
    statement: Template
    family: str
    base: float
    counts: FoldCounts
    thresholds: Thresholds
    smoothing: float

    @property
    def held(self) -> int:
        return int(self.counts.held.sum())

    @property
    def broken(self) -> int:
        return int(self.counts.broken.sum())

    @property
    def gain(self) -> float:
        return gain(self.held, self.broken, self.base)

    @property
    def complexity(self) -> int:
        """Number of fields and patterns that the statement names."""
        fields = sum(len(alternatives(selector)) for selector in self.statement.selectors)
        return fields + len(_patterns(self.statement))

    def rule(self) -> MinedRule:
        """The rule, with the counts as its reason."""
        several = len(self.counts.held) > 1
        holds, applies = map(int, self.held_out) if several else (0, 0)
        penalty = cost(self.held, self.broken, self.smoothing)
        mined = MinedRule(
            Rule(self.statement, round(penalty, 4), name=_name(self.statement)),
            self.family,
            self.held,
            self.broken,
            self.base,
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
        """Number of folds in which it holds on held-out sequences, and in which it applies."""
        return self.counts.held_out(self.thresholds.support, self.thresholds.confidence)


def _patterns(statement: Template) -> list[str]:
    given = (
        getattr(statement, name, None)
        for name in ("words", "token_class", "pattern", "previous", "following")
    )
    return [str(value) for value in given if value]


def count(table: LabelArrays, statement: Template, fold: Integers) -> FoldCounts:
    trials = count_trials(table, statement)
    number = int(fold.max()) + 1
    cells = fold[trials.sequence]
    broken = np.bincount(cells[trials.broken], minlength=number)
    return FoldCounts(np.bincount(cells, minlength=number) - broken, broken)


def measure(
    sample: Sample, families: Sequence[str], smoothing: float, step: Callable[[str], None]
) -> tuple[list[CandidateCounts], list[DroppedCandidates]]:
    """Candidates that reach the thresholds and hold in folds, and the dropped candidates by reason."""
    t = sample.thresholds
    kept: list[CandidateCounts] = []
    numbers = dict.fromkeys(("below the support", "below the confidence", "below the gain"), 0)
    unstable: list[MinedRule] = []
    for family in families:
        for rule, base in FAMILIES[family](sample):
            counts = count(sample.table, rule.statement, sample.fold)
            m = CandidateCounts(rule.statement, family, base, counts, t, smoothing)
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
    """The candidates that contradict no candidate of larger gain, and the dropped ones."""
    dropped: list[MinedRule] = []
    known = {m: claims(m.statement) for m in measured}
    speaking = [m for m in measured if known[m].holds or known[m].denied or known[m].exclusive]
    lost: set[CandidateCounts] = set()
    by_key: dict[object, list[CandidateCounts]] = {}
    for m in sorted(speaking, key=lambda m: (-m.gain, m.statement.sentence)):
        about = known[m].exclusive
        keys = [*sorted(known[m].holds | known[m].denied), *([about[0]] if about else [])]
        near = [other for key in keys for other in by_key.get(key, ())]
        against = next((other for other in near if contradict(known[m], known[other], nested)), None)
        if against is not None:
            lost.add(m)
            mined = m.rule()
            reason = f"{mined.rule.reason}; contradicts {against.statement.sentence}"
            dropped.append(replace(mined, rule=replace(mined.rule, reason=reason)))
            continue
        for key in keys:
            by_key.setdefault(key, []).append(m)
    kept = [m for m in measured if m not in lost]
    return kept, [DroppedCandidates("contradictory", len(dropped), tuple(dropped))] if dropped else []


GRID = (0.98, 0.95, 0.9, 0.8, 0.7, 0.6)
"""Least confidences tried; the highest of equally good ones is taken."""


def choose_confidence(
    samples: Mapping[str, Sample],
    families: Sequence[str],
    smoothing: float,
    wrong: WrongLabellings,
    wrong_table: LabelArrays,
) -> str:
    """Name of the sample whose rules rank most held-out wrong labellings below the right ones; a tie counts a half."""
    first = next(iter(samples.values()))
    table, fold_of = first.table, first.fold
    counts = cache(lambda statement: count(table, statement, fold_of))
    more = cache(partial(_more_violations, table, wrong, wrong_table))
    proposed = cache(lambda name: [each for family in families for each in FAMILIES[family](samples[name])])
    folds = [np.flatnonzero(fold_of == fold).tolist() for fold in range(int(fold_of.max()) + 1)]

    def fit(name: str, fold: Sequence[int]) -> Taught:
        return list(_taught(proposed(name), counts, samples[name].thresholds, smoothing, fold_of[fold[0]]))

    def score(rules: Taught, fold: Sequence[int]) -> Floats:
        """(n, 2) per sequence: wrong labellings that rules rank below the right one, and all wrong labellings."""
        chosen = np.flatnonzero(np.isin(wrong.sequence, fold))
        excess = np.zeros(len(chosen))
        for statement, penalty in rules:
            excess += penalty * more(statement)[chosen]
        below = np.where(excess > 0, 1.0, 0.5 * (excess == 0))
        owner = np.searchsorted(fold, wrong.sequence[chosen])
        columns = [np.bincount(owner, weights, minlength=len(fold)) for weights in (below, None)]
        return np.stack(columns, axis=1)

    def share(scores: Floats) -> float:
        below, number = scores.sum(axis=0)
        return round(float(below / number), 6) if number else 0.0

    return select({name: name for name in samples}, fit, score, folds, largest(share)).chosen


Taught = Sequence[tuple[Template, float]]
"""Statements with penalties."""


def _taught(
    proposed: Iterable[tuple[Rule, float]],
    counts_of: Callable[[Template], FoldCounts],
    t: Thresholds,
    smoothing: float,
    fold: int,
) -> Iterator[tuple[Template, float]]:
    """Rules that reach the thresholds on the other folds, with penalties from the counts of these folds."""
    for rule, base in proposed:
        counts = counts_of(rule.statement)
        held, broken = (int(side.sum() - side[fold]) for side in (counts.held, counts.broken))
        least = t.support * (len(counts.held) - 1) / len(counts.held)
        if (
            held + broken >= least
            and held >= t.confidence * (held + broken)
            and gain(held, broken, base) >= t.gain
        ):
            yield rule.statement, cost(held, broken, smoothing)


def _name(statement: Template) -> str:
    """The statement with its words in quotes; empty for one without words, which is its own name."""
    shown = statement.quoted_sentence
    return "" if shown == statement.sentence else cut(shown, LONGEST_NAME)


def _more_violations(
    table: LabelArrays, wrong: WrongLabellings, wrong_table: LabelArrays, statement: Template
) -> NDArray[np.int16]:
    """(S,) violations of each wrong labelling minus the violations of the right one."""
    right = violations(table, statement)[wrong.sequence]
    return (violations(wrong_table, statement) - right).astype(np.int16)
