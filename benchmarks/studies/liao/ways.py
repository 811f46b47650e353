"""Ways to combine rules with a conditional random field, and their times by part."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchmarks import optimum
from benchmarks.studies.liao.open_tokens import OpenTokens
from benchmarks.study import Disagreement
from formulations import RuleSet, Trellis
from formulations import constraints as C
from formulations.dtypes import Floats, Integers
from formulations.grid import FORBIDDEN, Grid, snap_scores
from ilpinfer.exact.viterbi import viterbi
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.features import FeatureTemplate
from ilpinfer.models.crf.token_rules import Allowed, TokenRules

STAGES = ("rules", "features", "scores", "viterbi")
BATCH = 64
"""Sentences that are labelled together."""
TOLERANCE = 1e-3
"""Nats, for sums in another order."""
Tokens = Sequence[str]


@dataclass(frozen=True)
class Way:
    """Rules first, then the field; and rules written over its labels where there are some."""

    model: CRF
    first: TokenRules
    after: TokenRules | None = None

    @property
    def template(self) -> FeatureTemplate:
        assert self.model.template is not None
        return self.model.template

    def run(self, sequences: Sequence[Tokens]) -> tuple[list[list[str]], NDArray[np.float64], float]:
        """Labellings, seconds of processor time by stage, and the share of tokens that get features."""
        seconds, scored, result = np.zeros(len(STAGES)), 0, list[list[str]]()
        names = self.model.labels.names
        for begin in range(0, len(sequences), BATCH):
            some = sequences[begin : begin + BATCH]
            stages, number, ids = self._tag(some)
            seconds += stages
            scored += number
            ends = np.cumsum([len(tokens) for tokens in some])[:-1]
            result += [[names[k] for k in path.tolist()] for path in np.split(ids, ends)]
        return result, seconds, scored / sum(map(len, sequences))

    def _tag(self, some: Sequence[Tokens]) -> tuple[NDArray[np.float64], int, NDArray[np.int64]]:
        clock = [time.process_time()]
        open_tokens = OpenTokens.of([self.first.allowed(tokens) for tokens in some])
        clock.append(time.process_time())
        features = open_tokens.features(self.template, some)
        clock.append(time.process_time())
        emissions = self.model.emissions(features)
        clock.append(time.process_time())
        ids = self.best(open_tokens, emissions)
        clock.append(time.process_time())
        stages = np.diff(clock)
        if not self.first.rules:
            stages[0] = 0.0
        if self.after is not None:
            began = time.process_time()
            ends = np.cumsum([len(tokens) for tokens in some])[:-1]
            whole = zip(some, np.split(ids, ends), np.split(emissions, ends), strict=True)
            steps = self.model.learnt.transitions
            ids = np.concatenate([overwrite(path, self.after.allowed(x), e, steps) for x, path, e in whole])
            stages[0] += time.process_time() - began
        return stages, len(open_tokens.at), ids

    def best(self, open_tokens: OpenTokens, emissions: Floats) -> Integers:
        """(N,) ids of the labels of all tokens, from scores (n, K) of those that are open."""
        result = open_tokens.fixed.copy()
        if len(open_tokens.at):
            left = np.stack([self.first.mask(open_tokens.allowed[t]) for t in open_tokens.at.tolist()])
            node = np.where(left, snap_scores(emissions, "emissions"), FORBIDDEN)
            result[open_tokens.at] = viterbi(open_tokens.lattice(node, self._transitions))[1]
        return result

    @cached_property
    def _transitions(self) -> Grid:
        scores = snap_scores(self.model.learnt.transitions, "transitions")
        return np.where(self.model.labels.invalid[0][1:], FORBIDDEN, scores)


def overwrite(path: Integers, allowed: Allowed, emissions: Floats, transitions: Floats) -> Integers:
    """A labelling (T,) without labels that rules forbid (section 2, second method).

    From left to right, a token with such a label gets the allowed one that scores best between its current neighbours.
    """
    result = path.copy()
    for t, labels in enumerate(allowed):
        if labels >> int(result[t]) & 1:
            continue
        scores = emissions[t].copy()
        if t > 0:
            scores += transitions[result[t - 1]]
        if t + 1 < len(result):
            scores += transitions[:, result[t + 1]]
        result[t] = max((k for k in range(len(scores)) if labels >> k & 1), key=scores.__getitem__)
    return result


def fastest(runs: Iterable[Mapping[str, Way]], sequences: Sequence[Tokens]) -> dict[str, NDArray[np.float64]]:
    """Seconds by stage of the fastest of several runs, where the ways take turns."""
    times: dict[str, list[NDArray[np.float64]]] = {}
    for ways in runs:
        for name, way in ways.items():
            times.setdefault(name, []).append(way.run(sequences)[1])
    return {name: min(some, key=lambda seconds: float(seconds.sum())) for name, some in times.items()}


def check_best(way: Way, tokens: Tokens, labels: Sequence[str]) -> None:
    """Raise Disagreement unless the labels have the best score that rules and scheme allow."""
    model, rules = way.model, way.first
    allowed = np.array([rules.mask(some) for some in rules.allowed(tokens)])
    emissions = model.emissions(way.template.features(tokens)) + np.where(allowed, 0.0, -np.inf)
    trellis = Trellis.from_emissions(emissions, model.learnt.transitions, labels=model.labels, tokens=tokens)
    best = optimum.optimum(trellis, RuleSet((C.valid_scheme(),)))
    if trellis.score(labels) < best.score - TOLERANCE:
        raise Disagreement(f"rules first score {trellis.score(labels)!r} nats, the engine {best.score!r}")
