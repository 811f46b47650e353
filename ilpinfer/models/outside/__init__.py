"""Scores of models that were trained elsewhere: logits, token classifiers, CRF layers, CRFsuite."""

from ilpinfer.models.outside.crfsuite import LinearChain, crfsuite_file
from ilpinfer.models.outside.logits import Reading, from_logits
from ilpinfer.models.outside.names import label_names, read_label_names
from ilpinfer.models.outside.pytorch_crf import crf_parameters

__all__ = [
    "LinearChain",
    "Reading",
    "crf_parameters",
    "crfsuite_file",
    "from_logits",
    "label_names",
    "read_label_names",
]
