"""Labelled sequences to train a model on, and to evaluate it on."""

from collections.abc import Sequence

from formulations import LabelSet
from formulations.labels.schemes import scheme_of
from ilpinfer.cli.streams import notice
from ilpinfer.corpus.conversion import adapt, convert_all, shown_scheme, sound
from ilpinfer.corpus.examples import InputError
from ilpinfer.corpus.label_names import read_label_names
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.sequences import read, read_beside, require_labels
from ilpinfer.models.sequences import Labelled
from ilpinfer.models.training import rewrite


def reading(label_names: str | None) -> LogitsOptions | None:
    """The names of labels that are numbers, from a file, for readers."""
    return None if label_names is None else LogitsOptions(read_label_names(label_names))


def read_labelled(
    source: str, column: str, scheme: str, first: int | None = None, label_names: str | None = None
) -> list[Labelled]:
    """The sequences to train on, with labels in the requested scheme."""
    examples = read(source, reading(label_names), column, notice)[:first]
    return rewrite(require_labels(examples), scheme)


def held_out_of_file(
    path: str, column: str, scheme: str, pairs: Sequence[Labelled], label_names: str | None = None
) -> list[Labelled]:
    """Held-out sequences of a file, their labels in the scheme of those to train on."""
    examples = read_beside(path, column, notice, reading(label_names))
    labels = convert_all([names for _, names in require_labels(examples)], scheme)
    source, is_sound = shown_scheme(labels), sound(labels)
    if not scheme and {scheme_of(source), scheme_of(shown_scheme([names for _, names in pairs]))} == {
        "bio",
        "iob1",
    }:
        notice(
            f"the training labels and the labels of {path} differ in scheme, one bio and the other iob1, and are compared as they are; "
            "--scheme bio converts both"
        )
    known = LabelSet(tuple(sorted({name for _, names in pairs for name in names})), scheme)
    alike: list[Labelled] = []
    for example, names in zip(examples, labels, strict=True):
        try:
            alike.append((example.tokens, adapt(known, names, source, is_sound)))
        except ValueError as error:
            hint = "use the same labels in both files, or --scheme plain"
            raise InputError(f"{example.where}: {error}, as in the training sequences; {hint}") from None
    return alike
