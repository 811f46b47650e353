"""Division of corpora into shards, and decoding of a shard."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from ilpinfer.core.solution import Solution
from ilpinfer.corpus.examples import Example, InputError, Rejection, fingerprint
from ilpinfer.corpus.slices import InputPosition
from ilpinfer.corpus.streams import ExampleStream
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.decoding.reporting import failure
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.pipelines.scored_stream import by_rules, in_order
from ilpinfer.pipelines.trellises import ScoredExample, score_example
from ilpinfer.reprocessing.tables import InputSlice, ShardEntry, table_of

TOKENS = 200_000
"""A shard ends with the sequence that reaches this number of tokens."""


@dataclass(frozen=True)
class Shard:
    """Sequences whose results are written to one file, and the number of the first sequence."""

    number: int
    begin: int
    examples: tuple[Example, ...]

    @property
    def digest(self) -> str:
        texts = "".join(map(fingerprint, self.examples))
        return hashlib.sha256(texts.encode()).hexdigest()


@dataclass(frozen=True)
class Work:
    """Settings that are sent to each process once: decoder, model (None for scored sequences), scheme, digest, threads, and whether to explain labels."""

    decoder: Decoder
    model: SequenceModel | None
    scheme: str
    run: str
    threads: int = 1
    explain: bool = False


@dataclass
class ShardReader:
    """Reads shards of at most `size` sequences, see `TOKENS`; `reject` receives rejected records.

    It reads record number `part` and every `parts`-th record after it. `number`, `begin` (number of the first sequence) and `place`
    (begin of the input slice, None if unknown) belong to the next shard. `rest` is the slice after the last shard.
    """

    stream: ExampleStream
    size: int
    reject: Callable[[Rejection], None]
    part: int = 1
    parts: int = 1
    number: int = field(default=0, init=False)
    begin: int = field(default=0, init=False)
    place: InputPosition | None = field(default=InputPosition(), init=False)
    rest: InputSlice | None = field(default=None, init=False)
    _records: int = field(default=0, init=False)
    _passed: bool = field(default=False, init=False)

    def read(self) -> tuple[Shard, InputSlice | None] | None:
        """The next shard and its slice; None at the end of the input."""
        if self._passed and self.place is not None:
            self.stream.go_to(self.place)
        self._passed = False
        tokens = rejected = 0
        examples: list[Example] = []
        for each in self.stream:
            self._records += 1
            if (self._records - self.part) % self.parts:
                continue
            if isinstance(each, Rejection):
                rejected += 1
                self.reject(each)
                continue
            # other processes do not need the text of the document
            examples.append(replace(each, passage=None))
            tokens += len(each.tokens)
            if len(examples) == self.size or tokens >= TOKENS:
                break
        place = None if self.place is None else self.stream.place
        digest = self.stream.end_slice()
        slice_ = (
            None
            if place is None
            else InputSlice(place.file, place.offset, place.line, self._records, rejected, digest)
        )
        if not examples:
            self.rest = slice_
            return None
        shard = Shard(self.number, self.begin, tuple(examples))
        self.number, self.begin, self.place = self.number + 1, self.begin + len(examples), place
        return shard, slice_

    def pass_over(self, rows: int, slice_: InputSlice) -> None:
        """Skip a shard."""
        self.number, self.begin, self._records = self.number + 1, self.begin + rows, slice_.records
        self.place, self._passed = slice_.end, True


def decode_shard(
    shard: Shard, work: Work, check: Callable[[], None] = lambda: None
) -> tuple[bytes, ShardEntry]:
    """The file and the entry of a shard; `check` is called before each sequence, and may raise an error to stop."""
    rows = (
        (shard.begin + at, item, solution)
        for at, (item, solution) in enumerate(decode_examples(shard.examples, work, check))
    )
    return table_of(rows, work.run, shard.number, shard.digest, explain=work.explain)


def scored(example: Example, work: Work) -> ScoredExample:
    """A sequence with its trellis, or with the error."""
    try:
        return score_example(example, work.model, work.scheme, work.decoder.rules.never)
    except InputError as error:
        return ScoredExample(None, example=example, error=error)


def decode_examples(
    examples: Iterable[Example], work: Work, check: Callable[[], None]
) -> Iterator[tuple[ScoredExample, Solution]]:
    """Sequences with solutions; for a sequence that cannot be scored or decoded, the solution has the error."""

    def checked() -> Iterator[ScoredExample]:
        for example in examples:
            check()
            yield scored(example, work)

    for metadata, trellises in by_rules(checked(), work.decoder.rules):
        decoder = work.decoder.of(metadata)
        solutions = decoder.decode_many(trellises, threads=work.threads, on_error="row")
        yield from in_order(trellises, solutions, lambda error: failure(Solution, error, "none"))
