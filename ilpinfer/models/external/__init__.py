"""Scores of models that were trained elsewhere: logits, token classifiers, CRF layers, CRFsuite."""

from formulations.labels.names import label_names
from ilpinfer.corpus.label_names import read_label_names
from ilpinfer.corpus.logits import LogitsOptions, crf_parameters, from_logits
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
