"""F1 of job titles, companies, places and dates: rewards for the beginnings of spans, and log-odds of consecutive fields."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from pandas import DataFrame

from benchmarks.data.corpora import read_labelled
from benchmarks.data.evaluations import (
    MEASURES,
    beside_gold,
    evaluation_of,
    field_counts,
    gains,
    measures,
    rechecked,
    row_of,
    span_measures,
)
from benchmarks.data.models import trained
from benchmarks.data.sets import Labelled
from benchmarks.report import Cells, Report, groups, signed
from benchmarks.study import Cell, Row, SecondDraw, Sources, Study, grid
from formulations import LabelSet, Rule, RuleSet
from formulations import constraints as C
from formulations.labels.reading import Reading
from ilpinfer.learning import PenaltyLearner, held_out_examples
from ilpinfer.models.sequence_model import SequenceModel, restore_labels
from ilpinfer.pipelines.cross_validation import make_folds

SMOOTHING = 1.0
"""Added to the count of each pair."""

Weights = Mapping[tuple[str, str], float]
"""Nats for each (field, next field)."""


def field_order(labels: LabelSet, gold: Sequence[str]) -> list[str]:
    reading = Reading(gold, gold, labels)
    return [field for _, field in sorted((t, f) for f in reading.fields for t in reading.run_starts(f))]


def transition_log_odds(
    orders: Iterable[Sequence[str]], fields: Sequence[str]
) -> dict[tuple[str, str], float]:
    """ln p(B | A) - ln p(B) for consecutive fields A, B; p(B) is that of any pair's second field."""
    counts = Counter(pair for order in orders for pair in pairwise(order))
    table = np.array([[counts[a, b] + SMOOTHING for b in fields] for a in fields])
    odds = np.log(table / table.sum(axis=1, keepdims=True)) - np.log(table.sum(axis=0) / table.sum())
    return {(a, b): float(odds[i, j]) for i, a in enumerate(fields) for j, b in enumerate(fields)}


def fields_and_log_odds(pairs: Sequence[Labelled]) -> tuple[list[str], dict[tuple[str, str], float]]:
    labels = LabelSet(tuple(sorted({label for _, gold in pairs for label in gold})))
    fields = [field.name for field in labels.each_field]
    return fields, transition_log_odds((field_order(labels, gold) for _, gold in pairs), fields)


def rules_of(fields: Sequence[str], reward: float, weights: Weights) -> RuleSet:
    """Features and soft rules that add up to a reward for each run and the weight of each pair of consecutive fields."""
    rewards, rules = dict.fromkeys(fields, reward), list[Rule]()
    for (a, b), weight in weights.items():
        if weight < 0:
            rules.append(C.next_field(a, C.other_than(b), penalty=-weight))
        elif weight > 0:
            rules.append(C.next_field(a, b, required=True, penalty=weight))
            rewards[a] += weight
    begins = [C.feature(label=f"B-{field}", weight=nats) for field, nats in rewards.items() if nats]
    return RuleSet((C.valid_scheme(), *begins, *rules), tuple(fields))


COMPARED = {
    "log-odds": "nothing",
    "reward": "nothing",
    "reward, log-odds": "reward",
    **{f"reward, log-odds: {name}": f"reward: {name}" for name in ("perceptron-given", "conservative-given")},
}
"""Conditions, and the one that each is compared with."""


def report(frame: DataFrame, report: Report) -> None:
    rewards = frame[frame.part == "rewards"]
    if len(rewards):
        _rewards(rewards, report)
    others = frame[frame.part != "rewards"]
    if len(others):
        names = others.rules.where(others.part == "order", others.rules + ": " + others.variant)
        _order(others.assign(name=names), report)


