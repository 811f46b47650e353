"""Check of rules against gold labels: how often each applies, holds and is broken, and relations between rules."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import ClassVar

import numpy as np

from formulations import LabelSet, Rule, RuleSet, Trellis
from formulations.automata.machine import Automaton, Machine
from formulations.dtypes import LabelIds
from formulations.grid import HARD
from formulations.labels.reading import Reading
from formulations.plain_values import PlainRecord
from formulations.problem.compiled_rules import unique_names
from formulations.problem.problem import GroundRule
from formulations.rulefiles.loading import rule_set
from ilpinfer.core.context import trials_of
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.corpus.examples import Example

EXAMPLES = 3
CRUDE = -math.log(1e-4)
"""Penalty of a hard rule in nats (Chang, Ratinov, Roth 2007, section 6)."""
SAMPLE = 12
"""Number of sequences on which relations of rules are computed."""
NEARBY = 40
"""Number of random changes of gold labels, which can show independence of rules without a search."""
QUESTION_SECONDS = 2.0
"""Processor time to decide whether a labelling exists; unlike wall time, it does not depend on the load."""


@dataclass(frozen=True)
class Breach:
    where: str
    tokens: tuple[int, ...]
    text: tuple[str, ...]
    labels: tuple[str, ...]
    violations: int


@dataclass(frozen=True)
class RuleReport(PlainRecord):
    """Counts of one rule on gold labels, and its relations to other rules.

    Counts are of sequences (`sequences`, `broken`, `applicable`), of places (`applies`, `holds`, `breaks`) and of violations; `share` is
    broken / sequences. `sequences` are the sequences whose metadata meets the condition of the rule; all, if it has none. Penalties are
    in nats: None for a hard rule, and for a rule that never applies. Relations are computed on the examined sequences.
    """

    rule: str
    hard: bool
    penalty: float | None
    sequences: int
    broken: int
    share: float
    violations: int
    applies: int
    holds: int
    breaks: int
    applicable: int
    suggested_penalty: float | None
    examples: tuple[str, ...]
    breaches: tuple[Breach, ...]
    implied_by: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    overruled: int = 0
    TITLE: ClassVar = "the report"
    DERIVED: ClassVar = ("never_fires",)

    @property
    def never_fires(self) -> bool:
        return self.applies == 0


def smoothed_penalty(broken: int, applicable: int, given: float = CRUDE) -> float:
    """The penalty -log P(a sequence breaks the rule) in nats, smoothed by a given penalty as one more sequence.

    -log((broken + exp(-given)) / (applicable + 1)) is the cost of Fersini et al. 2014, eq. 30, with a corrected sign, under a Beta
    prior with mean exp(-given). An unbroken rule that applies to few sequences keeps about its given penalty, and a rule that gold
    labels often break loses it. Counts are of sequences, not of trials, because a model already fits much of the information in
    single trials.

    Parameters
    ----------
    broken, applicable : int
        Number of sequences that break the rule, and of sequences to which it applies.
    given : float, default CRUDE
        Given penalty in nats; inf for a hard rule counts as `CRUDE`.

    Returns
    -------
    float
        The penalty.

    Examples
    --------
    >>> round(smoothed_penalty(0, 5), 2), round(smoothed_penalty(20, 100), 2), round(smoothed_penalty(7, 7), 2)
    (11.0, 1.62, 0.13)
    """
    given = CRUDE if math.isinf(given) else given
    counted = broken + math.exp(-given)
    if not counted:
        return given + math.log(applicable + 1)
    return max(0.0, -math.log(counted / (applicable + 1)))


def check_rules(
    rules: Rules, gold: Sequence[Example], labels: LabelSet, advance: Callable[[], None] = lambda: None
) -> list[RuleReport]:
    """Check every rule, but no feature, against at least one labelled sequence with the plain checker."""
    rules = rule_set(rules)
    return relate(count_breaches(rules, gold, labels, advance), rules, gold, labels)


def count_breaches(
    rules: RuleSet, gold: Sequence[Example], labels: LabelSet, advance: Callable[[], None] = lambda: None
) -> list[RuleReport]:
    """The reports of `check_rules` without relations between rules."""
    pairs = zip(unique_names(rules), rules, strict=True)
    tallies = [_Tally(name, rule) for name, rule in pairs if isinstance(rule, Rule)]
    compiler, bare = compiler_of(rules), RuleSet(tuple(rules.rules))
    for rule in rules.rules if gold else ():
        rule.ground(labels, gold[0].tokens)
    for sequence in gold:
        compiled = compiler.of(sequence.notes).compiled(labels)
        overruled = compiled.overruled(sequence.tokens)
        reading = Reading(sequence.gold, sequence.tokens, labels)
        holding = compress(tallies, bare.holding(sequence.notes))
        for tally, own in zip(holding, compiled.rules, strict=True):
            tally.add(sequence, reading, set(overruled.get(own.name, ())))
        advance()
    return [tally.result() for tally in tallies]


class _Tally:
    def __init__(self, name: str, rule: Rule) -> None:
        self.name, self.rule = name, rule
        self.applies = self.breaks = self.violations = self.overruled = 0
        self.broken: list[str] = []
        self.sequences = self.applicable = 0
        self.breaches: list[Breach] = []

    def add(self, gold: Example, reading: Reading, lost: set[int]) -> None:
        self.sequences += 1
        trials = trials_of(self.rule, reading, lost)
        broken = [t for t in trials if t.amount]
        self.applies += len(trials)
        self.applicable += bool(trials)
        self.breaks += len(broken)
        self.overruled += len(lost)
        result = sum(t.amount for t in broken)
        self.violations += min(result, 1) if self.rule.distance == "binary" else result
        if broken:
            self.broken.append(gold.where)
        for trial in broken[: max(0, EXAMPLES - len(self.breaches))]:
            at = trial.tokens
            text, labels = tuple(gold.tokens[t] for t in at), tuple(gold.gold[t] for t in at)
            self.breaches.append(Breach(gold.where, at, text, labels, trial.amount))

    def result(self) -> RuleReport:
        suggested = (
            smoothed_penalty(len(self.broken), self.applicable, self.rule.penalty)
            if self.applicable
            else None
        )
        return RuleReport(
            rule=self.name,
            hard=self.rule.hard,
            penalty=None if self.rule.hard else self.rule.penalty,
            sequences=self.sequences,
            broken=len(self.broken),
            share=len(self.broken) / max(1, self.sequences),
            violations=self.violations,
            applies=self.applies,
            holds=self.applies - self.breaks,
            breaks=self.breaks,
            applicable=self.applicable,
            suggested_penalty=suggested,
            examples=tuple(self.broken[:EXAMPLES]),
            breaches=tuple(self.breaches),
            overruled=self.overruled,
        )


def relate(
    reports: Sequence[RuleReport], rules: RuleSet, gold: Sequence[Example], labels: LabelSet
) -> list[RuleReport]:
    """Add the rules that follow from another rule, and the rules that exclude each other, on a few of the sequences."""
    gold = [sequence for sequence in gold if sequence.tokens]
    step = max(1, len(gold) // SAMPLE)
    relations = [_Relations(sequence, rules, labels) for sequence in gold[::step][:SAMPLE]]
    names, result = [row.rule for row in reports], []
    for i, row in enumerate(reports):
        others = [j for j in range(len(reports)) if j != i]
        implied = [] if row.never_fires else [names[j] for j in others if _follows(i, j, relations)]
        contradict = [names[j] for j in others if any(each.contradict(i, j) for each in relations)]
        result.append(replace(row, implied_by=tuple(implied), contradicts=tuple(contradict)))
    return result


def _follows(i: int, j: int, relations: Sequence["_Relations"]) -> bool:
    """Whether rule j implies rule i on all of the sequences, and rule i can be broken at all."""
    if any(each.differ_nearby(i, j) for each in relations):
        return False
    if any(each.differ(i, j) for each in relations):
        return False
    return any(each.can_break(i) for each in relations) and any(each.can_hold(j) for each in relations)


class _Relations:
    """Rules on one sequence, all hard; labellings near gold answer most questions, the engine answers the rest."""

    def __init__(self, gold: Example, rules: RuleSet, labels: LabelSet) -> None:
        T, K = len(gold.tokens), len(labels)
        trellis = Trellis.from_emissions(
            np.zeros((T, K)), np.zeros((K, K)), labels=labels, tokens=gold.tokens
        )
        from ilpinfer.exact.sum_relaxation import without_scores

        compiler = compiler_of(rules.rules)
        problem = compiler.of(gold.notes).problem(trellis)
        holding = [i for i, holds in enumerate(compiler.rules.holding(gold.notes)) if holds]
        self.bare = without_scores(problem)
        hard = (replace(rule, penalty=HARD, binary=False) for rule in problem.rules)
        self.rules = dict(zip(holding, hard, strict=True))
        paths = _near(labels.ids(gold.gold), K)
        self.broken_by = np.zeros((len(paths), len(compiler.rules)), bool)
        for i, rule in self.rules.items():
            self.broken_by[:, i] = [bool(rule.violations(path)) for path in paths]

    def differ_nearby(self, i: int, j: int) -> bool:
        """Whether a labelling near gold breaks i and keeps j."""
        return bool((self.broken_by[:, i] & ~self.broken_by[:, j]).any())

    def differ(self, i: int, j: int) -> bool:
        """Whether any labelling breaks i and keeps j; True if undecided in time."""
        if i not in self.rules:
            return False
        if j not in self.rules or self.rules[i].machineless:
            return True
        return any(
            self._possible(self.rules[j], _breaking_rule(machine)) for machine in self.rules[i].machines
        )

    def can_break(self, i: int) -> bool:
        if i not in self.rules:
            return False
        if self.broken_by[:, i].any() or self.rules[i].machineless:
            return True
        return any(self._possible(_breaking_rule(machine)) for machine in self.rules[i].machines)

    def can_hold(self, i: int) -> bool:
        """Whether any labelling keeps the rule."""
        return i in self.rules and (bool((~self.broken_by[:, i]).any()) or self._possible(self.rules[i]))

    def contradict(self, i: int, j: int) -> bool:
        """Whether no labelling keeps both rules although each rule can be kept."""
        if (~self.broken_by[:, i] & ~self.broken_by[:, j]).any() or not {i, j} <= self.rules.keys():
            return False
        one, other = self.rules[i], self.rules[j]
        return not self._possible(one, other) and self._possible(one) and self._possible(other)

    def _possible(self, *rules: GroundRule) -> bool:
        """Whether a labelling keeps the rules; True if undecided in time."""
        from ilpinfer.exact.infeasibility import witness

        return not witness(self.bare, rules, Deadline(QUESTION_SECONDS, time.thread_time))[1]


def _near(path: LabelIds, labels: int) -> list[LabelIds]:
    """Gold, gold with one token or a token and all later tokens changed, and each label everywhere."""
    random = np.random.default_rng(0)
    paths = [path, *(np.full_like(path, k) for k in range(labels))]
    for _ in range(NEARBY):
        t, k = random.integers(len(path)), random.integers(labels)
        one, rest = path.copy(), path.copy()
        one[t], rest[t:] = k, k
        paths += [one, rest]
    return paths


def _breaking_rule(machine: Machine) -> GroundRule:
    """A hard rule that is kept exactly by the labellings that break the machine."""
    return GroundRule("broken", HARD, False, (_complement(machine),))


def _complement(machine: Machine) -> Machine:
    """A machine that is kept if and only if another is broken: it emits one at the end unless the other has emitted."""
    Q = machine.states
    emitted = machine.emits > 0
    clean = np.where(emitted, machine.next_state + Q, machine.next_state)
    next_state = np.concatenate([clean, machine.next_state + Q])
    final = np.concatenate([(machine.final == 0).astype(np.int64), np.zeros(Q, np.int64)])
    return Machine(machine.steps, Automaton(next_state, np.zeros_like(next_state), final))
