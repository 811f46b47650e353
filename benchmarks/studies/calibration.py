"""Probabilities of entities against how often they are right."""

from collections.abc import Iterable
from functools import partial

import numpy as np
from pandas import DataFrame, Series

from benchmarks.data.corpora import split
from benchmarks.data.models import trained
from benchmarks.report import Cells, Report, fixed, groups
from benchmarks.study import Cell, Row, Sources, Study, grid
from formulations import LabelSet, RuleSet, load_rules
from formulations.automata.machine import TooManyStates
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.exact.marginals import marginals

SIZES, CORA = (20, 300), "cora"
BINS = 10
KINDS = {"whole": "probability of the entity", "mean": "mean probability of its labels"}


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """The sequences of one model under one rule set."""
    split(sources, part)
    return grid(part, model=[f"HMM of {size}" for size in SIZES], rules=("none", "citations"))


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    """A row for each entity of the best labelling: its probabilities, and whether gold has it."""
    train, dev = split(sources, cell.part)
    model = trained("hmm", train[: int(cell.model.split()[-1])])
    rules = RuleSet(()) if cell.rules == "none" else load_rules("citations")
    decoder = Decoder(rules, model=model)
    for tokens, gold in dev[: sources(smoke=2, sample=None)]:
        trellis = model.trellis(tokens)
        solution = decoder.decode(trellis)
        try:
            chances = marginals(trellis, rules)
        except TooManyStates:
            yield {"exact": False, "whole": 0.0, "mean": 0.0, "right": False}
            continue
        own = chances.labels[np.arange(len(tokens)), solution.ids]
        known = LabelSet(tuple(dict.fromkeys(gold)), trellis.labels.notation)
        right = set(known.runs(known.ids(gold)))
        for field, begin, end, whole in chances.entities(solution.ids):
            mean = float(own[begin:end].mean())
            yield {"exact": True, "whole": whole, "mean": mean, "right": (field, begin, end) in right}


def report(frame: DataFrame, report: Report) -> None:
    exact = frame[frame.exact].astype({"right": float})
    report.text(
        f"{len(exact)} entities; {int((~frame.exact).sum())} sequences have too many joint states for exact probabilities, and are "
        "left out. Error: the mean distance, over ten bins by probability, between it and the share that is right (expected "
        "calibration error). Brier: the mean square of the probability less 1 or 0."
    )
    for (model,), some in groups(exact, "model"):
        report.heading(model)
        cells: Cells = {
            "entities": len,
            "right %": lambda x: fixed(100 * x.right.mean()),
            **{
                (f"{words}: error %", f"{words}: Brier"): partial(distances, kind=kind)
                for kind, words in KINDS.items()
            },
        }
        report.pivot(some, {"rules": "rules"}, cells)


def distances(some: DataFrame, kind: str) -> list[str]:
    """Error in per cent, and Brier score."""
    square = float(((some[kind] - some.right) ** 2).mean())
    return [fixed(100 * error(some[kind], some.right)), fixed(square, 3)]


def error(probability: Series, right: Series) -> float:
    """The expected calibration error."""
    place = np.minimum((BINS * probability).astype(int), BINS - 1)
    parts = [(probability[place == b], right[place == b]) for b in range(BINS)]
    return float(sum(len(p) * abs(p.mean() - r.mean()) for p, r in parts if len(p)) / len(probability))


STUDY = Study(
    title="Probabilities of entities",
    corpus="Cora references of the development part",
    model="HMMs of 20 and 300 Cora references",
    rules="none and `citations`",
    methods="`Marginals.entities` of the best labelling, and the mean of the marginal probabilities of its labels",
    measures="entities that are right as a whole; expected calibration error, Brier score",
    parts=(CORA,),
)
