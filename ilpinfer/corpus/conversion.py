"""Conversion of labels between schemes."""

from collections.abc import Iterable, Sequence

from formulations import LabelSet
from formulations.labels import schemes
from formulations.labels.notation import notation
from formulations.labels.schemes import CLOSED, WRITABLE, remark, scheme_of


def convert(labels: Sequence[str], source: str, target: str) -> tuple[str, ...]:
    """Labels in another notation with the same runs; `I-x` after another field begins a run. ValueError for labels without a form."""
    schemes.check(labels, source)
    if target in ("plain", source):
        return tuple(labels) if target == source else tuple(schemes.strip(name, source) for name in labels)
    if not (convertible(source, target) or (scheme_of(source) == "io" and scheme_of(target) in WRITABLE)):
        raise ValueError(f"{source} labels cannot be written as {target}")
    fields = [schemes.strip(name, source) for name in labels]
    return schemes.write_labels(fields, schemes.begins(labels, source), target)


def convertible(*notations: str) -> bool:
    """Whether labellings can be converted between these notations."""
    return all(scheme_of(each) in WRITABLE for each in notations)


def iobes(labels: Sequence[str]) -> tuple[str, ...]:
    """BIO labels as IOBES: a run of one token is S; a longer one begins with B and ends with E."""
    return convert(labels, "bio", "iobes")


def shown_scheme(labellings: Iterable[Sequence[str]]) -> str:
    """The notation of labellings; IOB1 instead of BIO if runs begin with B only directly after a run of the same field."""
    labellings = list(labellings)
    shown = schemes.infer(list(dict.fromkeys(label for labels in labellings for label in labels)))
    if scheme_of(shown) not in ("bio", "io"):
        return shown
    inner = first = False
    for labels in labellings:
        before = ""
        for name in labels:
            field, role = schemes.levels(name, shown)[-1]
            field = field if role else ""
            inner |= role == "I" and field != before
            first |= role == "B" and field != before
            before = field
    return in_form("iob1" if inner and not first else "bio", shown)


def in_form(scheme: str, shown: str) -> str:
    """A scheme in the form of the notation `shown`, unless it names a form."""
    own = " " in scheme or scheme in ("", "plain", "paths", "spans") or scheme not in schemes.SCHEMES
    return scheme if own else notation(scheme, schemes.form_of(shown))


def strip(labellings: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Labellings without the prefixes of their scheme, which is inferred from all of them."""
    scheme = shown_scheme(labellings)
    return [tuple(schemes.strip(label, scheme) for label in labels) for labels in labellings]


def adapt(known: LabelSet, labels: Sequence[str], scheme: str, rewrite: bool = True) -> tuple[str, ...]:
    """Convert labels to the notation of `known`; IOB1 stays for BIO models, and without `rewrite` only prefixes are removed."""
    result, own = tuple(labels), known.notation
    if own == "plain" and not set(result) <= set(known.names):
        result = convert(result, scheme, "plain")
    if known.scheme == "io":
        own = in_form("bio", own)
    stays = scheme == in_form("iob1", own) and own == in_form("bio", own)
    if rewrite and convertible(scheme, own) and not stays:
        result = convert(result, scheme, own)
    schemes.check((name for name in result if name not in known.never), own)
    return result


def convert_all(labellings: Sequence[Sequence[str]], scheme: str) -> list[tuple[str, ...]]:
    """Convert labellings to a scheme; plain, nested and unsound labellings stay unchanged."""
    source = shown_scheme(labellings)
    scheme = in_form(schemes.scheme_name(scheme), source)
    if scheme == "plain" or (convertible(scheme, source) and sound(labellings)):
        return [convert(labels, source, scheme) for labels in labellings]
    return [tuple(labels) for labels in labellings]


def sound(labellings: Sequence[Sequence[str]]) -> bool:
    """Whether labellings of a scheme with end marks have them for every field."""
    scheme = shown_scheme(labellings)
    return scheme_of(scheme) not in CLOSED or not remark(
        sorted({name for each in labellings for name in each}), scheme
    )


def iob1_remark(labellings: Sequence[Sequence[str]], scheme: str) -> str:
    """A remark on labels that are read as BIO but follow IOB1; empty for other labels."""
    if scheme_of(scheme) not in ("", "bio") or scheme_of(shown_scheme(labellings)) != "iob1":
        return ""
    return (
        "labels are read as bio but look like iob1: runs begin with I-, and with B- only directly after a run of the same "
        "field; give --scheme iob1, or train with --scheme bio to convert them"
    )
