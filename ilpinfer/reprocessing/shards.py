"""Division of corpora into shards, and decoding of a shard."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from ilpinfer.core.solution import Solution
from ilpinfer.corpus.examples import Example, InputError, Rejection, fingerprint
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.decoding.reporting import failure
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.pipelines.scored_stream import Trellises, in_order
from ilpinfer.pipelines.trellises import ScoredSequence, score_example
from ilpinfer.reprocessing.tables import ShardEntry, table_of

TOKENS = 200_000
"""Largest size of a shard: it ends with the sequence by which it reaches this number of tokens."""


@dataclass(frozen=True)
class Shard:
    """Sequences whose results are written to one file, with the number of the first one."""

    number: int
    begin: int
    examples: tuple[Example, ...]

    @property
    def digest(self) -> str:
        texts = "".join(map(fingerprint, self.examples))
        return hashlib.sha256(texts.encode()).hexdigest()


@dataclass(frozen=True)
class Work:
    """Decoder, model (None for sequences with scores), scheme and digest of a run, which are sent to each process once."""

    decoder: Decoder
    model: SequenceModel | None
    scheme: str
    run: str


def shards(
    records: Iterable[Example | Rejection], size: int, reject: Callable[[Rejection], None]
) -> Iterator[Shard]:
    """Shards of `size` sequences, or fewer if these are long; `reject` receives rejected records."""
    number = begin = tokens = 0
    examples: list[Example] = []
    for each in records:
        if isinstance(each, Rejection):
            reject(each)
            continue
        # other processes do not need the text of the whole document
        examples.append(replace(each, passage=None))
        tokens += len(each.tokens)
        if len(examples) == size or tokens >= TOKENS:
            yield Shard(number, begin, tuple(examples))
            number, begin, tokens, examples = number + 1, begin + len(examples), 0, []
    if examples:
        yield Shard(number, begin, tuple(examples))


def decode_shard(
    shard: Shard, work: Work, check: Callable[[], None] = lambda: None
) -> tuple[bytes, ShardEntry]:
    """The file and the entry of a shard; `check` is called before each sequence, and may raise an error."""
    rows = (
        (shard.begin + at, item, solution)
        for at, (item, solution) in enumerate(decode_examples(shard.examples, work, check))
    )
    return table_of(rows, work.run, shard.number, shard.digest)


def decode_examples(
    examples: Iterable[Example], work: Work, check: Callable[[], None]
) -> Iterator[tuple[ScoredSequence, Solution]]:
    """The sequences with their solutions; the solution of a sequence that cannot be scored or decoded has the error."""

    def scored() -> Iterator[ScoredSequence]:
        for example in examples:
            check()
            try:
                yield score_example(example, work.model, work.scheme, work.decoder.rules.never)
            except InputError as error:
                yield ScoredSequence(example, None, None, error)

    trellises = Trellises(scored())
    solutions = work.decoder.decode_many(trellises, on_error="row")
    yield from in_order(trellises, solutions, lambda error: failure(error, "none"))
