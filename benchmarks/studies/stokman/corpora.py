"""Documents made of generated items, their tagger, and how they are cut into items."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from benchmarks.data.models import trained
from benchmarks.studies.stokman.segments import Segment, Segmentation, describe_lines, line_labels, viterbi
from benchmarks.study import Sources
from ilpinfer.corpus import NEWLINE
from ilpinfer.corpus import resumes as generator
from ilpinfer.models.sequence_model import SequenceModel

PERFECT, PREDICTED = "perfect", "predicted"
ITEM, OUTSIDE = "item", generator.IGNORE
TRAINED_ITEMS, TRAIN_SEED, CUT_SEED, TEST_SEED = 300, 1, 3, 2
MOST_ITEMS = 5
"""Items of a document, 2 at least."""


@dataclass(frozen=True)
class Document:
    """T tokens and labels, and the items that they consist of."""

    tokens: tuple[str, ...]
    labels: tuple[str, ...]
    items: tuple[Segment, ...]


@dataclass(frozen=True)
class Corpus:
    """Documents to train the tagger and the segmentation on, and to decode."""

    train: Sequence[Document]
    cut: Sequence[Document]
    test: Sequence[Document]

    @cached_property
    def tagger(self) -> SequenceModel:
        """Learnt from single items."""
        places = [(one, slice(item.first, item.last + 1)) for one in self.train for item in one.items]
        return trained("hmm", [(one.tokens[place], one.labels[place]) for one, place in places])

    @cached_property
    def segmentation(self) -> Segmentation:
        """Learnt from tagged lines of other documents."""
        tagger = trained("hmm", [(one.tokens, one.labels) for one in self.train])
        examples = [
            (describe_lines(one.tokens, viterbi(tagger, one.tokens)), line_labels(one.tokens, one.items))
            for one in self.cut
        ]
        return Segmentation(tagger, trained("crf", examples, template="general", max_iterations=60))

    def segments(self, document: Document, segmentation: str) -> Sequence[Segment]:
        return document.items if segmentation == PERFECT else self.segmentation.cut(document.tokens)


@cache
def corpus(sources: Sources) -> Corpus:
    trained_items = sources(smoke=30, sample=TRAINED_ITEMS)
    train, cut = (generated(trained_items, seed) for seed in (TRAIN_SEED, CUT_SEED))
    return Corpus(train, cut, tested(sources))


@cache
def tested(sources: Sources) -> list[Document]:
    return generated(sources(smoke=9, sample=312, full=936), TEST_SEED)[: sources(smoke=2, sample=None)]


def generated(number: int, seed: int) -> list[Document]:
    """Documents of 2 to 5 generated items each, the last one of what is left."""
    rng, items, result = random.Random(seed), generator.items(number, seed), []
    while items:
        size = rng.randint(2, MOST_ITEMS)
        tokens: list[str] = []
        labels: list[str] = []
        segments = []
        for item in items[:size]:
            first = len(tokens)
            tokens += [*item.tokens, NEWLINE]
            labels += [*item.gold, OUTSIDE]
            segments.append(Segment(ITEM, first, len(tokens) - 1))
        result.append(Document(tuple(tokens), tuple(labels), tuple(segments)))
        items = items[size:]
    return result
