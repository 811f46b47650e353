"""Options of `ilpinfer learn`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class LearnOptions:
    """Options of `ilpinfer learn`.

    Parameters
    ----------
    rules : rule files, or names of the catalogue, which are joined
    source : labelled sequences
    output : a rule file
    model : a model that scores them; if it was trained on them, models of its kind are trained on parts
    kind, option : of models that are trained on parts, if no model is given
    settings : arguments of `PenaltyLearner`
    folds : number of parts
    scheme : of the labels; empty to infer it
    column : column of the labels
    as_json : whether to show JSON
    """

    rules: Sequence[str]
    source: str
    output: str
    model: str | None = None
    kind: str = ""
    option: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    folds: int = 5
    scheme: str = ""
    column: str = ""
    as_json: bool = False
