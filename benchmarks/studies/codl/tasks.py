"""What is learnt from and measured on: references, other citations and posts, under their rules, in models of several kinds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import log
from pathlib import Path
from typing import Any

from benchmarks.data.corpora import drawn, read_labelled
from benchmarks.data.sets import Labelled
from benchmarks.study import Cell, Sources
from formulations import Rule, RuleSet, load_rules
from formulations import constraints as C
from formulations.constraints.counting import Bound
from ilpinfer.corpus.conversion import iobes, strip

POOL = 1000
CORA, REXA, POSTS = "Cora", "Rexa", "posts"
"""Where the pool is from; the first two have labelled references of Cora."""
NAMED = ("starrating", "hotelname", "localarea")


@dataclass(frozen=True)
class Kind:
    """A kind of HMM: states by BIO labels, and options of training."""

    states: Callable[[Sequence[str]], Sequence[str]]
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Task:
    """Labelled sequences, others to measure on, a pool that has neither of them, and rules."""

    labelled: list[Labelled]
    test: list[Labelled]
    pool: list[tuple[str, ...]]
    rules: RuleSet


def plain(labels: Sequence[str]) -> tuple[str, ...]:
    return strip([labels])[0]


LOWER, BEST = "plain", "best"
KINDS = {
    "plain, additive": Kind(plain, {"by": "uniform", "lower_case": True, "emissions": "additive"}),
    LOWER: Kind(plain, {"by": "uniform", "lower_case": True}),
    "begin and inside": Kind(tuple, {"by": "uniform", "lower_case": True}),
    "begin and inside, token classes": Kind(tuple, {}),
    "begin and inside, shapes": Kind(tuple, {"by": "shapes", "singletons": True}),
    "begin and inside, alike": Kind(tuple, {"alike": True}),
    BEST: Kind(iobes, {"alike": True}),
}
"""From the paper's, with a state for each field, to one whose fields begin and end and that reads numbers, initials and months alike."""


def task(sources: Sources, cell: Cell) -> Task:
    """Sequences in the order of the draw: labelled ones, those that are measured on, and the rest."""
    known, tested = sequences(sources.folder, cell.corpus), sources(smoke=10, sample=100)
    chosen = drawn(known, cell.draw)
    states, most = KINDS[cell.kind].states, sources(smoke=10, sample=POOL)
    labelled = [(tokens, tuple(states(labels))) for tokens, labels in chosen[: cell.size]]
    test, pool = chosen[cell.size :][:tested], [tokens for tokens, _ in chosen[cell.size + tested :]]
    if cell.corpus == REXA:
        pool = drawn(unlabelled(sources.folder), [cell.draw, 1])
    rules = post_rules() if cell.corpus == POSTS else load_rules("citations")
    return Task(labelled, test, pool[:most], rules)


def sequences(folder: Path, corpus: str) -> list[Labelled]:
    files = ("hotel_posts/all",) if corpus == POSTS else ("cora/train", "cora/dev")
    return [pair for name in files for pair in read_labelled(folder / f"{name}.tsv")]


@cache
def unlabelled(folder: Path) -> list[tuple[str, ...]]:
    """Citations of Rexa that are not in Cora; Missing where they are not there."""
    known = {tokens for tokens, _ in sequences(folder, CORA)}
    pool = read_labelled(folder / "rexa" / "unlabelled_silver.tsv")
    return [tokens for tokens, _ in pool if tokens not in known]


def post_rules() -> RuleSet:
    """Nine soft rules on bids for hotels, in the manner of Table 1 (b) of Chang et al. 2007, with its penalty."""
    rho = log(10)
    return RuleSet(
        (
            *(C.at_most_runs(field, 1, penalty=rho, name=f"{field} at most once") for field in NAMED),
            C.starts_with("starrating", penalty=rho, name="starts with stars"),
            C.tag_at("starrating", pattern=r"\d(\.5)?\*", penalty=rho, name="stars"),
            C.tag_at("O", pattern=r"\$.*", penalty=rho, name="amounts are outside"),
            C.tag_at("O", pattern=r"\d+/\d+.*", penalty=rho, name="dates are outside"),
            C.tag_at("localarea", words=["airport", "downtown"], penalty=rho, name="area words"),
            C.tag_at("hotelname", words=["hotel", "inn", "suites"], penalty=rho, name="hotel words"),
        ),
        NAMED,
        "posts",
    )


def with_distance(rules: RuleSet, distance: str) -> RuleSet:
    """The rules with other violations: `binary` for every rule, `hamming` for those on runs, one for each field."""
    items = list[Rule]()
    for rule in rules.rules:
        statement = rule.statement
        runs = statement.rule_name == "at_most_runs"
        if distance == "binary":
            items.append(replace(rule, distance=distance))
        elif runs and isinstance(statement, Bound) and statement.field == C.EACH_FIELD:
            items += (
                C.at_most_runs(f, 1, penalty=rule.penalty, distance=distance, name=f"{f} at most once")
                for f in rules.fields
            )
        else:
            items.append(replace(rule, distance=distance) if runs else rule)
    return replace(rules, items=tuple(items))
