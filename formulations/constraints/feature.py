"""Features: signed scores for labels, edges and tokens, which are part of the score, not penalties."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from formulations.automata.windows import StepChoice, fits
from formulations.constraints.steps import between, everywhere, only_at
from formulations.constraints.template import LONGEST_NAME
from formulations.grid import snap_weight
from formulations.labels.label_set import LabelSet
from formulations.labels.selectors import Selector
from formulations.messages import cut
from formulations.parameters import check_parameters
from formulations.tokens.token_pattern import TokenPattern


@dataclass(frozen=True)
class Feature:
    """`weight` nats, positive or negative, for each token or step that fits (Stokman 2011, eq. 38, w·θ).

    Staying within a field is a step like any other. Say `label` for a token, or `from_` and `to` for a step;
    words or a pattern restrict it to matching tokens, for a step to those that it enters.

    Parameters
    ----------
    weight : nats
    label : field, label or group of the token
    from_, to : fields, labels or groups of the step; one of them alone leaves the other open
    words, pattern, ignore_case : as in `tag_at`
    name : shown in messages
    reason : why the feature is there
    """

    weight: float
    label: Selector | None = None
    from_: Selector | None = None
    to: Selector | None = None
    words: Sequence[str] = ()
    pattern: str = ""
    ignore_case: bool = True
    name: str = ""
    reason: str = ""

    def __post_init__(self) -> None:
        check_parameters(self)
        step = self.from_ is not None or self.to is not None
        if (self.label is not None) == step:
            raise ValueError(f"{self.title}: name either a label, or the from and to of a step")
        snap_weight(self.weight, f"{self.title}: weight")
        TokenPattern(self.words, self.pattern, self.ignore_case)

    @property
    def title(self) -> str:
        """The given name, or the labels."""
        components = [self.label] if self.label is not None else [self.from_ or "any", "→", self.to or "any"]
        return self.name or cut(f"feature {' '.join(map(str, components))}", LONGEST_NAME)

    def steps(self, labels: LabelSet) -> StepChoice:
        """Grid weights of each step."""
        if self.label is not None:
            table = labels.field(self.label).member[None, :]
        else:
            anything = np.ones(len(labels), bool)
            before = anything if self.from_ is None else labels.field(self.from_).member
            after = anything if self.to is None else labels.field(self.to).member
            table = between(before, after)
        pattern = TokenPattern(self.words, self.pattern, self.ignore_case)
        steps = only_at(table, fits(pattern)) if pattern else everywhere(table)
        return steps.map(np.array([0, snap_weight(self.weight, "weight")], np.int64))


def feature(
    *,
    weight: float,
    label: Selector | None = None,
    from_: Selector | None = None,
    to: Selector | None = None,
    words: Sequence[str] = (),
    pattern: str = "",
    ignore_case: bool = True,
    name: str = "",
    reason: str = "",
) -> Feature:
    """A signed weight on label, edge or token predicates; see `Feature`.

    Examples
    --------
    >>> feature(from_="title", to="author", weight=0.5).title
    'feature title → author'
    """
    return Feature(weight, label, from_, to, words, pattern, ignore_case, name, reason)
