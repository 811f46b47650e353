"""Data sets from files of tagged text; a part whose folder is missing is left out."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from benchmarks.data import sets
from benchmarks.data.models import trained
from benchmarks.data.sets import DataSet, Item, Labelled
from benchmarks.study import Missing, Sources
from formulations import Rule, Trellis, load_rules
from formulations import constraints as C
from formulations.constraints.presence import NeverTogether
from formulations.constraints.rule_set import RuleSet
from ilpinfer.corpus.sequences import read, require_labels
from ilpinfer.learning import MinedRule, RuleMiner
from ilpinfer.learning.labellings import LabelArrays
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.models.sequences import encode

FOLDERS = {"cora": "cora", "umass": "umass_cfe", "names": "conll2002_esp"}
"""Of corpora with a part for training and one for development."""
T = TypeVar("T")
CORA_SIZES, RIVALS_SIZE = (5, 20, 300), 20
UMASS_RULES = 240
LEAST_OCCASIONS, LEAST_ODDS = 20, 1.0
"""Of mined rules: occasions, and log odds in nats."""
JOB, COMPANY, DATES, PLACE = "Designation", "Companies_worked_at", "Years_of_Experience", "Location"


def cora(sources: Sources) -> Iterator[DataSet]:
    """References under the citation rules, with and without ten implications, and each field once as a hard rule."""
    train, dev = train_and_dev(sources.folder, "cora")
    dev = dev[: sources(smoke=2, sample=len(dev), full=len(dev))]
    everything = sources.scale == "full"
    for size in CORA_SIZES:
        model, chosen = cache(partial(trained, "hmm", train[:size])), size == RIVALS_SIZE
        unseen = items_of(model, train[size:], "train", size) if chosen and everything else []
        items = (*items_of(model, dev, "dev"), *unseen)
        yield DataSet(f"cora {size}", "cora", items, partial(load_rules, "citations"))
        if chosen or everything:
            more = partial(_with_implications, train[:100])
            yield DataSet(f"cora {size} implications", "cora", items, more)
    model = cache(partial(trained, "hmm", train[:RIVALS_SIZE]))
    items = tuple(items_of(model, dev[: sources(smoke=2, sample=20, full=100)], "dev"))
    yield DataSet(f"cora {RIVALS_SIZE} once", "cora", items, each_once)


def _with_implications(examples: Sequence[Labelled]) -> RuleSet:
    rules = load_rules("citations")
    return RuleSet((*rules.items, *implications(examples, 10)), rules.fields)


def each_once() -> RuleSet:
    return RuleSet((C.at_most_runs(C.EACH_FIELD, 1),))


def umass(sources: Sources) -> Iterator[DataSet]:
    """Hierarchical labels under soft rules mined from the training part."""
    train, dev = train_and_dev(sources.folder, "umass")
    model = cache(partial(trained, "hmm", train))
    items = tuple(items_of(model, dev[: sources(smoke=2, sample=60, full=660)], "dev"))
    yield DataSet("umass", "umass", items, lambda: RuleSet(tuple(soft_rules(train, UMASS_RULES))))


def resume(sources: Sources) -> Iterator[DataSet]:
    """Experience sections of up to thousands of tokens, under rules for each document, soft and hard."""
    documents = read_labelled(sources.folder / "resume" / "experience_train.tsv")
    model = cache(partial(trained, "hmm", documents[::2]))
    items = tuple(items_of(model, documents[1::2][: sources(smoke=2, sample=25, full=110)], "odd"))
    for kind in ("soft", "hard"):
        yield DataSet(f"resume {kind}", "resume", items, partial(resume_rules, hard=kind == "hard"))


def resume_rules(*, hard: bool) -> RuleSet:
    """Soft penalties are near the log odds in the documents that the model is trained on."""
    soft = (
        C.tag_at("O", token_class="newline", penalty=3.6, name="line breaks are outside"),
        C.valid_scheme(penalty=6.0),
        *(C.at_least_runs(field, 1, penalty=2.8) for field in (JOB, COMPANY, DATES)),
        *(C.max_run_length(field, 9, penalty=4.0) for field in (JOB, COMPANY, DATES, PLACE)),
        *(
            C.linear(f"runs({other}) - runs({COMPANY}) <= 1", penalty=1.5, name=f"{other} for each company")
            for other in (DATES, PLACE)
        ),
    )
    return with_factor(RuleSet(soft), math.inf if hard else 1.0)


def with_factor(rules: RuleSet, factor: float) -> RuleSet:
    """The rules with every penalty times a factor; an infinite one makes them hard."""
    return replace(rules, items=tuple(replace(rule, penalty=factor * rule.penalty) for rule in rules.rules))


@cache
def data_set(sources: Sources, name: str) -> DataSet:
    """The one of that name, of a corpus or of planted documents."""
    kind, *rest = name.split()
    if kind == "generator":
        T, K = map(int, rest)
        return sets.planted(T, K, sources)
    some = {"cora": cora, "umass": umass, "resume": resume}[kind](sources)
    return next(data for data in some if data.name == name)


def train_and_dev(folder: Path, corpus: str) -> tuple[list[Labelled], list[Labelled]]:
    """Both parts of a corpus; Missing where one of them is not there."""
    train, dev = (read_labelled(folder / FOLDERS[corpus] / f"{name}.tsv") for name in ("train", "dev"))
    return train, dev


def split(sources: Sources, corpus: str) -> tuple[list[Labelled], list[Labelled]]:
    """Both parts of a corpus; as a second draw, as many of all its sequences at random."""
    train, dev = train_and_dev(sources.folder, corpus)
    if sources.second:
        every = drawn([*train, *dev], sources.seed(0))
        return every[: len(train)], every[len(train) :]
    return train, dev


def drawn(items: Sequence[T], seed: int | list[int]) -> list[T]:
    """All of them, in a random order."""
    return [items[place] for place in np.random.default_rng(seed).permutation(len(items)).tolist()]


@cache
def read_labelled(path: Path) -> list[Labelled]:
    """Tokens and labels of every sequence; Missing where the file is not there."""
    if not path.exists():
        raise Missing(f"{path}: not there; name the folder of the corpora with --data")
    return require_labels(read(path))


def soft_rules(examples: Sequence[Labelled], number: int | None = None) -> list[Rule]:
    """The rules of four families with most evidence: occasions times the log odds of the rule being kept, its penalty."""
    families = "one-run", "requires-present", "never-together", "requires-before"
    table, counted = LabelArrays.of(*encode(examples)), []
    for mined in _mine(examples, families):
        occasions, statement = mined.support, mined.rule.statement
        if isinstance(statement, NeverTogether):
            one, other = (table.field(field).present.sum() for field in (statement.field, statement.other))
            occasions = round(one * other / len(examples))
        penalty = _log_odds(max(0, occasions - mined.broken), occasions)
        if occasions >= LEAST_OCCASIONS and penalty >= LEAST_ODDS:
            counted.append((-occasions * penalty, mined.rule.title, replace(mined.rule, penalty=penalty)))
    return [rule for _, _, rule in sorted(counted, key=lambda row: row[:2])[:number]]


def implications(examples: Sequence[Labelled], number: int) -> list[Rule]:
    """The implications that say most beyond how common the required field is anyway."""
    counted = []
    for mined in _mine(examples, ("requires-present",)):
        penalty = _log_odds(mined.held, mined.support)
        surprise = penalty - _log_odds(round(mined.base * len(examples)), len(examples))
        if mined.support >= 5 and penalty > 0:
            weight = surprise * math.sqrt(mined.support)
            counted.append((-weight, mined.rule.title, replace(mined.rule, penalty=penalty)))
    return [rule for _, _, rule in sorted(counted, key=lambda row: row[:2])[:number]]


def _mine(examples: Sequence[Labelled], families: Sequence[str]) -> tuple[MinedRule, ...]:
    """Every rule that holds more often than not."""
    miner = RuleMiner(families, support=1, confidence=0.5, gain=0, folds=0, pruning="none")
    return miner.fit(examples).entries


def _log_odds(holding: int, occasions: int) -> float:
    """Log odds of keeping a rule, half a count added to both sides."""
    return math.log((holding + 0.5) / (occasions - holding + 0.5))


def items_of(
    model: Callable[[], SequenceModel], examples: Sequence[Labelled], name: str, first: int = 0
) -> list[Item]:
    """Examples as sequences that the model scores, named by number."""
    numbered = enumerate(examples, first)
    return [Item(f"{name} {n}", partial(_scored, model, tokens), labels) for n, (tokens, labels) in numbered]


def _scored(model: Callable[[], SequenceModel], tokens: tuple[str, ...]) -> Trellis:
    return model().trellis(tokens)
