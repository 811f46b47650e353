"""Score corrections of a model and penalties of rules, learnt together under inference."""

from collections.abc import Sequence

import numpy as np

from formulations import RuleSet, Trellis
from formulations.dtypes import Booleans, Floats, Integers
from formulations.messages import counted
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.learning.task import SECONDS, Move, Pool
from ilpinfer.learning.training_set import TrainingSet
from ilpinfer.models.chain import Base, Chain, summed
from ilpinfer.models.combination import combine, on_labels
from ilpinfer.models.crf.weights import Weights
from ilpinfer.models.hmm import HMM
from ilpinfer.models.hmm.vocabulary import WORD
from ilpinfer.models.sequences import Labelled
from ilpinfer.pipelines.trellises import ScoredExample


class AllFeatures:
    """Weights of starts, ends, steps, attributes and items of the rules, in one vector (Stokman 2011, section 7.1).

    Each sequence has its own scorer, such as a model trained without it: a model makes few mistakes on its training sequences, which
    leaves few to learn corrections from. Sequences with labels that their scorer lacks are left out. The best labellings are proved
    optima. Words that the scorer or the model does not know have no weight.
    """

    def __init__(
        self,
        pairs: Sequence[Labelled],
        model: Base,
        rules: RuleSet,
        scorers: Sequence[Base] = (),
        known: Sequence[Booleans] | None = None,
    ) -> None:
        _check(scorers, len(pairs), model)
        self.model, self.chain, scorers = model, Chain.of(model), scorers or [model] * len(pairs)
        attributes = self.chain.learnt.attributes
        self.attributes = [name for name in attributes if not isinstance(model, HMM) or name.startswith(WORD)]
        self.K, self.A = K, A = len(model.labels), len(self.attributes)
        texts = [tuple(tokens) for tokens, _ in pairs]
        examples = [
            ScoredExample(on_labels(scorer.trellis(text), model.labels), tuple(gold))
            for scorer, text, (_, gold) in zip(scorers, texts, pairs, strict=True)
        ]
        self.data = TrainingSet(examples, rules, known)
        self.gold = [model.labels.ids(labels) for labels in self.data.gold]
        each = enumerate(zip(scorers, self.data.gold, strict=True))
        self.places = [n for n, (scorer, gold) in each if {*gold} <= {*scorer.labels.names}]
        row = {name: number for number, name in enumerate(self.attributes)}
        chains = {id(scorer): Chain.of(scorer) for scorer in scorers}
        self.rows = [
            _rows(chains[id(scorer)], row, text) for scorer, text in zip(scorers, texts, strict=True)
        ]
        self.size = 2 * K + K * K + A * K
        self.least = np.concatenate([np.full(self.size, -np.inf), self.data.least])
        self.most = np.concatenate([np.full(self.size, np.inf), self.data.most])
        self._gold_counts = [self._counts(place, ids) for place, ids in enumerate(self.gold)]
        self._decoder = b"none", Decoder(())
        self.unproved = 0

    def started(self, factor: float) -> Floats:
        return np.concatenate([np.zeros(self.size), self.data.started(factor)])

    def counted(self, places: Sequence[int]) -> Floats:
        """The model as it was trained, and penalties by counts."""
        return np.concatenate([np.zeros(self.size), self.data.counted(places)])

    def prepare(self, start: Floats, places: Sequence[int], margin: float) -> None:
        """Does nothing: each move decodes."""

    def grow(self, weights: Floats, places: Sequence[int]) -> bool:
        return False

    def move(self, place: int, weights: Floats, margin: float) -> Move | None:
        """From a proved optimum to gold, None if it has all known labels; a sequence without one counts as unproved."""
        gold, known, wrong = self.gold[place], self.data.known[place], None
        if margin:
            wrong = np.full((len(gold), self.K), margin)
            wrong[np.arange(len(gold)), gold] = 0.0
            wrong[~known] = 0.0
        solution = self._rules_decoder(weights).decode(self._corrected(place, weights, wrong))
        self.unproved += solution.status != "optimal"
        if solution.status != "optimal":
            return None
        found = np.asarray(solution.ids)
        if np.array_equal(found[known], gold[known]):
            return None
        (one, plus), (other, minus) = self._gold_counts[place], self._counts(place, found)
        where, back = np.unique(np.concatenate([one, other]), return_inverse=True)
        change = np.bincount(back, np.concatenate([plus, -minus]), len(where))
        own = self.data.trellises[place].score(gold)
        kept = change != 0
        return Move(where[kept], change[kept], solution.score - own - float(plus @ weights[one]))

    def add_best(self, places: Sequence[int], top: int, within: float) -> None:
        self.data.add_best(places, top, within)

    def decode(self, weights: Floats, places: Sequence[int]) -> None:
        """Add the best labelling of each sequence, if it has one, to its pool."""
        decoder = self._rules_decoder(weights)
        for place in places:
            solution = decoder.decode(self._corrected(place, weights))
            if solution.has_labelling:
                self.data.see(place, np.asarray(solution.ids))

    def pools(self, places: Sequence[int]) -> list[Pool]:
        """The pools of the rules, with the counts of all features."""
        from scipy.sparse import csr_array

        result = []
        for place, pool in zip(places, self.data.pools(places), strict=True):
            counts = [self._counts(place, ids) for ids in self.data.labellings(place)]
            begins = np.cumsum([0, *(len(where) for where, _ in counts)])
            where = np.concatenate([np.zeros(0, np.int64), *(places for places, _ in counts)])
            values = np.concatenate([np.zeros(0), *(values for _, values in counts)])
            features = csr_array((values, where, begins), shape=(len(counts), len(self.least)))
            result.append(Pool(pool.scores, features, pool.counts, pool.wrong))
        return result

    def corrected(self, weights: Floats) -> Chain:
        """The model with corrected scores."""
        start, end, steps, attributes = self._parts(weights)
        rows = np.flatnonzero(attributes.any(axis=1))
        names = tuple(self.attributes[row] for row in rows)
        learnt = Weights.of(self.model.labels.names, names, attributes[rows], steps)
        correction = Chain(self.model.labels, start, end, learnt, self.chain.reader)
        return summed([self.chain, correction], [1.0, 1.0])

    def rules(self, weights: Floats) -> RuleSet:
        return self.data.with_weights(weights[self.size :])

    def _parts(self, weights: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Corrections of starts, ends, steps and attributes."""
        K = self.K
        start, end, steps, attributes = np.split(weights[: self.size], [K, 2 * K, 2 * K + K * K])
        return start, end, steps.reshape(K, K), attributes.reshape(self.A, K)

    def _corrected(self, place: int, weights: Floats, more: Floats | None = None) -> Trellis:
        """The scores of a sequence with corrections, and more scores of tokens (T, K)."""
        start, end, steps, attributes = self._parts(weights)
        trellis = self.data.trellises[place]
        nodes = np.array([attributes[each].sum(axis=0) for each in self.rows[place]])
        own = Trellis.from_emissions(
            nodes if more is None else nodes + more,
            steps,
            start=start,
            end=end,
            labels=self.model.labels,
            tokens=trellis.tokens,
        )
        return combine([trellis, own])

    def _rules_decoder(self, weights: Floats) -> Decoder:
        """The previous decoder if the rule weights are unchanged."""
        own = weights[self.size :].tobytes()
        if own != self._decoder[0]:
            self._decoder = own, Decoder(self.rules(weights), time_limit=SECONDS)
        return self._decoder[1]

    def _counts(self, place: int, ids: Integers) -> tuple[Integers, Floats]:
        """Indices of the weights that a labelling activates, repeated for repeated features, and their activations."""
        K, rows = self.K, self.rows[place]
        tokens = np.repeat(ids, [len(each) for each in rows])
        attributes = 2 * K + K * K + K * np.concatenate(rows) + tokens
        where = [ids[:1], K + ids[-1:], 2 * K + K * ids[:-1] + ids[1:], attributes]
        active = self.data.activations(place, ids)
        places = np.concatenate([*where, self.size + np.arange(len(active))])
        return places, np.concatenate([np.ones(len(places) - len(active)), active])


def _rows(scorer: Chain, row: dict[str, int], tokens: Sequence[str]) -> list[Integers]:
    """The attributes of each token that both the scorer and the model know."""
    known = scorer.known
    return [
        np.array([row[name] for name in each if name in row and name in known], np.int64)
        for each in scorer.features(tokens)
    ]


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
