"""Tagging and segmentation in tandem: tag, cut into sections, tag those, cut into items, tag these under rules."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from formulations import Feature, Rule
from formulations.messages import counted
from ilpinfer.core.solution import Solution
from ilpinfer.corpus import NEWLINE
from ilpinfer.decoding.decode import decode
from ilpinfer.evaluation.counts import named_spans
from ilpinfer.models.sequence_model import SequenceModel

OUTSIDE = "O"

Tokens = tuple[str, ...]
Describe = Callable[[Sequence[str], Sequence[str]], str]
"""From the tokens and the labels of a line to the one token that a tagger of lines sees."""


@dataclass(frozen=True)
class Segment:
    """A range of whole lines that belongs to a field.

    Parameters
    ----------
    field : str
        Name of the field.
    first, last : int
        First and last token.

    Examples
    --------
    >>> Segment("education", 0, 7).last
    7
    """

    field: str
    first: int
    last: int


def lines(tokens: Sequence[str]) -> list[range]:
    """The tokens of each line, the `@newline@` that ends it among them."""
    ends = [t + 1 for t, token in enumerate(tokens) if token == NEWLINE]
    ends += [len(tokens)] if len(tokens) > (ends[-1] if ends else 0) else []
    return [range(first, last) for first, last in zip([0, *ends], ends, strict=False)]


def labels_in_order(tokens: Sequence[str], labels: Sequence[str]) -> str:
    """A line as the runs of its labels, such as `job title+date`; `blank` where there is nothing on it."""
    names = [label for token, label in zip(tokens, labels, strict=True) if token != NEWLINE]
    return "+".join(b for a, b in zip(["", *names], names, strict=False) if a != b) or "blank"


def describe_lines(
    tokens: Sequence[str], labels: Sequence[str], describe: Describe = labels_in_order
) -> Tokens:
    """Input of a tagger of lines, from tagged tokens: a text for each of L lines."""
    return tuple(
        describe(tokens[line.start : line.stop], labels[line.start : line.stop]) for line in lines(tokens)
    )


def line_labels(tokens: Sequence[str], segments: Iterable[Segment]) -> Tokens:
    """Gold labels of a tagger of lines: a BIO label for each of L lines."""
    result = [OUTSIDE] * len(lines(tokens))
    starts = {line.start: number for number, line in enumerate(lines(tokens))}
    ends = {line.stop - 1: number for number, line in enumerate(lines(tokens))}
    for segment in segments:
        if segment.first not in starts or segment.last not in ends:
            raise ValueError(
                f"segment {segment.field!r} from token {segment.first} to {segment.last} is not made of whole lines"
            )
        for number in range(starts[segment.first], ends[segment.last] + 1):
            result[number] = f"{'B' if number == starts[segment.first] else 'I'}-{segment.field}"
    return tuple(result)


@dataclass(frozen=True)
class Level:
    """One level of segmentation: tokens are tagged, and lines of tagged tokens are joined to segments.

    Stokman 2011, section 3.2.

    Parameters
    ----------
    tagger : SequenceModel
        Model that scores tokens.
    cutter : SequenceModel
        Model that scores lines, each described as one token. Its labels are BIO, so that segments end at ends
        of lines.
    keep : str, optional
        Field of the segments that the next level divides; None for all.
    rules : tuple of Rule or Feature, optional
        Rules for the segmentation.
    describe : Describe, default labels_in_order
        Function from a tagged line to the token that the cutter reads.

    Examples
    --------
    >>> from ilpinfer.models.hmm import HMM
    >>> tagger = HMM.train([(["Ada", "1815"], ["name", "year"])])
    >>> cutter = HMM.train([(["name+year"], ["B-person"]), (["name+year", "name"], ["B-person", "I-person"])])
    >>> Level(tagger, cutter).cut(("Alan", "1912"))
    [Segment(field='person', first=0, last=1)]
    """

    tagger: SequenceModel
    cutter: SequenceModel
    keep: str | None = None
    rules: tuple[Rule | Feature, ...] = ()
    describe: Describe = labels_in_order

    def cut(self, tokens: Tokens) -> list[Segment]:
        """The segments of T tokens, from left to right.

        Parameters
        ----------
        tokens : Tokens
            T texts.

        Returns
        -------
        list of Segment
            The segments from left to right.
        """
        tagged = decode(self.tagger.trellis(tokens), method="viterbi").labels
        description = describe_lines(tokens, tagged, self.describe)
        result = decode(self.cutter.trellis(description), self.rules).labels
        spans = sorted(named_spans(result, self.cutter.labels.notation), key=lambda span: span[1])
        own = lines(tokens)
        return [Segment(name, own[first].start, own[last].stop - 1) for name, first, last in spans]


@dataclass(frozen=True)
class SegmentedDocument:
    """A document with its labels and segments.

    Parameters
    ----------
    labels : Tokens
        T label names; `O` outside the innermost segments.
    segments : tuple of tuple of Segment
        Segments of each level, in token numbers of the document.
    solutions : tuple of Solution, optional
        Solution of each innermost segment.

    Examples
    --------
    >>> SegmentedDocument(("name", "year"), ((Segment("person", 0, 1),),), ()).labels
    ('name', 'year')
    """

    labels: Tokens
    segments: tuple[tuple[Segment, ...], ...]
    solutions: tuple[Solution, ...] = field(repr=False)


@dataclass(frozen=True)
class Tandem:
    """Levels of segmentation, and a tagger under rules for the innermost segments (Stokman 2011, section 5.1).

    Parameters
    ----------
    levels : tuple of Level
        Levels from the outermost to the innermost, such as sections, then items.
    tagger : SequenceModel
        Model that scores the tokens of an innermost segment.
    rules : tuple of Rule or Feature, optional
        Rules for the labels of an innermost segment.
    method : str, default "auto"
        Decoding method.

    Examples
    --------
    >>> from ilpinfer.models.hmm import HMM
    >>> tagger = HMM.train([(["Ada", "1815"], ["name", "year"])])
    >>> Tandem((), tagger).label(("Alan", "1912")).labels
    ('name', 'year')
    """

    levels: tuple[Level, ...]
    tagger: SequenceModel
    rules: tuple[Rule | Feature, ...] = ()
    method: str = "auto"

    def label(
        self, tokens: Tokens, fixed_segments: Sequence[Iterable[Segment] | None] = ()
    ) -> SegmentedDocument:
        """Label a document.

        Parameters
        ----------
        tokens : Tokens
            T texts.
        fixed_segments : sequence of iterable of Segment or None, optional
            Segments of each level, such as gold ones, or None to predict them; levels beyond the list are
            predicted.

        Returns
        -------
        SegmentedDocument
            Labels and segments.

        Raises
        ------
        ValueError
            For more lists of segments than levels, and segments outside the document.
        """
        if len(fixed_segments) > len(self.levels):
            raise ValueError(
                f"segments are given for {len(fixed_segments)} levels, but there are {len(self.levels)}"
            )
        inside = [Segment("", 0, len(tokens) - 1)] if len(tokens) else []
        result: list[tuple[Segment, ...]] = []
        for number, level in enumerate(self.levels):
            fixed = fixed_segments[number] if number < len(fixed_segments) else None
            if fixed is None:
                segments = [segment for outer in inside for segment in _within(level, tokens, outer)]
            else:
                segments = sorted(fixed, key=lambda segment: segment.first)
                _check(segments, len(tokens))
            result.append(tuple(segments))
            inside = [segment for segment in segments if level.keep in (None, segment.field)]
        labels = [OUTSIDE] * len(tokens)
        solutions = []
        for segment in inside:
            solution = decode(self.tagger.trellis(_tokens(tokens, segment)), self.rules, method=self.method)
            solutions.append(solution)
            if solution.has_labelling:
                labels[segment.first : segment.last + 1] = solution.labels
        return SegmentedDocument(tuple(labels), tuple(result), tuple(solutions))


def _tokens(tokens: Tokens, segment: Segment) -> Tokens:
    return tokens[segment.first : segment.last + 1]


def _within(level: Level, tokens: Tokens, outer: Segment) -> list[Segment]:
    segments = level.cut(_tokens(tokens, outer))
    return [
        Segment(segment.field, outer.first + segment.first, outer.first + segment.last)
        for segment in segments
    ]


def _check(segments: Sequence[Segment], T: int) -> None:
    last = -1
    for segment in segments:
        if not last < segment.first <= segment.last < T:
            raise ValueError(
                f"segment {segment.field!r} from token {segment.first} to {segment.last} overlaps another or leaves the {counted(T, 'token')}"
            )
        last = segment.last