def _rewards(frame: DataFrame, report: Report) -> None:
    report.heading("A reward for the beginning of each span")
    by = {"line breaks": "variant", "reward, nats": "rules"}

    def gain(some: DataFrame) -> str:
        none = frame[(frame.variant == some.variant.iloc[0]) & (frame.rules == "0")]
        return "–" if some.rules.iloc[0] == "0" else gains(evaluation_of(some), evaluation_of(none))[1]

    cells: Cells = {
        MEASURES: lambda x: measures(evaluation_of(x)),
        "F1 of spans, points over no reward": gain,
    }
    report.pivot(frame, by, cells)
    fields = tuple(field_counts(frame))

    def by_field(some: DataFrame) -> list[str]:
        counts = field_counts(some)
        return [span_measures(counts[field])[2] for field in fields]

    report.text("F1 of spans by field, in per cent:")
    report.pivot(frame, by, {fields: by_field})


def _order(frame: DataFrame, report: Report) -> None:
    report.heading("Log-odds of consecutive fields")
    cells: Cells = {
        MEASURES: lambda x: measures(evaluation_of(x)),
        "F1 of each shuffle": lambda x: " ".join(
            span_measures(evaluation_of(own).of_all())[2] for _, own in groups(x, "shuffle")
        ),
    }
    report.pivot(frame, {"rules": "name"}, cells)
    every: Mapping[str, Any] = {name: evaluation_of(own) for (name,), own in groups(frame, "name")}
    report.heading("Differences in points, 95 % intervals", 3)
    report.table(
        ("rules", "against", "tokens", "F1 of spans", "whole sections"),
        (
            (name, other, *gains(every[name], every[other]))
            for name, other in COMPARED.items()
            if {name, other} <= every.keys()
        ),
        left=2,
    )
    tables = frame.log_odds.dropna() if "log_odds" in frame else ()
    if len(tables):
        pairs = DataFrame([pair for table in tables for pair in table], columns=["first", "then", "nats"])
        mean = pairs.groupby(["first", "then"]).nats.mean()
        fields = list(pairs["first"].unique())
        report.heading("Log-odds in nats, mean of the training folds", 3)
        lines = ((a, *(signed(mean[a, b], 2) for b in fields)) for a in fields)
        report.table(("field, then:", *fields), lines)


PARAMETERS = {"template": "resume", "c1": 0.05, "c2": 0.1, "max_iterations": 50}
FOLDS, INNER_FOLDS = 5, 2
REWARDS = (0.0, 1.0, 1.5, 2.0)
"""Nats for the beginning of each span."""
REWARD = 1.0
"""The best of them without line breaks taken out."""
KEPT, TAKEN_OUT = "line breaks kept", "line breaks taken out"
REWARDED, ORDER, LEARNT = "rewards", "order", "learnt"
LEARNERS = {
    name: PenaltyLearner(name, measure="spans", folds=2, prune=False)
    for name in ("perceptron-given", "conservative-given")
}


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """One fold of one shuffle, labelled under all rule sets of a variant by a CRF of the other folds."""
    _sections(sources)
    variants = {REWARDED: (KEPT, TAKEN_OUT), ORDER: (KEPT,), LEARNT: (*LEARNERS,)}[part]
    shuffles = sources(smoke=1, sample=1, full=3 if part == ORDER else 1)
    return grid(part, variant=variants, shuffle=range(shuffles), fold=range(sources(smoke=2, sample=FOLDS)))


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    pairs = _sections(sources)
    folds = make_folds(range(len(pairs)), sources(smoke=2, sample=FOLDS), sources.seed(cell.shuffle))
    left_out = set(folds[cell.fold])
    training = [pair for place, pair in enumerate(pairs) if place not in left_out]
    train = partial(crf, without_line_breaks=cell.variant == TAKEN_OUT)
    model, rule_sets = train(training), rules(cell, training)
    if cell.part == LEARNT:
        examples = held_out_examples(training, train, folds=INNER_FOLDS)
        learner = LEARNERS[cell.variant]
        rule_sets = {name: learner.fit(examples, given).rules for name, given in rule_sets.items()}
    for name, own in rule_sets.items():
        about = {"log_odds": log_odds(training)} if name == "log-odds" else {}
        yield {"rules": name, **about, **outcome(model, pairs, folds[cell.fold], own)}


