"""Input of commands that decode sequence by sequence, with notices on standard error."""

import contextlib
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Self

from ilpinfer.cli.inputs import InputOptions, Job, about, not_used
from ilpinfer.cli.streams import notice
from ilpinfer.corpus.examples import Example, Rejection
from ilpinfer.corpus.streams import CorpusForm, ExampleStream, open_stream
from ilpinfer.pipelines.scored_stream import ScoredStream


class Peekable:
    """A stream of examples that has read the first one, so that an empty input is an error at once.

    Parameters
    ----------
    stream : of examples and rejections
    source : name of the input for errors
    """

    def __init__(self, stream: ExampleStream, source: str) -> None:
        self._stream, self._source = stream, source
        with about(source):
            self._first: deque[Example | Rejection] = deque(islice(stream, 1))

    @property
    def first(self) -> Example | Rejection:
        """The first example, until it is yielded."""
        return self._first[0]

    @property
    def paused(self) -> bool:
        """Whether the next example has to be waited for."""
        return not self._first and self._stream.paused

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Example | Rejection:
        if self._first:
            return self._first.popleft()
        with about(self._source):
            found = next(self._stream, None)
        if found is None:
            raise StopIteration
        return found


@contextlib.contextmanager
def opened(options: InputOptions, form: CorpusForm) -> Iterator[Peekable]:
    """The examples of an input; InputError if it has none."""
    with open_stream(options.source, form, notice) as stream:
        examples = Peekable(stream, options.source)
        if isinstance(examples.first, Rejection):
            raise examples.first.error
        yield examples


def scored_stream(options: InputOptions, examples: Peekable, job: Job) -> ScoredStream:
    """The examples, scored one by one."""
    beside = not_used(options) if options.model else ""
    return ScoredStream(examples, job.model, job.rules, job.scheme, notice, beside)
