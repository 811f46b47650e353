"""Streams of scored sequences, with checks of the rules."""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Protocol, Self, TypeVar

from formulations import RuleSet, Trellis
from ilpinfer.corpus.examples import Example, InputError, Notify, Rejection
from ilpinfer.errors import describe
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.pipelines.fit import SAMPLE, about_rules
from ilpinfer.pipelines.rule_check import RuleCheck
from ilpinfer.pipelines.trellises import ScoredSequence, score_example

Result = TypeVar("Result")
MOST_HELD = 200
"""Sequences that are held back until one of them can be scored, and the rules fit its labels."""
MOST_TOKENS = 100_000
"""Tokens of the sequences by which rules are judged."""


class ExampleSource(Protocol):
    """Examples that may have to be waited for."""

    @property
    def paused(self) -> bool:
        """Whether the next one has to be."""
        ...

    def __iter__(self) -> Iterator[Example | Rejection]: ...


class ScoredStream:
    """Examples with scores, one after the other.

    The first sequences show whether the model can score any, and whether the rules fit the labels: they are held back while
    neither is known. How well the rules fit is said once `SAMPLE` sequences were taken, or at the end.
    """

    def __init__(
        self,
        examples: ExampleSource,
        model: SequenceModel | None,
        rules: RuleSet,
        scheme: str,
        notify: Notify,
        not_used: str = "",
    ) -> None:
        self._examples, self._model, self._rules, self._scheme = examples, model, rules, scheme
        self._notify, self._not_used = notify, not_used
        self._check = RuleCheck(rules)
        self._sample: list[Trellis] | None = []
        self._tokens = 0
        self._said = set[str]()
        self._ready: deque[ScoredSequence] = deque()
        self._items = self._all()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> ScoredSequence:
        return next(self._items)

    @property
    def paused(self) -> bool:
        """Whether the next sequence has to be waited for."""
        return not self._ready and self._examples.paused

    def _all(self) -> Iterator[ScoredSequence]:
        first: ScoredSequence | None = None
        scored = False
        for found in self._examples:
            if isinstance(found, Rejection):
                raise found.error
            item = self._score(found)
            first = first or item
            scored = scored or item.trellis is not None
            self._look(item)
            self._ready.append(item)
            if scored and self._check.settled:
                yield from self._released()
            elif len(self._ready) > MOST_HELD:
                break
        if first is not None and first.error is not None and not scored:
            raise InputError(f"{first.example.where}: {describe(first.error)}") from first.error
        self._check.finish()
        self._say()
        yield from self._released()

    def _score(self, example: Example) -> ScoredSequence:
        try:
            return score_example(example, self._model, self._scheme)
        except (MemoryError, RecursionError, OSError) as error:
            raise InputError(f"{example.where}: {describe(error)}") from error

    def _released(self) -> Iterator[ScoredSequence]:
        while self._ready:
            yield self._ready.popleft()

    def _look(self, item: ScoredSequence) -> None:
        """Compare a sequence with the rules."""
        self._check.add(item)
        if item.example.scores is None:
            self._not_used = ""
        if self._sample is None:
            self._say()
        elif item.trellis is not None:
            self._sample.append(item.trellis)
            self._tokens += len(item.trellis.tokens)
            if len(self._sample) == SAMPLE or self._tokens > MOST_TOKENS:
                self._say()

    def _say(self) -> None:
        """Give the notices that are new."""
        if self._sample is None:
            texts = self._check.remarks
        else:
            texts = about_rules(self._sample, self._rules, self._check.remarks) if self._sample else []
            left_out = set(self._check.remarks).difference(texts)
            self._said.update(left_out)
            self._sample = None
            if self._not_used:
                self._notify(self._not_used)
        for text in texts:
            if text not in self._said:
                self._said.add(text)
                self._notify(text)


class Trellises:
    """The trellises of scored sequences, which are kept until they are taken, also those without a trellis."""

    def __init__(self, scored: Iterator[ScoredSequence]) -> None:
        self._scored = scored
        self.waiting: deque[ScoredSequence] = deque()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Trellis:
        while True:
            item = next(self._scored)
            self.waiting.append(item)
            if item.trellis is not None:
                return item.trellis

    @property
    def paused(self) -> bool:
        """Whether the next trellis has to be waited for."""
        return bool(getattr(self._scored, "paused", False))

    @property
    def first(self) -> Trellis:
        """The first of those that are kept."""
        return next(item.trellis for item in self.waiting if item.trellis is not None)


def in_order(
    trellises: Trellises, results: Iterable[Result]
) -> Iterator[tuple[ScoredSequence, Result | None]]:
    """Sequences with their results; None for one that has no trellis."""
    for result in results:
        while trellises.waiting[0].trellis is None:
            yield trellises.waiting.popleft(), None
        yield trellises.waiting.popleft(), result
    while trellises.waiting:
        yield trellises.waiting.popleft(), None
