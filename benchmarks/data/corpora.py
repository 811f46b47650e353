"""Data sets from files of tagged text; a part whose folder is missing is left out."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from benchmarks.data.sets import SOLVERS, DataSet, Item, Scale
from benchmarks.study import Missing
from formulations import Rule, load_rules
from formulations import constraints as C
from formulations.constraints.presence import NeverTogether
from formulations.constraints.rule_set import RuleSet
from ilpinfer.corpus.sequences import read, require_labels
from ilpinfer.learning import MinedRule, RuleMiner
from ilpinfer.learning.labellings import Labellings
from ilpinfer.models.hmm import HMM
from ilpinfer.models.sequences import encode

Labelled = tuple[tuple[str, ...], tuple[str, ...]]

CORA_SIZES, RIVALS_SIZE = (5, 20, 300), 20
UMASS_RULES = 240
LEAST_OCCASIONS, LEAST_ODDS = 20, 1.0
"""Of mined rules: occasions, and log odds in nats."""
JOB, COMPANY, DATES, PLACE = "Designation", "Companies_worked_at", "Years_of_Experience", "Location"


def cora(folder: Path, scale: Scale) -> Iterator[DataSet]:
    """References under the citation rules, with and without ten implications, and each field once as a hard rule.

    Most rivals decode one size of training data only; conin is asked there to say what it cannot state.
    """
    train, dev = (read_labelled(folder / "cora" / f"{name}.tsv") for name in ("train", "dev"))
    rules = load_rules("citations")
    counted = implications(train[:100], 10)
    more = RuleSet((*rules.items, *counted), rules.fields, "citations and ten implications")
    once = RuleSet((C.at_most_runs(C.EACH_FIELD, 1),), name="each field once, hard")
    limits = scale(10, 3), scale(40, 2)
    for size in CORA_SIZES:
        hmm, chosen = HMM.train(train[:size]), size == RIVALS_SIZE
        unseen = [] if scale.quick or not chosen else items_of(hmm, train[size:], "train", size)
        items, note = (*items_of(hmm, dev, "dev"), *unseen), f"HMM of {size} references"
        rivals = dict.fromkeys((*SOLVERS, "pulp", "conin"), scale(10, 2)) if chosen else {}
        rivals["toulbar2"] = scale(20, 3)
        yield DataSet(f"cora {size}", "cora", items, rules, rivals, *limits, note)
        if chosen or not scale.quick:
            rivals = dict.fromkeys(("pulp", "cp-sat"), scale(10, 1)) if chosen else {}
            rivals["toulbar2"] = scale(20, 3)
            note += ", ten counted implications"
            yield DataSet(f"cora {size} implications", "cora", items, more, rivals, *limits, note)
    hmm = HMM.train(train[:RIVALS_SIZE])
    items = tuple(items_of(hmm, dev[: scale(100, 20)], "dev"))
    rivals = dict.fromkeys(("conin", "conin a-star", "toulbar2"), scale(10, 2))
    note = f"HMM of {RIVALS_SIZE} references; a rule that conin can state"
    name = f"cora {RIVALS_SIZE} once"
    yield DataSet(name, "cora", items, once, rivals, scale(5, 3), scale(60, 4), note)


def umass(folder: Path, scale: Scale) -> Iterator[DataSet]:
    """Hierarchical labels under soft rules mined from the training part."""
    train, dev = (read_labelled(folder / "umass_cfe" / f"{name}.tsv") for name in ("train", "dev"))
    hmm = HMM.train(train)
    mined = soft_rules(train, UMASS_RULES)
    note = f"at most 0.8 s a reference; HMM of {len(train)} references, {len(hmm.labels)} labels, {len(mined)} mined soft rules"
    items = tuple(items_of(hmm, dev[: scale(660, 60)], "dev"))
    yield DataSet("umass", "umass", items, RuleSet(tuple(mined)), {}, 0.8, scale(60, 3), note)


def resume(folder: Path, scale: Scale) -> Iterator[DataSet]:
    """Experience sections of up to thousands of tokens, under rules for each document, soft and hard."""
    documents = read_labelled(folder / "resume" / "experience_train.tsv")
    hmm = HMM.train(documents[::2])
    items = tuple(items_of(hmm, documents[1::2][: scale(110, 25)], "odd"))
    rivals = {"toulbar2": scale(3, 2), "cp-sat": scale(2, 1), "highs": scale(2, 1)}
    for kind in ("soft", "hard"):
        rules = RuleSet(tuple(_resume_rules(hard=kind == "hard")))
        note = "HMM of every other document"
        yield DataSet(f"resume {kind}", "resume", items, rules, rivals, scale(10, 2), scale(20, 3), note)


def _resume_rules(*, hard: bool) -> Iterator[C.Rule]:
    """Penalties are near the log odds in the documents that the model is trained on."""

    def cost(nats: float) -> float:
        return float("inf") if hard else nats

    yield C.tag_at("O", token_class="newline", penalty=cost(3.6), name="line breaks are outside")
    yield C.valid_scheme(penalty=cost(6.0))
    for field in (JOB, COMPANY, DATES):
        yield C.at_least_runs(field, 1, penalty=cost(2.8))
    for field in (JOB, COMPANY, DATES, PLACE):
        yield C.max_run_length(field, 9, penalty=cost(4.0))
    for other in (DATES, PLACE):
        text = f"runs({other}) - runs({COMPANY}) <= 1"
        yield C.linear(text, penalty=cost(1.5), name=f"{other} for each company")


@cache
def read_labelled(path: Path) -> list[Labelled]:
    """Tokens and labels of every sequence; Missing where the file is not there."""
    if not path.exists():
        raise Missing(f"{path}: not there; name the folder of the corpora with --data")
    return require_labels(read(path))


def soft_rules(examples: Sequence[Labelled], number: int | None = None) -> list[Rule]:
    """The rules of four families with most evidence: occasions times the log odds of the rule being kept, its penalty.

    Two fields are never together at as many occasions as they would be, were they independent.
    """
    families = "one-run", "requires-present", "never-together", "requires-before"
    table, counted = Labellings.of(*encode(examples)), []
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
    """The implications that say most beyond how common the required field is anyway.

    Weighed by their log odds less those of the required field, times the square root of the support.
    """
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
    return miner.fit(examples).rules


def _log_odds(holding: int, occasions: int) -> float:
    """Log odds of keeping a rule, half a count added to both sides."""
    return math.log((holding + 0.5) / (occasions - holding + 0.5))


def items_of(hmm: HMM, examples: Sequence[Labelled], name: str, first: int = 0) -> list[Item]:
    """Examples as scored sequences, named by number."""
    numbered = enumerate(examples, first)
    return [Item(f"{name} {n}", partial(hmm.trellis, tokens), labels) for n, (tokens, labels) in numbered]
