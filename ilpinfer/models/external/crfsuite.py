"""Linear-chain CRFs of sklearn-crfsuite and python-crfsuite."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from formulations import LabelSet, Trellis
from formulations.messages import counted
from formulations.problem.token_scores import empty_trellis
from ilpinfer.errors import ModelError
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.weights import Weights
from ilpinfer.models.sequence_model import SequenceModel

Item = Mapping[str, Any]
"""The features of a token, as python-crfsuite takes them."""


def crfsuite_file(estimator: Any) -> Path:
    """The `.crfsuite` file of a fitted estimator of sklearn-crfsuite; it is deleted with the estimator.

    Parameters
    ----------
    estimator : sklearn_crfsuite.CRF
        A fitted estimator.

    Returns
    -------
    Path
        Path of the file.

    Raises
    ------
    ValueError
        For an estimator without a file, such as one that has not been fitted.

    Examples
    --------
    >>> from sklearn_crfsuite import CRF
    >>> estimator = CRF().fit([[{"word": "Ada"}, {"word": "1815"}]], [["name", "year"]])
    >>> crfsuite_file(estimator).suffix
    '.crfsuite'
    """
    name = getattr(getattr(estimator, "modelfile", None), "name", None)
    if name is None or not Path(name).is_file():
        raise ValueError(f"{type(estimator).__name__} has no model file; fit it first")
    return Path(name)


def tagger_weights(tagger: Any) -> Weights:
    """The weights of an open `pycrfsuite.Tagger`, rounded to six decimals as the tagger reports them.

    A tagger does not tell the path of its file. `ilpinfer.models.crf.CRF.from_crfsuite` reads the weights of a file exactly.

    Parameters
    ----------
    tagger : pycrfsuite.Tagger
        A tagger with an open model.

    Returns
    -------
    Weights
        Labels, attributes and weights.

    Raises
    ------
    ModelError
        For a tagger without a model.

    Examples
    --------
    >>> import pycrfsuite
    >>> from sklearn_crfsuite import CRF
    >>> estimator = CRF().fit([[{"word": "Ada"}, {"word": "1815"}]], [["name", "year"]])
    >>> tagger = pycrfsuite.Tagger()
    >>> with tagger.open(str(crfsuite_file(estimator))):
    ...     tagger_weights(tagger).labels
    ('name', 'year')
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
class LinearChain(SequenceModel):
    """A linear-chain CRF with the function that computes its features (Stokman 2011, eq. 18).

    Parameters
    ----------
    model : CRF
        Model with the weights.
    features : callable
        Function from T tokens to T items of features.

    Examples
    --------
    >>> from sklearn_crfsuite import CRF
    >>> def features(tokens):
    ...     return [{"digits": token.isdigit()} for token in tokens]
    >>> estimator = CRF().fit([features(["Ada", "1815"])], [["name", "year"]])
    >>> LinearChain.from_estimator(estimator, features).trellis(["Alan", "1912"]).labels.names
    ('name', 'year')
    """

    model: CRF
    features: Callable[[Sequence[str]], Sequence[Item]]

    @classmethod
    def from_estimator(
        cls, estimator: Any, features: Callable[[Sequence[str]], Sequence[Item]], *, scheme: str = ""
    ) -> "LinearChain":
        """Read a fitted `sklearn_crfsuite.CRF`. Scores are equal to the last digit.

        Parameters
        ----------
        estimator : sklearn_crfsuite.CRF
            A fitted estimator.
        features : callable
            The function that computed the items on which the estimator was fitted.
        scheme : str, optional
            Scheme of the labels; inferred where not given.

        Returns
        -------
        LinearChain
            The model.

        Raises
        ------
        ValueError
            For an estimator that has not been fitted.
        """
        return cls(CRF.from_crfsuite(crfsuite_file(estimator), scheme=scheme), features)

    @property
    def labels(self) -> LabelSet:
        return self.model.labels

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        if not len(tokens):
            return empty_trellis(self.labels)
        items = self.features(tokens)
        if len(items) != len(tokens):
            raise ValueError(
                f"features gave {counted(len(items), 'item')} for {counted(len(tokens), 'token')}"
            )
        return self.model.trellis_of(items, tokens)
