"""Formulas over labels: parser, names, semantics and grounding."""
