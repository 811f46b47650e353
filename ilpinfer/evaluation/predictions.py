"""Pairs of predictions and gold from files."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from formulations import LabelSet
from formulations.arguments import names
from formulations.labels.schemes import OUTSIDE
from formulations.messages import counted
from ilpinfer.corpus.examples import Example, InputError, input_at
from ilpinfer.corpus.helper_labels import (
    UNKNOWN_LABELS,
    at_places,
    counted_labels,
    tell_helpers,
)
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.sequences import read, read_beside, require_labels
from ilpinfer.evaluation.alike import Side, read_alike
from ilpinfer.evaluation.evaluation import Pair
from ilpinfer.system.storage import source_name


class DifferentSequences(InputError):
    """Error for predictions and gold labels of different sequences."""


def read_pairs(
    predictions: Sequence[str | Path],
    gold: str | Path,
    scheme: str = "",
    column: str = "",
    reading: LogitsOptions | None = None,
    never: Iterable[str] = (),
) -> tuple[list[list[Pair]], LabelSet, list[str]]:
    """Pairs for each prediction file, the labels of all files, and notices; InputError for files and labels that do not fit.

    Only the best of several labellings of a sequence counts. Tokens whose gold label is in `never` are left out; such predicted
    labels count as `O`. The sides are converted to one notation; see `alike.read_alike`.
    """
    notices = list[str]()
    gold_examples = read(gold, reading, column, notices.append)
    without = next((each.where for each in gold_examples if each.labels is None), None)
    if without is not None:
        raise DifferentSequences(f"{without}: no labels in the gold file")
    golden = [
        tuple(labels) for _, labels in require_labels(gold_examples, wordless=True, never=UNKNOWN_LABELS)
    ]
    examples = [
        [each for each in read_beside(path, column, notices.append, reading) if each.rank == 1]
        for path in predictions
    ]
    for path, result in zip(predictions, examples, strict=True):
        check_same(result, gold_examples, str(path), str(gold))
        if any(each.predicted for each in gold_examples) and not any(each.predicted for each in result):
            notices.append(
                f"{source_name(gold)}, given as gold, is output of `ilpinfer decode`, and {source_name(path)} is not; are they swapped?"
            )
    tokens = [each.tokens or ("",) * len(gold) for each, gold in zip(gold_examples, golden, strict=True)]
    predicted: list[Side] = [[each.labels for each in result] for result in examples]
    unknown = {name for labels in golden for name in labels if name in UNKNOWN_LABELS}
    if never := names(never, "never") | unknown:
        tell_helpers(golden, never, notices.append, absent=True)
        places, golden, predicted = counted_labels(golden, predicted, never)
        tokens = at_places(tokens, places)
    given_sides: list[Side] = [[*golden], *predicted]
    try:
        sides, labels, scheme_notices = read_alike(given_sides, scheme)
    except ValueError as error:
        for path, side in zip((gold, *predictions), given_sides, strict=True):
            _check(path, side, scheme)
        raise InputError(f"{gold}: {error}") from None
    labels = labels or LabelSet((OUTSIDE,))
    pairs = [
        [
            Pair(t, p, g or (), {**one.notes, **two.notes})
            for t, p, g, one, two in zip(tokens, side, sides[0], result, gold_examples, strict=True)
        ]
        for side, result in zip(sides[1:], examples, strict=True)
    ]
    return pairs, labels, notices + scheme_notices


def _check(path: str | Path, side: Side, scheme: str) -> None:
    """Raise InputError with the file name for labels that do not fit the scheme."""
    with input_at(str(path)):
        read_alike([side], scheme)


def check_same(result: list[Example], gold: list[Example], path: str, gold_path: str) -> None:
    """Raise DifferentSequences unless both files have the same sequences, and the first file has labels."""
    if len(result) != len(gold):
        other = f"{source_name(gold_path)} has {len(gold)}"
        raise DifferentSequences(f"{source_name(path)} has {counted(len(result), 'sequence')}, but {other}")
    if all(each.labels is None for each in result):
        raise DifferentSequences(
            f"{source_name(path)}: no sequence has labels; give predictions with labels, from `ilpinfer decode` or as token<TAB>label lines"
        )
    for one, two in zip(result, gold, strict=True):
        lengths = {len(x) for x in (one.tokens, one.labels, two.tokens, two.labels) if x}
        if len(lengths) > 1:
            raise DifferentSequences(
                f"{one.where}: {counted(len(one.labels or one.tokens), 'token')}, but {len(two.labels or ())} in {two.where}"
            )
        if not any(one.tokens) or not any(two.tokens):
            continue
        for t, (token, right) in enumerate(zip(one.tokens, two.tokens, strict=True)):
            if token != right:
                raise DifferentSequences(f"{one.where}: token {t} is {token!r}, but {right!r} in {two.where}")
