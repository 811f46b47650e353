"""Forms of labelled sequences: tokens and labels, or pairs (word, tag) as in NLTK."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from formulations.arguments import iterable, texts
from formulations.errors import stack_level
from formulations.messages import brief, counted
from ilpinfer.corpus.examples import InputNotice

APART, PAIRS = "(tokens, labels)", "pairs (word, tag)"
EXPECTED = "expected (tokens, labels), a tuple of two lists, or a list of tuples (word, tag)"


def tokens_and_labels(sequences: Iterable[Any], what: str = "sequence") -> list[tuple[Any, Any]]:
    """Tokens and labels of each sequence; ValueError for a sequence of neither form, and for an ambiguous one.

    Sequences of two tokens can have both forms. They are read in the form of the other sequences. If all have two tokens, a tuple is
    tokens and labels, and a list of tuples is pairs.
    """
    given = [_listed(each) for each in iterable(sequences, f"{what}s", "labelled sequences")]
    forms = [_form(each, f"{what} {number}") for number, each in enumerate(given)]
    known = {form: number for number, form in reversed(list(enumerate(forms))) if form}
    if len(known) == 2:
        places = [f"{what} {known[form]} is {form}" for form in sorted(known, key=known.__getitem__)]
        raise ValueError(f"{', but '.join(places)}; give all in one form")
    result = []
    for number, (each, form) in enumerate(zip(given, forms, strict=True)):
        form = form or _form_of_two(each, next(iter(known), ""))
        if not form:
            raise ValueError(f"{what} {number} is {brief(each)}, which is {APART} or {PAIRS}; {EXPECTED}")
        apart = form == APART and len(each) > 0
        result.append(tuple(each) if apart else ([x for x, _ in each], [label for _, label in each]))
    return result


def partly_labelled(labels: Any, what: str, of: str = "texts") -> tuple[tuple[str, ...], frozenset[int]]:
    """The labels, with an empty text for None, and the positions of None."""
    if not isinstance(labels, list | tuple) or not any(label is None for label in labels):
        return texts(labels, what, of), frozenset()
    unknown = frozenset(t for t, label in enumerate(labels) if label is None)
    return texts(["" if label is None else label for label in labels], what, of), unknown


def without_empty(pairs: Sequence[tuple[Any, Any]], what: str) -> list[tuple[Any, Any]]:
    """Remove empty sequences; a notice counts them."""
    empty = [number for number, (tokens, _) in enumerate(pairs) if not len(tokens)]
    if empty:
        first = f"{'the first is ' if len(empty) > 1 else ''}{what} {empty[0]}"
        text = f"left out, as they have no token: {counted(len(empty), 'sequence')}, {first}"
        warnings.warn(text, InputNotice, stacklevel=stack_level())
    return [pair for pair in pairs if len(pair[0])]


def _listed(each: Any) -> Any:
    """The items of an iterator, such as `zip(words, tags)`, as a list; other values are unchanged."""
    lazy = isinstance(each, Iterable) and not isinstance(each, str | bytes | Mapping | Sequence)
    return list(each) if lazy else each


def _form(each: Any, what: str) -> str:
    """The form of a sequence; empty if it has no tokens, or two tokens in either form."""
    if isinstance(each, Sequence) and not isinstance(each, str | bytes):
        if not len(each) or (len(each) == 2 and all(map(_is_pair_of_texts, each))):
            return ""
        if all(map(_is_pair, each)):
            return PAIRS
        if len(each) == 2 and not any(isinstance(part, str | bytes) for part in each):
            if isinstance(each, list) and all(map(_is_row, each)):
                raise ValueError(
                    f"{what} is {brief(each)}, which may be two tokens with further columns; {EXPECTED}"
                )
            return APART
    raise ValueError(f"{what} is {brief(each)}; {EXPECTED}")


def _form_of_two(each: Any, known: str) -> str:
    """The form of an ambiguous sequence, given the form of the others; empty if it remains ambiguous."""
    if not len(each):
        return APART
    of_tuples = isinstance(each, list) and all(isinstance(part, tuple) for part in each)
    if known:
        return "" if of_tuples and known == APART else known
    return APART if isinstance(each, tuple) else PAIRS if of_tuples else ""


def _is_pair(part: Any) -> bool:
    """Whether a value is a word, or its features, and a tag."""
    return (
        isinstance(part, list | tuple)
        and len(part) == 2
        and isinstance(part[0], str | Mapping)
        and isinstance(part[1], str)
    )


def _is_row(part: Any) -> bool:
    """Whether a value is a tuple of at least three texts, such as a token with a part of speech."""
    return isinstance(part, tuple) and len(part) > 2 and all(isinstance(x, str) for x in part)


def _is_pair_of_texts(part: Any) -> bool:
    return _is_pair(part) and isinstance(part[0], str)
