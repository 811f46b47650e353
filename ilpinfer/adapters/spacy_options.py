"""Name and options of the component of spaCy."""

from typing import Any

NAME = "ilpinfer_ner"
DEFAULTS: dict[str, Any] = {
    "source": "user_data:ilpinfer_scores",
    "rules": "",
    "labels": [],
    "scheme": "",
    "never": [],
    "scale": "log-softmax",
    "method": "auto",
    "time_limit": None,
    "spans_key": None,
    "score": "rules",
    "beam_width": 16,
    "beam_density": 0.0,
    "smoothing": 1e-4,
}
"""Options and their defaults."""
SAVED = tuple(name for name in DEFAULTS if name not in ("source", "rules"))
"""The options that are saved with the rules; the source is part of the pipeline's config."""
