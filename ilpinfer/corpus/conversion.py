"""Labels of one scheme as labels of another."""

from collections.abc import Sequence

from formulations import LabelSet, schemes
from formulations.labels import OUTSIDE


def iobes(labels: Sequence[str]) -> tuple[str, ...]:
    """BIO labels as IOBES: a run of one token is S, another begins with B and ends with E.

    A model that counts labels then knows how fields end, as by a full stop. As for rules, `I-x` after another field
    begins a run.

    Raises
    ------
    ValueError
        for a label that is not BIO.
    """
    schemes.check(labels, "bio")
    read = [schemes.levels(name, "bio")[0] for name in labels]
    begins = [
        prefix == "B" or t == 0 or read[t - 1][0] != field for t, (field, prefix) in enumerate(read)
    ] + [True]
    marks = {(True, True): "S", (True, False): "B", (False, True): "E", (False, False): "I"}
    return tuple(
        OUTSIDE if field == OUTSIDE else f"{marks[begins[t], begins[t + 1]]}-{field}"
        for t, (field, _) in enumerate(read)
    )


def strip(labellings: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Labellings without the prefixes of their scheme, which is inferred from all of them."""
    scheme = schemes.infer([label for labels in labellings for label in set(labels)])
    return [tuple(schemes.strip(label, scheme) for label in labels) for labels in labellings]


def read_as(known: LabelSet, labels: Sequence[str], scheme: str) -> tuple[str, ...]:
    """Labels of a scheme in the one of a model's labels: for plain ones without prefixes, for IOBES made of BIO.

    Raises
    ------
    ValueError
        for a label that fits the model's scheme neither as it is nor so.
    """
    found = tuple(labels)
    if known.scheme == "plain" and not set(found) <= set(known.names):
        found = tuple(schemes.strip(label, scheme) for label in found)
    if known.scheme == "iobes" and scheme == "bio":
        found = iobes(found)
    schemes.check(found, known.scheme)
    return found


def converted(labellings: Sequence[Sequence[str]], scheme: str) -> list[tuple[str, ...]]:
    """Labellings in the scheme that was asked for: without prefixes for plain, BIO as IOBES for iobes, else as they are."""
    if scheme == "plain":
        return strip(labellings)
    if (
        scheme == "iobes"
        and schemes.infer([label for labels in labellings for label in set(labels)]) == "bio"
    ):
        return [iobes(labels) for labels in labellings]
    return [tuple(labels) for labels in labellings]
