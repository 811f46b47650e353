"""Trellises and certified decoding beside CRFsuite's own tagger: `python -m benchmarks.crf_speed TRAIN.tsv TEST.tsv`.

`--template` names the features, and each `--rules` a rule set that sequences are decoded under; `valid_scheme` alone, and with
a soft rule for each field, at most one run of it at 1 nat, stand beside them. A file that does not end in .tsv is a model of
CRFsuite. All begin with token texts, or with extracted features, or with what each decodes at last: CRFsuite's own item sequences,
and trellises. "together" decodes all sequences in one call, in one thread; the others take one sequence after the other. Processor
time, the least of several runs, its multiple of CRFsuite's, and thousands of tokens a second.
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
from formulations import RuleSet, Trellis, load_rules
from formulations import constraints as C
from ilpinfer.corpus.sequences import read, require_labels
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.templates import load_template

REPEATS = 3
VALID = {"valid_scheme": RuleSet((C.valid_scheme(),))}
ONE_RUN = "valid_scheme, one run"

Tokens = Sequence[str]
Work = Callable[[Sequence[Any]], object]
"""Takes all sequences."""


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

    def alone(work: Callable[[Any], object]) -> Work:
        return lambda pairs: [work(pair) for pair in pairs]

    def certified(
        trellis: Callable[[Any], Trellis], trellises: Callable[[Any], Iterable[Trellis]]
    ) -> dict[str, Work]:
        result: dict[str, Work] = {}
        for name, rules in rule_sets.items():
            decoder = ilpinfer.Decoder(rules, model=model)
            result[f"certified, {name}"] = alone(lambda pair, d=decoder: d.decode(trellis(pair)).labels)  # type: ignore[misc]
            result[f"certified together, {name}"] = lambda pairs, d=decoder: [  # type: ignore[misc]
                solution.labels for solution in d.decode_many(trellises(pairs))
            ]
        return result

    starts: dict[str, dict[str, Work]] = {
        "token texts": {
            "CRFsuite": alone(lambda pair: tagger.tag(template.features(pair[0]))),
            **certified(
                lambda pair: model.trellis(pair[0]), lambda pairs: (model.trellis(pair[0]) for pair in pairs)
            ),
        },
        "features": {
            "CRFsuite": alone(lambda pair: tagger.tag(pair[1])),
            "trellises alone": alone(lambda pair: model.trellis_of(pair[1], pair[0])),
            **certified(
                lambda pair: model.trellis_of(pair[1], pair[0]),
                lambda pairs: (model.trellis_of(pair[1], pair[0]) for pair in pairs),
            ),
        },
        "scores": {
            "CRFsuite": alone(lambda pair: tagger.tag(pair[2])),
            **certified(lambda pair: pair[3], lambda pairs: (pair[3] for pair in pairs)),
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
    work(pairs)
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
    parser.add_argument("test", nargs="+", help="labelled columns")
    parser.add_argument("--template", default="entities")
    parser.add_argument("--rules", action="append", default=[])
    options = parser.parse_args()
    print(header())
    sequences = [tokens for path in options.test for tokens, _ in require_labels(read(path))]
    number = sum(map(len, sequences))
    print(f"template {options.template}, {Path(options.test[0]).parent.name}, {number} tokens")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model"
        path = (
            load_or_train(options.source, options.template, file)
            if options.source.endswith(".tsv")
            else options.source
        )
        labels = CRF.from_crfsuite(path, options.template).labels
        one_run = (
            C.at_most_runs(field, 1, penalty=1.0, name=f"one run of {field}") for field in labels.fields
        )
        named = {name: load_rules(name) for name in options.rules}
        rule_sets = VALID | {ONE_RUN: RuleSet((C.valid_scheme(), *one_run))} | named
        for start, name, seconds, multiple in rows(path, options.template, sequences, rule_sets):
            speed = number / seconds / 1000
            print(f"from {start:12} {name:42} {seconds:7.2f} s {multiple:6.2f} {speed:7.0f}", flush=True)


if __name__ == "__main__":
    main()
