"""Documents made of items: generated, public résumés, and Dutch case law; and how they are cut into items."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import ilpinfer
from benchmarks.data.corpora import read_labelled
from benchmarks.data.models import trained
from benchmarks.data.sets import Labelled
from benchmarks.study import Sources
from formulations import RuleSet, dump_rules, load_rules, parse_rules
from ilpinfer.corpus import NEWLINE
from ilpinfer.corpus import resumes as generator
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.pipelines.tandem import OUTSIDE, Level, Segment, describe_lines, line_labels, lines

GENERATED, RESUMES, DUTCH = "generated", "résumés", "case law"
PERFECT, PREDICTED = "perfect", "predicted"
ITEM = "item"
TRAINED_ITEMS, TRAIN_SEED, CUT_SEED, TEST_SEED = 300, 1, 3, 2
MOST_ITEMS = 5
"""Generated items of a document, 2 at least."""


@dataclass(frozen=True)
class Document:
    """T tokens and labels, and the items that they consist of."""

    tokens: tuple[str, ...]
    labels: tuple[str, ...]
    items: tuple[Segment, ...]

    def part(self, item: Segment, breaks: bool) -> list[int]:
        places = range(item.first, item.last + 1)
        return [t for t in places if breaks or self.tokens[t] != NEWLINE]


@dataclass(frozen=True)
class Corpus:
    """Documents to train the tagger and the segmentation on, and to decode; `fields` are named as in the thesis."""

    train: Sequence[Document]
    cut: Sequence[Document]
    test: Sequence[Document]
    outside: str
    fields: Mapping[str, str]
    kind: str = "hmm"
    options: Mapping[str, Any] = field(default_factory=dict)
    breaks: bool = True

    @cached_property
    def tagger(self) -> SequenceModel:
        return trained(self.kind, self.items_of(self.train), **self.options)

    def items_of(self, documents: Sequence[Document]) -> list[Labelled]:
        parts = [
            (document, document.part(item, self.breaks)) for document in documents for item in document.items
        ]
        return [(_at(one.tokens, places), _at(one.labels, places)) for one, places in parts if places]

    @cached_property
    def level(self) -> Level:
        """The segmentation, learnt from tagged lines of other documents."""
        tagger = trained(self.kind, [(one.tokens, one.labels) for one in self.train], **self.options)
        examples = []
        for one in self.cut:
            tagged = ilpinfer.decode(tagger.trellis(one.tokens), method="viterbi").labels
            description = describe_lines(one.tokens, tagged)
            examples.append((description, line_labels(one.tokens, one.items)))
        return Level(tagger, trained("crf", examples, template="general", max_iterations=60))

    def segments(self, document: Document, segmentation: str) -> Sequence[Segment]:
        return document.items if segmentation == PERFECT else self.level.cut(document.tokens)

    def rules(self, name: str) -> RuleSet:
        """Rules of the catalogue, in the names of this corpus."""
        return RuleSet(()) if name == "none" else renamed(load_rules(name), self.fields)


def renamed(rules: RuleSet, fields: Mapping[str, str]) -> RuleSet:
    """The rules with fields of other names; `O` exists undeclared."""
    text = dump_rules(rules)
    for old, new in fields.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    return parse_rules(text.replace(f', "{OUTSIDE}"]', "]", 1))


def corpus(name: str, sources: Sources) -> Corpus:
    trained_items = sources(smoke=30, sample=TRAINED_ITEMS, full=TRAINED_ITEMS)
    result = _made(name, sources.folder, sources(smoke=9, sample=312, full=3120), trained_items)
    return replace(result, test=result.test[:2]) if sources.scale == "smoke" else result


@cache
def _made(name: str, folder: Path, items: int, trained_items: int) -> Corpus:
    if name == GENERATED:
        train, cut = (generated(trained_items, seed) for seed in (TRAIN_SEED, CUT_SEED))
        own = ("description", "job title", "date", "organization", "ignore")
        return Corpus(train, cut, generated(items, TEST_SEED), "ignore", dict(zip(own, own, strict=True)))
    if name == RESUMES:
        documents = [
            document_of(tokens, _plain(labels), OUTSIDE, ())
            for tokens, labels in read_labelled(folder / "resume" / "experience_train.tsv")
        ]
        names = {
            "job title": "Designation",
            "organization": "Companies_worked_at",
            "date": "Years_of_Experience",
        }
        return Corpus(documents[::4], documents[2::4], documents[1::2], OUTSIDE, names | {"ignore": OUTSIDE})
    documents = [
        document_of(tokens, labels, "NEWLINE", ("TEXT_BLOCK",))
        for tokens, labels in read_labelled(folder / "rechtspraak" / "all.tsv")
    ]
    names = {"description": "TEXT_BLOCK", "job title": "SECTION_TITLE", "ignore": "NEWLINE"}
    options = {"template": "case-law", "max_iterations": 60}
    return Corpus(documents[::4], documents[2::4], documents[1::2], "NEWLINE", names, "crf", options, False)


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
            labels += [*item.labels, generator.IGNORE]
            segments.append(Segment(ITEM, first, len(tokens) - 1))
        result.append(Document(tuple(tokens), tuple(labels), tuple(segments)))
        items = items[size:]
    return result


def document_of(tokens: Sequence[str], labels: Sequence[str], outside: str, body: Sequence[str]) -> Document:
    """A document whose items begin with each line that has a field of a heading and follows one that has none."""
    firsts, inside = [0], True
    for line in lines(tokens):
        names = {labels[t] for t in line if tokens[t] != NEWLINE}
        heading = bool(names - {outside, *body})
        if heading and not inside:
            firsts.append(line.start)
        inside = heading if names else inside
    ends = [*(first - 1 for first in firsts[1:]), len(tokens) - 1]
    items = (Segment(ITEM, first, last) for first, last in zip(firsts, ends, strict=True))
    return Document(tuple(tokens), tuple(labels), tuple(items))


def _plain(labels: Sequence[str]) -> tuple[str, ...]:
    return tuple(label if label == OUTSIDE else label[2:] for label in labels)


def _at(values: Sequence[str], places: Sequence[int]) -> tuple[str, ...]:
    return tuple(values[t] for t in places)
