"""Features: signed scores of labels, edges and tokens."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

import numpy as np

from formulations.automata.components import StepChoice, fits
from formulations.constraints.steps import between, everywhere, only_at
from formulations.constraints.template import LONGEST_NAME
from formulations.grid import snap_weight
from formulations.labels.label_set import LabelSet
from formulations.labels.selectors import Selector
from formulations.messages import cut
from formulations.parameters import check_parameters, describe
from formulations.tokens.token_pattern import IgnoreCase, Regex, Texts, TokenPattern


@dataclass(frozen=True)
class Feature:
    """A score of `weight` nats, positive or negative, for each matching token or step (Stokman 2011, eq. 38, w·θ).

    A feature has either `label`, for tokens, or `from_` and `to`, for steps, including steps within a field. Words or a pattern
    restrict it to matching tokens; for a step, the entered token must match.

    Raises
    ------
    ValueError
        If both a label and a step are given, or neither, and for a weight that is not finite or rounds to 0.

    Examples
    --------
    >>> from ilpinfer import Feature
    >>> Feature(0.5, from_="title", to="O").title
    'feature title → O'
    """

    weight: Annotated[float, "Score of each match, nats."]
    label: Annotated[Selector | None, "Field, label or group of the token."] = None
    _: KW_ONLY
    from_: Annotated[Selector | None, "Field, label or group that a step leaves; any if not given."] = None
    to: Annotated[Selector | None, "Field, label or group that a step enters; any if not given."] = None
    words: Texts = ()
    pattern: Regex = ""
    ignore_case: IgnoreCase = True
    name: Annotated[str, "Name in messages."] = ""
    reason: Annotated[str, "Why the feature is there."] = ""

    def __post_init__(self) -> None:
        check_parameters(self)
        step = self.from_ is not None or self.to is not None
        if (self.label is not None) == step:
            raise ValueError(f"{self.title}: name either a label, or the from and to of a step")
        snap_weight(self.weight, f"{self.title}: weight")
        object.__setattr__(self, "weight", float(self.weight))
        TokenPattern(self.words, self.pattern, self.ignore_case)

    @property
    def title(self) -> str:
        """The given name, or the labels."""
        components = [self.label] if self.label is not None else [self.from_ or "any", "→", self.to or "any"]
        return self.name or cut(f"feature {' '.join(map(str, components))}", LONGEST_NAME)

    def steps(self, labels: LabelSet) -> StepChoice:
        """Grid weights of each step.

        Parameters
        ----------
        labels : LabelSet
            The K labels of the trellis.

        Returns
        -------
        StepChoice
            Weights of the steps in grid units of 2^-20 nats, one table for tokens that match and one for
            others.
        """
        if self.label is not None:
            matches = labels.field(self.label).member[None, :]
        else:
            anything = np.ones(len(labels), bool)
            before = anything if self.from_ is None else labels.field(self.from_).member
            after = anything if self.to is None else labels.field(self.to).member
            matches = between(before, after)
        pattern = TokenPattern(self.words, self.pattern, self.ignore_case)
        table = matches * np.int64(snap_weight(self.weight, "weight"))
        return only_at(table, fits(pattern)) if pattern else everywhere(table)


describe(Feature)
feature = Feature
