"""One figure of the study: a model learnt in one way from one draw, and measured on other references."""

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data.corpora import Missing, read_labelled
from formulations import RuleSet, load_rules
from formulations import constraints as C
from formulations.problem.problem import RuleNotice
from ilpinfer.corpus.conversion import iobes, strip
from ilpinfer.corpus.sequences import read
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.evaluation.evaluation import Pair, evaluate, measures
from ilpinfer.learning import CODL
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.models.training import train

TEST = 100
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "plain": {"by": "uniform", "lower_case": True},
    "best": {"alike": True},
}
"""HMMs: one of words and fields alone, as the paper's, and the best of `benchmarks.citations_hmm`, whose fields begin and end."""
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "H": {"gamma": 0.0, "constrained": False},
    "H&W": {"gamma": 0.9, "constrained": False},
    "H&W&C": {"gamma": 0.9},
    "H&W 0.1": {"gamma": 0.1, "constrained": False},
    "H&W&C 0.1": {"gamma": 0.1},
    "H&W&C counts": {"gamma": 0.6, "mixing": "counts"},
    "soft EM": {"gamma": 0.6, "mixing": "counts", "e_step": "posterior", "constrained": False},
    "posterior": {"gamma": 0.6, "mixing": "counts", "e_step": "posterior"},
    "posterior, softer": {"gamma": 0.4, "mixing": "counts", "e_step": "posterior"},
    "top 10": {"gamma": 0.9, "k": 10},
    "beam 10": {"gamma": 0.9, "k": 10, "e_step": "beam"},
    "top 50": {"gamma": 0.9, "k": 50},
    "beam 50": {"gamma": 0.9, "k": 50, "e_step": "beam"},
    "self-training": {
        "gamma": None,
        "mixing": "counts",
        "constrained": False,
        "relabel": False,
        "confidence": 0.2,
    },
    "high confidence": {"gamma": 0.6, "mixing": "counts", "confidence": 0.5},
}
"""Settings of `CODL` by column; 0.6, 0.4 and counts were chosen on draws from 100 on, which are not reported."""
SOFTER: Mapping[str, Mapping[str, float]] = {"posterior, softer": {"changes only after punctuation": 3.0}}
"""Other penalties in the E-step, nats, chosen likewise; in the end rules have the catalogue's."""

Labelled = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Cell:
    """What is learnt, and from what.

    Parameters
    ----------
    section : of the study
    pool : "cora", the other references, or so many of them; "rexa", so many of other citations
    kind : of HMM, from `OPTIONS`
    size : labelled references
    column : "sup", or a name from `SETTINGS`
    draw : seed of the draw of references
    """

    section: str
    pool: str
    kind: str
    size: int
    column: str
    draw: int

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells its row apart."""
        return f"{self.pool}, {self.kind}, {self.size}", f"draw {self.draw}", self.column


@dataclass(frozen=True)
class Corpora:
    """References, other citations, and rules."""

    references: tuple[Labelled, ...]
    citations: tuple[tuple[str, ...], ...]
    rules: RuleSet


_corpora: list[Corpora] = []


def start(folder: Path) -> None:
    """Read the corpora, for this process and those that it forks."""
    references = [
        pair for name in ("train", "dev") for pair in read_labelled(folder / "cora" / f"{name}.tsv")
    ]
    path = folder / "rexa" / "unlabelled_silver.tsv"
    if not path.exists():
        raise Missing(f"{path}: not there; name the folder of the corpora with --data")
    known = {tokens for tokens, _ in references}
    citations = [example.tokens for example in read(path) if example.tokens not in known]
    _corpora[:] = [Corpora(tuple(references), tuple(citations), load_rules("citations"))]


def measure(cell: Cell, end: float) -> dict[str, Any] | None:
    """The row of a cell; None where the time, of the monotonic clock, is over."""
    if time.monotonic() > end:
        return None
    warnings.simplefilter("ignore", RuleNotice)
    corpora, began = _corpora[0], time.process_time()
    labelled, test, pool = split(corpora, cell)
    options = dict(OPTIONS[cell.kind])
    row: dict[str, Any] = {}
    if cell.column == "sup":
        model: SequenceModel = train("hmm", labelled, **options)
    else:
        result = CODL(options=options, **SETTINGS[cell.column]).fit(
            labelled, pool, softened(corpora.rules, cell.column)
        )
        model = result.model
        row = {"changed": [c.changed for c in result.trace], "ways": [c.ways for c in result.trace]}
    seconds = time.process_time() - began
    own = (C.valid_scheme(),) if model.labels.scheme == "iobes" else ()
    for name, rules in (("no I", RuleSet(own)), ("I", replace(corpora.rules, items=(*corpora.rules, *own)))):
        row[name] = evaluated(model, test, rules)
    data, item, method = cell.key
    return {"data": data, "item": item, "method": method, "section": cell.section, "seconds": seconds, **row}


def softened(rules: RuleSet, column: str) -> RuleSet:
    """The rules with the penalties that a column has in its E-step."""
    other = SOFTER.get(column, {})
    items = tuple(
        replace(item, penalty=other[item.name]) if item.name in other else item for item in rules.items
    )
    return replace(rules, items=items)


def split(corpora: Corpora, cell: Cell) -> tuple[list[Labelled], Sequence[Labelled], list[tuple[str, ...]]]:
    """Labelled references, others to measure on, and the pool, which has neither of them."""
    order = np.random.default_rng(cell.draw).permutation(len(corpora.references)).tolist()
    chosen = [corpora.references[i] for i in order]
    write = iobes if cell.kind == "best" else plain
    labelled = [(tokens, tuple(write(labels))) for tokens, labels in chosen[: cell.size]]
    test = chosen[cell.size : cell.size + TEST]
    name, _, number = cell.pool.partition(" ")
    if name == "cora":
        pool = [tokens for tokens, _ in chosen[cell.size + TEST :]]
        return labelled, test, pool[: int(number or len(pool))]
    places = np.random.default_rng([cell.draw, 1]).permutation(len(corpora.citations))
    return labelled, test, [corpora.citations[i] for i in places[: int(number)].tolist()]


def evaluated(model: SequenceModel, test: Sequence[Labelled], rules: RuleSet) -> dict[str, float]:
    """Percent of tokens with the right field, F1 of fields, and percent of references without a wrong token."""
    solutions = Decoder(rules, model=model).decode_texts(tokens for tokens, _ in test)
    pairs = [
        Pair(tokens, plain(solution.labels), plain(labels))
        for (tokens, labels), solution in zip(test, solutions, strict=True)
    ]
    result = evaluate(pairs, scheme="plain")
    f1 = float(measures(result.counts["spans"].sum(axis=1), 1.0)["f1"])
    return {
        "tokens": 100 * result.accuracy,
        "fields": 100 * f1,
        "references": 100 * result.whole_sequences,
    }


def plain(labels: Sequence[str]) -> tuple[str, ...]:
    """Fields without prefixes."""
    return strip([labels])[0]
