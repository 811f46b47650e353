"""Mined rules with learnt penalties on UMass references: `python -m benchmarks.umass_rules DATA MODELS`.

A CRF of the training part labels the development part under the rule that labels keep their scheme, and under rules mined from the
training part. Penalties are learnt by the perceptron in two folds of the development part, of which each is labelled with what the
other one, and training references scored by CRFs of the other training folds, have taught. MODELS is a folder for the CRFs, which are
trained where it lacks them. F1 is of exact spans at all levels; intervals are of the paired bootstrap over references.
"""

import argparse
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.crf_citations import PARAMETERS
from benchmarks.data.corpora import Labelled, read_labelled
from benchmarks.machine import header
from formulations import Rule, RuleSet
from formulations import constraints as C
from formulations.problem.problem import RuleNotice
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.evaluation.evaluation import Evaluation, Pair, evaluate, measures
from ilpinfer.evaluation.significance import compare
from ilpinfer.learning import RuleMiner, ScoredExample
from ilpinfer.learning.perceptron import Perceptron
from ilpinfer.learning.training_set import TrainingSet
from ilpinfer.models.crf import CRF
from ilpinfer.models.files import load_model
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.pipelines.cross_validation import make_folds

FOLDS = 4
FAMILIES = ("one-run", "never-together", "requires-present", "requires-before")
"""Switched on one by one, all that are mined of each."""
MINERS: Mapping[str, RuleMiner] = {
    "all families, pruned": RuleMiner(confidence=0.75, gain=0.0, support=20),
    "four families, all": RuleMiner(FAMILIES, support=20, confidence=0.75, gain=2.0, pruning="none"),
}
LONG = ("all families, pruned",)
"""Rules whose penalties are learnt on the training part, too."""
HARD_SECONDS = 0.1
LEARNER = Perceptron()
"""From penalties of 0, as `PenaltyLearner("perceptron", prune=False)` in the end."""
VALID = C.valid_scheme()


@dataclass(frozen=True)
class Corpus:
    """References, the model of the training part, and training references scored by models of other folds."""

    train: Sequence[Labelled]
    dev: Sequence[Labelled]
    model: SequenceModel
    taught: Sequence[ScoredExample]

    @cached_property
    def unseen(self) -> list[ScoredExample]:
        """The development part, scored."""
        return [ScoredExample(self.model.trellis(tokens), gold) for tokens, gold in self.dev]


def corpus(data: Path, models: Path) -> Corpus:
    """Read the corpus, and the CRFs; train those that are missing."""
    train, dev = (read_labelled(data / "umass_cfe" / f"{name}.tsv") for name in ("train", "dev"))
    taught: list[ScoredExample | None] = [None] * len(train)
    for number, fold in enumerate(make_folds(range(len(train)), FOLDS, 0)):
        left = set(fold)
        rest = [pair for place, pair in enumerate(train) if place not in left]
        model = trained(models / f"fold{number}.json", rest)
        for place in fold:
            taught[place] = ScoredExample(model.trellis(train[place][0]), train[place][1])
    return Corpus(train, dev, trained(models / "crf.json", train), [one for one in taught if one is not None])


def trained(path: Path, pairs: Sequence[Labelled]) -> SequenceModel:
    """The CRF of a file, trained first where it is not there."""
    if not path.exists():
        CRF.train(pairs, "citations", parameters=PARAMETERS).save(path)
    return load_model(path)


def label(
    examples: Sequence[ScoredExample], rules: RuleSet, limit: float | None = None
) -> tuple[list[tuple[str, ...] | None], int]:
    """The best labellings, and how many of them are proved."""
    labellings: list[tuple[str, ...] | None] = []
    proved = 0
    for solution in Decoder(rules, time_limit=limit).decode_many(example.trellis for example in examples):
        labellings.append(tuple(solution.labels) if solution.has_labelling else None)
        proved += solution.status == "optimal"
    return labellings, proved


@dataclass(frozen=True)
class Outcome:
    """Labellings of the development part.

    Parameters
    ----------
    evaluation : against gold
    proved : references with a proved optimum
    rules, kept : how many rules there were, and how many have a penalty in the mean of both folds
    """

    evaluation: Evaluation
    proved: int
    rules: int = 0
    kept: float = 0.0


def outcome(
    corpus: Corpus,
    under: Callable[[int], RuleSet],
    rules: int = 0,
    kept: float = 0.0,
    limit: float | None = None,
) -> Outcome:
    """The development part labelled in two folds, each under rules of its own."""
    folds = make_folds(range(len(corpus.dev)), 2, 0)
    labellings: list[tuple[str, ...] | None] = [None] * len(corpus.dev)
    proved = 0
    for number, fold in enumerate(folds):
        some, count = label([corpus.unseen[place] for place in fold], under(number), limit)
        proved += count
        for place, labels in zip(fold, some, strict=True):
            labellings[place] = labels
    pairs = [
        Pair(tokens, labels, gold) for (tokens, gold), labels in zip(corpus.dev, labellings, strict=True)
    ]
    return Outcome(evaluate(pairs, scheme="paths"), proved, rules, kept)


