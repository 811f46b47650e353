"""`ilpinfer train`."""

import sys

from formulations.labels import suggestion
from ilpinfer.cli.inputs import check_scheme
from ilpinfer.corpus.sequences import InputError, labelled, read
from ilpinfer.corpus.trellises import strip
from ilpinfer.models.hmm import HMM

KINDS = ("hmm",)


def train(source: str, kind: str, output: str, scheme: str, first: int | None) -> None:
    """Train a model and write it whole."""
    if kind not in KINDS:
        raise InputError(f'no kind of model "{kind}"{suggestion(kind, KINDS)}')
    check_scheme(scheme)
    pairs = labelled(read(source)[:first])
    if scheme == "plain":
        pairs = list(
            zip((tokens for tokens, _ in pairs), strip([labels for _, labels in pairs]), strict=True)
        )
    model = HMM.train(pairs, scheme=scheme)
    model.save(output)
    tokens = sum(len(labels) for _, labels in pairs)
    print(
        f"{output}: first-order HMM, {len(model.labels)} labels ({model.labels.scheme}), {len(model.words)} words, "
        f"from {len(pairs)} sequences of {tokens} tokens",
        file=sys.stderr,
    )
