"""Trellises and proved labellings under rules in multiples of the time of CRFsuite's own tagger, which knows no rules."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from pandas import DataFrame

import ilpinfer
from benchmarks.data import evaluations
from benchmarks.data.corpora import train_and_dev
from benchmarks.data.models import crfsuite_file
from benchmarks.data.sets import Labelled
from benchmarks.report import Report, groups, number
from benchmarks.study import Cell, Row, Sources, Study, require
from benchmarks.timing import one_core, time_rounds
from formulations import RuleSet, Trellis, load_rules
from formulations import constraints as C
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.templates import load_template

PARAMETERS = {"c1": 0.1, "c2": 0.05, "max_iterations": 100}
TEXTS, FEATURES, SCORES = STARTS = ("token texts", "features", "scores")
CRFSUITE, ALONE = "CRFsuite", "trellises alone"
SCHEME, ONE_RUN = "the scheme", "the scheme, one run"


@dataclass(frozen=True)
class Corpus:
    """Name, template and rule set; sentences of the model, and one sentence of so many is decoded."""

    name: str
    rules: str
    trained: int
    step: int


CORPORA = {
    "spanish": Corpus("names", "entities", 2000, 2),
    "cora": Corpus("cora", "citations", 300, 1),
}


Pair = tuple[tuple[str, ...], Any, Any, Trellis]
"""Tokens, features, CRFsuite's items and the trellis of a sequence."""


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    """What is given to decoders: token texts, features, or what each decodes at last."""
    require("pycrfsuite")
    corpus = CORPORA[part]
    size = len(train_and_dev(sources.folder, corpus.name)[0])
    sizes = dict.fromkeys((min(corpus.trained, size), *sources(smoke=(), sample=(), full=(size,))))
    starts = sources(smoke=STARTS if part == "cora" else STARTS[2:], sample=STARTS)
    return (Cell(part=part, start=start, trained=one) for one in sizes for start in starts)


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    corpus = CORPORA[cell.part]
    train, dev = train_and_dev(sources.folder, corpus.name)
    parameters = PARAMETERS | sources(smoke={"max_iterations": 10}, sample={})
    path = str(crfsuite_file(train[: cell.trained], corpus.rules, **parameters))
    model = CRF.from_crfsuite(path, corpus.rules)
    pairs = _pairs(model, corpus.rules, dev[:: corpus.step][: sources(smoke=5, sample=None)])
    rules = rule_sets(model, corpus.rules)
    repeats = sources(smoke=1, sample=3)
    with one_core():
        works = {
            name: [lambda w=work: w(pairs)]
            for name, work in _works(cell.start, path, model, corpus.rules, rules)
        }
        spent = time_rounds(works, repeats, time.process_time, np.min)
    if cell.start == SCORES:
        for chosen in rules.values():
            evaluations.rechecked([pair[3] for pair in pairs], chosen)
    for name, seconds in spent.items():
        tokens = sum(len(pair[0]) for pair in pairs)
        yield {"decoder": name, "seconds": float(seconds[0]), "tokens": tokens, "labels": len(model.labels)}


def rule_sets(model: CRF, name: str) -> dict[str, RuleSet]:
    """The scheme, with it at most one run of each field at 1 nat, and an entry of the catalogue."""
    runs = (
        C.at_most_runs(field, 1, penalty=1.0, name=f"one run of {field}") for field in model.labels.fields
    )
    scheme = C.valid_scheme()
    return {SCHEME: RuleSet((scheme,)), ONE_RUN: RuleSet((scheme, *runs)), name: load_rules(name)}


def _pairs(model: CRF, template: str, examples: Sequence[Labelled]) -> list[Pair]:
    import pycrfsuite

    extracted = [load_template(template).features(tokens) for tokens, _ in examples]
    return [
        (tokens, features, pycrfsuite.ItemSequence(features), model.trellis_of(features, tokens))
        for (tokens, _), features in zip(examples, extracted, strict=True)
    ]