def crf(examples: Sequence[Labelled], *, without_line_breaks: bool = False) -> SequenceModel:
    return trained("crf", examples, **PARAMETERS, without_line_breaks=without_line_breaks)


def rules(cell: Cell, training: Sequence[Labelled]) -> Mapping[str, RuleSet]:
    fields, weights = fields_and_log_odds(training)
    if cell.part == REWARDED:
        return {f"{reward:g}": rules_of(fields, reward, {}) for reward in REWARDS}
    result: dict[str, tuple[float, Weights]] = {"reward": (REWARD, {}), "reward, log-odds": (REWARD, weights)}
    if cell.part == ORDER:
        result = {"nothing": (0.0, {}), "log-odds": (0.0, weights), **result}
    return {name: rules_of(fields, *terms) for name, terms in result.items()}


def log_odds(training: Sequence[Labelled]) -> list[tuple[str, str, float]]:
    return [(*names, nats) for names, nats in fields_and_log_odds(training)[1].items()]


def outcome(model: SequenceModel, pairs: Sequence[Labelled], places: Sequence[int], rules: RuleSet) -> Row:
    """The sections at some places labelled under rules; line breaks that the model does not see are O."""
    some = [pairs[place] for place in places]
    solutions = rechecked([model.trellis(tokens) for tokens, _ in some], rules)
    labellings = (
        restore_labels(model, tokens, one.labels) for (tokens, _), one in zip(some, solutions, strict=True)
    )
    evaluation = beside_gold(some, labellings, scheme="bio")
    return row_of(evaluation, places, evaluation.fields)


def _sections(sources: Sources) -> list[Labelled]:
    result = read_labelled(sources.folder / "resume" / "experience_train.tsv")
    return result[: sources(smoke=8, sample=len(result))]


STUDY = Study(
    title="Spans in résumés",
    source="Stokman 2011, section 5.3 (rewards as features, order of fields as constraints); section 7.1 (weights learnt)",
    corpus=f"221 experience sections of résumés, {FOLDS} folds by section (smoke: 8 made-up sections, 2 folds). One shuffle; full: three for the "
    "order of fields",
    model="linear-chain CRF with the template `resume`, trained on the other folds; L-BFGS with c1 = 0.05, c2 = 0.1, 50 iterations. "
    "Line breaks are tokens, or are taken out and put back as O",
    rules=f"labels keep their scheme. Rewards of {', '.join(f'{one:g}' for one in REWARDS)} nats for the beginning of each span, since "
    "annotators have left out much. Log-odds of consecutive fields, ln p(B after A) - ln p(B after any), counted on the training folds with 1 "
    "added to each pair, as soft rules `next_field`, alone and beside the reward of 1 nat",
    methods="`auto`. Weights as they are, or learnt on two inner folds from them by the perceptron towards gold (`perceptron-given`) and towards "
    "the best labelling that rules can reach (`conservative-given`)",
    seeds="shuffles 0 to 2; inner folds 0; bootstrap 0",
    measures="in per cent: right tokens, precision, recall and F1 of exact spans, whole sections. Gains in points with 95 % intervals of the paired "
    "bootstrap over sections (1999 resamples), shuffles of a section taken together. Every optimum is rechecked",
    stand_ins="The résumés of the thesis are not public, and theirs have descriptions as a label: these sections take their place",
    parts=(REWARDED, ORDER, LEARNT),
    second=SecondDraw(
        "another shuffle of the same sections into folds",
        ("variant", "rules"),
        {"F1 % of spans": lambda x: span_measures(evaluation_of(x).of_all())[2]},
        lambda cell: (cell.part, cell.variant) == (REWARDED, KEPT),
    ),
)
