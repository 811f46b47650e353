"""Scores of models that were trained elsewhere: logits, token classifiers, CRF layers, CRFsuite."""

from typing import TYPE_CHECKING
from warnings import warn

from ilpinfer.corpus.label_names import label_names, read_label_names
from ilpinfer.corpus.logits import LogitsOptions, from_logits
from ilpinfer.corpus.pytorch_crf import crf_parameters
from ilpinfer.models.external.crfsuite import LinearChain, crfsuite_file, tagger_weights

__all__ = [
    "LinearChain",
    "LogitsOptions",
    "crf_parameters",
    "crfsuite_file",
    "from_logits",
    "label_names",
    "read_label_names",
    "tagger_weights",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """The former name of `LogitsOptions`."""
        if name != "Reading":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        warn("Reading is now LogitsOptions", DeprecationWarning, stacklevel=2)
        return LogitsOptions
