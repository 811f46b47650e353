"""Checks whether a rule set fits the labels and labellings of a model."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from formulations import LabelSet, Rule, RuleSet, Trellis, time_limits
from formulations.constraints.template import FORMULAS
from formulations.labels.reading import Reading
from formulations.labels.schemes import OPEN, OUTSIDE
from formulations.labels.selectors import EACH_FIELD
from formulations.messages import counted
from formulations.problem.compiled_rules import absence, unique_names
from formulations.rulefiles.loading import rule_set
from ilpinfer.core.context import trials_of
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.decoding.decoder import Decoder

LEAST = 10
"""Least number of sequences for a notice, and of sequences to which an unfit rule applies."""
LEAST_SHARE = 0.1
"""Least share of the sequences to which an unfit rule applies."""
SAMPLE = 200
"""Largest number of sequences that are checked."""
FIRST = 5
"""Every fifth sequence is checked first; the others are checked only for rules that are broken there."""
MOST_ABSENT = 1 / 2
"""Largest share of declared fields without a label in a rule set that fits."""
MOST_BROKEN = 2 / 3
"""Largest share of broken places of a rule that fits, unless its penalty implies a larger share."""
SECONDS = 1.0
"""Time limit in seconds for all checks, without the compilation of kernels."""


@dataclass(frozen=True)
class UnfitRule:
    """A rule that most labellings of a model break; `applies` and `broken` are numbers of labellings."""

    name: str
    applies: int
    broken: int


def unfit(trellises: Sequence[Trellis], rules: Rules) -> str:
    """A notice about a rule set that does not seem to fit a model; empty otherwise, and if there are too few sequences.

    A rule set does not seem to fit if more than half of its fields are not labels of the model, or if the best labellings without rules
    break a rule at more than two thirds of its places. At most `SAMPLE` sequences are checked, spread evenly.
    """
    rules = rule_set(rules)
    if len(trellises) < LEAST or not len(rules):
        return ""
    labels = trellises[0].labels
    alike = [trellis for trellis in trellises if trellis.labels == labels]
    absent = rules.absent(labels)
    said = []
    many = mostly_absent(rules, labels)
    if many:
        said.append(
            f"{len(absent)} of {len(rules.fields)} declared fields are not labels of the model ({', '.join(absent)})"
        )
    broken = unfit_rules(alike, rules, frozenset() if many else frozenset(absent))
    if broken:
        worst = max(broken, key=lambda each: each.broken)
        more = len(broken) - 1
        others = f", and so are {counted(more, 'other rule')}" if more else ""
        said.append(
            f'"{worst.name}" is broken by {100 * worst.broken / worst.applies:.0f} % of the labellings without rules where it '
            f"applies{others}"
        )
    return (
        f"{rules.name or 'the rule set'} does not seem to fit the model: {'; '.join(said)}; run ilpinfer check"
        if said
        else ""
    )


def about_rules(trellises: Sequence[Trellis], rules: RuleSet, notices: Sequence[str]) -> list[str]:
    """Notices about rules without a condition; that the rule set does not seem to fit replaces the notice about absent fields."""
    text = "" if trellises[0].labels.scheme in OPEN else unfit(trellises, rules.of({}))
    if not text:
        return list(notices)
    labels = trellises[0].labels
    said = absence(rules, labels) if mostly_absent(rules, labels) else ""
    return [text, *(each for each in notices if each != said)]


def mostly_absent(rules: RuleSet, labels: LabelSet) -> bool:
    """Whether most declared fields are not labels."""
    return len(rules.absent(labels)) > MOST_ABSENT * len(rules.fields)


def unfit_rules(
    trellises: Sequence[Trellis], rules: Rules, absent: frozenset[str] = frozenset()
) -> list[UnfitRule]:
    """Rules that the best labellings without rules break at more than two thirds of their places, except rules on absent fields."""
    labels = trellises[0].labels
    chosen = (
        [trellises[i * len(trellises) // SAMPLE] for i in range(SAMPLE)]
        if len(trellises) > SAMPLE
        else trellises
    )
    rules, deadline = rule_set(rules), Deadline(SECONDS)
    readings = _readings(chosen, labels.with_optional_fields(rules.fields), deadline)
    compiled = compiler_of(rules).compiled(labels)
    result = []
    # Formulas come last, since they may use up the time.
    pairs = [(n, item) for n, item in zip(unique_names(rules), rules, strict=True) if isinstance(item, Rule)]
    for name, rule in sorted(pairs, key=lambda pair: pair[1].statement.form in FORMULAS):
        if absent and (names := {*rule.statement.names} - {OUTSIDE, EACH_FIELD}) and names <= absent:
            continue
        tally = _Tally()
        for some in (readings[::FIRST], [r for i, r in enumerate(readings) if i % FIRST]):
            with suppress(time_limits.OutOfTime), deadline.as_limit():
                for reading in some:
                    time_limits.check()
                    lost = {*compiled.overruled(reading.tokens).get(name, [])}
                    tally.add([trial.amount > 0 for trial in trials_of(rule, reading, lost)])
            if not tally.mostly_broken(1 / 2):
                break
        # A penalty of -log q implies that a share q of the places is broken (Fersini et al. 2014, eq. 30).
        most = max(MOST_BROKEN, math.exp(-rule.penalty))
        if tally.mostly_broken(most) and tally.applies >= max(LEAST, LEAST_SHARE * tally.seen):
            result.append(UnfitRule(name, tally.applies, tally.broken))
    return result


def _readings(trellises: Sequence[Trellis], labels: LabelSet, deadline: Deadline) -> list[Reading]:
    """The best labellings without rules that are found in time, shortest first."""
    bare, result = Decoder((), trellises[0].labels), list[Reading]()
    for trellis, solution in zip(trellises, bare.decode_many(trellises, on_error="row"), strict=True):
        if solution.has_labelling:
            result.append(Reading(solution.labels, trellis.tokens, labels))
        if deadline.passed:
            break
    return sorted(result, key=len)


@dataclass
class _Tally:
    """Sequences: `seen`, where the rule `applies`, where it is `broken`. Places: where it applies (`occasions`), where it is broken (`breaks`)."""

    seen: int = 0
    applies: int = 0
    broken: int = 0
    occasions: int = 0
    breaks: int = 0

    def add(self, results: list[bool]) -> None:
        self.seen += 1
        self.applies += bool(results)
        self.broken += any(results)
        self.occasions += len(results)
        self.breaks += sum(results)

    def mostly_broken(self, share: float) -> bool:
        return self.breaks > share * self.occasions
