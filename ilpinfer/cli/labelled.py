"""Labelled sequences to train a model on, and to evaluate it on."""

from collections.abc import Iterable, Sequence

from formulations import LabelSet
from formulations.labels.schemes import scheme_of
from ilpinfer.cli.streams import notice
from ilpinfer.corpus.column_names import ColumnNames
from ilpinfer.corpus.conversion import adapt, shown_scheme, sound
from ilpinfer.corpus.examples import InputError
from ilpinfer.corpus.label_names import read_label_names
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.sequences import read, read_beside, require_labels
from ilpinfer.models.sequences import Labelled
from ilpinfer.models.training import rewrite


def reading(label_names: str | None, column: str = "") -> LogitsOptions | None:
    """The names of labels that are numbers, from a file, for readers."""
    return None if label_names is None else LogitsOptions(names_of(label_names, column))


def names_of(label_names: str, column: str) -> tuple[str, ...]:
    """Names of labels of a file; `column` is the option with that name."""
    return read_label_names(label_names, ColumnNames.read(column).label)


def read_labelled(
    source: str,
    column: str,
    scheme: str,
    first: int | None = None,
    label_names: str | None = None,
    never: Iterable[str] = (),
) -> list[Labelled]:
    """The sequences to train on, without tokens that have a helper label, and with labels in the requested scheme."""
    examples = read(source, reading(label_names, column), column, notice)[:first]
    return rewrite(require_labels(examples), scheme, never, notice)


def held_out_of_file(
    path: str,
    column: str,
    scheme: str,
    pairs: Sequence[Labelled],
    label_names: str | None = None,
    never: Iterable[str] = (),
) -> list[Labelled]:
    """Held-out sequences of a file, their labels in the scheme of those to train on."""
    examples = read_beside(path, column, notice, reading(label_names, column))
    labelled = rewrite(require_labels(examples), scheme, never, notice, absent=True)
    labels = [names for _, names in labelled]
    source, is_sound = shown_scheme(labels), sound(labels)
    training = shown_scheme([names for _, names in pairs])
    if not scheme and {scheme_of(source), scheme_of(training)} == {"bio", "iob1"}:
        notice(
            f"training labels look like {scheme_of(training)} and the labels of {path} like {scheme_of(source)}: compared "
            "unchanged; --scheme bio converts both"
        )
    known = LabelSet(tuple(sorted({name for _, names in pairs for name in names})), scheme)
    alike: list[Labelled] = []
    for example, (tokens, names) in zip(examples, labelled, strict=True):
        try:
            alike.append((tokens, adapt(known, names, source, is_sound)))
        except ValueError as error:
            hint = "use the same labels in both files, or --scheme plain"
            raise InputError(
                f"{example.where}: {error}; the training labels are {known.notation}: {hint}"
            ) from None
    return alike
