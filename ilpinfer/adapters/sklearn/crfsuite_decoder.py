"""Rules for models of sklearn-crfsuite and python-crfsuite."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from sklearn.base import clone  # type: ignore[import-untyped]
from sklearn.exceptions import NotFittedError  # type: ignore[import-untyped]

from formulations import LabelSet, RuleSet
from formulations.messages import brief
from ilpinfer.adapters.sklearn.base import ConstrainedEstimator
from ilpinfer.adapters.sklearn.inputs import Item, Token, feature_lists, label_lists, token_lists
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.models.crf import CRF
from ilpinfer.models.external import LinearChain, crfsuite_file, tagger_weights

Features = Callable[[Sequence[str]], Sequence[Item]]
"""A function from T tokens to the features of each."""


@dataclass(eq=False, repr=False)
class ConstrainedDecoder(ConstrainedEstimator):
    """A decoder under rules for a model of CRFsuite, in place of its own Viterbi decoding.

    If the model is fitted already, `predict` works at once. `fit` fits a clone of an estimator of sklearn-crfsuite, but no tagger,
    model file or `FrozenEstimator`, so that `GridSearchCV` can compare rules for one model. Parameters as for `ConstrainedCRF`, and
    those of the model.

    Parameters
    ----------
    estimator : sklearn_crfsuite.CRF, FrozenEstimator, pycrfsuite.Tagger, str or Path
        An estimator, fitted or not, or frozen; an open tagger, whose weights have six decimals; or a model file.
    token : str or callable, optional
        Feature that holds the token, for rules that look at tokens: a name, or a function from the features
        of a token to its text.
    features : callable, optional
        Function from T tokens to the features of each. If given, X has tokens, and `token` is not needed.
    scheme : str, optional
        Scheme of the model's labels; inferred from their names if not given.
    never : sequence of str, optional
        Labels that are never predicted, such as `[PAD]`; see `ilpinfer.Trellis`.

    Attributes
    ----------
    estimator_ : object
        The fitted estimator, the tagger or the path; only after `fit`.
    decoder_ : Decoder
        The model with compiled rules; its `verify` checks solutions of `decode`. Only after `fit`.
    classes_ : ndarray of str, shape (K,)
        Label names.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> from sklearn_crfsuite import CRF
    >>> X = [[{"word": "Ada"}, {"word": "1843"}], [{"word": "Alan"}, {"word": "1936"}]]
    >>> crf = CRF(c2=0.1).fit(X, [["name", "year"], ["name", "year"]])
    >>> decoder = ConstrainedDecoder(crf, [C.tag_at("name", words=["1936"])], token="word")
    >>> decoder.predict([[{"word": "Alan"}, {"word": "1936"}]])[0]
    ['name', 'name']
    """

    estimator: Any
    rules: Any = ()
    _: KW_ONLY
    token: Token = None
    features: Features | None = None
    scheme: str = ""
    never: Sequence[str] = ()
    method: str = "auto"
    time_limit: float | None = None
    on_infeasible: str = "raise"

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Fit a clone of the estimator if it can be fitted, and compile the rules for its labels.

        Parameters
        ----------
        X : sequence of sequence, optional
            N sequences of features, or of tokens if `features` is given. Not read for a tagger, a model file
            and a `FrozenEstimator`.
        y : sequence of sequence of str, optional
            Label names of the N sequences.

        Returns
        -------
        ConstrainedDecoder
            The decoder itself.

        Raises
        ------
        ValueError
            For invalid parameters, rules, sequences and labels; messages name sequences as `X[3]`.
        """
        rules = self._checked_rules()
        estimator = self.estimator
        if not _stays(estimator):
            items = self._items(X)
            labels = label_lists(y, items)
            if not items:
                raise ValueError("X has no sequences to train on")
            estimator = clone(estimator).fit(items, list(map(list, labels)))
        self.decoder_ = self._compiled(rules, estimator)
        self.estimator_ = estimator
        return self

    def _items(self, X: Any) -> list[list[Item]]:
        if self.features is None:
            return feature_lists(X)
        return feature_lists([self.features(tokens) for tokens in token_lists(X)])

    def _ready(self) -> Decoder:
        if "decoder_" in self.__dict__:
            return self.decoder_
        return self._of_fitted()

    def _of_fitted(self) -> Decoder:
        """The decoder of an estimator that was fitted before; kept while parameters and model are the same."""
        key = _Key(_version(self.estimator), *(getattr(self, name) for name in _Key._fields[1:]))
        kept = self.__dict__.get("_kept")
        if kept is None or not key.same(kept[0]):
            kept = key, self._compiled(self._checked_rules(), self.estimator)
            self._kept = kept
        decoder: Decoder = kept[1]
        return decoder

    def _compiled(self, rules: RuleSet, estimator: Any) -> Decoder:
        model = _model(estimator, self.scheme, self.never)
        return self._decoder(rules, model if self.features is None else LinearChain(model, self.features))

    def __sklearn_is_fitted__(self) -> bool:
        if "decoder_" in self.__dict__:
            return True
        try:
            _version(self.estimator)
        except (ValueError, OSError):
            return False
        return True

    def __sklearn_clone__(self) -> "ConstrainedDecoder":
        """An unfitted copy with the same parameters; a tagger cannot be copied and is shared."""
        parameters = self.get_params(deep=False)
        own = {
            name: value if _is_tagger(value) else clone(value, safe=False)
            for name, value in parameters.items()
        }
        return type(self)(**own)

    def __getstate__(self) -> dict[str, Any]:
        if _is_tagger(self.estimator):
            raise TypeError("a Tagger cannot be pickled: give ConstrainedDecoder the path of its model file")
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_kept"}


