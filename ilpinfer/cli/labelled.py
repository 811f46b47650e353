"""Labelled sequences for training and evaluation."""

from collections.abc import Iterable, Sequence
from typing import Any

from formulations import LabelSet
from formulations.labels.schemes import scheme_of
from formulations.messages import counted
from ilpinfer.cli.streams import notice
from ilpinfer.corpus.conversion import adapt, shown_scheme, sound
from ilpinfer.corpus.examples import InputError
from ilpinfer.corpus.helper_labels import UNKNOWN_LABELS
from ilpinfer.corpus.label_names import names_of
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.sequences import read, read_beside, require_labels
from ilpinfer.models.sequences import Labelled
from ilpinfer.models.training import rewrite
from ilpinfer.system.storage import source_name


def reading(label_names: str | None, column: str = "") -> LogitsOptions | None:
    """Reading options with names from a file for numeric labels."""
    return None if label_names is None else LogitsOptions(names_of(label_names, column))


def read_labelled(
    source: str,
    column: str,
    scheme: str,
    first: int | None = None,
    label_names: str | None = None,
    never: Iterable[str] = (),
    *,
    partly: bool = False,
) -> list[Labelled]:
    """The training sequences without tokens that have a helper label, and with labels in the requested scheme.

    Unknown labels are None, which `partly` allows.
    """
    examples = read(source, reading(label_names, column), column, notice)[:first]
    never = list(never)
    pairs = require_labels(examples, partly=partly, never=never)
    tell_unknown(source, pairs)
    return rewrite(pairs, scheme, never, notice)


def tell_unknown(source: str, pairs: Iterable[tuple[Any, Any]]) -> None:
    """A notice that counts the tokens with an unknown label, None."""
    if gaps := [count for _, labels in pairs if (count := labels.count(None))]:
        tokens, sequences = counted(sum(gaps), "token"), counted(len(gaps), "sequence")
        notice(
            f"{source_name(source)}: labels {' and '.join(UNKNOWN_LABELS)} are unknown: {tokens} in {sequences}"
        )


def names_in(pairs: Iterable[Labelled]) -> tuple[str, ...]:
    """The known labels of sequences, sorted."""
    return tuple(sorted({name for _, labels in pairs for name in labels if name is not None}))


def check_whole(pairs: Iterable[Labelled], what: str) -> None:
    """Raise InputError if evaluation sequences have tokens without a label; `what` says why they are evaluated."""
    if any(name is None for _, labels in pairs for name in labels):
        raise InputError(
            f"{what}: a sequence to evaluate on has tokens without a label; evaluate on a file in which all have one"
        )


def held_out_of_file(
    path: str,
    column: str,
    scheme: str,
    pairs: Sequence[Labelled],
    label_names: str | None = None,
    never: Iterable[str] = (),
) -> list[Labelled]:
    """Held-out sequences of a file, with labels in the scheme of the training sequences."""
    examples = read_beside(path, column, notice, reading(label_names, column))
    labelled = rewrite(
        require_labels(examples, never=(never := list(never))), scheme, never, notice, absent=True
    )
    labels = [names for _, names in labelled]
    source, is_sound = shown_scheme(labels), sound(labels)
    training = shown_scheme([[name for name in names if name is not None] for _, names in pairs])
    if not scheme and {scheme_of(source), scheme_of(training)} == {"bio", "iob1"}:
        notice(
            f"training labels look like {scheme_of(training)} and the labels of {path} like {scheme_of(source)}: compared "
            "unchanged; --scheme bio converts both"
        )
    known = LabelSet(names_in(pairs), scheme)
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
