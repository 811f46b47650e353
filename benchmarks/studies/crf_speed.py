"""Trellises and proved labellings under rules in multiples of the time of CRFsuite's own tagger, which knows no rules."""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from pandas import DataFrame

import ilpinfer
from benchmarks.data import evaluations
from benchmarks.data.corpora import train_and_dev
from benchmarks.data.models import crfsuite_file
from benchmarks.report import Cells, Report, groups, number
from benchmarks.study import Cell, Row, Sources, Study, require
from benchmarks.timing import one_core, time_rounds
from formulations import RuleSet, load_rules
from formulations import constraints as C
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.templates import load_template

Texts = Sequence[tuple[str, ...]]
PARAMETERS = {"c1": 0.1, "c2": 0.05, "max_iterations": 100}
CRFSUITE = "CRFsuite"
CORPORA = {"spanish": ("names", "entities", 2000, 2), "cora": ("cora", "citations", 300, 1)}
"""Corpus; its template and rule set; sentences of the model, and one sentence of so many is decoded."""


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    require("pycrfsuite")
    corpus, _, trained, _ = CORPORA[part]
    size = len(train_and_dev(sources.folder, corpus)[0])
    sizes = dict.fromkeys((min(trained, size), *sources(smoke=(), sample=(), full=(size,))))
    return (Cell(part=part, trained=one) for one in sizes)


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    """What takes all token texts: CRFsuite's tagger, trellises alone, and decoders by single calls and in one call."""
    import pycrfsuite

    corpus, template, _, step = CORPORA[cell.part]
    train, dev = train_and_dev(sources.folder, corpus)
    parameters = PARAMETERS | sources(smoke={"max_iterations": 10}, sample={})
    path = str(crfsuite_file(train[: cell.trained], template, **parameters))
    model = CRF.from_crfsuite(path, template)
    texts = [tokens for tokens, _ in dev[::step][: sources(smoke=5, sample=None)]]
    tagger, features = pycrfsuite.Tagger(), load_template(template).features
    tagger.open(path)
    works: dict[str, Callable[[], object]] = {
        CRFSUITE: lambda: [tagger.tag(features(tokens)) for tokens in texts],
        "trellises alone": lambda: list(map(model.trellis, texts)),
    }
    for name, rules in rule_sets(model, template).items():
        decoder = ilpinfer.Decoder(rules, model=model)
        works[f"proved, {name}"] = partial(one_by_one, decoder, texts)
        works[f"proved in one call, {name}"] = partial(together, decoder, texts)
        evaluations.rechecked([model.trellis(tokens) for tokens in texts], rules)
    with one_core():
        rounds = {name: [work] for name, work in works.items()}
        spent = time_rounds(rounds, sources(smoke=1, sample=3), time.process_time, np.min)
    about = {"tokens": sum(map(len, texts)), "labels": len(model.labels)}
    for name, seconds in spent.items():
        yield {"decoder": name, "seconds": float(seconds[0]), **about}


def one_by_one(decoder: ilpinfer.Decoder, texts: Texts) -> object:
    return [decoder.decode_tokens(tokens).labels for tokens in texts]


def together(decoder: ilpinfer.Decoder, texts: Texts) -> object:
    return [one.labels for one in decoder.decode_texts(texts)]


def rule_sets(model: CRF, name: str) -> dict[str, RuleSet]:
    """The scheme, with it at most one run of each field at 1 nat, and an entry of the catalogue."""
    runs = (
        C.at_most_runs(field, 1, penalty=1.0, name=f"one run of {field}") for field in model.labels.fields
    )
    scheme = C.valid_scheme()
    return {
        "the scheme": RuleSet((scheme,)),
        "the scheme, one run": RuleSet((scheme, *runs)),
        name: load_rules(name),
    }


def report(frame: DataFrame, report: Report) -> None:
    """A table for each corpus and model: multiples of CRFsuite's time, and thousands of tokens a second."""
    for (part, size), some in groups(frame, "part", "trained"):
        tokens, labels = some.tokens.iloc[0], some.labels.iloc[0]
        name = "Spanish names" if part == "spanish" else "Cora references"
        report.heading(f"{name}, CRF of {size} sequences")
        report.text(f"{tokens} tokens, {labels} labels; {CRFSUITE}'s tagger on the same start is 1.")
        unit = some.seconds[some.decoder == CRFSUITE].iloc[0]
        cells: Cells = {
            "× from token texts": lambda x: ratio(x.times.iloc[0]),
            "1000 tokens/s from token texts": lambda x: number(x.tokens.iloc[0] / x.seconds.iloc[0] / 1000),
        }
        report.pivot(some.assign(times=some.seconds / unit), {"decoder": "decoder"}, cells)


def ratio(value: float) -> str:
    return number(value, 2 if value < 1 else 3)


STUDY = Study(
    title="Decoding beside CRFsuite",
    corpus="every other sentence of the CoNLL-2002 Spanish development part, and the 100 references of Cora's development "
    "part (smoke: five sequences of each)",
    model="CRFs trained by CRFsuite (L-BFGS, c1 0.1, c2 0.05, 100 iterations) on the first 2000 Spanish sentences with the template "
    "`entities` and on the first 300 references with `citations`; at full scale on all sentences and references too",
    rules="the scheme; the scheme and at most one run of each field at 1 nat; `entities` or `citations`",
    methods="CRFsuite's tagger; trellises alone; `auto` on one sequence after the other and on all in one call, in one thread. All "
    "begin with token texts",
    limits="none; every optimum is rechecked",
    measures="processor time for all sequences on one core, the least of 3 rounds after one that is not timed, in which all take "
    "turns, in reverse order every other round; names of labels are read. Multiples of CRFsuite's time; "
    "thousands of tokens a second",
    parts=tuple(CORPORA),
)
