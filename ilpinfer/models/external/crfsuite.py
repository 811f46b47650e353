"""Linear-chain CRFs that sklearn-crfsuite or python-crfsuite has trained."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from formulations import LabelSet, Trellis
from ilpinfer.errors import ModelError
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.crfsuite import Weights

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


def tagger_weights(tagger: Any) -> Weights:
    """The weights of an open `pycrfsuite.Tagger`, with the six decimals that it tells.

    A tagger does not say which file it has opened; `ilpinfer.models.crf.CRF.from_crfsuite` reads a file to the last digit.

    Raises
    ------
    ModelError
        for a tagger without a model.
    """
    try:
        info = tagger.info()
    except RuntimeError as error:
        raise ModelError(f"{error}: open a model first, or give the path of its file") from None
    labels = tuple(sorted(info.labels, key=lambda name: int(info.labels[name])))
    attributes = tuple(sorted(info.attributes, key=lambda name: int(info.attributes[name])))
    label, row = ({name: k for k, name in enumerate(names)} for names in (labels, attributes))
    transitions = np.zeros((len(labels), len(labels)))
    for (before, after), weight in info.transitions.items():
        transitions[label[before], label[after]] = weight
    cells = sorted(
        (row[name], label[target], weight) for (name, target), weight in info.state_features.items()
    )
    rows = np.array([row for row, _, _ in cells], np.int64)
    return Weights(
        labels,
        attributes,
        np.searchsorted(rows, np.arange(len(attributes) + 1)).astype(np.int64),
        np.array([target for _, target, _ in cells], np.int64),
        np.array([weight for _, _, weight in cells], float),
        transitions,
    )


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
