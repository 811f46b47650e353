"""Lists of the best labellings by compiled rules, beside the best one alone and the engine without compiled rules."""

import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from pandas import DataFrame

from benchmarks import optimum
from benchmarks.data import prepared
from benchmarks.data.corpora import CORA_SIZES, RIVALS_SIZE, train_and_dev
from benchmarks.data.prepared import Prepared
from benchmarks.report import Report, number
from benchmarks.study import Cell, Disagreement, Row, Sources, Study, grid
from benchmarks.timing import Work, one_core, time_rounds, viterbi_calls
from formulations import Trellis
from ilpinfer.core.request import Request
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.core.solution import Solution
from ilpinfer.decoding.reporting import run_method
from ilpinfer.decoding.runner import context_of

TOPS = (1, 2, 10, 50)
REPEATS = 3
ENGINE, UMASS_BLOCKS = 10, 66
"""The engine decodes one Cora reference of so many; so many blocks of UMass references."""
CORA, UMASS = "cora", "umass"


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """Lists of one length for the references of one model, or of one block."""
    train_and_dev(sources.folder, part)
    if part == CORA:
        models = [f"HMM of {size}" for size in sources(smoke=(RIVALS_SIZE,), sample=CORA_SIZES)]
        return grid(part, data=models, top=sources(smoke=(2,), sample=TOPS, full=(*TOPS, 200)))
    blocks = range(sources(smoke=0, sample=2, full=UMASS_BLOCKS))
    return grid(part, data=[f"block {block}" for block in blocks], top=[10])


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    which = int(cell.data.split()[-1])
    if cell.part == CORA:
        some = prepared.cora(sources.folder, which, "iobes")
    else:
        some = prepared.umass(sources.folder).every(UMASS_BLOCKS, which)
    yield lists(some, cell.top, sources(smoke=1, sample=REPEATS))


def lists(some: Prepared, top: int, repeats: int) -> Row:
    """Microseconds a sequence: the bare pass, the best labelling, lists of both kinds; the engine on some sequences."""
    decoder, trellises = some.decoder, some.trellises
    compiler, request = compiler_of(some.rules), Request.of("auto", None, {})

    def best(one: Trellis) -> object:
        return decoder.decode(one).ids

    def some_best(one: Trellis) -> object:
        return [s.ids for s in decoder.decode(one, top=top)]

    works: dict[str, list[Work]] = {
        "bare": list(viterbi_calls(trellises, some.rules)),
        "best": [partial(best, one) for one in trellises],
        "lists": [partial(some_best, one) for one in trellises],
        "arrays": [lambda: [one.ids for one in decoder.best_labellings(trellises, top)]],
    }
    with one_core():
        spent = time_rounds(works, repeats, time.process_time)
    result: Row = {name: np.round(1e6 * spent[name], 2).tolist() for name in ("bare", "best", "lists")}
    chosen = range(0, len(trellises), ENGINE)
    engine, same = [], 0
    for place in chosen:
        with one_core():
            began = time.process_time()
            solutions = run_method(context_of(trellises[place], compiler), request, top)
            expected = [solution for solution in solutions if solution.has_labelling]
            engine.append(round(1e6 * (time.process_time() - began), 2))
        same += _compare(expected, decoder.decode(trellises[place], top=top))
        optimum.recheck(trellises[place], some.rules, decoder.decode(trellises[place]))
    return result | {
        "arrays": round(1e6 * float(spent["arrays"][0]) / len(trellises), 2),
        "engine": engine,
        "places": list(chosen),
        "same": same,
    }


def _compare(expected: Sequence[Solution], solutions: Sequence[Solution]) -> bool:
    """Whether two lists have the same labellings; their scores have to be the same."""
    one, other = ([solution.score for solution in some] for some in (expected, solutions))
    if one != other:
        raise Disagreement(f"scores of the best labellings: {one} by the engine, {other} by compiled rules")
    return [s.ids.tolist() for s in expected] == [s.ids.tolist() for s in solutions]


def report(frame: DataFrame, report: Report) -> None:
    report.heading("Lists of the best labellings")
    report.text(
        "Microseconds are means of single calls. `arrays` are the same lists from `Decoder.best_labellings`, "
        "without a solution object for each labelling. The engine's ratio is that of the sequences that it decodes, "
        "to lists of the same sequences."
    )

    def figures(some: DataFrame) -> Iterable[Any]:
        [row] = some.to_dict("records")
        bare, best, few = (float(np.mean(row[key])) for key in ("bare", "best", "lists"))
        ratio = float(np.sum(row["engine"]) / np.sum([row["lists"][place] for place in row["places"]]))
        return len(row["bare"]), *map(number, (bare, best, few, row["arrays"], few / best, few / bare, ratio))

    spent = "bare pass, µs", "best, µs", "list, µs", "arrays, µs"
    titles = "number", *spent, "list × best", "list × bare pass", "engine × list"
    named = frame.assign(name=frame.part.map({CORA: "Cora, ", UMASS: "UMass, "}) + frame.data)
    report.pivot(named, {"sequences": "name", "labellings": "top"}, {titles: figures}, left=1)
    report.text(
        f"On {sum(map(len, frame.engine))} lists that the engine made too, without compiled rules, all scores are the same, "
        f"and {frame.same.sum()} lists have the same labellings in the same order."
    )


STUDY = Study(
    title="The best few labellings",
    corpus=f"the 100 references of Cora's development part; UMass references of the development part in {UMASS_BLOCKS} blocks "
    "(smoke none, sample two, full all 660)",
    model="HMMs of 5, 20 and 300 Cora references in IOBES, which read numbers, initials and months alike (smoke: 20); an HMM of "
    "all UMass references for training",
    rules="`citations` and the scheme for Cora; 240 mined soft rules for UMass",
    methods=f"1, 2, 10 and 50 labellings (smoke 2, full 200 too) by `Decoder.decode` and `Decoder.best_labellings`; 10 for UMass; "
    f"one reference of {ENGINE} by the engine without compiled rules",
    limits="none; best labellings that the engine decodes too are rechecked, and scores of both lists compared",
    measures="microseconds of processor time of a call on one core, half of one of which it takes to read the clock; the median of 3 rounds in which all ways take turns; the engine once. "
    "Unit: a bare Viterbi pass of the same sequence, and the best labelling alone",
    parts=(CORA, UMASS),
    timed=True,
)