def _works(
    start: str, path: str, model: CRF, template: str, rules: Mapping[str, RuleSet]
) -> Iterator[tuple[str, Callable[[Sequence[Pair]], object]]]:
    """What takes all sequences: CRFsuite's tagger, trellises alone, and decoders by single calls and in one call."""
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    features = load_template(template).features
    tag: Callable[[Pair], object] = {
        TEXTS: lambda pair: tagger.tag(features(pair[0])),
        FEATURES: lambda pair: tagger.tag(pair[1]),
        SCORES: lambda pair: tagger.tag(pair[2]),
    }[start]
    trellis: Callable[[Pair], Trellis] = {
        TEXTS: lambda pair: model.trellis(pair[0]),
        FEATURES: lambda pair: model.trellis_of(pair[1], pair[0]),
        SCORES: lambda pair: pair[3],
    }[start]
    yield CRFSUITE, lambda pairs: [tag(pair) for pair in pairs]
    if start != SCORES:
        yield ALONE, lambda pairs: [trellis(pair) for pair in pairs]

    def one_by_one(decoder: ilpinfer.Decoder, pairs: Sequence[Pair]) -> object:
        return [decoder.decode(trellis(pair)).labels for pair in pairs]

    def together(decoder: ilpinfer.Decoder, pairs: Sequence[Pair]) -> object:
        return [one.labels for one in decoder.decode_many(map(trellis, pairs))]

    for name, chosen in rules.items():
        decoder = ilpinfer.Decoder(chosen, model=model)
        yield f"proved, {name}", partial(one_by_one, decoder)
        yield f"proved in one call, {name}", partial(together, decoder)


def report(frame: DataFrame, report: Report) -> None:
    """A table for each corpus and model: multiples of CRFsuite's time, and thousands of tokens a second."""
    for (part, size), some in groups(frame, "part", "trained"):
        tokens, labels = some.tokens.iloc[0], some.labels.iloc[0]
        name = "Spanish names" if part == "spanish" else "Cora references"
        report.heading(f"{name}, CRF of {size} sequences")
        report.text(f"{tokens} tokens, {labels} labels; {CRFSUITE}'s tagger on the same start is 1.")
        seconds = some.pivot(index="decoder", columns="start", values="seconds")[some.start.unique()]
        ratios, rates = seconds / seconds.loc[CRFSUITE], tokens / seconds / 1000
        titles = (f"{kind} from {start}" for kind in ("×", "1000 tokens/s") for start in seconds)
        shown = ratios.map(lambda ratio: number(ratio, 2 if ratio < 1 else 3)).join(
            rates.map(number), rsuffix="/s"
        )
        report.table(("decoder", *titles), ((name, *shown.loc[name]) for name in some.decoder.unique()))


STUDY = Study(
    title="Decoding beside CRFsuite",
    corpus="every other sentence of the CoNLL-2002 Spanish development part, and the 100 references of Cora's development "
    "part (smoke: five sequences of each)",
    model="CRFs trained by CRFsuite (L-BFGS, c1 0.1, c2 0.05, 100 iterations) on the first 2000 Spanish sentences with the template "
    "`entities` and on the first 300 references with `citations`; at full scale on all sentences and references too",
    rules="the scheme; the scheme and at most one run of each field at 1 nat; `entities` or `citations`",
    methods="CRFsuite's tagger; trellises alone; `auto` on one sequence after the other and on all in one call, in one thread. All "
    "begin with token texts, with extracted features, or with what each decodes at last: CRFsuite's item sequences, whose features "
    "it still adds up, and finished trellises",
    limits="none; every optimum is rechecked",
    measures="processor time for all sequences on one core, the least of 3 rounds after one that is not timed, in which all take "
    "turns, in reverse order every other round; names of labels are read. Multiples of CRFsuite's time with the same start; "
    "thousands of tokens a second",
    parts=tuple(CORPORA),
    timed=True,
)
