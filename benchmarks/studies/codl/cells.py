"""The cells of the study, and their rows: learning, kinds of HMM, and ways to count and to weigh violations."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import inf
from typing import Any

from benchmarks.data.evaluations import beside_gold
from benchmarks.data.models import trained
from benchmarks.optimum import recheck
from benchmarks.studies.codl.tasks import (
    BEST,
    CORA,
    KINDS,
    LOWER,
    POSTS,
    REXA,
    Cell,
    Task,
    plain,
    sequences,
    task,
    unlabelled,
    with_distance,
    with_factor,
)
from benchmarks.study import Row, Sources
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
CITATIONS, POOL, ADVERTISEMENTS, MODELS, VIOLATIONS, ROBUSTNESS = PARTS = (
    "citations",
    "pool",
    "posts",
    "models",
    "violations",
    "robustness",
)


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    some = {
        CITATIONS: _citations,
        POOL: _pool,
        ADVERTISEMENTS: _posts,
        MODELS: _models,
        VIOLATIONS: _violations,
        ROBUSTNESS: _robustness,
    }[part](sources)
    chosen = list(dict.fromkeys(some))
    for corpus in {corpus for corpus, *_ in chosen}:
        sequences(sources.folder, corpus)
        if corpus == REXA:
            unlabelled(sources.folder)
    for draw in range(sources(smoke=1, sample=3, full=20)):
        yield from (Cell(part, *each, draw) for each in chosen)


Settings = Iterator[tuple[str, str, int, str]]


def _citations(sources: Sources) -> Settings:
    for size in sources(smoke=(5,), sample=SIZES, full=SIZES):
        names = sources(smoke=(SUPERVISED, "H&W&C"), sample=COLUMNS, full=(*COLUMNS, *GAMMAS))
        if size == 20:
            names = (*COLUMNS, *GAMMAS)
        yield from ((REXA, LOWER, size, name) for name in names)


def _pool(sources: Sources) -> Settings:
    for size in sources(smoke=(5,), sample=(5, 20), full=SIZES[:5]):
        names = sources(smoke=(SUPERVISED, "posterior"), sample=COLUMNS[:4], full=(SUPERVISED, *LOOPS))
        if size == 20:
            names = (SUPERVISED, *(name for name in LOOPS if name != "top 50" or sources.scale == "full"))
        kinds = sources(smoke=(BEST,), sample=(BEST,), full=(BEST, LOWER))
        yield from ((CORA, kind, size, name) for kind in kinds for name in names)


def _posts(sources: Sources) -> Settings:
    sizes = sources(smoke=(5,), sample=POST_SIZES, full=POST_SIZES)
    names = sources(smoke=COLUMNS[:4], sample=COLUMNS, full=COLUMNS)
    return ((POSTS, LOWER, size, name) for size in sizes for name in names)


def _models(sources: Sources) -> Settings:
    kinds = sources(smoke=(LOWER, BEST), sample=tuple(KINDS), full=tuple(KINDS))
    return (
        (CORA, kind, size, SUPERVISED)
        for kind in kinds
        for size in sources(smoke=(5,), sample=(20, 300), full=(20, 300))
    )


def _violations(sources: Sources) -> Settings:
    cora = sources(smoke=(), sample=(20, 300), full=SIZES)
    yield from ((CORA, LOWER, size, way) for size in cora for way in WAYS)
    yield from (
        (POSTS, LOWER, size, way)
        for size in sources(smoke=(5,), sample=(100,), full=(20, 100))
        for way in WAYS
    )


def _robustness(sources: Sources) -> Settings:
    for size in sources(smoke=(5,), sample=(5, 20, 300), full=SIZES):
        for name in (SUPERVISED, "H&W&C") if size in (5, 20) else (SUPERVISED,):
            if name == SUPERVISED:
                yield CORA, LOWER, size, name
            else:
                yield from ((CORA, LOWER, size, f"{name}, {factor:g}") for factor in FACTORS)


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    about = task(sources, cell)
    if cell.part == VIOLATIONS:
        yield from _counted(about, cell)
    elif cell.part == ROBUSTNESS:
        yield from _weighed(about, cell)
    else:
        began = time.process_time()
        model = learnt(about, cell, cell.setting)
        spent = {"seconds": time.process_time() - began}
        for name, rules in (("none", RuleSet(())), ("soft", about.rules)):
            yield {"rules": name, **evaluated(model, about, rules), **spent}


def learnt(about: Task, cell: Cell, setting: str, factor: float = 1.0) -> SequenceModel:
    """The model of a setting; with a factor on the penalties of its E-step."""
    options = dict(KINDS[cell.kind].options)
    if setting == SUPERVISED:
        return trained("hmm", about.labelled, **options)
    softer = SOFTER if "softer" in setting else {}
    items = (replace(rule, penalty=softer.get(rule.name, rule.penalty)) for rule in about.rules.rules)
    rules = with_factor(replace(about.rules, items=tuple(items)), factor)
    return CODL(options=options, **LOOPS[setting]).fit(about.labelled, about.pool, rules).model


def _counted(about: Task, cell: Cell) -> Iterator[Row]:
    """Rules as hard ones and by each distance; labellings without rules stand where hard rules leave none."""
    model, way = learnt(about, cell, SUPERVISED), cell.setting
    rules = {
        "none": RuleSet(()),
        "hard": with_factor(about.rules, inf),
        "binary": with_distance(about.rules, "binary"),
        "count": about.rules,
        "hamming": with_distance(about.rules, "hamming"),
    }[way]
    yield {"rules": way, **evaluated(model, about, rules, HAMMING_LIMIT if way == "hamming" else None)}


def _weighed(about: Task, cell: Cell) -> Iterator[Row]:
    """The final labelling under multiplied penalties; a loop has the same factor in its E-step."""
    setting, _, text = cell.setting.partition(", ")
    for factor in [float(text)] if text else FACTORS:
        model = learnt(about, cell, setting, factor)
        rules = with_factor(about.rules, factor)
        yield {"method": setting, "rules": f"{factor:g}", **evaluated(model, about, rules)}


def evaluated(model: SequenceModel, about: Task, rules: RuleSet, limit: float | None = None) -> Row:
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
        plain((solution if solution.has_labelling else Decoder(bare).decode(trellis)).labels)
        for trellis, solution in zip(trellises, solutions, strict=True)
    ]
    test = [(tokens, plain(gold)) for tokens, gold in about.test]
    shares = Measures.of(beside_gold(test, labellings, scheme="plain"))
    return {
        **dict(zip(("tokens", "spans", "whole"), (100 * share for share in shares), strict=True)),
        "sequences": len(solutions),
        "optimal": sum(solution.status == "optimal" for solution in solutions),
        "infeasible": sum(solution.status == "infeasible" for solution in solutions),
    }
