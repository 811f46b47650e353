"""Rules before, after and inside a tagger of names (Liao et al. 2009, Table 1): `python -m benchmarks.crf_entities TRAIN DEV`.

Four ways on the same template: the conditional random field alone; what rules say written over its labels; rules first,
so that the field scores and decodes only what they leave; and a field retrained with the rules as features. Times are by
part, of the fastest of several runs over warm caches, as shares of the first way's. A third argument names a folder that
keeps the models.
"""

import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.cross_validation import evaluate, percentages
from benchmarks.entity_rules import Pair, entity_rules
from benchmarks.machine import header
from ilpinfer.corpus.sequences import read, require_labels
from ilpinfer.evaluation.counts import Counts
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.templates import load_template, with_rules
from ilpinfer.models.crf.token_rules import TokenRules
from ilpinfer.models.files import load_model
from ilpinfer.pipelines.rules_first import BATCH, RulesFirst, overwrite

PARAMETERS = {"c1": 0.1, "c2": 0.05, "max_iterations": 100}
REPEATS = 5
STAGES = ("rules", "features", "scores", "viterbi")

Tokens = Sequence[str]


@dataclass(frozen=True)
class Row:
    """One way: spans of its labellings, seconds by stage, and the share of tokens that get features."""

    way: str
    spans: Counts
    seconds: NDArray[np.float64]
    scored: float


class Way:
    """Tags with a rules-first decoder, and rules written over its labels where there are some; counts seconds."""

    def __init__(self, decoder: RulesFirst, after: TokenRules | None = None) -> None:
        self.decoder, self.after = decoder, after

    def run(self, sequences: Sequence[Tokens]) -> tuple[list[list[str]], NDArray[np.float64], float]:
        """Labellings, seconds by stage, and the share of tokens that get features."""
        seconds, scored, result = np.zeros(len(STAGES)), 0, list[list[str]]()
        names = self.decoder.model.labels.names
        for begin in range(0, len(sequences), BATCH):
            some = sequences[begin : begin + BATCH]
            stages, number, ids = self._tag(some)
            seconds += stages
            scored += number
            ends = np.cumsum([len(tokens) for tokens in some])[:-1]
            result += [[names[k] for k in path.tolist()] for path in np.split(ids, ends)]
        return result, seconds, scored / sum(map(len, sequences))

    def _tag(self, some: Sequence[Tokens]) -> tuple[NDArray[np.float64], int, NDArray[np.int64]]:
        decoder, model = self.decoder, self.decoder.model
        clock = [time.process_time()]
        open_tokens = decoder.apply_rules(some)
        clock.append(time.process_time())
        features = decoder.features(some, open_tokens)
        clock.append(time.process_time())
        emissions = model.emissions(features)
        clock.append(time.process_time())
        ids = decoder.best(open_tokens, emissions)
        clock.append(time.process_time())
        stages = np.diff(clock)
        if not decoder.rules:
            stages[0] = 0.0
        if self.after is not None:
            began = time.process_time()
            ends = np.cumsum([len(tokens) for tokens in some])[:-1]
            whole = zip(some, np.split(ids, ends), np.split(emissions, ends), strict=True)
            ids = np.concatenate(
                [overwrite(path, self.after.allowed(x), e, model.learnt.transitions) for x, path, e in whole]
            )
            stages[0] += time.process_time() - began
        return stages, len(open_tokens.at), ids


def rows(train: Sequence[Pair], test: Sequence[Pair], folder: Path | None = None) -> Iterable[Row]:
    """Each way on the test sequences; models are kept in the folder and read from there the next time."""
    rules = tuple(entity_rules(train))
    model = load_or_train(train, "entities", folder and folder / "entities.json")
    informed = load_or_train(
        train, with_rules(load_template("entities"), rules), folder and folder / "entities-rules.json"
    )
    ways = {
        "the field alone": Way(RulesFirst(model)),
        "rules written over": Way(RulesFirst(model), TokenRules(model.labels, rules)),
        "rules first": Way(RulesFirst(model, rules)),
        "rules as features": Way(RulesFirst(informed)),
    }
    sequences = [tokens for tokens, _ in test]
    times: dict[str, list[NDArray[np.float64]]] = {name: [] for name in ways}
    for _ in range(REPEATS):
        for name, way in ways.items():
            times[name].append(way.run(sequences)[1])
    for name, way in ways.items():
        labels, _, scored = way.run(sequences)
        spans = evaluate(zip((gold for _, gold in test), labels, strict=True), "bio").of_all()
        yield Row(name, spans, min(times[name], key=lambda seconds: float(seconds.sum())), scored)


def load_or_train(train: Sequence[Pair], template: object, path: Path | None) -> CRF:
    """A field trained on the sequences, or the one that the file has already."""
    if path is not None and path.exists():
        model = load_model(path)
        assert isinstance(model, CRF)
        return model
    model = CRF.train(train, template, parameters=PARAMETERS, scheme="bio")  # type: ignore[arg-type]
    if path is not None:
        model.save(path)
    return model


def main(train: str, test: str, folder: str | None) -> None:
    """Print the table."""
    print(header())
    print(
        f"{'':20} {'P':>6} {'R':>6} {'F1':>6} {'scored':>7}  shares of the time: {', '.join(STAGES)}, all; seconds"
    )
    whole = 0.0
    for row in rows(
        require_labels(read(train)), require_labels(read(test)), Path(folder) if folder else None
    ):
        whole = whole or row.seconds.sum()
        shares = "".join(f"{share:6.2f}" for share in [*(row.seconds / whole), row.seconds.sum() / whole])
        print(f"{row.way:20} {percentages(row.spans)} {row.scored:7.2f}  {shares} {row.seconds.sum():8.2f}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
