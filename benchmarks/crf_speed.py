"""Trellises and certified decoding beside CRFsuite's own tagger: `python -m benchmarks.crf_speed MODEL DEV.tsv`.

MODEL is a file of CRFsuite for the template "entities", or the training file, from which one is made. Both start from
token texts, or both from extracted features; processor time, the least of several runs.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pycrfsuite

import ilpinfer
from benchmarks.crf_entities import PARAMETERS
from benchmarks.machine import header
from formulations import constraints as C
from ilpinfer.corpus.sequences import labelled, read
from ilpinfer.models.crf import CRF
from ilpinfer.models.template_files import load_template

REPEATS = 5
TEMPLATE = "entities"

Tokens = Sequence[str]


def rows(path: str, sequences: Sequence[Tokens]) -> Iterable[tuple[str, str, float, float]]:
    """(start, tagger, seconds, share of CRFsuite's)."""
    tagger, model = pycrfsuite.Tagger(), CRF.from_crfsuite(path, TEMPLATE)
    tagger.open(path)
    template, rules = load_template(TEMPLATE), [C.valid_scheme()]
    extracted = [template.features(tokens) for tokens in sequences]
    pairs = list(zip(sequences, extracted, strict=True))
    starts: dict[str, dict[str, Callable[[Any], object]]] = {
        "token texts": {
            "CRFsuite": lambda pair: tagger.tag(template.features(pair[0])),
            "certified, with rules": lambda pair: ilpinfer.decode(model.trellis(pair[0]), rules).labels,
        },
        "features": {
            "CRFsuite": lambda pair: tagger.tag(pair[1]),
            "certified, with rules": lambda pair: (
                ilpinfer.decode(model.trellis_of(pair[1], pair[0]), rules).labels
            ),
            "trellises alone": lambda pair: model.trellis_of(pair[1], pair[0]),
        },
    }
    for start, taggers in starts.items():
        whole = 0.0
        for name, work in taggers.items():
            seconds = min(_seconds(work, pairs) for _ in range(REPEATS))
            whole = whole or seconds
            yield start, name, seconds, seconds / whole


def _seconds(work: Callable[[Any], object], pairs: Sequence[Any]) -> float:
    began = time.process_time()
    for pair in pairs:
        work(pair)
    return time.process_time() - began


def trained(source: str, path: Path) -> str:
    """A file of CRFsuite from a training file."""
    trainer = pycrfsuite.Trainer("lbfgs", PARAMETERS, verbose=False)
    template = load_template(TEMPLATE)
    for tokens, labels in labelled(read(source)):
        trainer.append(template.features(tokens), labels)
    trainer.train(str(path))
    return str(path)


def main(model: str, test: str) -> None:
    """Print the table."""
    print(header())
    with tempfile.TemporaryDirectory() as folder:
        path = trained(model, Path(folder) / "model") if model.endswith(".tsv") else model
        for start, name, seconds, share in rows(path, [tokens for tokens, _ in labelled(read(test))]):
            print(f"from {start:12} {name:24} {seconds:7.2f} s {share:6.2f}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
