"""Labels, fields and labelling schemes."""

from formulations.labels.label_set import LabelSet
from formulations.labels.selectors import Group

__all__ = ["Group", "LabelSet"]
