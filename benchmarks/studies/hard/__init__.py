"""A set of problems made to be hard, with the best that is known of each, and seconds to proof."""

from collections.abc import Iterator

from benchmarks.data.hard import FAMILIES, by_name, level_and_name
from benchmarks.methods import SETTINGS, call_once, worker
from benchmarks.studies.hard import known
from benchmarks.studies.hard.methods import ENGINE, RIVALS, answer, size, viterbi
from benchmarks.studies.hard.report import report
from benchmarks.study import Cell, Row, Sources, Study, grid

SET = "set"
"""Stands for the instance itself among the methods: its size and what is known of it."""
SMOKE = {False: ("cp-sat", "cp-sat, defaults"), True: ("cp-sat", "cp-sat, defaults", "toulbar2")}
TRIED = "implications"
"""Rivals at smoke scale, on all families and on the one where toulbar2 is tried as well."""
SAMPLE_LIMIT, FULL_LIMIT = 30.0, 600.0


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    smallest = sources.scale == "smoke"
    compared = sources(smoke=1, sample=1, full=20)
    rivals = RIVALS if not smallest else SMOKE[part == TRIED]
    for number in range(sources(smoke=1, sample=3, full=20)):
        _, name = level_and_name(part, number, smallest=smallest)
        yield from grid(part, name=[name], method=(SET, ENGINE, *(rivals if number < compared else ())))


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    one = by_name(cell.name)
    if cell.method == SET:
        yield {
            "T": one.level.T,
            "K": one.level.K,
            "knob": one.level.knob,
            "rules": len(one.rules.rules),
            "digest": one.digest,
            **viterbi(one),
            "known": known.of(one),
            **size(one),
        }
        return
    if cell.method != "toulbar2":
        call_once(worker("auto" if cell.method == ENGINE else cell.method))
    limit = sources(smoke=1.0, sample=SAMPLE_LIMIT, full=FULL_LIMIT)
    yield {"limit": limit, **answer(cell.method, one, limit)}


STUDY = Study(
    title="Hard instances",
    corpus="none: documents drawn at random, with a planted labelling under noise. An instance is named by family, "
    "tokens, labels and number, and has the same bytes in every run; its number chooses one of three levels of "
    "difficulty in turn. Instances of a family at smoke, sample and full scale: 1, 3 and 20. Rivals decode the first 1, 1 and 20 of them",
    model="emissions and transitions in steps of 1/4096 nats times the noise; near ties in grid units of 2^-20 nats",
    rules="; ".join(f"{name}: {one.about}" for name, one in FAMILIES.items()),
    methods="`auto` (the engine); CBC, CP-SAT, HiGHS and SCIP on the whole program; toulbar2 on the folded scores and "
    "a chain of state variables for each rule, depth-first, without preprocessing, where it has a form for the "
    f"rules. One thread each. {SETTINGS}",
    limits="1 s, 30 s and 600 s for an instance at the three scales, building of the program included",
    seeds="the name of the instance",
    measures="seconds to proof, and multiples of the seconds of a bare compiled Viterbi pass over the same scores without rules; statuses, bounds and "
    "incumbents. An instance is easy where the engine proves its optimum within a second, hard where any program "
    "has ever proved it, and open otherwise. Certificates of the engine are rechecked, the bounds of open instances "
    "included. Each optimum must agree with every other score and bound, and with what is known from earlier runs",
    parts=tuple(FAMILIES),
    page=report,
    check=known.check,
)