def with_valid(rules: Sequence[Any], fields: Sequence[str] = ()) -> RuleSet:
    """Rules, and that labels keep their scheme."""
    return RuleSet((*rules, VALID), tuple(fields))


def learnt(corpus: Corpus, rules: RuleSet, *, training: bool = True) -> list[RuleSet]:
    """For each fold the rules with penalties from the other one, and from the training part."""
    folds = make_folds(range(len(corpus.dev)), 2, 0)
    result = []
    for number in range(2):
        other = [corpus.unseen[place] for place in folds[1 - number]]
        examples = [*corpus.taught, *other] if training else other
        data = TrainingSet(examples, rules)
        result.append(data.with_weights(LEARNER.fit(data, 0 * data.given, range(len(data))).weights))
    return result


def kept_rules(rule_sets: Sequence[RuleSet]) -> float:
    """Mean number of rules with a penalty."""
    return float(np.mean([sum(not rule.hard for rule in rules.rules) for rules in rule_sets]))


def rows(corpus: Corpus, miners: Mapping[str, RuleMiner]) -> Iterator[tuple[str, Outcome]]:
    """(what, outcome) of every line of the table."""
    yield "labels keep their scheme", outcome(corpus, lambda fold: with_valid([]))
    for name, miner in miners.items():
        mined = miner.fit(corpus.train)
        fields = mined.rule_set.fields
        counted = with_valid([one.rule for one in mined.rules], fields)
        number = len(mined.rules)
        families = Counter(one.family for one in mined.rules)
        print(f"{name}: {', '.join(f'{count} {family}' for family, count in sorted(families.items()))}")
        if name in LONG:
            yield f"{name}, penalties as counted", outcome(corpus, lambda fold, r=counted: r, number, number)  # type: ignore[misc]
        ways = ("learnt on the other half of dev", False), ("and on train", True)
        for what, training in ways if name in LONG else ways[:1]:
            sets = learnt(corpus, counted, training=training)
            kept = kept_rules(sets)
            yield f"  penalties {what}", outcome(corpus, partial(list.__getitem__, sets), number, kept)
        if name not in LONG:
            continue
        hard = [replace(each, items=tuple(_hard(item) for item in each)) for each in sets]
        title = f"  the rules that are left, all hard, {HARD_SECONDS:g} s a reference"
        yield title, outcome(corpus, partial(list.__getitem__, hard), number, kept, HARD_SECONDS)
    if "four families, all" not in miners:
        return
    every = [(one.family, one.rule) for one in mined.rules]
    for last in range(1, len(FAMILIES)):
        chosen = [rule for family, rule in every if family in FAMILIES[:last]]
        sets = learnt(corpus, with_valid(chosen, fields), training=False)
        name = f"  {' + '.join(FAMILIES[:last])}, learnt on the other half"
        yield name, outcome(corpus, partial(list.__getitem__, sets), len(chosen), kept_rules(sets))


def _hard(item: Any) -> Any:
    return replace(item, penalty=float("inf")) if isinstance(item, Rule) else item


def line(name: str, one: Outcome, base: Outcome) -> str:
    """A line of the table."""
    spans = measures(one.evaluation.counts["spans"].sum(axis=1), 1.0)
    shares = (
        one.evaluation.accuracy,
        spans["precision"],
        spans["recall"],
        spans["f1"],
        one.evaluation.whole_sequences,
    )
    figures = "".join(f"{100 * share:8.2f}" for share in shares)
    gain = ""
    if one is not base:
        f1 = next(d for d in compare(one.evaluation, base.evaluation) if "F" in d.measure)
        gain = f"{100 * (f1.value - f1.other):+6.2f} [{100 * f1.low:+.2f}, {100 * f1.high:+.2f}]"
    return f"{figures} {gain:24}{one.rules:5}{one.kept:7.1f}{one.proved:6}{one.evaluation.missing:5}  {name}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("models", type=Path)
    parser.add_argument("--only", choices=list(MINERS), help="one set of rules")
    options = parser.parse_args()
    warnings.simplefilter("ignore", RuleNotice)
    print(header())
    known = corpus(options.data, options.models)
    print(f"{len(known.dev)} references")
    print("  tokens       P       R      F1   whole  gain of F1              rules   kept proved none")
    base: Outcome | None = None
    for name, one in rows(known, {name: one for name, one in MINERS.items() if options.only in (None, name)}):
        base = base or one
        print(line(name, one, base), flush=True)


if __name__ == "__main__":
    main()
