"""Draws of documents to train on and to evaluate on, and files of the logits of taggers, in eighths of a nat."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data.corpora import drawn, read_labelled, train_and_dev
from benchmarks.data.sets import Labelled
from benchmarks.study import Missing
from formulations import LabelSet, Trellis, join
from formulations.dtypes import Floats
from formulations.labels.schemes import OUTSIDE
from ilpinfer.learning import ScoredExample
from ilpinfer.models.external import from_logits
from ilpinfer.pipelines.cross_validation import make_folds, without

FOLDER = Path(__file__).parent / "logits"
EIGHTHS, LOWEST = 8, 12
"""Steps of a nat that are kept of a logit, and nats below the largest one of a token from where on all are the same."""
LAYER = ("transitions", "start", "end")
Document = list[Labelled]


@dataclass(frozen=True)
class Sizes:
    """Numbers of documents to train and to evaluate on; the part of training that is held out, 1 of so many, and documents of it that are kept."""

    training: int
    evaluated: int
    folds: int
    kept: int


CORPORA = {
    "cora": Sizes(300, 100, 3, 100),
    "umass": Sizes(1457, 160, 5, 200),
    "resume": Sizes(150, 71, 3, 50),
    "names": Sizes(240, 60, 4, 60),
}
"""A document is a reference, a section of a résumé, or a report of the news agency with its sentences."""
SOFTMAX = "-softmax"
"""Ends the names of parts whose taggers have no CRF layer."""
PARTS = (*CORPORA, f"cora{SOFTMAX}", f"names{SOFTMAX}")


@dataclass(frozen=True)
class Draw:
    """What the tagger is trained on and what it labels; and the same for a tagger that is trained without a part of training."""

    training: list[Document]
    evaluated: list[Document]
    rest: list[Document]
    held_out: list[Document]


def draw_of(folder: Path, part: str, number: int) -> Draw:
    """The first draw has the parts of the corpus, if there are any; the second one mixes them."""
    corpus = part.removesuffix(SOFTMAX)
    sizes = CORPORA[corpus]
    if corpus == "resume":
        train, dev = [[pair] for pair in read_labelled(folder / "resume" / "experience_train.tsv")], []
    else:
        parts = train_and_dev(folder, corpus)
        train, dev = (documents(some) if corpus == "names" else [[pair] for pair in some] for some in parts)
    if number or not dev:
        every, most = drawn([*train, *dev], [number, 1]), len(train) if dev else 2 * len(train) // 3
        train, dev = every[:most], every[most:]
    training = drawn(train, [number, 2])[: sizes.training]
    fold = make_folds(range(len(training)), sizes.folds, number)[0]
    rest = [training[place] for place in without(fold, len(training))]
    held_out = [training[place] for place in fold[: sizes.kept]]
    return Draw(training, drawn(dev, [number, 3])[: sizes.evaluated], rest, held_out)


@dataclass(frozen=True)
class Tagger:
    """What one tagger says about documents: logits (T, K) of each sentence, and its CRF layer."""

    documents: list[Document]
    logits: list[list[Floats]]
    layer: dict[str, Floats]

    def trellises(self, labels: LabelSet, temperature: float) -> list[list[Trellis]]:
        """Of the sentences of each document."""
        given: dict[str, Any] = {"scale": "raw", "temperature": temperature, **self.layer}
        return [
            [from_logits(rows, labels, tokens=x, **given) for rows, (x, _) in zip(*each, strict=True)]
            for each in zip(self.logits, self.documents, strict=True)
        ]

    def sentences(self) -> Iterator[tuple[Labelled, Floats]]:
        for document, logits in zip(self.documents, self.logits, strict=True):
            yield from zip(document, logits, strict=True)

    def examples(self, labels: LabelSet, temperature: float, joined: bool) -> Iterator[ScoredExample]:
        """The sentences, or the documents as a whole, with gold labels."""
        for trellises, document in zip(self.trellises(labels, temperature), self.documents, strict=True):
            golds = [gold for _, gold in document]
            if joined:
                between = chain.from_iterable([*gold, OUTSIDE] for gold in golds)
                trellises, golds = [join(trellises).trellis], [tuple(between)[:-1]]
            yield from map(ScoredExample, trellises, golds)


@dataclass(frozen=True)
class Logits:
    """Two taggers: that of the whole training part, on what is evaluated, and that of the rest, on the part that is held out."""

    labels: LabelSet
    evaluated: Tagger
    held_out: Tagger


def path_of(part: str, number: int) -> Path:
    return FOLDER / f"{part}-{number}.npz"


def save(
    path: Path,
    labels: Sequence[str],
    rows: Sequence[Sequence[Floats]],
    layers: Sequence[Mapping[str, Floats]],
) -> None:
    """Logits (T, K) of sentences and the CRF layer of each tagger; logits are kept as eighths below the largest one of a token."""
    arrays: dict[str, Any] = {"labels": np.array(labels)}
    for n, each in enumerate(rows):
        every = np.concatenate(each)
        below = np.minimum(every.max(axis=1, keepdims=True) - every, LOWEST)
        arrays[f"logits{n}"] = np.rint(EIGHTHS * below).astype(np.uint8)
    arrays |= {name: np.array([layer[name] for layer in layers], np.float16) for name in LAYER}
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_suffix(".part.npz")
    np.savez_compressed(temporary, **arrays)
    temporary.replace(path)


def read(folder: Path, part: str, number: int) -> Logits:
    """The committed logits; Missing where the documents are others than those that they are of."""
    draw, path = draw_of(folder, part, number), path_of(part, number)
    taggers = []
    with np.load(path) as file:
        labels = _label_set(file["labels"].tolist(), part)
        for n, some in enumerate((draw.evaluated, draw.held_out)):
            rows = file[f"logits{n}"].astype(float) / -EIGHTHS
            lengths = [len(tokens) for document in some for tokens, _ in document]
            if len(rows) != sum(lengths):
                raise Missing(
                    f"{path.name} has logits of other texts than those of {folder}; its corpus is not there"
                )
            each = iter(np.split(rows, np.cumsum(lengths)[:-1]))
            layer = {name: file[name][n].astype(float) for name in LAYER}
            taggers.append(Tagger(some, [[next(each) for _ in document] for document in some], layer))
    return Logits(labels, *taggers)


def made_up(folder: Path, part: str, number: int) -> Logits:
    """Logits without a network, for the smallest scale: noise, and gold labels above it."""
    draw = draw_of(folder, part, number)
    parts, rng = [draw.evaluated[:4], draw.held_out[:4]], np.random.default_rng(number)
    golds = [gold for some in parts for document in some for _, gold in document]
    labels = _label_set(sorted({label for gold in golds for label in gold}), part)
    K = len(labels)
    layer = {"transitions": np.zeros((K, K)), "start": np.zeros(K), "end": np.zeros(K)}

    def logits(gold: Sequence[str]) -> Floats:
        return 2.0 * rng.normal(size=(len(gold), K)) + 4.0 * np.eye(K)[labels.ids(gold)]

    found = [[[logits(gold) for _, gold in document] for document in some] for some in parts]
    return Logits(labels, *(Tagger(*each, layer) for each in zip(parts, found, strict=True)))


def _label_set(names: Sequence[str], part: str) -> LabelSet:
    return LabelSet(tuple(names), "paths" if part == "umass" else "")


def documents(sentences: Sequence[Labelled]) -> list[Document]:
    """Sentences of each report of the news agency: it begins with a dateline, such as `Madrid , 23 may ( EFE ) .`"""
    result: list[Document] = []
    for tokens, labels in sentences:
        dateline = any(before == "(" and token.startswith("EFE") for before, token in pairwise(tokens))
        if dateline or not result:
            result.append([])
        result[-1].append((tokens, labels))
    return result
