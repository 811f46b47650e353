"""Labels of one scheme as labels of another."""

from collections.abc import Iterable, Sequence

from formulations import LabelSet
from formulations.labels import schemes
from formulations.labels.schemes import CLOSED, WRITABLE, remark


def convert(labels: Sequence[str], source: str, target: str) -> tuple[str, ...]:
    """Labels in another scheme, with the same runs; `I-x` after another field begins one, and ValueError is for labels without a form."""
    schemes.check(labels, source)
    if target in ("plain", source):
        return tuple(labels) if target == source else tuple(schemes.strip(name, source) for name in labels)
    if source not in WRITABLE or target not in WRITABLE:
        raise ValueError(f"{source} labels cannot be written as {target}")
    fields = [schemes.strip(name, source) for name in labels]
    return schemes.write_labels(fields, schemes.begins(labels, source), target)


def iobes(labels: Sequence[str]) -> tuple[str, ...]:
    """BIO labels as IOBES: a run of one token is S; a longer one begins with B and ends with E."""
    return convert(labels, "bio", "iobes")


def shown_scheme(labellings: Iterable[Sequence[str]]) -> str:
    """The scheme of the names of labellings; IOB1 for BIO where runs begin with B only directly after another of the field."""
    labellings = list(labellings)
    scheme = schemes.infer(list(dict.fromkeys(label for labels in labellings for label in labels)))
    if scheme != "bio":
        return scheme
    inner = first = False
    for labels in labellings:
        before = ""
        for name in labels:
            role, field = (name[0], name[2:]) if name != schemes.OUTSIDE else ("", "")
            inner |= role == "I" and field != before
            first |= role == "B" and field != before
            before = field
    return "iob1" if inner and not first else "bio"


def strip(labellings: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Labellings without the prefixes of their scheme, which is inferred from all of them."""
    scheme = shown_scheme(labellings)
    return [tuple(schemes.strip(label, scheme) for label in labels) for labels in labellings]


def adapt(known: LabelSet, labels: Sequence[str], scheme: str, rewrite: bool = True) -> tuple[str, ...]:
    """Convert labels to the scheme of a model's; IOB1 stays for BIO models, and without `rewrite` only prefixes are taken off."""
    result = tuple(labels)
    if known.scheme == "plain" and not set(result) <= set(known.names):
        result = convert(result, scheme, "plain")
    if rewrite and {scheme, known.scheme} <= set(WRITABLE) and (scheme, known.scheme) != ("iob1", "bio"):
        result = convert(result, scheme, known.scheme)
    schemes.check(result, known.scheme)
    return result


def convert_all(labellings: Sequence[Sequence[str]], scheme: str) -> list[tuple[str, ...]]:
    """Convert labellings to a scheme; plain, nested and unsound labellings are unchanged."""
    scheme, source = schemes.scheme_name(scheme), shown_scheme(labellings)
    if scheme == "plain" or ({scheme, source} <= set(WRITABLE) and sound(labellings)):
        return [convert(labels, source, scheme) for labels in labellings]
    return [tuple(labels) for labels in labellings]


def sound(labellings: Sequence[Sequence[str]]) -> bool:
    """Whether labellings of a scheme that marks ends of runs mark them for every field."""
    scheme = shown_scheme(labellings)
    return scheme not in CLOSED or not remark(sorted({name for each in labellings for name in each}), scheme)


def iob1_remark(labellings: Sequence[Sequence[str]], scheme: str) -> str:
    """A remark on labels that are read as BIO but follow IOB1; empty for others."""
    if scheme not in ("", "bio") or shown_scheme(labellings) != "iob1":
        return ""
    return (
        "labels are read as bio but look like iob1: runs begin with I-, and with B- only directly after another of the "
        "field; --scheme iob1 reads them so, train --scheme bio writes them as bio"
    )
