"""Segmentation of documents (Stokman 2011, section 3.2): tokens are tagged, and lines of tagged tokens are joined to items."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import ilpinfer
from ilpinfer.corpus import NEWLINE
from ilpinfer.evaluation.counts import named_spans
from ilpinfer.models.sequence_model import SequenceModel

OUTSIDE = "O"

Tokens = tuple[str, ...]


@dataclass(frozen=True)
class Segment:
    """A range of whole lines that belongs to a field, by its first and last token."""

    field: str
    first: int
    last: int


def lines(tokens: Sequence[str]) -> list[range]:
    """The tokens of each line, the `@newline@` that ends it among them."""
    ends = [t + 1 for t, token in enumerate(tokens) if token == NEWLINE]
    ends += [len(tokens)] if len(tokens) > (ends[-1] if ends else 0) else []
    return [range(first, last) for first, last in zip([0, *ends], ends, strict=False)]


def describe_lines(tokens: Sequence[str], labels: Sequence[str]) -> Tokens:
    """Each of L lines as the runs of its labels, such as `job title+date`; `blank` where there is nothing on it."""
    return tuple(
        _runs([labels[t] for t in line if tokens[t] != NEWLINE]) or "blank" for line in lines(tokens)
    )


def _runs(names: Sequence[str]) -> str:
    return "+".join(b for a, b in zip(["", *names], names, strict=False) if a != b)


def line_labels(tokens: Sequence[str], segments: Iterable[Segment]) -> Tokens:
    """Gold labels of a tagger of lines: a BIO label for each of L lines."""
    own = lines(tokens)
    result = [OUTSIDE] * len(own)
    starts = {line.start: number for number, line in enumerate(own)}
    ends = {line.stop - 1: number for number, line in enumerate(own)}
    for segment in segments:
        begin, end = starts[segment.first], ends[segment.last]
        inner = f"I-{segment.field}"
        result[begin : end + 1] = [f"B-{segment.field}", *[inner] * (end - begin)]
    return tuple(result)


def viterbi(model: SequenceModel, tokens: Tokens) -> Sequence[str]:
    return ilpinfer.decode(model.trellis(tokens), method="viterbi").labels


@dataclass(frozen=True)
class Segmentation:
    """A tagger of tokens, and a model with BIO labels that scores lines, each described as one token."""

    tagger: SequenceModel
    cutter: SequenceModel

    def cut(self, tokens: Tokens) -> list[Segment]:
        """The segments of T tokens, from left to right."""
        described = describe_lines(tokens, viterbi(self.tagger, tokens))
        result = viterbi(self.cutter, described)
        spans = sorted(named_spans(result, self.cutter.labels.notation), key=lambda span: span[1])
        own = lines(tokens)
        return [Segment(name, own[first].start, own[last].stop - 1) for name, first, last in spans]
