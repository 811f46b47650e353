"""What constraint-driven learning is compared with here: means of probabilities, beams, and learning from the surest labels alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data.sets import Labelled
from formulations import RuleSet
from formulations import constraints as C
from formulations.dtypes import Floats
from formulations.labels.schemes import CLOSED
from ilpinfer import Decoder
from ilpinfer.learning.expectation import WeightedLabellings
from ilpinfer.learning.learners import learner_of
from ilpinfer.models.chain import Chain
from ilpinfer.models.crf.weights import Weights
from ilpinfer.models.hmm import HMM
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.models.sequences import encode

CYCLES = 5


class Sure(NamedTuple):
    """Labellings of a sequence of the pool, and by how much the best one leads, nats."""

    labellings: WeightedLabellings
    lead: float


@dataclass(frozen=True)
class Baseline:
    """A loop as that of `CODL`, of hidden Markov models, with other choices.

    `gamma` is the weight of the supervised model, or None for the share of its tokens among all that are learnt from; `mixing` is what
    is mixed, "probabilities" or "counts". Labellings are exact, or those of a beam of width `k`. `share` of the pool, the surest
    sequences, is learnt from in each cycle; or, without `relabel`, as much is added in each cycle, and keeps its labels.
    """

    gamma: float | None = 0.9
    k: int = 1
    mixing: str = "probabilities"
    beam: bool = False
    share: float = 1.0
    relabel: bool = True

    def fit(
        self,
        labelled: Sequence[Labelled],
        pool: Sequence[Sequence[str]],
        rules: RuleSet,
        options: Mapping[str, Any],
    ) -> SequenceModel:
        labels, texts, ids = encode(labelled)
        own = (C.valid_scheme(name="labels keep to their scheme"),) if labels.scheme in CLOSED else ()
        used = replace(rules, items=(*rules.items, *own))
        learner, unlabelled = learner_of("hmm", options), dict(enumerate(map(tuple, pool), len(texts)))
        learn = learner.prepare(labels, [*texts, *unlabelled.values()])
        first: Any = learn(WeightedLabellings.alike(place, y[None]) for place, y in enumerate(ids))
        model: SequenceModel = first
        kept = dict[int, WeightedLabellings]()
        for _ in range(CYCLES):
            kept = {} if self.relabel else kept
            others = {place: text for place, text in unlabelled.items() if place not in kept}
            made = self.labelled(model, others, used)
            number = max(1, round(self.share * len(unlabelled)))
            surest = sorted((-each.lead, place) for place, each in made.items())[:number]
            kept = dict(sorted({**kept, **{place: made[place].labellings for _, place in surest}}.items()))
            second: Any = learn(kept.values())
            tokens = sum(map(len, texts)), sum(len(unlabelled[place]) for place in kept)
            gamma = tokens[0] / sum(tokens) if self.gamma is None else self.gamma
            mix = learner.mix if self.mixing == "counts" else probabilities
            model = mix(first, second, gamma)
        return model

    def labelled(
        self, model: SequenceModel, texts: Mapping[int, tuple[str, ...]], rules: RuleSet
    ) -> dict[int, Sure]:
        """The best labellings of each text, with even weights."""
        way: dict[str, Any] = {"method": "beam", "width": self.k} if self.beam else {}
        decoder, top = Decoder(rules, model=model, **way), max(self.k, 1 if self.share == 1 else 2)
        result = {}
        for place, text in texts.items():
            found = [s for s in decoder.decode(model.trellis(text), top=top) if s.path is not None]
            if found:
                paths = np.array([s.path for s in found[: self.k]])
                lead = found[0].score - found[1].score if len(found) > 1 else np.inf
                result[place] = Sure(WeightedLabellings.alike(place, paths), lead)
        return result


def probabilities(one: HMM, other: HMM, gamma: float) -> Chain:
    """The model of the probabilities γ·p + (1 - γ)·p' of two models of the same words (Chang et al. 2007, Figure 2, line 9)."""

    def mean(first: Floats | None, second: Floats | None) -> Floats:
        assert first is not None
        assert second is not None
        return np.asarray(np.logaddexp(first + np.log(gamma), second + np.log(1 - gamma)))

    p, q = one.parameters, other.parameters
    table = mean(one.emissions.log_probabilities, other.emissions.log_probabilities)
    steps = mean(p.transitions, q.transitions)
    learnt = Weights.of(one.labels.names, one.emissions.attributes, table, steps)
    return Chain(one.labels, mean(p.start, q.start), mean(p.end, q.end), learnt, one.emissions.vocabulary)
