"""The cells of the study, and their rows."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from benchmarks.data.evaluations import beside_gold, in_percent, rechecked, statuses
from benchmarks.data.models import trained
from benchmarks.studies.codl import tasks
from benchmarks.studies.codl.baselines import Baseline
from benchmarks.study import Cell, Row, Sources
from formulations import RuleSet
from formulations import constraints as C
from ilpinfer.learning import CODL
from ilpinfer.models.sequence_model import SequenceModel

SUPERVISED = "sup"
LOOPS: Mapping[str, CODL | Baseline] = {
    "H": CODL(gamma=0.0),
    "H&W": Baseline(),
    "H&W&C": Baseline(),
    "H&W, γ = 0.1": Baseline(gamma=0.1),
    "H&W&C, γ = 0.1": Baseline(gamma=0.1),
    "top 50": Baseline(k=50),
    "top 10": Baseline(k=10),
    "beam 10": Baseline(k=10, beam=True),
    "counts": CODL(gamma=0.6),
    "perceptron": CODL(gamma=0.6, m_step="perceptron"),
    "soft EM": CODL(gamma=0.6, e_step="posterior"),
    "posterior": CODL(gamma=0.6, e_step="posterior"),
    "posterior, softer": CODL(gamma=0.4, e_step="posterior"),
    "self-training": Baseline(gamma=None, mixing="counts", share=0.2, relabel=False),
    "high confidence": Baseline(gamma=0.6, mixing="counts", share=0.5),
}
"""How models are learnt; those of the library mix counts, and scores after the perceptron."""
UNRULED = ("H", "H&W", "H&W, γ = 0.1", "soft EM", "self-training")
"""Without rules in the E-step."""
SOFTER = {"changes only after punctuation": 3.0}
"""Penalties of the E-step of "posterior, softer", in nats."""
COLUMNS = (SUPERVISED, "H", "H&W", "H&W&C", "top 50")
"""Those of Table 2."""
GAMMAS = ("H&W, γ = 0.1", "H&W&C, γ = 0.1")
SIZES = (5, 10, 15, 20, 25, 300)
CITATIONS, POOL = PARTS = ("citations", "pool")


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    tasks.sequences(sources.folder)
    if part == CITATIONS:
        tasks.unlabelled(sources.folder)
        corpus, kinds, sizes = tasks.REXA, [tasks.LOWER], sources(smoke=(5,), sample=SIZES)
    else:
        corpus, kinds = tasks.CORA, sources(smoke=[tasks.BEST], sample=[tasks.BEST], full=[*tasks.KINDS])
        sizes = sources(smoke=(5,), sample=(5, 20), full=SIZES[:5])
    for draw in range(sources(smoke=1, sample=3, full=20)):
        for size, kind in product(sizes, kinds):
            for setting in _settings(sources, part, size):
                yield cell_of(part, corpus, kind, size, setting, draw)


def _settings(sources: Sources, part: str, size: int) -> Sequence[str]:
    if part == CITATIONS:
        every = (*COLUMNS, *GAMMAS)
        return sources(smoke=(SUPERVISED, "H&W&C"), sample=every if size == 20 else COLUMNS, full=every)
    slow = () if sources.scale == "full" else ("top 50",)
    loops = (SUPERVISED, *(name for name in LOOPS if name not in slow))
    few = loops if size == 20 else COLUMNS[:4]
    return sources(smoke=(SUPERVISED, "perceptron", "posterior"), sample=few, full=loops)


def cell_of(part: str, corpus: str, kind: str, size: int, setting: str, draw: int) -> Cell:
    """A setting of learning, or what is varied, on a draw of labelled sequences of a corpus in a kind of HMM."""
    return Cell(part=part, corpus=corpus, kind=kind, size=size, setting=setting, draw=draw)


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    about = tasks.task(sources, cell)
    began = time.process_time()
    model = learnt(about, cell, cell.setting)
    spent = {"seconds": time.process_time() - began}
    for name, rules in (("none", RuleSet(())), ("soft", about.rules)):
        yield {"rules": name, **evaluated(model, about, rules), **spent}


def learnt(about: tasks.Task, cell: Cell, setting: str) -> SequenceModel:
    """The model of a setting."""
    options = dict(tasks.KINDS[cell.kind].options)
    if setting == SUPERVISED:
        return trained("hmm", about.labelled, **options)
    softer = SOFTER if "softer" in setting else {}
    items = (replace(rule, penalty=softer.get(rule.name, rule.penalty)) for rule in about.rules.rules)
    rules = RuleSet(()) if setting in UNRULED else replace(about.rules, items=tuple(items))
    loop = LOOPS[setting]
    if isinstance(loop, CODL):
        return loop.fit(about.labelled, about.pool, rules, options=options).model
    return loop.fit(about.labelled, about.pool, rules, options)


def evaluated(model: SequenceModel, about: tasks.Task, rules: RuleSet) -> Row:
    """Measures of fields, and what the labellings are; optima are rechecked."""
    own = (C.valid_scheme(),) if model.labels.scheme == "iobes" else ()
    full = replace(rules, items=(*rules, *own))
    solutions = rechecked([model.trellis(tokens) for tokens, _ in about.test], full)
    test = [(tokens, tasks.plain(gold)) for tokens, gold in about.test]
    labellings = (tasks.plain(solution.labels) for solution in solutions)
    return {
        **in_percent(beside_gold(test, labellings, scheme="plain")),
        "sequences": len(solutions),
        **statuses(solutions, "optimal"),
    }
