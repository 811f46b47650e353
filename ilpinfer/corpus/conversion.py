"""Labels of one scheme as labels of another."""

from collections.abc import Iterable, Sequence

from formulations import LabelSet
from formulations.labels import schemes
from formulations.labels.schemes import CLOSED, WRITABLE, remark


def convert(labels: Sequence[str], source: str, target: str) -> tuple[str, ...]:
    """Convert the labels of a sequence from one scheme to another.

    The runs stay the same. As for rules, `I-x` after another field begins a run, even if the scheme does not allow it.

    Parameters
    ----------
    labels : sequence of str
        T label names.
    source, target : str
        Scheme of the labels, and new scheme; "plain" removes prefixes.

    Returns
    -------
    tuple of str
        T label names.

    Raises
    ------
    ValueError
        For a label that does not fit the source, and for schemes with several levels or without prefixes to
        write.

    Examples
    --------
    >>> convert(["B-name", "I-name", "O"], "bio", "iobes")
    ('B-name', 'E-name', 'O')
    """
    schemes.check(labels, source)
    if target in ("plain", source):
        return tuple(labels) if target == source else tuple(schemes.strip(name, source) for name in labels)
    if source not in WRITABLE or target not in WRITABLE:
        raise ValueError(f"{source} labels cannot be written as {target}")
    fields = [schemes.strip(name, source) for name in labels]
    return schemes.write_labels(fields, schemes.begins(labels, source), target)


def iobes(labels: Sequence[str]) -> tuple[str, ...]:
    """Convert BIO labels to IOBES: a run of one token is S; a longer one begins with B and ends with E.

    A model of such labels can learn how fields end, for example with a full stop.

    Parameters
    ----------
    labels : sequence of str
        T BIO labels.

    Returns
    -------
    tuple of str
        T IOBES labels.

    Raises
    ------
    ValueError
        For a label that is not BIO.

    Examples
    --------
    >>> iobes(["B-name", "I-name", "B-year"])
    ('B-name', 'E-name', 'S-year')
    """
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
    """Remove the prefixes of a scheme, which is inferred from all labellings.

    Parameters
    ----------
    labellings : sequence of sequence of str
        Label names of each sequence.

    Returns
    -------
    list of tuple of str
        The labellings without prefixes.

    Examples
    --------
    >>> strip([["B-name", "I-name", "O"]])
    [('name', 'name', 'O')]
    """
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
