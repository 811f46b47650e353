"""A conditional random field that is trained by CRFsuite, and decoded under rules."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

from formulations import LabelSet
from formulations.messages import brief
from ilpinfer.adapters.sklearn.inputs import Token
from ilpinfer.adapters.sklearn.trained import TrainedEstimator
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.training import check_sequences, learn
from ilpinfer.models.sequences import Labelled
from ilpinfer.models.training import rewrite

CRFSUITE_NAMES: Mapping[str, str] = {
    "min_freq": "feature.minfreq",
    "all_possible_states": "feature.possible_states",
    "all_possible_transitions": "feature.possible_transitions",
}
"""Parameters by the names that sklearn-crfsuite gives them."""
SHORT_NAMES: Mapping[str, str] = {"ap": "averaged-perceptron", "pa": "passive-aggressive"}


@dataclass(eq=False, repr=False)
class ConstrainedCRF(TrainedEstimator):
    """A linear-chain CRF whose predictions are the best labellings that keep the rules.

    X is a sequence of token lists, and a template defines the features of tokens. With `template=None`, X is
    a sequence of feature lists as in sklearn-crfsuite: for each token a dictionary, or a list of names.

    Parameters
    ----------
    rules : sequence of Rule, RuleSet, str, Path or sequence of str or Path, optional
        Rules, a rule set, the name of a catalogue entry, the path of a rule file, or several names and paths.
    template : str, Path or mapping of str to object, default "general"
        Features of tokens: a name such as "citations", a TOML file, or its values; None if X has features.
    algorithm : str, default "lbfgs"
        "lbfgs", "l2sgd", "averaged-perceptron" ("ap"), "passive-aggressive" ("pa") or "arow".
    c1, c2 : float, optional
        Weights of the L1 norm and of the squared L2 norm in training; the algorithm's default if not given.
    max_iterations, min_freq : float, optional
        Maximum number of iterations and minimum frequency of features; defaults of CRFsuite if not given.
    all_possible_states, all_possible_transitions : bool, optional
        Whether features and steps may have weights for labels that they never occur with in training.
    parameters : mapping of str to object, optional
        Further parameters of the algorithm, by the names of CRFsuite.
    token : str or callable, optional
        Feature that holds the token, for rules that look at tokens: a name, or a function from the features
        of a token to its text. Only with `template=None`.
    scheme : str, optional
        Scheme of predictions, such as "iobes"; the labels of `y` are rewritten to it. If not given, it is
        that of `y`.
    never : sequence of str, optional
        Labels that are never predicted, such as `[PAD]`; see `ilpinfer.Trellis`.
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
    model_ : CRF
        The trained model.
    decoder_ : Decoder
        The model with compiled rules; its `verify` checks solutions of `decode`.
    classes_ : ndarray of str, shape (K,)
        Label names.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> X = [["Ada", "Lovelace", "1843"], ["Turing", "1936"]]
    >>> y = [["name", "name", "year"], ["name", "year"]]
    >>> crf = ConstrainedCRF([C.at_most_tokens("year", 1)], c2=0.1).fit(X, y)
    >>> crf.predict([["Ada", "1843", "1936"]])[0].count("year")
    1
    """

    rules: Any = ()
    template: str | Path | Mapping[str, Any] | None = "general"
    _: KW_ONLY
    algorithm: str = "lbfgs"
    c1: float | None = None
    c2: float | None = None
    max_iterations: int | None = None
    min_freq: float | None = None
    all_possible_states: bool | None = None
    all_possible_transitions: bool | None = None
    parameters: Mapping[str, Any] | None = None
    token: Token = None
    scheme: str = ""
    never: Sequence[str] = ()
    method: str = "auto"
    time_limit: float | None = None
    on_infeasible: str = "raise"

    _instead_of_tokens = "; template=None takes features"

    @property
    def _of_features(self) -> bool:
        if self.template is not None and self.token is not None:
            raise ValueError("token says which feature is the token: give template=None, or leave token out")
        return self.template is None

    def _train(self, pairs: list[Labelled]) -> CRF:
        algorithm, parameters = SHORT_NAMES.get(self.algorithm, self.algorithm), self._parameters()
        pairs = rewrite(pairs, self.scheme)
        if self.template is not None:
            return CRF.train(
                pairs, self.template, algorithm=algorithm, parameters=parameters, scheme=self.scheme
            )
        weights = learn(
            check_sequences(pairs, "training", self.scheme), algorithm=algorithm, parameters=parameters
        )
        return CRF(LabelSet(weights.labels, self.scheme), weights)

    def _parameters(self) -> dict[str, Any]:
        """Parameters of the algorithm that are given, by the names of CRFsuite."""
        further = {} if self.parameters is None else self.parameters
        if not isinstance(further, Mapping):
            raise ValueError(
                f"parameters is {brief(further)}; expected a dict from names of CRFsuite to values"
            )
        own = {name: getattr(self, name) for name in ("c1", "c2", "max_iterations", *CRFSUITE_NAMES)}
        named = {CRFSUITE_NAMES.get(name, name): value for name, value in own.items() if value is not None}
        if both := [name for name in named if name in further]:
            raise ValueError(f"{both[0]} is given twice: leave it out of parameters")
        return {**further, **named}
