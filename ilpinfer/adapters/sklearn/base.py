"""The base class of the estimators: predictions, probabilities, solutions and scores under rules."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator  # type: ignore[import-untyped]

from formulations import RuleSet, Trellis
from ilpinfer.adapters.sklearn.inputs import (
    Token,
    feature_lists,
    label_lists,
    rules_of,
    token_lists,
    tokens_of,
)
from ilpinfer.adapters.sklearn.predictions import (
    InfeasibleError,
    as_array,
    check_on_infeasible,
    labels_of,
    number_errors,
)
from ilpinfer.core.request import Request
from ilpinfer.core.solution import Solution
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.exact.marginals import NoLabelling
from ilpinfer.models.crf import CRF

NO_PROBABILITIES = (
    "no labelling keeps the hard rules, so that there are no probabilities; decode(X) gives the reason, and "
    'on_infeasible="none" gives None for it'
)


def takes_features(model: Any) -> bool:
    return isinstance(model, CRF) and model.template is None


class ConstrainedEstimator(ABC, BaseEstimator):  # type: ignore[misc]
    rules: Any
    scheme: str
    never: Sequence[str]
    method: str
    time_limit: float | None
    on_infeasible: str
    token: Token = None
    _instead_of_tokens = ""
    """A hint for messages when X has features instead of tokens."""

    @abstractmethod
    def _ready(self) -> Decoder:
        """The decoder with its model; NotFittedError where there is none yet."""

    def predict(self, X: Any) -> NDArray[np.object_]:
        """The best labels under the rules.

        Parameters
        ----------
        X : sequence of sequence
            N sequences of tokens, or of features if the model takes features.

        Returns
        -------
        ndarray of object, shape (N,)
            A list of label names for each sequence; None for a sequence without a prediction, with
            `on_infeasible="none"`.

        Raises
        ------
        InfeasibleError
            For a sequence without a prediction, unless `on_infeasible` has another value than "raise".
        SequenceError
            For invalid sequences.
        """
        decoder = self._ready()
        return as_array(self._predictions(decoder, self._inputs_of(X, decoder)))

    def predict_marginals(self, X: Any) -> NDArray[np.object_]:
        """Probabilities of the labels of each token under the rules.

        The probability of a labelling that keeps the hard rules is proportional to exp(score). Penalties of
        soft rules and features are part of the score; see `ilpinfer.marginals`. Parameters as for `predict`.

        Returns
        -------
        ndarray of object, shape (N,)
            For each sequence a list of T dictionaries from label names to probabilities; None if no labelling
            keeps the hard rules and `on_infeasible` is "none".

        Raises
        ------
        InfeasibleError
            If no labelling keeps the hard rules and `on_infeasible` is "raise" or "relax".
        SequenceError
            For rules that need too many joint states, for models of second order, and for invalid sequences.
        """
        decoder = self._ready()
        names = self.classes_.tolist()
        scored = self._scored(decoder, self._inputs_of(X, decoder))

        def chances() -> Iterator[list[dict[str, float]] | None]:
            for number, trellis in enumerate(scored):
                try:
                    table = decoder.marginals(trellis).labels.tolist()
                except NoLabelling:
                    if self.on_infeasible != "none":
                        raise InfeasibleError(f"X[{number}]: {NO_PROBABILITIES}") from None
                    yield None
                else:
                    yield [dict(zip(names, row, strict=True)) for row in table]

        return as_array(number_errors(chances()))

    def decode(self, X: Any, *, top: int | None = None) -> list[Any]:
        """Solutions with score, bound, violations and certificate, infeasible ones included.

        Parameters as for `predict`, and one more.

        Parameters
        ----------
        top : int, optional
            Number of different labellings of each sequence, best first; if not given, the best labelling.

        Returns
        -------
        list of Solution or list of list of Solution
            A solution for each sequence; a list for each sequence if `top` is a number.

        Raises
        ------
        SequenceError
            For invalid sequences.
        """
        decoder = self._ready()
        return number_errors(self._solutions(decoder, self._inputs_of(X, decoder), top))

    def trellises(self, X: Any) -> list[Trellis]:
        """The model's scores of each sequence.

        `ilpinfer.decode`, `ilpinfer.verify` and `ilpinfer.compare` take them. Parameters as for `predict`.

        Returns
        -------
        list of Trellis
            Scores of N sequences, nats.

        Raises
        ------
        SequenceError
            For invalid sequences.
        """
        decoder = self._ready()
        return number_errors(self._scored(decoder, self._inputs_of(X, decoder)))

    def score(self, X: Any, y: Any) -> float:
        """Share of tokens with the right label; all tokens of a sequence without a prediction count as wrong.

        For F1 of spans pass `scoring=span_f1` to `GridSearchCV` and `cross_val_score`. Parameters as for `predict`, and one more.

        Parameters
        ----------
        y : sequence of sequence of str
            Label names of the N sequences. If `scheme` names the scheme of predictions, they may have another
            one.

        Returns
        -------
        float
            Accuracy, from 0 to 1.

        Raises
        ------
        SequenceError
            For invalid sequences and labels.
        InfeasibleError
            For a sequence without a prediction, if `on_infeasible` is "raise".
        ValueError
            If there are no sequences.
        """
        decoder = self._ready()
        inputs = self._inputs_of(X, decoder)
        gold = self._gold(label_lists(y, inputs))
        if not gold:
            raise ValueError("X has no sequences to score")
        right = sum(
            sum(map(str.__eq__, one, other))
            for one, other in zip(self._predictions(decoder, inputs), gold, strict=True)
            if one is not None
        )
        return right / sum(map(len, gold))

    @property
    def classes_(self) -> NDArray[np.str_]:
        """Names of the K labels, in the order of their ids."""
        labels = self._ready().labels
        assert labels is not None
        return np.array(labels.names)

    def _inputs_of(self, X: Any, decoder: Decoder) -> list[Any]:
        """N checked sequences, of features if the model takes features, else of tokens."""
        check_on_infeasible(self.on_infeasible)
        return self._inputs(X, takes_features(decoder.model))

    def _inputs(self, X: Any, of_features: bool) -> list[Any]:
        return feature_lists(X) if of_features else token_lists(X, self._instead_of_tokens)

    def _solutions(self, decoder: Decoder, inputs: list[Any], top: int | None) -> Iterator[Any]:
        """A solution, or a list of the best few, for each sequence."""
        if takes_features(decoder.model):
            scored = self._scored(decoder, inputs)
            return decoder.decode_many(scored) if top is None else decoder.decode_many(scored, top=top)
        return decoder.decode_texts(inputs) if top is None else decoder.decode_texts(inputs, top=top)

    def _scored(self, decoder: Decoder, inputs: list[Any]) -> Iterator[Trellis]:
        model: Any = decoder.model
        if not takes_features(model):
            return map(model.trellis, inputs)
        return (
            model.trellis_of(items, tokens_of(items, self.token, number))
            for number, items in enumerate(inputs)
        )

    def _predictions(self, decoder: Decoder, inputs: list[Any]) -> list[list[str] | None]:
        solutions: list[Solution] = number_errors(self._solutions(decoder, inputs, None))
        return labels_of(solutions, self.on_infeasible)

    def _gold(self, labels: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
        return labels

    def _checked_rules(self) -> RuleSet:
        """The rules, after a check of all parameters that do not depend on data."""
        check_on_infeasible(self.on_infeasible)
        Request.of(self.method, self.time_limit, {})
        return rules_of(self.rules)

    def _decoder(self, rules: RuleSet, model: Any) -> Decoder:
        return Decoder(rules, model=model, method=self.method, time_limit=self.time_limit, never=self.never)

    def __sklearn_tags__(self) -> Any:
        """Sequences of texts or dicts: scikit-learn's checks of numeric matrices do not apply."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags
