"""Linear-chain CRFs that sklearn-crfsuite has trained."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations import LabelSet, Trellis
from ilpinfer.models.fit import warn_of_unknown

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
    """The weights of a linear-chain CRF, and the features that it looks at.

    Parameters
    ----------
    labels : K labels
    states : for each attribute (K,) weights
    transitions : (K, K) weights [from, to]
    features : from T tokens to T items of features
    """

    labels: LabelSet
    states: Mapping[str, NDArray[np.float64]]
    transitions: NDArray[np.float64]
    features: Callable[[Sequence[str]], Sequence[Item]]

    @classmethod
    def from_estimator(
        cls, estimator: Any, features: Callable[[Sequence[str]], Sequence[Item]], *, scheme: str = ""
    ) -> "LinearChain":
        """From a fitted `sklearn_crfsuite.CRF`; weights come with six digits after the point.

        Parameters
        ----------
        features : the function that made the items which the estimator was fitted on

        Raises
        ------
        ValueError
            for an estimator that has not been fitted.
        """
        crfsuite_file(estimator)
        names = tuple(estimator.classes_)
        ids = {name: k for k, name in enumerate(names)}
        K = len(names)
        states: dict[str, NDArray[np.float64]] = {}
        for (attribute, label), weight in estimator.state_features_.items():
            states.setdefault(attribute, np.zeros(K))[ids[label]] = weight
        transitions = np.zeros((K, K))
        for (before, after), weight in estimator.transition_features_.items():
            transitions[ids[before], ids[after]] = weight
        return cls(LabelSet(names, scheme), states, transitions, features)

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        """Unnormalised log scores of T tokens, in nats (Stokman 2011, eq. 18)."""
        if not tokens:
            raise ValueError("an empty sequence has no labelling: expected at least one token")
        items = import_module("pycrfsuite").ItemSequence(list(self.features(tokens))).items()
        if len(items) != len(tokens):
            raise ValueError(f"features gave {len(items)} items for {len(tokens)} tokens")
        if not any(name in self.states for item in items for name in item):
            warn_of_unknown(chain.from_iterable(items), list(self.states)[:1])
        zero = np.zeros(len(self.labels))
        emissions = [
            sum((value * self.states[name] for name, value in item.items() if name in self.states), zero)
            for item in items
        ]
        return Trellis.from_emissions(emissions, self.transitions, labels=self.labels, tokens=tokens)
