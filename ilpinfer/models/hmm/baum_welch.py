"""Learning a hidden Markov model from unlabelled sequences, by the algorithm of Baum and Welch."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np

from formulations import LabelSet
from formulations.arguments import whole
from formulations.dtypes import Floats, Integers
from ilpinfer.models.forward_backward import Sums, forward_backward
from ilpinfer.models.hmm.emissions import Emissions, words_of
from ilpinfer.models.hmm.first_order import HMM
from ilpinfer.models.hmm.model import of_weights
from ilpinfer.models.hmm.smoothing import Smoothing, as_smoothing
from ilpinfer.models.hmm.vocabulary import Vocabulary, as_vocabulary
from ilpinfer.models.sequences import check_texts

Progress = Callable[[int, int, float], None]
"""Restart, iteration and log P(X) in nats, all counted from 0."""

NONE = Smoothing("none")


@dataclass(frozen=True, eq=False)
class FittedHMM:
    hmm: HMM
    trace: tuple[float, ...]
    converged: bool
    restarts: tuple[float, ...]


def baum_welch(
    texts: Sequence[Sequence[str]],
    start: HMM | Sequence[str] | int,
    *,
    restarts: int = 1,
    seed: int = 0,
    iterations: int = 100,
    tolerance: float = 1e-6,
    ends: bool = True,
    emissions: Smoothing | str = NONE,
    transitions: Smoothing | str = NONE,
    vocabulary: Vocabulary | str | None = None,
    progress: Progress | None = None,
) -> FittedHMM:
    """Climb to a local maximum of P(X) over start, end, transitions and emissions of all words (Stokman 2011, eq. 12-16)."""
    checked = check_texts(texts)
    _check_numbers(restarts, iterations, tolerance, isinstance(start, HMM))
    if vocabulary is None:
        vocabulary = start.emissions.vocabulary if isinstance(start, HMM) else Vocabulary()
    read = as_vocabulary(vocabulary)
    words, rows = words_of(checked, read)
    enough = tolerance * sum(map(len, rows))
    runs = []
    for restart in range(restarts):
        first = (
            _from_model(start, words)
            if isinstance(start, HMM)
            else _random(start, words, ends, [seed, restart])
        )
        runs.append(_climb(first, rows, iterations, enough, restart, progress))
    hmm, trace, converged = max(runs, key=lambda run: run[1][-1])
    words_model = replace(hmm.emissions, smoothing=as_smoothing(emissions), vocabulary=read)
    final = replace(hmm, emissions=words_model, smoothing=as_smoothing(transitions))
    return FittedHMM(final, tuple(trace), converged, tuple(trace[-1] for _, trace, _ in runs))


def expected_counts(hmm: HMM, rows: Sequence[Integers]) -> tuple[HMM, float]:
    """The model of the expected counts, and log P(X) under the old one in nats."""
    total = 0.0

    def expectations() -> Iterator[tuple[Integers, Floats, Floats]]:
        nonlocal total
        for number, text in enumerate(rows):
            sums = _sums(hmm, text)
            if sums.log_partition == -math.inf:
                raise ValueError(
                    f"sequence {number} has probability 0 under the model: start from a smoothed one"
                )
            total += sums.log_partition
            yield text, sums.states(), sums.edges().sum(axis=0)

    ends = hmm.end is not None
    return of_weights(HMM, hmm.labels, hmm.emissions, expectations(), hmm.smoothing, ends), total


def _sums(hmm: HMM, text: Integers) -> Sums:
    p = hmm.parameters
    node = hmm.emissions.log_probabilities[text]
    node[0] += p.start
    if p.end is not None:
        node[-1] += p.end
    return forward_backward(node, p.transitions[None], np.zeros(len(text) - 1, np.int64))


def _climb(
    hmm: HMM,
    rows: Sequence[Integers],
    iterations: int,
    enough: float,
    restart: int,
    progress: Progress | None,
) -> tuple[HMM, list[float], bool]:
    """The last model, log P(X) from the start to it, and whether the gains have ended."""
    after, likelihood = expected_counts(hmm, rows)
    trace = [likelihood]
    for iteration in range(iterations):
        hmm = after
        after, likelihood = expected_counts(hmm, rows)
        trace.append(likelihood)
        if progress is not None:
            progress(restart, iteration, likelihood)
        if trace[-1] - trace[-2] < enough:
            return hmm, trace, True
    return hmm, trace, False


def _random(labels: Sequence[str] | int, words: tuple[str, ...], ends: bool, seed: list[int]) -> HMM:
    names = tuple(str(k) for k in range(labels)) if isinstance(labels, int) else tuple(labels)
    K, random = len(names), np.random.default_rng(seed)
    leaving = random.dirichlet(np.ones(K + ends), K)
    emission = random.dirichlet(np.ones(len(words)), K).T
    end = leaving[:, K] if ends else None
    start = random.dirichlet(np.ones(K))
    return _unsmoothed(LabelSet(names), start, end, leaving[:, :K], words, emission)


def _from_model(hmm: HMM, words: tuple[str, ...]) -> HMM:
    """The model's probabilities over the words of the texts; ValueError for a word of probability 0."""
    p = hmm.parameters
    end = None if p.end is None else np.exp(p.end)
    emission = np.exp(hmm.emissions.scores(words))
    for word in np.flatnonzero(emission.sum(axis=1) == 0):
        raise ValueError(f"the model gives {words[word]!r} probability 0: start from a smoothed one")
    return _unsmoothed(hmm.labels, np.exp(p.start), end, np.exp(p.transitions), words, emission)


def _unsmoothed(
    labels: LabelSet,
    start: Floats,
    end: Floats | None,
    transitions: Floats,
    words: tuple[str, ...],
    emission: Floats,
) -> HMM:
    return HMM(
        labels,
        start=start,
        end=end,
        transitions=transitions,
        emissions=Emissions(words, emission, NONE, Vocabulary("uniform")),
        smoothing=NONE,
    )


def _check_numbers(restarts: int, iterations: int, tolerance: float, from_model: bool) -> None:
    for name, value in (("restarts", restarts), ("iterations", iterations)):
        whole(value, name, 1)
    if from_model and restarts > 1:
        raise ValueError(
            f"restarts is {restarts}, but every start from one model is the same: give labels instead"
        )
    if not (isinstance(tolerance, Real) and 0 <= float(tolerance) < math.inf):
        raise ValueError(f"tolerance is {tolerance!r}; expected nats a token from 0")
