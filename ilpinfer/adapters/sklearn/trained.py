"""Estimators that train a model of ilpinfer: their base class, and hidden Markov models."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted  # type: ignore[import-untyped]

from ilpinfer.adapters.sklearn.base import ConstrainedEstimator
from ilpinfer.adapters.sklearn.inputs import label_lists
from ilpinfer.corpus.conversion import convert_all
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.models.sequence_model import TrainedModel
from ilpinfer.models.sequences import Labelled
from ilpinfer.models.training import train


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


KINDS = {1: "hmm", 2: "hmm2"}


@dataclass(eq=False, repr=False)
class ConstrainedHMM(TrainedEstimator):
    """A hidden Markov model whose predictions are the best labellings that keep the rules.

    X is a sequence of token lists. Parameters as for `ConstrainedCRF`, and those of the model; attributes are the same.

    Parameters
    ----------
    order : {1, 2}, default 1
        Number of labels before that a label depends on. Models of order 2 have no marginals.
    emissions, transitions : str, optional
        Smoothings of words and of labels: "none", "additive", "witten-bell", "interpolation" or
        "absolute-discounting"; the model's defaults if not given.
    by : {"classes", "uniform", "shapes", "suffixes", "shapes-suffixes"}, default "classes"
        Classes of words that do not occur in training; "uniform" is one class.
    singletons : bool, default False
        Whether classes are estimated on words that occur once in training.
    alike : bool, default False
        Whether all years count as one word, and likewise numbers with equally
        many digits, initials, months, and tokens with digits of the same shape.
    lower_case : bool, default False
        Whether words are converted to lower case.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> X = [["Ada", "Lovelace", "1843"], ["Turing", "1936"]]
    >>> y = [["name", "name", "year"], ["name", "year"]]
    >>> hmm = ConstrainedHMM([C.requires_before("name", "year")]).fit(X, y)
    >>> hmm.predict([["1843", "1936"]])[0]
    ['name', 'year']
    """

    rules: Any = ()
    _: KW_ONLY
    order: int = 1
    emissions: str | None = None
    transitions: str | None = None
    by: str = "classes"
    singletons: bool = False
    alike: bool = False
    lower_case: bool = False
    scheme: str = ""
    never: Sequence[str] = ()
    method: str = "auto"
    time_limit: float | None = None
    on_infeasible: str = "raise"

    def _train(self, pairs: list[Labelled]) -> TrainedModel:
        if self.order not in (1, 2):
            raise ValueError(f"order is {self.order!r}; expected 1 or 2")
        smoothings = {"emissions": self.emissions, "transitions": self.transitions}
        options: dict[str, Any] = {name: value for name, value in smoothings.items() if value is not None}
        for name in ("by", "singletons", "alike", "lower_case"):
            options[name] = getattr(self, name)
        model: TrainedModel = train(KINDS[int(self.order)], pairs, scheme=self.scheme, **options)
        return model
