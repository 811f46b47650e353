"""Labellings from a file, for sequences that are scored."""

from collections.abc import Sequence

from ilpinfer.corpus.conversion import adapt, convert_all, shown_scheme, sound
from ilpinfer.corpus.examples import InputError, Notify
from ilpinfer.corpus.sequences import read
from ilpinfer.evaluation.predictions import check_same
from ilpinfer.pipelines.trellises import ScoredSequence


def read_predictions(
    path: str, scored: Sequence[ScoredSequence], scheme: str = "", notify: Notify | None = None
) -> list[tuple[str, ...] | None]:
    """The labellings of a file, in the scheme of the trellises; None where it has none.

    Of several labellings of one sequence the best counts.
    """
    examples = [each for each in read(path, notify=notify) if each.rank == 1][: len(scored)]
    source = scored[0].example.where.partition(",")[0] if scored else ""
    check_same(examples, [item.example for item in scored], path, source)
    known = [each.labels for each in examples if each.labels is not None]
    converted = iter(convert_all(known, scheme))
    shown, rewrite = shown_scheme(known), sound(known)
    result: list[tuple[str, ...] | None] = []
    for item, example in zip(scored, examples, strict=True):
        labels = None if example.labels is None else next(converted)
        if labels is not None and item.trellis is not None:
            labels = item.covered(labels)
            try:
                labels = adapt(item.trellis.labels, labels, shown, rewrite)
            except ValueError as error:
                raise InputError(f"{example.where}: {error}") from None
        result.append(labels)
    return result
