"""What a sequence costs through each entrance: all sentences of a tagger, single calls, and two threads."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

import ilpinfer
from benchmarks.optimum import recheck
from benchmarks.studies.doors.tagger import MORE, SENTENCES, Ids, Scores, Sentences, rules_of, sentences
from benchmarks.study import Cell, Disagreement, Row, Sources
from benchmarks.timing import Work, one_core, time_rounds, viterbi_calls
from formulations import RuleSet, Trellis
from formulations import constraints as C
from ilpinfer.corpus.logits import from_logits

BARE = "bare Viterbi pass"
PADDED, LISTED = "`decode_scores`, padded array and mask", "`decode_scores`, list of arrays"
MANY, ONE, PLAIN = (
    "`decode_many`, trellises",
    "`Decoder.decode`, trellis",
    "`ilpinfer.decode`, trellis and rules",
)
LOGITS = "`from_logits` and `Decoder.decode`"
SENTENCE = "`Decoder.decode`, nothing broken"
FROM_EMISSIONS, FROM_LOGITS = "`Trellis.from_emissions`", "`from_logits`"
DECODED, MADE = "36 tokens, 13 labels", "32 tokens, 9 labels"
FEW, CLEAR = 20, 0.3
"""Sentences of single calls, and noise that leaves nothing broken."""
THREADS, ROUNDS = (1, 2), 7
Way = Callable[[], Iterable[Any]]
"""From scores or trellises to the label ids of all sentences."""


def number(sources: Sources) -> int:
    """Of sentences."""
    return sources(smoke=20, sample=SENTENCES)


def padded(decoder: ilpinfer.Decoder, some: Sentences, threads: int = 1) -> Iterable[Ids]:
    return decoder.decode_scores(some.padded, some.transitions, mask=some.mask, threads=threads).ids


def many(decoder: ilpinfer.Decoder, some: Sentences, threads: int = 1) -> Iterable[Ids]:
    return [solution.ids for solution in decoder.decode_many(some.trellises, threads=threads)]


def ways(some: Sentences, rules: RuleSet) -> Mapping[str, Way]:
    """Each entrance, with the rules."""
    decoder = ilpinfer.Decoder(rules, some.names)

    def of_logits(logits: Scores) -> Ids:
        return decoder.decode(from_logits(logits, some.names, transitions=some.transitions)).ids

    return {
        PADDED: partial(padded, decoder, some),
        LISTED: lambda: decoder.decode_scores(some.emissions, some.transitions).ids,
        MANY: partial(many, decoder, some),
        ONE: lambda: [decoder.decode(trellis).ids for trellis in some.trellises],
        PLAIN: lambda: [ilpinfer.decode(trellis, rules).ids for trellis in some.trellises],
        LOGITS: lambda: [of_logits(each) for each in some.emissions],
    }


def batches(sources: Sources, cell: Cell) -> Iterator[Row]:
    """All sentences through each entrance; all have to find the same labellings, which are rechecked."""
    some, rules = sentences(number(sources)), rules_of(cell.rules)
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


def single(sources: Sources, cell: Cell) -> Iterator[Row]:
    """Single calls by the clock, on some sentences of one length."""
    T = int(cell.data.split()[0])
    few, rounds = sources(smoke=2, sample=FEW), sources(smoke=1, sample=31)
    if cell.data == DECODED:
        some = sentences(few, MORE, (T, T + 1), CLEAR)
        rules = RuleSet((C.valid_scheme(), C.at_most_runs(C.EACH_FIELD, 1), C.max_run_length("person", 3)))
        decoder = ilpinfer.Decoder(rules, some.names)
        solutions = [recheck(trellis, rules, decoder.decode(trellis)) for trellis in some.trellises]
        assert all(solution.method == "auto: viterbi" for solution in solutions)
        works: dict[str, list[Work]] = {SENTENCE: [partial(decoder.decode, one) for one in some.trellises]}
    else:
        some, rules = sentences(few, lengths=(T, T + 1)), rules_of(0)
        words = [f"word {t}" for t in range(T)]
        works = {name: [partial(make, some, each, words) for each in some.emissions] for name, make in MAKERS}
    yield from each_call(some.trellises, rules, works, rounds)


def each_call(
    trellises: Sequence[Trellis], rules: RuleSet, works: Mapping[str, Sequence[Work]], rounds: int
) -> Iterator[Row]:
    """Median microseconds of each piece of work by the clock, beside the bare passes of the same trellises."""
    with one_core():
        spent = time_rounds({BARE: viterbi_calls(trellises, rules), **works}, rounds)
    each = {name: np.round(1e6 * seconds, 2).tolist() for name, seconds in spent.items()}
    for name in works:
        yield {"way": name, "sequences": len(trellises), "spent": each[name], "bare": each[BARE]}


def _of_emissions(some: Sentences, scores: Scores, words: Sequence[str]) -> Trellis:
    return Trellis.from_emissions(scores, some.transitions, labels=some.names, tokens=words)


def _of_logits(some: Sentences, scores: Scores, words: Sequence[str]) -> Trellis:
    return from_logits(scores, some.names, transitions=some.transitions, tokens=words)


MAKERS = ((FROM_EMISSIONS, _of_emissions), (FROM_LOGITS, _of_logits))


def threads(sources: Sources, cell: Cell) -> Iterable[Row]:
    """Microseconds a sentence by one thread and by two: the best of several rounds, as both cores are free in few of them."""
    some, rules = sentences(number(sources)), rules_of(cell.rules)
    decoder, N = ilpinfer.Decoder(rules, some.names), len(some.trellises)
    for name, way in ((PADDED, padded), (MANY, many)):
        works: dict[str, list[Work]] = {str(n): [partial(way, decoder, some, n)] for n in THREADS}
        spent = time_rounds(works, sources(smoke=1, sample=ROUNDS), choice=np.min)
        yield {"way": name} | {each: 1e6 * float(seconds[0]) / N for each, seconds in spent.items()}
