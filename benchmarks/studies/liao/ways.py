"""Ways to combine rules with a conditional random field, and their times by part."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks import optimum
from benchmarks.study import Disagreement
from formulations import RuleSet, Trellis
from formulations import constraints as C
from ilpinfer.models.crf.token_rules import TokenRules
from ilpinfer.pipelines.rules_first import BATCH, RulesFirst, overwrite

STAGES = ("rules", "features", "scores", "viterbi")
TOLERANCE = 1e-3
"""Nats, for sums in another order."""
Tokens = Sequence[str]


@dataclass(frozen=True)
class Way:
    """Rules first, then the field; and rules written over its labels where there are some."""

    decoder: RulesFirst
    after: TokenRules | None = None

    def run(self, sequences: Sequence[Tokens]) -> tuple[list[list[str]], NDArray[np.float64], float]:
        """Labellings, seconds of processor time by stage, and the share of tokens that get features."""
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


def fastest(
    ways: Mapping[str, Way], sequences: Sequence[Tokens], repeats: int
) -> dict[str, NDArray[np.float64]]:
    """Seconds by stage of the fastest of several runs, where the ways take turns."""
    times: dict[str, list[NDArray[np.float64]]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, way in ways.items():
            times[name].append(way.run(sequences)[1])
    return {name: min(some, key=lambda seconds: float(seconds.sum())) for name, some in times.items()}


def check_best(decoder: RulesFirst, tokens: Tokens, labels: Sequence[str]) -> None:
    """Raise Disagreement unless the labels have the best score that rules and scheme allow."""
    model = decoder.model
    assert model.template is not None
    allowed = [decoder.token_rules.mask(some) for some in decoder.token_rules.allowed(tokens)]
    emissions = model.emissions(model.template.features(tokens)) + np.where(np.array(allowed), 0.0, -np.inf)
    trellis = Trellis.from_emissions(emissions, model.learnt.transitions, labels=model.labels, tokens=tokens)
    best = optimum.optimum(trellis, RuleSet((C.valid_scheme(),)))
    if trellis.score(labels) < best.score - TOLERANCE:
        raise Disagreement(f"rules first score {trellis.score(labels)!r} nats, the engine {best.score!r}")
