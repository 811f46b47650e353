"""Capacity of `ilpinfer serve`, and what becomes of requests below and above it."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from urllib.request import Request, urlopen

from pandas import DataFrame

from benchmarks import optimum
from benchmarks.data import prepared
from benchmarks.data.corpora import train_and_dev
from benchmarks.report import Cells, Report, groups, number, percent
from benchmarks.studies.serving.load import HOST, Load, Phase, service
from benchmarks.study import Cell, Row, Sources, Study, grid
from benchmarks.timing import time_rounds
from ilpinfer.models.hmm import HMM

SIZE, CLIENTS, DEADLINE = 300, 4, 1.0
"""References of the model, clients that wait for answers, and seconds of each request."""
PATIENCE = 30.0
FIRST, CAPACITY = 0.1, 0.25
PHASES = (("80 %", 0.8, 0.5), ("200 %", 2.0, 0.25), ("80 % again", 0.8, 0.5))
"""Name, share of the capacity, and share of the seconds; a tenth and a quarter of them come before."""


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """A service with so many threads that decode, and the length of its phases."""
    train_and_dev(sources.folder, part)
    workers, runs = sources(smoke=((2,), 1), sample=((1, 2), 1), full=((1, 2, 4), 5))
    return grid(part, workers=workers, seconds=[sources(smoke=0.3, sample=30.0)], number=range(runs))


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    some = prepared.cora(sources.folder, SIZE)
    model = some.decoder.model
    assert isinstance(model, HMM)
    texts = [trellis.tokens for trellis in some.trellises]
    works = {"alone": [lambda tokens=tokens: some.decoder.decode_tokens(tokens).labels for tokens in texts]}
    alone = 1e6 * float(time_rounds(works, 5)["alone"].mean())
    with service(model, cell.workers) as port:
        load = Load(port, texts, DEADLINE)
        phases = asyncio.run(_phases(load, cell))
        _check_answers(some, port)
    return [phase.row(DEADLINE) | {"alone": alone} for phase in phases]


def _check_answers(some: prepared.Prepared, port: int) -> None:
    """Every reference, once more: the answer has to be the optimum, which is rechecked."""
    for trellis in some.trellises:
        body = json.dumps({"tokens": list(trellis.tokens), "deadline": PATIENCE}).encode()
        with urlopen(Request(f"http://{HOST}:{port}/decode", body), timeout=2 * PATIENCE) as answer:
            optimum.confirm(trellis, some.decoder, json.load(answer), "service")


async def _phases(load: Load, cell: Cell) -> list[Phase]:
    """Capacity, shares of it, and capacity again; the first answers of a process take longer, and are left out."""
    before, after = f"{CLIENTS} clients", f"{CLIENTS} clients again"
    await load.closed(before, CLIENTS, FIRST * cell.seconds)
    result = [await load.closed(before, CLIENTS, CAPACITY * cell.seconds)]
    capacity = result[0].statuses["200"] / result[0].took
    for seed, (name, share, length) in enumerate(PHASES, 10 * cell.number):
        result.append(await load.open(name, share * capacity, length * cell.seconds, seed))
    result.append(await load.closed(after, CLIENTS, CAPACITY * cell.seconds))
    load.close()
    return result


def report(frame: DataFrame, report: Report) -> None:
    counts = {
        "answered": "answered",
        "refused (503)": "refused",
        "other": "other",
        "past the deadline": "missed",
    }
    times = {
        "median, ms": "median",
        "99 %, ms": "p99",
        "refused: 99 %, ms": "refused_p99",
        "sent late: 99 %, ms": "late_p99",
        "slowest, ms": "slowest",
    }
    cells: Cells = {
        "offered/s": lambda x: number(x.offered.iloc[0] or None),
        "answered/s": lambda x: number(x.rate.iloc[0]),
        tuple(counts): lambda x: x[[*counts.values()]].iloc[0],
        tuple(times): lambda x: map(number, x[[*times.values()]].astype(float).iloc[0]),
    }
    for (workers, run), some in groups(frame, "workers", "number"):
        report.heading(f"Threads that decode: {workers}" + (f", run {run + 1}" if run else ""))
        report.pivot(some, {"phase": "phase"}, cells)
        for sentence in sentences(some.to_dict("records")):
            report.text(sentence)


def sentences(phases: Sequence[Row]) -> Iterator[str]:
    """Capacity beside decoding alone, and shares of requests."""
    first, *between, last = phases
    request = 1e6 / first["rate"] if first["rate"] else None
    ratio = number(request / first["alone"]) if request else "–"
    yield (
        f"Capacity: {number(first['rate'])} requests a second. Decoding alone takes {number(first['alone'])} µs a reference, "
        f"so that a request costs {ratio} times its decoding. After the other phases the capacity is {number(last['rate'])}; "
        "where both differ much, other work on the machine disturbed the phases between."
    )
    for row in between:
        total = row["answered"] + row["refused"] + row["other"]
        yield (
            f"{row['phase'].capitalize()}: {percent(row['answered'] / total)} % of {total} requests are answered, "
            f"{percent(row['refused'] / total)} % refused, {row['other']} end otherwise, {row['missed']} miss the deadline of {DEADLINE:g} s."
        )


STUDY = Study(
    title="The service under load",
    corpus="the 100 references of Cora's development part, in turn",
    model=f"an HMM of {SIZE} Cora references",
    rules="`citations`",
    methods=f"a service of its own on loopback with 1 or 2 threads that decode (smoke 2; full 4 too, in five runs). {CLIENTS} clients ask "
    "again once they are answered: their answers a second are the capacity. Then requests come at random moments (exponential "
    "gaps), whatever the answers: at 80 % of the capacity, at 200 %, and at 80 % again; at last the capacity is measured again. Clients share the machine with the service",
    limits=f"a deadline of {DEADLINE:g} s a request; 7.5 s for each capacity, 15, 7.5 and 15 s for the phases (smoke: half a second in all)",
    seeds="0, 1, 2 for gaps",
    measures="requests a second; answers by status; milliseconds from sending a request to its answer, by the clock, median and 99th "
    "percentile; how late requests are sent. Unit: decoding the same references in a process without a service. At the end every "
    "reference is asked for once more: its answer has to be the optimum, which is rechecked",
    parts=("cora",),
    timed=True,
)
