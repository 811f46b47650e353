"""Linear-chain CRFs that sklearn-crfsuite has trained."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from formulations import LabelSet, Trellis
from ilpinfer.models.crf import CRF

Item = Mapping[str, Any]
"""The features of a token, as python-crfsuite takes them."""


def crfsuite_file(estimator: Any) -> Path:
    """The `.crfsuite` file of a fitted estimator of sklearn-crfsuite, which lives as long as the estimator.

    Raises
    ------
    ValueError
        for an estimator without a file, such as one that has not been fitted.
    """
    name = getattr(getattr(estimator, "modelfile", None), "name", None)
    if name is None or not Path(name).is_file():
        raise ValueError(f"{type(estimator).__name__} has no model file; fit it first")
    return Path(name)


@dataclass(frozen=True)
class LinearChain:
    """A linear-chain CRF, and the features that it looks at.

    Parameters
    ----------
    model : its weights
    features : from T tokens to T items of features
    """

    model: CRF
    features: Callable[[Sequence[str]], Sequence[Item]]

    @classmethod
    def from_estimator(
        cls, estimator: Any, features: Callable[[Sequence[str]], Sequence[Item]], *, scheme: str = ""
    ) -> "LinearChain":
        """From a fitted `sklearn_crfsuite.CRF`, to the last digit.

        Parameters
        ----------
        features : the function that made the items which the estimator was fitted on

        Raises
        ------
        ValueError
            for an estimator that has not been fitted.
        """
        return cls(CRF.from_crfsuite(crfsuite_file(estimator), scheme=scheme), features)

    @property
    def labels(self) -> LabelSet:
        """K labels."""
        return self.model.labels

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        """Unnormalised log scores of T tokens, in nats (Stokman 2011, eq. 18)."""
        if not tokens:
            raise ValueError("an empty sequence has no labelling: expected at least one token")
        items = self.features(tokens)
        if len(items) != len(tokens):
            raise ValueError(f"features gave {len(items)} items for {len(tokens)} tokens")
        return self.model.trellis_of(items, tokens)
