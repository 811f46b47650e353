"""What a reader of corpora finds."""

from pathlib import Path

from ilpinfer.corpus.sequences import read


def pairs(examples) -> list[tuple[list[str], list[str] | None]]:
    """The tokens and labels of sequences."""
    return [(list(each.tokens), each.labels and list(each.labels)) for each in examples]


def read_with_notices(path: Path, **options):
    """The sequences of a file, and the notices about it, with `x` for its place."""
    notices: list[str] = []
    return read(path, notify=notices.append, **options), [each.replace(str(path), "x") for each in notices]
