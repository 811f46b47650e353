"""The order of fields in résumés: `python -m benchmarks.resume_transitions EXPERIENCE.tsv`.

Which field follows which, whatever tokens of `O` stand between them, is counted on the training folds: the log-odds of a
pair of consecutive fields are ln p(B after A) - ln p(B after any). They enter decoding as soft rules of the template
`next_field`, since features look at neighbouring tokens alone; line breaks are tokens. Beside them stand the reward for the
beginning of each span, and, in the first shuffle, weights of both learnt on inner folds, from the given ones. Five folds
by section, three shuffles; a conditional random field for each fold. Intervals are those of the paired bootstrap over
sections, the shuffles of a section taken together: they know of other sections, and not of other training runs.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.cross_validation import percentages
from benchmarks.machine import header
from formulations import LabelSet, Rule, RuleSet
from formulations import constraints as C
from formulations.labels.reading import Reading
from ilpinfer.corpus.sequences import read, require_labels
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.evaluation.evaluation import Evaluation, Pair, evaluate
from ilpinfer.evaluation.significance import Difference, compare
from ilpinfer.learning import PenaltyLearner, held_out_examples
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.templates import load_template
from ilpinfer.models.sequences import Labelled
from ilpinfer.pipelines.cross_validation import make_folds

PARAMETERS = {"c1": 0.05, "c2": 0.1, "max_iterations": 50}
FOLDS, INNER_FOLDS, SHUFFLES = 5, 2, 3
REWARD = 1.0
"""Nats for the beginning of each span, the best of `benchmarks.crf_resumes`."""
SMOOTHING = 1.0
"""Added to the count of each pair."""
LEARNERS = {
    name: PenaltyLearner(name, measure="spans", folds=2, prune=False)
    for name in ("perceptron-given", "conservative-given")
}
COMPARED = {
    "log-odds": "nothing",
    "reward": "nothing",
    "reward, log-odds": "reward",
    **{f"reward, log-odds: {name}": f"reward: {name}" for name in LEARNERS},
}
"""Conditions, and the one that each is compared with."""

Train = Callable[[Sequence[Labelled]], CRF]
Weights = Mapping[tuple[str, str], float]
"""Nats for each (field, next field)."""


def field_order(labels: LabelSet, gold: Sequence[str]) -> list[str]:
    """The fields of all runs but those of O, in their order."""
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


def rules_of(fields: Sequence[str], reward: float, weights: Weights) -> RuleSet:
    """Features and soft rules that add up to a reward for each run and the weight of each pair of consecutive fields.

    A negative weight is the penalty of B after A. A positive one is a reward: each run of A gets it, and pays it back where
    B is not the next run. Features are those of tokens, since no step leads to the first token.
    """
    rewards, rules = dict.fromkeys(fields, reward), list[Rule]()
    for (a, b), weight in weights.items():
        if weight < 0:
            rules.append(C.next_field(a, C.other_than(b), penalty=-weight))
        elif weight > 0:
            rules.append(C.next_field(a, b, required=True, penalty=weight))
            rewards[a] += weight
    begins = [C.feature(label=f"B-{field}", weight=nats) for field, nats in rewards.items() if nats]
    return RuleSet((C.valid_scheme(), *begins, *rules), tuple(fields))


def conditions(training: Sequence[Labelled], train: Train, learn: bool) -> dict[str, RuleSet]:
    """The rule sets to compare, made of the training sections alone."""
    labels = LabelSet(tuple(sorted({label for _, gold in training for label in gold})))
    fields = [field.name for field in labels.each_field]
    weights = transition_log_odds((field_order(labels, gold) for _, gold in training), fields)
    result = {
        "nothing": rules_of(fields, 0.0, {}),
        "log-odds": rules_of(fields, 0.0, weights),
        "reward": rules_of(fields, REWARD, {}),
        "reward, log-odds": rules_of(fields, REWARD, weights),
    }
    if learn:
        examples = held_out_examples(training, train, folds=INNER_FOLDS)
        for learner in LEARNERS:
            for name in ("reward", "reward, log-odds"):
                result[f"{name}: {learner}"] = LEARNERS[learner].fit(examples, result[name]).rules
    return result


def labelled(pairs: Sequence[Labelled], train: Train, seed: int, learn: bool) -> dict[str, list[Pair]]:
    """For each condition, all sections as labelled by models that were not trained on them, in their order."""
    result: dict[str, dict[int, Pair]] = {}
    for fold in make_folds(range(len(pairs)), FOLDS, seed):
        left_out = set(fold)
        training = [pair for place, pair in enumerate(pairs) if place not in left_out]
        model = train(training)
        trellises = [model.trellis(pairs[place][0]) for place in fold]
        for name, rules in conditions(training, train, learn).items():
            solutions = Decoder(rules).decode_many(trellises)
            for place, solution in zip(fold, solutions, strict=True):
                tokens, gold = pairs[place]
                pair = Pair(tuple(tokens), tuple(solution.labels), tuple(gold))
                result.setdefault(name, {})[place] = pair
    return {name: [sections[place] for place in sorted(sections)] for name, sections in result.items()}


def together(evaluations: Sequence[Evaluation]) -> Evaluation:
    """The counts of several labellings of each section added up; `whole` is the share of them."""
    whole: Any = np.mean([each.whole for each in evaluations], axis=0)
    return replace(
        evaluations[0],
        tokens=np.sum([each.tokens for each in evaluations], axis=0),
        correct=np.sum([each.correct for each in evaluations], axis=0),
        whole=whole,
        counts={"spans": np.sum([each.counts["spans"] for each in evaluations], axis=0)},
    )


def study(pairs: Sequence[Labelled], train: Train, shuffles: int = SHUFFLES) -> dict[str, list[Evaluation]]:
    """Each condition, evaluated on all sections in each shuffle; learnt weights in the first, which take long."""
    result: dict[str, list[Evaluation]] = {}
    for seed in range(shuffles):
        for name, sections in labelled(pairs, train, seed, learn=not seed).items():
            result.setdefault(name, []).append(evaluate(sections, scheme="bio"))
    return result


def report(result: Mapping[str, Sequence[Evaluation]]) -> Iterator[str]:
    """Lines of the two tables, in per cent and in points."""
    pooled = {name: together(evaluations) for name, evaluations in result.items()}
    yield f"{'':38} {'tokens':>6} {'P':>6} {'R':>6} {'F1':>6} {'whole':>6}   F1 of each shuffle"
    for name, each in pooled.items():
        spans = [evaluation.of_all() for evaluation in result[name]]
        shuffles = " ".join(percentages(counts).split()[-1] for counts in spans)
        measures = percentages(each.of_all())
        yield f"{name:38} {100 * each.accuracy:6.2f} {measures} {100 * each.whole_sequences:6.2f}   {shuffles}"
    yield ""
    yield f"{'difference in points':38} {'F1 of spans, 95 % interval, p':32} {'tokens':25} whole sections"
    for name, other in COMPARED.items():
        accuracy, spans, whole = compare(pooled[name], pooled[other])
        yield f"{name:38} {difference(spans)}, p = {spans.p:.3f}  {difference(accuracy)}  {difference(whole)}"
        yield f"  against {other}"


def difference(each: Difference) -> str:
    """Points and their interval."""
    return f"{100 * each.gain:+6.2f} [{100 * each.low:+6.2f}, {100 * each.high:+6.2f}]"


def log_odds_table(pairs: Sequence[Labelled]) -> Iterator[str]:
    """Lines of the log-odds of all sections, for readers; the study counts them on training folds."""
    labels = LabelSet(tuple(sorted({label for _, gold in pairs for label in gold})))
    fields = [field.name for field in labels.each_field]
    weights = transition_log_odds((field_order(labels, gold) for _, gold in pairs), fields)
    yield f"{'log-odds in nats, then:':24} " + " ".join(f"{field:>20}" for field in fields)
    for a in fields:
        yield f"{a:24} " + " ".join(f"{weights[a, b]:20.2f}" for b in fields)


def main(source: str) -> None:
    """Print the tables."""
    pairs = require_labels(read(source))
    print(header())
    print(f"{len(pairs)} sections, {FOLDS} folds, {SHUFFLES} shuffles, {INNER_FOLDS} inner folds")
    print("\n".join(["", *log_odds_table(pairs), ""]), flush=True)
    train = partial(CRF.train, template=load_template("resume"), parameters=PARAMETERS)
    print("\n".join(report(study(pairs, train))))


if __name__ == "__main__":
    main(sys.argv[1])
