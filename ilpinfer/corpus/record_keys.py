"""The keys of JSON objects for sequences, and their valid combinations."""

import json
from collections.abc import Iterable
from typing import Any

from formulations.messages import misspelt, near_name
from ilpinfer.core.solution_fields import ABOUT, OWN
from ilpinfer.corpus.archives import SHARED_ARRAYS

TEXT_KEYS = ("tokens", "labels", "given", "columns", "rank", "ranks", "sequence")
"""Keys of a sequence without scores; `rank`, `ranks` and `sequence` occur in rows of `ilpinfer decode`."""
DENSE_KEYS = ("start", "first", "edges")
"""Keys of scores for each edge; `first` belongs to models of second order."""
FACTORED_KEYS = ("emissions", "transitions", "start", "first", "end")
"""Keys of scores for tokens and transitions."""
LOGITS_KEYS = ("logits", "word_ids", *(key for key in SHARED_ARRAYS if key != "label_names"))
TRELLIS_KEYS = ("scheme", "optional_fields", "never")
"""Keys of `Trellis.to_dict` in addition to tokens, label names and scores."""
CANDIDATE_KEYS = ("candidates", "offsets", "threshold", "prior", "fields")
"""Keys of candidate spans in `text` or in tokens."""
GENERAL_KEYS = ("node", "pool", "step")
"""Score keys of joined trellises, as written by `Trellis.to_dict`."""
KEYS = tuple(
    dict.fromkeys(
        (
            *TEXT_KEYS,
            "label_names",
            *FACTORED_KEYS,
            *DENSE_KEYS,
            *LOGITS_KEYS,
            *GENERAL_KEYS,
            *TRELLIS_KEYS,
            *CANDIDATE_KEYS,
            *ABOUT,
        )
    )
)
"""All keys of a record that have a meaning; result rows repeat further keys."""
SCORE_KEYS = ("logits", "emissions", "edges", "transitions", "start", "first", "end", *GENERAL_KEYS)
"""Keys of scores, absent from sequences without scores."""
FORMS: dict[str, tuple[tuple[str, ...], set[str]]] = {
    "logits": (LOGITS_KEYS, {"logits"}),
    "edges": (DENSE_KEYS, {"start", "edges"}),
    "node": (GENERAL_KEYS, set(GENERAL_KEYS)),
    "emissions": (FACTORED_KEYS, {"emissions", "transitions"}),
}
"""Allowed and required keys of each form of scores, by its main key."""
OTHER_NAMES = {
    "words": "tokens",
    "tokenized_text": "tokens",
    **dict.fromkeys(("tags", "ner_tags", "gold"), "labels"),
}
"""Names of tokens and labels in other files."""


def is_output(record: dict[str, Any]) -> bool:
    """Whether a record is a row of `ilpinfer decode`, which has other fields."""
    return {"status", "method"} <= record.keys()


def form_of(record: dict[str, Any]) -> str:
    """The main key of the form of scores."""
    return next((main for main in FORMS if main in record), "emissions")


def about_of(record: dict[str, Any]) -> dict[str, Any]:
    """The notes about a sequence, which result rows repeat."""
    return {
        key: value for key, value in record.items() if key in ABOUT or (key not in OWN and key not in KEYS)
    }


def fault_of(key: str, options: Iterable[str] = ()) -> str:
    """Why a key cannot be a note, with the way out; empty if it can be, or has a meaning.

    `options` are further keys that have a meaning in the context of the record.
    """
    if key in KEYS:
        return ""
    if key in OWN:
        return '; results and requests use this name; put the value under "metadata" or rename the key'
    near = (
        misspelt(key, options)
        or OTHER_NAMES.get(key.lower())
        or near_name(key, (name for name in KEYS if name not in ABOUT))
    )
    if not near:
        return ""
    way = "the option --column names another key; " if near in ("tokens", "labels") and not options else ""
    return f'; did you mean "{near}"? {way}put other values under "metadata"'


def check_names(keys: Iterable[str], options: Iterable[str] = ()) -> None:
    """Raise ValueError for a key that cannot be a note, by `fault_of`."""
    for key in keys:
        if fault := fault_of(key, options):
            raise ValueError(f"unknown key {json.dumps(key[:60], ensure_ascii=False)}{fault}")


def check_notes(record: dict[str, Any]) -> None:
    check_names(record)
    check_values(about_of(record))


def check_values(record: dict[str, Any]) -> None:
    """Raise ValueError for a value that JSON cannot represent."""
    for key, value in record.items():
        try:
            json.dumps([key, value], ensure_ascii=False, allow_nan=False).encode()
        except ValueError:
            raise ValueError(
                f"{key[:60]!a} contains NaN, an infinity or an unpaired surrogate; write null or a valid text"
            ) from None


def check_keys(record: dict[str, Any]) -> None:
    """Raise ValueError for keys that do not go together."""
    check_notes(record)
    lone = [key for key in CANDIDATE_KEYS if key in record]
    if lone:
        raise ValueError(f"{lone[0]} needs candidates; add them, or remove {lone[0]}")
    present = [key for key in SCORE_KEYS if key in record]
    if not present:
        if "word_ids" in record:
            raise ValueError("word_ids needs logits; add them, or remove word_ids")
        return
    main = form_of(record)
    allowed, needed = FORMS[main]
    if not needed <= record.keys():
        raise ValueError(
            f"has {', '.join(sorted(present))}; expected start and edges, or emissions and transitions"
        )
    for key in FORMS:
        if key in record and key not in allowed:
            raise ValueError(f"has both {main} and {key}; give one of them")
    for key in (*SCORE_KEYS, *LOGITS_KEYS):
        if key in record and key not in allowed:
            if key == "end":
                hint = "end needs emissions and transitions; with start and edges, add it to the last edges"
            else:
                hint = f"{key} cannot be combined with {main}; remove it"
            raise ValueError(hint)
