"""Decoders of references and résumés: milliseconds a sequence, and how often each finds the optimum."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from pandas import DataFrame

import ilpinfer
from benchmarks.data import corpora, prepared
from benchmarks.data.models import crfsuite_file
from benchmarks.data.sets import spread
from benchmarks.optimum import recheck
from benchmarks.report import Report, groups, number, percent
from benchmarks.study import Cell, Row, Sources, grid
from benchmarks.timing import family_time, one_core, timed
from formulations import Trellis
from ilpinfer.models.crf.templates import load_template

LETTERS = 4
"""Words of so many letters become new ones."""


def with_words(trellis: Trellis, tokens: Sequence[str]) -> Trellis:
    """A fresh trellis with the same scores, so that nothing that was kept with it is used."""
    return Trellis._of(lattice=trellis.lattice, labels=trellis.labels, tokens=tuple(tokens))


def shuffled_tokens(trellis: Trellis, rng: np.random.Generator) -> list[str]:
    return [shuffled(token, rng) for token in trellis.tokens]


def shuffled(word: str, rng: np.random.Generator) -> str:
    """A word of four or more letters with these in another order; capitals, digits and signs stay at their places."""
    places = [at for at, character in enumerate(word) if character.isalpha()]
    if len(places) < LETTERS:
        return word
    result, letters = list(word), [word[at] for at in rng.permutation(places)]
    for at, letter in zip(places, letters, strict=True):
        result[at] = letter.upper() if word[at].isupper() else letter.lower()
    return "".join(result)


CORA, UMASS, RESUMES = CORPORA = "Cora", "UMass, 240 rules", "résumés"
NEW, KNOWN, CRFSUITE = "ilpinfer, words new", "ilpinfer, words known", "python-crfsuite, no rules"
PROGRAMS: Mapping[str, Mapping[str, Any]] = {
    NEW: {},
    KNOWN: {},
    CRFSUITE: {},
    "Viterbi, no rules": {"method": "viterbi"},
    "beam of 10": {"method": "beam", "width": 10},
    "beam of 50": {"method": "beam", "width": 50},
    **(SOLVERS := {"CP-SAT": {"method": "cp-sat"}, "CBC": {"method": "cbc"}}),
}
"""Options of `ilpinfer.Decoder`."""
SEQUENCES, SOLVED = 100, {CORA: 20, UMASS: 5, RESUMES: 8}
LIMITS = {CORA: 10.0, UMASS: 20.0, RESUMES: 10.0}
"""Seconds a sequence for solvers."""


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    return grid(part, data=CORPORA, program=PROGRAMS)


@cache
def sequences(sources: Sources, data: str) -> prepared.Prepared:
    """The development part of a corpus, or every other résumé."""
    if data == CORA:
        return prepared.cora(sources.folder, corpora.RIVALS_SIZE)
    if data == UMASS:
        return prepared.umass(sources.folder)
    some = corpora.data_set(replace(sources, scale="full"), "resume hard")
    trellises = [item.make() for item in some.items]
    return prepared.Prepared(ilpinfer.Decoder(some.rules, trellises[0].labels), trellises)


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    """Milliseconds of each sequence, and how many labellings have the score of the rechecked optimum."""
    some, options = sequences(sources, cell.data), PROGRAMS[cell.program]
    solver, rng, limit = cell.program in SOLVERS, np.random.default_rng(0), LIMITS[cell.data]
    number = sources(smoke=1, sample=SOLVED[cell.data] if solver else SEQUENCES)
    taken = spread(tuple(some.trellises), number)
    best = [some.decoder.decode(one) for one in taken]
    if cell.program == KNOWN:
        best = [recheck(one, some.rules, solution) for one, solution in zip(taken, best, strict=True)]
    decode: Callable[[Any], Any] = some.decoder.decode
    if options:
        decode = ilpinfer.Decoder(some.rules, taken[0].labels, time_limit=limit, **options).decode

    def fresh(one: Trellis) -> Trellis:
        return with_words(one, shuffled_tokens(one, rng) if cell.program == NEW else one.tokens)

    argument: Callable[[Trellis], Any] = fresh
    if cell.program == CRFSUITE:
        decode, argument = tagger(sources, cell.data)
    rounds, clock = sources(smoke=1, sample=1 if options else 5), family_time if solver else time.process_time
    with one_core():
        decode(argument(taken[0]))
        calls = [[timed(decode, argument(one), clock=clock) for one in taken] for _ in range(rounds)]
    seconds = np.median([[spent for _, spent in each] for each in calls], axis=0)
    row: Row = {"sequences": len(taken), "milliseconds": np.round(1000 * seconds, 4).tolist(), "late": 0}
    if cell.program not in (NEW, CRFSUITE):  # rules find other words in the new ones
        found = [solution for solution, _ in calls[-1]]
        row["optimal"] = sum(one.score == other.score for one, other in zip(found, best, strict=True))
        row["late"] = sum(solver and one.status in ("feasible", "unknown") for one in found)
    yield row


def tagger(sources: Sources, data: str) -> tuple[Callable[[Any], Any], Callable[[Trellis], Any]]:
    """Viterbi of a CRF of the same corpus, and what makes its features; few iterations, which change no time."""
    import pycrfsuite

    if data == RESUMES:
        examples = corpora.read_labelled(sources.folder / "resume" / "experience_train.tsv")[::2]
    else:
        examples, _ = corpora.train_and_dev(sources.folder, "cora" if data == CORA else "umass")
    template = "resume" if data == RESUMES else "citations"
    result = pycrfsuite.Tagger()
    result.open(str(crfsuite_file(examples, template, max_iterations=sources(smoke=1, sample=8))))
    made = load_template(template)
    return result.tag, lambda one: pycrfsuite.ItemSequence(made.features(one.tokens))


def report(frame: DataFrame, report: Report) -> None:
    report.heading("How fast is it?")
    report.text(
        f"Up to {SEQUENCES} sequences of each corpus, single calls with compiled rules. Cora: `citations`, an HMM of {corpora.RIVALS_SIZE}; UMass: mined "
        "soft rules; résumés: hard rules. A cell is the mean processor time of a sequence, with the time of a solver's own process. > is a lower bound: "
        "the time limit ended a call. CRFsuite has a CRF of the same corpus; its features are made beforehand."
    )
    _table(
        frame,
        report,
        "milliseconds a sequence",
        lambda x: "> " * bool(x.late) + number(np.mean(x.milliseconds)),
    )
    report.heading("How often is the optimum found?", 3)
    some = frame[~frame.program.isin([NEW, CRFSUITE])]
    _table(some, report, "optima found, %", lambda x: percent(x.optimal / x.sequences, 0), "data", "program")
    solved = frame[frame.program.isin(list(SOLVERS))].drop_duplicates("data").itertuples()
    report.text("Sequences of solvers: " + ", ".join(f"{row.sequences} ({row.data})" for row in solved) + ".")


def _table(
    frame: DataFrame,
    report: Report,
    title: str,
    cell: Callable[[Any], str],
    by: str = "program",
    across: str = "data",
) -> None:
    """A line for each program and a column for each corpus, or the other way round."""
    lines = [(name, *map(cell, some.itertuples())) for (name,), some in groups(frame, by)]
    report.table((title, *frame[across].unique()), lines)
