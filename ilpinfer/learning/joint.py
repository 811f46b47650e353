"""The weights of a model and of rules, learnt together under inference."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from formulations import RuleSet
from formulations.arguments import one_of, positive, whole
from formulations.dtypes import Floats, Integers
from formulations.messages import counted
from ilpinfer.core.rule_compiler import Rules, stated
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.learning.perceptron import LARGEST
from ilpinfer.learning.training_set import ScoredExample, TrainingSet
from ilpinfer.models.combination import on_labels
from ilpinfer.models.corrected import Base, Corrected, attributes_of, reader_of
from ilpinfer.models.labelled_sequences import tokens_and_labels
from ilpinfer.models.sequences import Labelled

UPDATES: Mapping[str, str] = {
    "perceptron": "a step of the rate towards gold, away from the best labelling",
    "margin": "the smallest step, at most the rate, by which gold leads the best labelling by a margin for each wrong token",
}
ROUNDING = 1e-5
"""Nats: a value that is ahead by less may be so because scores are rounded to their grid."""


class JointWeights(NamedTuple):
    """A corrected model and the rules with their learnt penalties.

    Parameters
    ----------
    model : Corrected
        Model with corrected scores.
    rules : RuleSet
        Rules with learnt penalties and weights; those of weight 0 are left out.
    steps : tuple of int
        Number of updates of each epoch.
    unproved : int
        Number of sequences that had no proved optimum, and were left out, over all epochs.
    unscored : int
        Number of sequences that were left out because their scorers lack some of their labels.

    Examples
    --------
    >>> from ilpinfer.models.hmm import HMM
    >>> pairs = [(["Ada", "1815"], ["name", "year"])]
    >>> JointLearner(epochs=2).fit(pairs, HMM.train(pairs)).steps
    (0, 0)
    """

    model: Corrected
    rules: RuleSet
    steps: tuple[int, ...]
    unproved: int
    unscored: int


@dataclass(frozen=True)
class JointLearner:
    """Inference-based training of all weights (Stokman 2011, section 7.1; Punyakanok et al. 2005).

    w ← w + τ (φ(y) - φ(ŷ)), where φ counts starts, ends, steps, attributes of tokens, violations (negative) and features, and ŷ is a
    proved optimum. Penalties are cut at 0. The result has the mean of w after each sequence.

    Parameters
    ----------
    update : str, default "margin"
        A name from `UPDATES`. With "margin", ŷ is the best labelling by score plus margin times wrong tokens, and
        τ = min(rate, (its value - score of y) / ‖φ(y) - φ(ŷ)‖²).
    rate : float, default 0.1
        Largest step τ, nats.
    epochs : int, default 10
        Number of passes over the sequences.
    margin : float, default 1.0
        Nats for each wrong token.
    seed : int, default 0
        Seed of the order of sequences.

    Raises
    ------
    ValueError
        For unknown names, and numbers out of range.

    Examples
    --------
    >>> JointLearner("perceptron").rate
    0.1
    """

    update: str = "margin"
    rate: float = 0.1
    epochs: int = 10
    margin: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        one_of(self.update, "update", UPDATES)
        positive(self.rate, "rate")
        positive(self.margin, "margin")
        whole(self.epochs, "epochs", 1)
        whole(self.seed, "seed", 0)

    def fit(
        self,
        pairs: Sequence[Labelled],
        model: Base,
        rules: Rules = (),
        *,
        scorers: Sequence[Base] = (),
        advance: Callable[[], None] = lambda: None,
    ) -> JointWeights:
        """Learn corrections of a model's scores, and penalties.

        Parameters
        ----------
        pairs : sequence of Labelled
            Tokens and labels of the sequences on which the model was trained.
        model : HMM or CRF
            Model from whose scores learning starts.
        rules : Rules, optional
            Rules from whose penalties learning starts; hard ones are kept.
        scorers : sequence of HMM or CRF, optional
            For each sequence, a model that was trained without it and scores it instead, as of `held_out_models`. A model that
            scores sequences it was trained on makes few mistakes on them, and corrections are then learnt from these few.
            A sequence with labels that its scorer lacks is left out.
        advance : callable, optional
            Function that is called after each sequence of an epoch.

        Returns
        -------
        JointWeights
            The weights.

        Raises
        ------
        ValueError
            For no sequences, rules that do not fit, labels that the model does not have, and scorers that do not fit.
        """
        pairs = tokens_and_labels(pairs)
        _check(scorers, len(pairs), model)
        task = _Task(pairs, model, stated(rules, "joint learning").rules, scorers or [model] * len(pairs))
        weights, total = task.start.copy(), np.zeros_like(task.start)
        random = np.random.default_rng(self.seed)
        done, unproved, steps = 0, 0, list[int]()
        for _ in range(self.epochs):
            steps.append(0)
            for place in random.permutation(task.scored).tolist():
                found = self._best(task, place, weights)
                unproved += found is None
                if found is not None and (moved := self._moved(task, place, weights, *found)) is not None:
                    where, values = moved
                    total[where] += done * (values - weights[where])
                    weights[where] = values
                    steps[-1] += 1
                done += 1
                advance()
        mean, unscored = weights - total / max(done, 1), len(pairs) - len(task.scored)
        return JointWeights(task.corrected(mean), task.rules(mean), tuple(steps), unproved, unscored)

    def _best(self, task: "_Task", place: int, weights: Floats) -> tuple[Integers, float] | None:
        """A proved optimum and its value, with the margin where there is one; None without one."""
        gold, margin = task.gold[place], None
        if self.update == "margin":
            margin = np.full((len(gold), task.K), self.margin)
            margin[np.arange(len(gold)), gold] = 0.0
        trellis = task.corrected(weights).correct(task.data.examples[place].trellis, task.rows[place], margin)
        solution = task.decoder(weights).decode(trellis)
        if solution.status != "optimal":
            return None
        return np.asarray(solution.ids), solution.score

    def _moved(
        self, task: "_Task", place: int, weights: Floats, found: Integers, value: float
    ) -> tuple[Integers, Floats] | None:
        """Places of weights that a step changes, with their new values; None for no step."""
        gold = task.gold[place]
        if np.array_equal(found, gold):
            return None
        where, change = task.difference(place, found)
        step = self.rate
        if self.update == "margin":
            behind = value - task.gold_score(place, weights)
            if behind < ROUNDING:
                return None
            step = min(step, behind / max(float(change @ change), 1.0))
        values = np.maximum(weights[where] + step * change, task.least[where])
        values = np.where(where >= task.size, np.minimum(values, LARGEST), values)
        return (where, values) if (values != weights[where]).any() else None


def _check(scorers: Sequence[Base], number: int, model: Base) -> None:
    if scorers and len(scorers) != number:
        raise ValueError(
            f"{counted(len(scorers), 'scorer')} of {counted(number, 'sequence')}; expected one for each"
        )
    for place, scorer in enumerate(scorers):
        if scorer.labels.scheme != model.labels.scheme:
            raise ValueError(
                f"scorer {place} has labels of the scheme {scorer.labels.scheme}, but those of the model are "
                f"{model.labels.scheme}; train all with the same scheme"
            )


class _Task:
    """Sequences, and the places of all weights in one vector: start, end, steps, attributes, items of the rules."""

    def __init__(
        self, pairs: Sequence[Labelled], model: Base, rules: RuleSet, scorers: Sequence[Base]
    ) -> None:
        K, A = len(model.labels), len(attributes_of(model))
        self.model, self.K, self.A = model, K, A
        self.gold = [model.labels.ids(labels) for _, labels in pairs]
        texts = [tuple(tokens) for tokens, _ in pairs]
        trellises = [
            on_labels(scorer.trellis(text), model.labels) for scorer, text in zip(scorers, texts, strict=True)
        ]
        known = zip(scorers, pairs, strict=True)
        self.scored = [
            place for place, (scorer, (_, gold)) in enumerate(known) if {*gold} <= {*scorer.labels.names}
        ]
        examples = (ScoredExample(t, tuple(y)) for t, (_, y) in zip(trellises, pairs, strict=True))
        self.data = TrainingSet(list(examples), rules)
        readers = {id(scorer): _shared_rows(scorer, model) for scorer in scorers}
        self.rows = [readers[id(scorer)](text) for scorer, text in zip(scorers, texts, strict=True)]
        self.size = 2 * K + K * K + A * K
        self.start = np.concatenate([np.zeros(self.size), self.data.given])
        self.least = np.concatenate([np.full(self.size, -np.inf), np.maximum(self.data.signed, -LARGEST)])
        self._gold_counts = [self._counts(place, ids) for place, ids in enumerate(self.gold)]
        self._decoder = b"none", Decoder(())

    def corrected(self, weights: Floats) -> Corrected:
        K = self.K
        start, end, steps, attributes = np.split(weights[: self.size], [K, 2 * K, 2 * K + K * K])
        return Corrected(self.model, start, end, steps.reshape(K, K), attributes.reshape(self.A, K))

    def rules(self, weights: Floats) -> RuleSet:
        return self.data.with_weights(weights[self.size :])

    def decoder(self, weights: Floats) -> Decoder:
        """The last one where the weights of rules are still the same."""
        own = weights[self.size :].tobytes()
        if own != self._decoder[0]:
            self._decoder = own, Decoder(self.rules(weights))
        return self._decoder[1]

    def gold_score(self, place: int, weights: Floats) -> float:
        """Score of the gold labelling under weights, hard rules apart."""
        where, values = self._gold_counts[place]
        own: float = self.data.examples[place].trellis.score(self.gold[place])
        return own + float(values @ weights[where])

    def difference(self, place: int, found: Integers) -> tuple[Integers, Floats]:
        """φ(gold) - φ(found), where it is not 0."""
        (one, plus), (other, minus) = self._gold_counts[place], self._counts(place, found)
        where, back = np.unique(np.concatenate([one, other]), return_inverse=True)
        values = np.bincount(back, np.concatenate([plus, -minus]), len(where))
        kept = values != 0
        return where[kept], values[kept]

    def _counts(self, place: int, ids: Integers) -> tuple[Integers, Floats]:
        K = self.K
        tokens = np.repeat(ids, [len(rows) for rows in self.rows[place]])
        rows = np.concatenate(self.rows[place])
        where = [ids[:1], K + ids[-1:], 2 * K + K * ids[:-1] + ids[1:], 2 * K + K * K + K * rows + tokens]
        active = self.data.activations(place, ids)
        where.append(self.size + np.arange(len(active)))
        places = np.concatenate(where)
        return places, np.concatenate([np.ones(len(places) - len(active)), active])


def _shared_rows(scorer: Base, model: Base) -> Callable[[Sequence[str]], list[Integers]]:
    """A function that has the attributes of each token that both models know, as rows of the second one."""
    place = {name: row for row, name in enumerate(attributes_of(model))}
    shared = np.array([place.get(name, -1) for name in attributes_of(scorer)], np.int64)
    reader = reader_of(scorer)

    def rows(tokens: Sequence[str]) -> list[Integers]:
        return [some[some >= 0] for some in (shared[each] for each in reader(tokens))]

    return rows
