"""Trellises and certified decoding beside CRFsuite's own tagger: `python -m benchmarks.crf_speed TRAIN.tsv TEST.tsv`.

`--template` names the features, and each `--rules` a rule set that sequences are decoded under; `valid_scheme` alone stands
beside them. A file that does not end in .tsv is a model of CRFsuite. All begin with token texts, or with extracted features, or
with what each decodes at last: CRFsuite's own item sequences, and trellises. Processor time, the least of several runs.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pycrfsuite

import ilpinfer
from benchmarks.crf_entities import PARAMETERS
from benchmarks.machine import header
from formulations import RuleSet, load_rules
from formulations import constraints as C
from ilpinfer.corpus.sequences import read, require_labels
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.templates import load_template

REPEATS = 5
VALID = {"valid_scheme": RuleSet((C.valid_scheme(),))}

Tokens = Sequence[str]
Work = Callable[[Any], object]


def rows(
    path: str, template_name: str, sequences: Sequence[Tokens], rule_sets: dict[str, RuleSet]
) -> Iterable[tuple[str, str, float, float]]:
    """(start, tagger, seconds, multiple of CRFsuite's seconds)."""
    tagger, model = pycrfsuite.Tagger(), CRF.from_crfsuite(path, template_name)
    tagger.open(path)
    template = load_template(template_name)
    extracted = [template.features(tokens) for tokens in sequences]
    pairs = [
        (tokens, features, pycrfsuite.ItemSequence(features), model.trellis_of(features, tokens))
        for tokens, features in zip(sequences, extracted, strict=True)
    ]

    def from_texts(rules: RuleSet) -> Work:
        return lambda pair: ilpinfer.decode(model.trellis(pair[0]), rules).labels

    def from_features(rules: RuleSet) -> Work:
        return lambda pair: ilpinfer.decode(model.trellis_of(pair[1], pair[0]), rules).labels

    def from_trellises(rules: RuleSet) -> Work:
        return lambda pair: ilpinfer.decode(pair[3], rules).labels

    starts: dict[str, dict[str, Work]] = {
        "token texts": {
            "CRFsuite": lambda pair: tagger.tag(template.features(pair[0])),
            **{f"certified, {name}": from_texts(rules) for name, rules in rule_sets.items()},
        },
        "features": {
            "CRFsuite": lambda pair: tagger.tag(pair[1]),
            "trellises alone": lambda pair: model.trellis_of(pair[1], pair[0]),
            **{f"certified, {name}": from_features(rules) for name, rules in rule_sets.items()},
        },
        "scores": {
            "CRFsuite": lambda pair: tagger.tag(pair[2]),
            **{f"certified, {name}": from_trellises(rules) for name, rules in rule_sets.items()},
        },
    }
    for start, taggers in starts.items():
        unit = 0.0
        for name, work in taggers.items():
            seconds = min(_seconds(work, pairs) for _ in range(REPEATS))
            unit = unit or seconds
            yield start, name, seconds, seconds / unit


def _seconds(work: Work, pairs: Sequence[Any]) -> float:
    began = time.process_time()
    for pair in pairs:
        work(pair)
    return time.process_time() - began


def load_or_train(source: str, template_name: str, path: Path) -> str:
    """A file of CRFsuite from a training file."""
    trainer = pycrfsuite.Trainer("lbfgs", PARAMETERS, verbose=False)
    template = load_template(template_name)
    for tokens, labels in require_labels(read(source)):
        trainer.append(template.features(tokens), labels)
    trainer.train(str(path))
    return str(path)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Certified decoding beside CRFsuite's tagger.")
    parser.add_argument("source", help="training columns, or a file of CRFsuite")
    parser.add_argument("test")
    parser.add_argument("--template", default="entities")
    parser.add_argument("--rules", action="append", default=[])
    options = parser.parse_args()
    rule_sets = VALID | {name: load_rules(name) for name in options.rules}
    print(header())
    print(f"template {options.template}, {Path(options.test).parent.name}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model"
        path = (
            load_or_train(options.source, options.template, file)
            if options.source.endswith(".tsv")
            else options.source
        )
        sequences = [tokens for tokens, _ in require_labels(read(options.test))]
        for start, name, seconds, multiple in rows(path, options.template, sequences, rule_sets):
            print(f"from {start:12} {name:28} {seconds:7.2f} s {multiple:6.2f}", flush=True)


if __name__ == "__main__":
    main()
