"""What a sequence costs through each entrance: all sentences of a tagger."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from pandas import DataFrame

import ilpinfer
from benchmarks.optimum import recheck
from benchmarks.report import Cells, Report, number, percent
from benchmarks.studies.doors.tagger import SENTENCES, Ids, Scores, Sentences, rules_of, sentences
from benchmarks.study import Cell, Disagreement, Row, Sources
from benchmarks.timing import Work, one_core, time_rounds, viterbi_calls
from formulations import RuleSet
from ilpinfer.corpus.logits import from_logits

BARE = "bare Viterbi pass"
PADDED, LISTED = "`decode_scores`, padded array and mask", "`decode_scores`, list of arrays"
MANY, ONE, PLAIN = (
    "`decode_many`, trellises",
    "`Decoder.decode`, trellis",
    "`ilpinfer.decode`, trellis and rules",
)
LOGITS = "`from_logits` and `Decoder.decode`"
PURPOSES: Mapping[str, str] = {
    PADDED: "is for the batch of a network as it is",
    LISTED: "is for sequences that were scored one by one, and needs no padding",
    MANY: "is for trellises of any kind, also from a generator, and gives a solution of each",
    ONE: "is for one sequence at a time in a running program: the rules are compiled once",
    PLAIN: "is for a script: it has to find the compiled rules of each call",
    LOGITS: "is for one sequence at a time that has no trellis yet",
}
TIMES: Cells = {
    "ms": lambda x: number(x.spent.iloc[0] * x.sequences.iloc[0] / 1000),
    "µs a sentence": lambda x: number(x.spent.iloc[0]),
    "× bare pass": lambda x: number((x.spent / x.bare).iloc[0]),
}
Way = Callable[[], Iterable[Any]]
"""From scores or trellises to the label ids of all sentences."""


def count(sources: Sources) -> int:
    """Of sentences."""
    return sources(smoke=20, sample=SENTENCES)


def padded(decoder: ilpinfer.Decoder, some: Sentences) -> Iterable[Ids]:
    return decoder.decode_scores(some.padded, some.transitions, mask=some.mask).ids


def ways(some: Sentences, rules: RuleSet) -> Mapping[str, Way]:
    """Each entrance, with the rules."""
    decoder = ilpinfer.Decoder(rules, some.names)

    def of_logits(logits: Scores) -> Ids:
        return decoder.decode(from_logits(logits, some.names, transitions=some.transitions)).ids

    return {
        PADDED: partial(padded, decoder, some),
        LISTED: lambda: decoder.decode_scores(some.emissions, some.transitions).ids,
        MANY: lambda: [solution.ids for solution in decoder.decode_many(some.trellises)],
        ONE: lambda: [decoder.decode(trellis).ids for trellis in some.trellises],
        PLAIN: lambda: [ilpinfer.decode(trellis, rules).ids for trellis in some.trellises],
        LOGITS: lambda: [of_logits(each) for each in some.emissions],
    }


def batches(sources: Sources, cell: Cell) -> Iterator[Row]:
    """All sentences through each entrance; all have to find the same labellings, which are rechecked."""
    some, rules = sentences(count(sources)), rules_of(cell.rules)
    own = ways(some, rules)
    batch = ilpinfer.decode_scores(some.emissions, some.transitions, rules=rules, labels=some.names)
    found = [recheck(*pair) for pair in zip(some.trellises, [rules] * len(batch), batch, strict=True)]
    for name, way in own.items():
        for one, ids in zip(found, way(), strict=True):
            if not np.array_equal(one.ids, ids[: len(one.ids)]):
                raise Disagreement(f"{name}: {ids} is not {one.ids}, as `ilpinfer.decode_scores` says")
    about = {
        "nothing_broken": sum(solution.method == "auto: viterbi" for solution in found),
        "tokens": int(some.mask.sum()),
    }
    for name, row in timed(some, rules, own, sources(smoke=1, sample=15)):
        yield {"way": name, **row, **about}


def timed(some: Sentences, rules: RuleSet, own: Mapping[str, Work], rounds: int) -> Iterator[tuple[str, Row]]:
    """Microseconds a sentence of the bare pass and of each way, the medians of rounds of processor time on one core."""
    bare, N = viterbi_calls(some.trellises, rules), len(some.trellises)
    works: dict[str, list[Work]] = {BARE: [lambda: [unit() for unit in bare]]}
    with one_core():
        spent = time_rounds(works | {name: [work] for name, work in own.items()}, rounds, time.process_time)
    seconds = {name: 1e6 * float(each[0]) / N for name, each in spent.items()}
    for name, own_seconds in seconds.items():
        yield name, {"sequences": N, "spent": own_seconds, "bare": seconds[BARE]}


def report(frame: DataFrame, report: Report) -> None:
    report.heading("All sentences of a tagger")
    some = frame[frame.way == BARE]
    broken = " and ".join(
        f"{percent(1 - row.nothing_broken / row.sequences, 0)} % of the sentences without rules break the scheme or one of {row.rules} rules"
        for row in some.itertuples()
    )
    report.text(
        f"{some.sequences.iloc[0]} sentences, {some.tokens.iloc[0]} tokens, one thread. The best labellings of {broken}. Every way ends "
        "with the label ids of all sentences, which are the same, and whose proofs are rechecked. Milliseconds are of all sentences together."
    )
    report.pivot(frame, {"entrance": "way", "rules": "rules"}, TIMES)
    report.text("\n".join(f"- {name} {purpose}." for name, purpose in PURPOSES.items()))
