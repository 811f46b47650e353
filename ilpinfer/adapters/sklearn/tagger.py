"""The estimator: a model that is trained or given, decoded under rules."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone  # type: ignore[import-untyped]
from sklearn.exceptions import NotFittedError  # type: ignore[import-untyped]
from sklearn.utils.validation import check_is_fitted  # type: ignore[import-untyped]

from formulations import LabelSet, RuleSet, Trellis
from formulations.messages import brief
from ilpinfer.adapters.sklearn.inputs import (
    Item,
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
from ilpinfer.corpus.conversion import convert_all
from ilpinfer.corpus.helper_labels import at_places, places_with_labels, without_helpers
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.exact.marginals import NoLabelling, marginals
from ilpinfer.models.crf import CRF
from ilpinfer.models.external import LinearChain, crfsuite_file
from ilpinfer.models.training import KINDS, train

Features = Callable[[Sequence[str]], Sequence[Item]]
"""A function from T tokens to the features of each."""
NO_PROBABILITIES = (
    "no labelling keeps the hard rules, so that there are no probabilities; decode(X) gives the reason, and "
    'on_infeasible="none" gives None for it'
)
MODELS = f"{', '.join(map(repr, KINDS))}, a CRF of sklearn-crfsuite, the path of a model file of CRFsuite, or a model of ilpinfer"


@dataclass(eq=False, repr=False)
class ConstrainedTagger(BaseEstimator):  # type: ignore[misc]
    """A tagger of sequences whose predictions are the best labellings that keep the rules.

    X is a sequence of token lists, and y a sequence of label lists. With a model of CRFsuite, X is a sequence of feature lists as in
    sklearn-crfsuite: for each token a dictionary, or a list of names.

    Parameters
    ----------
    rules : sequence of Rule, RuleSet, str, Path or sequence of str or Path, optional
        Rules, a rule set, the name of a catalogue entry, the path of a rule file, or several names and paths.
    model : str, Path or object, default "crf"
        The kind of a model that `fit` trains, "crf", "hmm" or "hmm2" (second order); an estimator of sklearn-crfsuite, of which `fit`
        fits a clone; or a model that is not trained: the path of a model file of CRFsuite, a `FrozenEstimator` of sklearn-crfsuite, or a
        model of ilpinfer, such as `HMM.load(path)`.
    options : mapping of str to object, optional
        Options of the training of a kind, as in `ilpinfer.models.training.train`: `template`, `algorithm`, `c1` and `c2` of "crf",
        `emissions`, `transitions` and `by` of "hmm".
    token : str or callable, optional
        Feature that holds the token, for rules that look at tokens: a name, or a function from the features
        of a token to its text.
    features : callable, optional
        Function from T tokens to the features of each, for a model of CRFsuite. If given, X has tokens, and `token` is not needed.
    scheme : str, optional
        Scheme of predictions, such as "iobes". The labels of `y` are rewritten to it, if a kind is trained. If not given, it is inferred
        from the labels.
    never : sequence of str, optional
        Labels that are never predicted, such as `[PAD]`; see `ilpinfer.Trellis`. Tokens with such a label are left out in training,
        and not counted by `score`.
    method : str, default "auto"
        Decoding method, such as "auto" or "beam:width=50"; see `ilpinfer.methods`.
    time_limit : float, optional
        Time limit in seconds for each sequence.
    on_infeasible : {"raise", "relax", "none"}, default "raise"
        Prediction if no labelling keeps the hard rules. "raise" raises an `InfeasibleError`, "relax" predicts
        the labelling that breaks as few hard rules as possible with a `RelaxedNotice`, and "none" predicts
        None.

    Attributes
    ----------
    decoder_ : Decoder
        The model with compiled rules; its `verify` checks solutions of `decode`.
    model_ : object
        The model of ilpinfer that is decoded.
    classes_ : ndarray of str, shape (K,)
        Label names.

    Examples
    --------
    >>> from ilpinfer import constraints as C
    >>> X = [["Ada", "Lovelace", "1843"], ["Turing", "1936"]]
    >>> y = [["name", "name", "year"], ["name", "year"]]
    >>> tagger = ConstrainedTagger([C.at_most_tokens("year", 1)], options={"c2": 0.1}).fit(X, y)
    >>> tagger.predict([["Ada", "1843", "1936"]])[0].count("year")
    1
    """

    rules: Any = ()
    model: Any = "crf"
    _: KW_ONLY
    options: Mapping[str, Any] | None = None
    token: Token = None
    features: Features | None = None
    scheme: str = ""
    never: Sequence[str] = ()
    method: str = "auto"
    time_limit: float | None = None
    on_infeasible: str = "raise"

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Train the model, and compile the rules for its labels.

        Parameters
        ----------
        X : sequence of sequence, optional
            N sequences of tokens, or of features. Not needed for a model that is not trained. A fitted estimator of
            sklearn-crfsuite is used unchanged without them.
        y : sequence of sequence of str, optional
            Label names of the N sequences, one for each token.

        Returns
        -------
        ConstrainedTagger
            The estimator itself.

        Raises
        ------
        ValueError
            For invalid parameters, rules, sequences and labels; messages name sequences as `X[3]`.
        """
        rules = self._checked_rules()
        # A model that is trained here does not have these labels.
        never = () if self._of_kind or self._is_cloned(X) else self.never
        model = self._trained(X, y) if self._of_kind else self._given(X, y, never)
        self.decoder_ = Decoder(
            rules, model=model, method=self.method, time_limit=self.time_limit, never=never
        )
        self.model_ = model
        return self

    @property
    def _of_kind(self) -> bool:
        return isinstance(self.model, str) and self.model in KINDS

    def _checked_rules(self) -> RuleSet:
        """The rules, after a check of all parameters that do not depend on data."""
        check_on_infeasible(self.on_infeasible)
        Request.of(self.method, self.time_limit, {})
        if not isinstance(self.options, Mapping | None):
            raise ValueError(f"options is {brief(self.options)}; expected a dict of names and values")
        given = {name: getattr(self, name) for name in ("token", "features")}
        name = next((name for name, value in given.items() if value is not None), None)
        if self._of_kind and name:
            raise ValueError(f"{name} is for models of CRFsuite; leave it out for {self.model!r}")
        if self.options and not self._of_kind:
            raise ValueError(f"options are for {', '.join(map(repr, KINDS))}; set them in the model itself")
        return rules_of(self.rules)

    def _trained(self, X: Any, y: Any) -> Any:
        inputs = token_lists(X)
        labels = label_lists(y, inputs)
        pairs = without_helpers(zip(inputs, labels, strict=True), self.never, absent=True)
        return train(self.model, pairs, scheme=self.scheme, **(self.options or {}))

    def _is_cloned(self, X: Any) -> bool:
        """Whether `fit` fits a clone of the model: an estimator of sklearn-crfsuite that is not frozen, if there is data."""
        of_crfsuite = hasattr(self.model, "modelfile") and not callable(getattr(self.model, "trellis", None))
        return of_crfsuite and X is not None and type(self.model).__name__ != "FrozenEstimator"

    def _given(self, X: Any, y: Any, never: Sequence[str]) -> Any:
        """The given model, or a fitted clone of an estimator of sklearn-crfsuite; see `_is_cloned`."""
        model = self.model
        if isinstance(model, str | Path):
            crf = CRF.from_crfsuite(model)
        elif callable(getattr(model, "trellis", None)):
            return model
        elif hasattr(model, "modelfile"):
            if self._is_cloned(X):
                model = self._clone(X, y)
            crf = CRF.from_crfsuite(_file(model))
        else:
            raise ValueError(f"model is {brief(model)}; expected {MODELS}")
        labels = LabelSet(crf.labels.names, self.scheme, never=frozenset(never))
        crf = replace(crf, labels=labels)
        return crf if self.features is None else LinearChain(crf, self.features)

    def _clone(self, X: Any, y: Any) -> Any:
        made = X if self.features is None else [self.features(tokens) for tokens in token_lists(X)]
        items = feature_lists(made)
        labels = label_lists(y, items)
        if not items:
            raise ValueError("X has no sequences to train on")
        pairs = without_helpers(zip(items, labels, strict=True), self.never, absent=True)
        return clone(self.model).fit([tokens for tokens, _ in pairs], [list(names) for _, names in pairs])

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
        return as_array(self._predictions(self._inputs(X)))

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
        scored, names = self._scored(self._inputs(X)), self.classes_.tolist()

        def chances() -> Iterator[list[dict[str, float]] | None]:
            for number, trellis in enumerate(scored):
                try:
                    table = marginals(trellis, self.decoder_.rules).labels.tolist()
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
        return number_errors(self._solutions(self._inputs(X), top))

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
        return number_errors(self._scored(self._inputs(X)))

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
        inputs = self._inputs(X)
        gold = label_lists(y, inputs)
        if not gold:
            raise ValueError("X has no sequences to score")
        places = places_with_labels(gold, self.never)
        predicted, gold = at_places(self._predictions(inputs), places), at_places(gold, places)
        if self.scheme and self._of_kind:
            gold = convert_all(gold, self.scheme)
        right = sum(
            sum(map(str.__eq__, one, other))
            for one, other in zip(predicted, gold, strict=True)
            if one is not None
        )
        return right / max(1, sum(map(len, gold)))

    @property
    def classes_(self) -> NDArray[np.str_]:
        """Names of the K labels, in the order of their ids."""
        check_is_fitted(self, "decoder_")
        labels = self.decoder_.labels
        assert labels is not None
        return np.array(labels.names)

    @property
    def _of_features(self) -> bool:
        return isinstance(self.model_, CRF) and self.model_.template is None

    def _inputs(self, X: Any) -> list[Any]:
        """N checked sequences: features if the model takes features, else tokens."""
        check_is_fitted(self, "decoder_")
        check_on_infeasible(self.on_infeasible)
        return feature_lists(X) if self._of_features else list(token_lists(X))

    def _solutions(self, inputs: list[Any], top: int | None) -> Iterator[Any]:
        """A solution, or a list of the best solutions, for each sequence."""
        more: dict[str, Any] = {} if top is None else {"top": top}
        if self._of_features:
            return self.decoder_.decode_many(self._scored(inputs), **more)
        return self.decoder_.decode_texts(inputs, **more)

    def _scored(self, inputs: list[Any]) -> Iterator[Trellis]:
        model = self.model_
        if not self._of_features:
            return map(model.trellis, inputs)
        return (
            model.trellis_of(items, tokens_of(items, self.token, number))
            for number, items in enumerate(inputs)
        )

    def _predictions(self, inputs: list[Any]) -> list[list[str] | None]:
        solutions: list[Solution] = number_errors(self._solutions(inputs, None))
        return labels_of(solutions, self.on_infeasible)

    def __sklearn_tags__(self) -> Any:
        """Sequences of texts or dicts: scikit-learn's checks of numeric matrices do not apply."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


def _file(estimator: Any) -> Path:
    try:
        return crfsuite_file(estimator)
    except ValueError as error:
        raise NotFittedError(str(error)) from None
