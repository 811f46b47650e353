"""Predictions and gold from files, put side by side."""

from collections.abc import Sequence
from pathlib import Path

from formulations import LabelSet
from formulations.labels import schemes
from formulations.labels.schemes import CLOSED, OUTSIDE, WRITABLE
from formulations.messages import counted
from ilpinfer.corpus.conversion import convert_all, iob1_remark, shown_scheme, strip
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.sequences import Example, InputError, read, read_beside, require_labels
from ilpinfer.evaluation.evaluation import Pair
from ilpinfer.system.addresses import source_name

Side = list[tuple[str, ...] | None]
"""Labellings of all sequences, None where there is none."""


def read_pairs(
    predictions: Sequence[str | Path],
    gold: str | Path,
    scheme: str = "",
    column: str = "",
    reading: LogitsOptions | None = None,
) -> tuple[list[list[Pair]], LabelSet, list[str]]:
    """Pairs for each file of predictions, the labels of all files, and notices; InputError for files and labels that do not fit.

    Of several labellings of one sequence the best counts. `scheme="plain"` removes prefixes; so does a side without prefixes when the
    other one has some. BIO beside a scheme that marks the ends of runs is read as that one.
    """
    scheme = schemes.scheme_name(scheme)
    notices = list[str]()
    gold_examples = read(gold, reading, column, notices.append)
    golden = [tuple(labels) for _, labels in require_labels(gold_examples, wordless=True)]
    examples = [
        [each for each in read_beside(path, column, notices.append, reading) if each.rank == 1]
        for path in predictions
    ]
    for path, result in zip(predictions, examples, strict=True):
        check_same(result, gold_examples, str(path), str(gold))
    given_sides: list[Side] = [[*golden], *([each.labels for each in result] for result in examples)]
    sides, scheme_notices = _alike(given_sides, scheme)
    for path, side in zip((gold, *predictions), sides, strict=True):
        try:
            schemes.check(_names(side), scheme or "plain")
        except ValueError as error:
            raise InputError(f"{path}: {error}") from None
    labels = LabelSet(tuple(sorted({name for side in sides for name in _names(side)})), scheme)
    tokens = [each.tokens or ("",) * len(gold) for each, gold in zip(gold_examples, golden, strict=True)]
    pairs = [
        [Pair(t, p, g or ()) for t, p, g in zip(tokens, side, sides[0], strict=True)] for side in sides[1:]
    ]
    return pairs, labels, notices + (scheme_notices or ([labels.notice] if labels.notice else []))


def _alike(sides: list[Side], scheme: str) -> tuple[list[Side], list[str]]:
    """The sides in one scheme, and notices: without prefixes if some have none, with ends of runs if some mark them."""
    used = [set(_names(side)) - {OUTSIDE} for side in sides]
    result = [shown_scheme(_known_labellings(side)) for side, names in zip(sides, used, strict=True) if names]
    ends = list(dict.fromkeys(each for each in result if each in CLOSED))
    target, notices = scheme, list[str]()
    if not scheme and set(result) <= set(WRITABLE):
        target = ends[0] if ends and len(set(result)) > 1 else ""
        notices = _differences(result, ends, iob1_remark(_known_labellings(sides[0]), ""))
    elif not scheme and set(result) != {"plain"} and schemes.infer(sorted(set().union(*used))) == "plain":
        target = "plain"
        notices = ["some labels have prefixes and others have none: compared without"]
    return [_as(side, target) for side in sides] if target else sides, notices


def _differences(result: list[str], ends: list[str], gold: str) -> list[str]:
    """Notices about sides in these schemes; `ends` are those that mark the ends of runs, `gold` is the remark on gold alone."""
    if len(ends) > 1:
        return [f"labels of different schemes, {' and '.join(ends)}: compared as {ends[0]}"]
    if not ends and len(set(result)) > 1:
        return [
            "some labels look like bio, others like iob1: compared as they are; --scheme bio writes all as bio"
        ]
    return [gold] if gold and not ends else []


def _known_labellings(side: Side) -> list[tuple[str, ...]]:
    return [labels for labels in side if labels is not None]


def _as(side: Side, scheme: str) -> Side:
    result = iter(
        strip(_known_labellings(side)) if scheme == "plain" else convert_all(_known_labellings(side), scheme)
    )
    return [None if labels is None else next(result) for labels in side]


def _names(side: Side) -> list[str]:
    return sorted({name for labels in side for name in labels or ()})


def check_same(result: list[Example], gold: list[Example], path: str, gold_path: str) -> None:
    """Raise InputError unless both files hold the same sequences, and one of them labels."""
    if len(result) != len(gold):
        other = f"{source_name(gold_path)} has {len(gold)}"
        raise InputError(f"{source_name(path)} has {counted(len(result), 'sequence')}, but {other}")
    if all(each.labels is None for each in result):
        raise InputError(
            f"{source_name(path)}: no labels; expected the output of `ilpinfer decode`, or token<TAB>label lines"
        )
    for one, two in zip(result, gold, strict=True):
        lengths = {len(x) for x in (one.tokens, one.labels, two.tokens, two.labels) if x}
        if len(lengths) > 1:
            raise InputError(
                f"{one.where}: {counted(len(one.labels or one.tokens), 'token')}, but {len(two.labels or ())} in {two.where}"
            )
        if not any(one.tokens) or not any(two.tokens):
            continue
        for t, (token, right) in enumerate(zip(one.tokens, two.tokens, strict=True)):
            if token != right:
                raise InputError(f"{one.where}: token {t} is {token!r}, but {right!r} in {two.where}")
