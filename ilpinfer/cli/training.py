"""`ilpinfer train`."""

import sys

from formulations.labels import suggestion
from ilpinfer.cli.inputs import check_scheme
from ilpinfer.corpus.conversion import converted
from ilpinfer.corpus.sequences import InputError, labelled, read
from ilpinfer.models.hmm import HMM
from ilpinfer.models.second_order import SecondOrderHMM

KINDS: dict[str, tuple[type[HMM | SecondOrderHMM], str]] = {
    "hmm": (HMM, "first-order HMM"),
    "hmm2": (SecondOrderHMM, "second-order HMM"),
}


def train(source: str, kind: str, output: str, scheme: str, first: int | None) -> None:
    """Train a model and write it whole."""
    if kind not in KINDS:
        raise InputError(f'no kind of model "{kind}"{suggestion(kind, KINDS)}')
    check_scheme(scheme)
    pairs = labelled(read(source)[:first])
    labels = converted([labels for _, labels in pairs], scheme)
    pairs = list(zip((tokens for tokens, _ in pairs), labels, strict=True))
    chosen, name = KINDS[kind]
    model = chosen.train(pairs, scheme=scheme)
    model.save(output)
    tokens = sum(len(labels) for _, labels in pairs)
    print(
        f"{output}: {name}, {len(model.labels)} labels ({model.labels.scheme}), {len(model.words)} words, "
        f"from {len(pairs)} sequences of {tokens} tokens",
        file=sys.stderr,
    )
