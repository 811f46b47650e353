"""The cells of the study, and their rows: learning, kinds of HMM, and ways to count and to weigh violations."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import inf
from typing import Any

from benchmarks.data.corpora import with_factor
from benchmarks.data.evaluations import beside_gold, in_percent, statuses
from benchmarks.data.models import trained
from benchmarks.optimum import recheck
from benchmarks.studies.codl import tasks
from benchmarks.study import Cell, Row, Sources
from formulations import RuleSet
from formulations import constraints as C
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.learning import CODL
from ilpinfer.learning.measures import Measures
from ilpinfer.models.sequence_model import SequenceModel

SUPERVISED = "sup"
LOOPS: Mapping[str, Mapping[str, Any]] = {
    "H": {"gamma": 0.0, "constrained": False},
    "H&W": {"gamma": 0.9, "constrained": False},
    "H&W&C": {"gamma": 0.9},
    "H&W, γ = 0.1": {"gamma": 0.1, "constrained": False},
    "H&W&C, γ = 0.1": {"gamma": 0.1},
    "top 50": {"gamma": 0.9, "k": 50},
    "top 10": {"gamma": 0.9, "k": 10},
    "beam 10": {"gamma": 0.9, "k": 10, "e_step": "beam"},
    "counts": {"gamma": 0.6, "mixing": "counts"},
    "chosen": {},
    "soft EM": {"gamma": 0.6, "mixing": "counts", "e_step": "posterior", "constrained": False},
    "posterior": {"gamma": 0.6, "mixing": "counts", "e_step": "posterior"},
    "posterior, softer": {"gamma": 0.4, "mixing": "counts", "e_step": "posterior"},
    "posterior, chosen": {"e_step": "posterior"},
    "self-training": {
        "gamma": None,
        "mixing": "counts",
        "constrained": False,
        "relabel": False,
        "confidence": 0.2,
    },
    "high confidence": {"gamma": 0.6, "mixing": "counts", "confidence": 0.5},
}
"""Settings of `CODL`."""
SOFTER = {"changes only after punctuation": 3.0}
"""Penalties of the E-step of "posterior, softer", in nats."""
COLUMNS = (SUPERVISED, "H", "H&W", "H&W&C", "top 50")
"""Those of Table 2."""
GAMMAS = ("H&W, γ = 0.1", "H&W&C, γ = 0.1")
FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0)
WAYS = ("none", "hard", "binary", "count", "hamming")
SIZES, POST_SIZES = (5, 10, 15, 20, 25, 300), (5, 10, 15, 20, 25, 100)
HAMMING_LIMIT = 1.0
CITATIONS, POOL, ADVERTISEMENTS = "citations", "pool", "posts"
MODELS, VIOLATIONS, ROBUSTNESS = "models", "violations", "robustness"
PARTS = (CITATIONS, POOL, ADVERTISEMENTS, MODELS, VIOLATIONS, ROBUSTNESS)


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    chosen = [*dict.fromkeys(each for block in _blocks(sources, part) for each in product(*block))]
    for corpus in {corpus for corpus, *_ in chosen}:
        tasks.sequences(sources.folder, corpus)
        if corpus == tasks.REXA:
            tasks.unlabelled(sources.folder)
    for draw in range(sources(smoke=1, sample=3, full=20)):
        yield from (cell_of(part, *each, draw) for each in chosen)


def cell_of(part: str, corpus: str, kind: str, size: int, setting: str, draw: int) -> Cell:
    """A setting of learning, or what is varied, on a draw of labelled sequences of a corpus in a kind of HMM."""
    return Cell(part=part, corpus=corpus, kind=kind, size=size, setting=setting, draw=draw)


Block = tuple[Sequence[str], Sequence[str], Sequence[int], Sequence[str]]
"""Corpora, kinds of HMM, numbers of labelled sequences and settings, all combined."""


def _blocks(sources: Sources, part: str) -> Iterator[Block]:
    plain, cora, posts = [tasks.LOWER], [tasks.CORA], [tasks.POSTS]
    names: Sequence[str]
    if part == CITATIONS:
        every = (*COLUMNS, *GAMMAS)
        for size in sources(smoke=(5,), sample=SIZES):
            names = sources(smoke=(SUPERVISED, "H&W&C"), sample=every if size == 20 else COLUMNS, full=every)
            yield [tasks.REXA], plain, [size], names
    elif part == POOL:
        kinds, everything = [tasks.BEST], sources.scale == "full"
        for size in sources(smoke=(5,), sample=(5, 20), full=SIZES[:5]):
            names = sources(smoke=(SUPERVISED, "posterior"), sample=COLUMNS[:4], full=(SUPERVISED, *LOOPS))
            if size == 20:
                names = (SUPERVISED, *(name for name in LOOPS if name != "top 50" or everything))
            yield cora, [*kinds, *plain] if everything else kinds, [size], names
    elif part == ADVERTISEMENTS:
        yield posts, plain, *sources(smoke=((5,), COLUMNS[:4]), sample=(POST_SIZES, COLUMNS))
    elif part == MODELS:
        kinds, sizes = sources(smoke=([tasks.LOWER, tasks.BEST], (5,)), sample=([*tasks.KINDS], (20, 300)))
        yield cora, kinds, sizes, [SUPERVISED]
    elif part == VIOLATIONS:
        yield cora, plain, sources(smoke=(), sample=(20, 300), full=SIZES), WAYS
        yield posts, plain, sources(smoke=(5,), sample=(100,), full=(20, 100)), WAYS
    else:
        for size in sources(smoke=(5,), sample=(5, 20, 300), full=SIZES):
            loops = [f"H&W&C, {factor:g}" for factor in FACTORS] if size in (5, 20) else []
            yield cora, plain, [size], [SUPERVISED, *loops]


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    about = tasks.task(sources, cell)
    if cell.part == VIOLATIONS:
        yield _counted(about, cell)
        return
    if cell.part == ROBUSTNESS:
        yield from _weighed(about, cell)
        return
    began = time.process_time()
    model = learnt(about, cell, cell.setting)
    spent = {"seconds": time.process_time() - began}
    for name, rules in (("none", RuleSet(())), ("soft", about.rules)):
        yield {"rules": name, **evaluated(model, about, rules), **spent}


def learnt(about: tasks.Task, cell: Cell, setting: str, factor: float = 1.0) -> SequenceModel:
    """The model of a setting; with a factor on the penalties of its E-step."""
    options = dict(tasks.KINDS[cell.kind].options)
    if setting == SUPERVISED:
        return trained("hmm", about.labelled, **options)
    softer = SOFTER if "softer" in setting else {}
    items = (replace(rule, penalty=softer.get(rule.name, rule.penalty)) for rule in about.rules.rules)
    rules = with_factor(replace(about.rules, items=tuple(items)), factor)
    return CODL(options=options, **LOOPS[setting]).fit(about.labelled, about.pool, rules).model


def _counted(about: tasks.Task, cell: Cell) -> Row:
    """Rules as hard ones and by each distance; labellings without rules stand where hard rules leave none."""
    model, way = learnt(about, cell, SUPERVISED), cell.setting
    rules = {
        "none": RuleSet(()),
        "hard": with_factor(about.rules, inf),
        "binary": tasks.with_distance(about.rules, "binary"),
        "count": about.rules,
        "hamming": tasks.with_distance(about.rules, "hamming"),
    }[way]
    return {"rules": way, **evaluated(model, about, rules, HAMMING_LIMIT if way == "hamming" else None)}


def _weighed(about: tasks.Task, cell: Cell) -> Iterator[Row]:
    """The final labelling under multiplied penalties; a loop has the same factor in its E-step."""
    setting, _, text = cell.setting.partition(", ")
    for factor in [float(text)] if text else FACTORS:
        model = learnt(about, cell, setting, factor)
        rules = with_factor(about.rules, factor)
        yield {"method": setting, "rules": f"{factor:g}", **evaluated(model, about, rules)}


def evaluated(model: SequenceModel, about: tasks.Task, rules: RuleSet, limit: float | None = None) -> Row:
    """Measures of fields, and what the labellings are; proofs of the engine are rechecked where there is no limit."""
    own = (C.valid_scheme(),) if model.labels.scheme == "iobes" else ()
    full, bare = replace(rules, items=(*rules, *own)), RuleSet(own)
    trellises = [model.trellis(tokens) for tokens, _ in about.test]
    solutions = list(Decoder(full, time_limit=limit).decode_many(trellises))
    if len(full) and limit is None:
        for trellis, solution in zip(trellises, solutions, strict=True):
            if solution.status != "infeasible":
                recheck(trellis, full, solution)
    labellings = [
        tasks.plain((solution if solution.has_labelling else Decoder(bare).decode(trellis)).labels)
        for trellis, solution in zip(trellises, solutions, strict=True)
    ]
    test = [(tokens, tasks.plain(gold)) for tokens, gold in about.test]
    return {
        **in_percent(Measures.of(beside_gold(test, labellings, scheme="plain"))),
        "sequences": len(solutions),
        **statuses(solutions, "optimal", "infeasible"),
    }
