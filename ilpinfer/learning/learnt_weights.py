"""The result of learning weights."""

from dataclasses import dataclass
from typing import Any

from formulations import RuleSet
from formulations.plain_values import PlainValues
from ilpinfer.learning.selection import Tried
from ilpinfer.learning.verdicts import RuleVerdict
from ilpinfer.models.chain import Chain
from ilpinfer.models.sequence_model import TrainedModel


@dataclass(frozen=True)
class LearntWeights(PlainValues):
    """The result of `WeightLearner.fit` and `WeightLearner.fit_model`.

    Parameters
    ----------
    rules : RuleSet
        Rule set with learnt penalties and weights. Useless rules are removed, hard ones stay.
    chosen : str
        Name of the selected way.
    tried : tuple of Tried
        Ways that were tried on held-out folds.
    verdicts : tuple of Verdict
        Result for each soft rule and feature; empty if the scores of the model were corrected.
    capped : tuple of str
        Names of items whose weight reached the cap, such as rules that gold keeps and all other labellings break.
    sequences : int
        Number of examples.
    unlabelled : int, default 0
        Number of examples for which no labelling keeps the hard rules.
    model : HMM, CRF or Chain, optional
        Model of all sequences, from `fit_model`.
    corrected : bool, default False
        Whether the scores of the model were corrected.
    unproved : int, default 0
        Number of moves that were left out because a sequence had no proved optimum.
    unscored : int, default 0
        Number of sequences that were left out because the models of the other folds lack some of their labels.

    Examples
    --------
    >>> from ilpinfer import RuleSet, Trellis, constraints as C
    >>> from ilpinfer.learning import ScoredExample, WeightLearner
    >>> trellis = Trellis([0.0, 0.5], [], labels=["a", "b"])
    >>> examples = [ScoredExample(trellis, ("a",))] * 4
    >>> WeightLearner().fit(examples, RuleSet((C.starts_with("a", penalty=0.1),))).sequences
    4
    """

    rules: RuleSet
    chosen: str
    tried: tuple[Tried, ...]
    verdicts: tuple[RuleVerdict, ...] = ()
    capped: tuple[str, ...] = ()
    sequences: int = 0
    unlabelled: int = 0
    model: TrainedModel | Chain | None = None
    corrected: bool = False
    unproved: int = 0
    unscored: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {
            "chosen": self.chosen,
            "corrected": self.corrected,
            "sequences": self.sequences,
            "unlabelled": self.unlabelled,
            "unproved": self.unproved,
            "unscored": self.unscored,
            "tried": [each.to_dict() for each in self.tried],
            "rules": [
                {
                    "name": v.name,
                    "given": v.given,
                    "learnt": v.learnt,
                    "changed": None if v.ablation is None else v.ablation.changed,
                    "reason": v.reason,
                }
                for v in self.verdicts
            ],
            "capped": list(self.capped),
        }

    def __repr__(self) -> str:
        if self.corrected:
            return f"LearntWeights({self.chosen}, {self.model})"
        kept = sum(verdict.learnt != 0 for verdict in self.verdicts)
        return f"LearntWeights({self.chosen}, {kept} of {len(self.verdicts)} rules kept)"
