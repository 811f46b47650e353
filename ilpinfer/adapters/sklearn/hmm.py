"""A hidden Markov model that is decoded under rules."""

from typing import Any

from ilpinfer.adapters.sklearn.trained import TrainedEstimator
from ilpinfer.models.sequence_model import TrainedModel
from ilpinfer.models.sequences import Labelled
from ilpinfer.models.training import train

KINDS = {1: "hmm", 2: "hmm2"}
"""Kinds of models by order."""


class ConstrainedHMM(TrainedEstimator):
    """A hidden Markov model whose predictions are the best labellings that keep the rules. X is a list of token lists.

    Parameters
    ----------
    rules : a list of rules, a rule set, a name of the catalogue, a rule file, or a list of names and files
    order : 1, or 2 for labels that depend on two labels before; then there are no marginals
    emissions, transitions : smoothing of words and of labels: "none", "additive", "witten-bell", "interpolation" or
        "absolute-discounting"; None for the usual one
    by : the classes by which unknown words are estimated: "uniform", "classes", "shapes", "suffixes" or
        "shapes-suffixes"
    singletons : whether classes are estimated from words that occur once in training
    alike : whether all years are one word, and so all numbers of equal length, all initials, and all months
    lower_case : whether words are read in lower case
    scheme : in which labels are predicted, such as "iobes"; the labels of `y` are rewritten; theirs where it is empty
    method : how to decode, such as "auto" or "beam:width=50"; see `ilpinfer.methods`
    time_limit : seconds for each sequence, or None
    on_infeasible : what is predicted where no labelling keeps the hard rules: "raise" an `InfeasibleError`; "relax" for the
        labelling that breaks as few as possible, with a `RelaxedNotice`; "none" for None

    Attributes
    ----------
    model_ : the `HMM`, or `SecondOrderHMM`
    decoder_ : the model with the rules, compiled; its `verify` checks solutions of `decode`
    classes_ : (K,) label names

    Examples
    --------
    >>> from formulations import constraints as C
    >>> X = [["Ada", "Lovelace", "1843"], ["Turing", "1936"]]
    >>> y = [["name", "name", "year"], ["name", "year"]]
    >>> hmm = ConstrainedHMM([C.requires_before("name", "year")]).fit(X, y)
    >>> hmm.predict([["1843", "1936"]])[0]
    ['name', 'year']
    """

    def __init__(
        self,
        rules: Any = (),
        *,
        order: int = 1,
        emissions: str | None = None,
        transitions: str | None = None,
        by: str = "classes",
        singletons: bool = False,
        alike: bool = False,
        lower_case: bool = False,
        scheme: str = "",
        method: str = "auto",
        time_limit: float | None = None,
        on_infeasible: str = "raise",
    ) -> None:
        self.rules = rules
        self.order = order
        self.emissions = emissions
        self.transitions = transitions
        self.by = by
        self.singletons = singletons
        self.alike = alike
        self.lower_case = lower_case
        self.scheme = scheme
        self.method = method
        self.time_limit = time_limit
        self.on_infeasible = on_infeasible

    def _train(self, pairs: list[Labelled]) -> TrainedModel:
        if self.order not in (1, 2):
            raise ValueError(f"order is {self.order!r}; expected 1 or 2")
        smoothings = {"emissions": self.emissions, "transitions": self.transitions}
        options: dict[str, Any] = {name: value for name, value in smoothings.items() if value is not None}
        for name in ("by", "singletons", "alike", "lower_case"):
            options[name] = getattr(self, name)
        model: TrainedModel = train(KINDS[int(self.order)], pairs, scheme=self.scheme, **options)
        return model
