"""Labels, fields and labelling schemes."""

from formulations.labels.label_set import Group, LabelSet

__all__ = ["Group", "LabelSet"]