class _Key(NamedTuple):
    version: tuple[Any, ...]
    rules: Any
    features: Features | None
    scheme: str
    never: Sequence[str]
    method: str
    time_limit: float | None

    def same(self, other: "_Key") -> bool:
        """Whether the parameters are the same objects, and the model has not changed."""
        return self.version == other.version and all(
            mine is its for mine, its in zip(self[1:], other[1:], strict=True)
        )


def _is_tagger(estimator: Any) -> bool:
    return callable(getattr(estimator, "tag", None)) and callable(getattr(estimator, "info", None))


def _stays(estimator: Any) -> bool:
    if isinstance(estimator, str | Path) or _is_tagger(estimator):
        return True
    if not hasattr(estimator, "modelfile"):
        raise ValueError(
            f"estimator is {brief(estimator)}; expected a CRF of sklearn-crfsuite, a Tagger of python-crfsuite, or the path "
            "of a model file"
        )
    return type(estimator).__name__ == "FrozenEstimator"


def _place(estimator: Any) -> Path:
    if isinstance(estimator, str | Path):
        return Path(estimator)
    try:
        return crfsuite_file(estimator)
    except ValueError as error:
        raise NotFittedError(str(error)) from None


def _version(estimator: Any) -> tuple[Any, ...]:
    """A value that changes when a model is trained again; NotFittedError for one that was not trained."""
    if _stays(estimator) and _is_tagger(estimator):
        try:
            return (id(estimator), tuple(estimator.labels()))
        except ValueError as error:
            raise NotFittedError(f"{error}: open a model first, or give the path of its file") from None
    place = _place(estimator)
    stat = place.stat() if place.is_file() else None
    return (str(place), stat and (stat.st_mtime_ns, stat.st_size))


def _model(estimator: Any, scheme: str, never: Sequence[str]) -> CRF:
    if _is_tagger(estimator):
        weights = tagger_weights(estimator)
        return CRF(LabelSet(weights.labels, scheme, never=frozenset(never)), weights)
    crf = CRF.from_crfsuite(_place(estimator))
    return replace(crf, labels=LabelSet(crf.labels.names, scheme, never=frozenset(never)))
