"""The base class of estimators that train a model of ilpinfer."""

from abc import abstractmethod
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted  # type: ignore[import-untyped]

from ilpinfer.adapters.sklearn.base import ConstrainedEstimator
from ilpinfer.adapters.sklearn.inputs import label_lists
from ilpinfer.corpus.conversion import convert_all
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.models.sequences import Labelled


class TrainedEstimator(ConstrainedEstimator):
    model_: Any
    decoder_: Decoder

    @abstractmethod
    def _train(self, pairs: list[Labelled]) -> Any: ...
    @property
    def _of_features(self) -> bool:
        return False

    def fit(self, X: Any, y: Any) -> Self:
        """Train the model, and compile the rules for its labels.

        Parameters
        ----------
        X : sequence of sequence
            N sequences of tokens, or of features if the model takes features.
        y : sequence of sequence of str
            Label names of the N sequences, one for each token.

        Returns
        -------
        TrainedEstimator
            The estimator itself.

        Raises
        ------
        ValueError
            For invalid parameters, rules, sequences and labels; messages name sequences as `X[3]`.
        """
        rules = self._checked_rules()
        inputs = self._inputs(X, self._of_features)
        labels = label_lists(y, inputs)
        model = self._train(list(zip(inputs, labels, strict=True)))
        self.decoder_ = self._decoder(rules, model)
        self.model_ = model
        return self

    def _ready(self) -> Decoder:
        check_is_fitted(self, "decoder_")
        return self.decoder_

    def _gold(self, labels: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
        return convert_all(labels, self.scheme) if self.scheme else labels
