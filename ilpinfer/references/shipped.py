"""The references in the package: random instances of each kind, in a few kilobytes."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from formulations.messages import suggestion
from ilpinfer.references.files import read
from ilpinfer.references.record import Reference

FOLDER = Path(__file__).parent / "data"
KINDS = ("plain", "ties", "infeasible", "second-order", "soft-and-hard")
"""Kinds of instances: soft rules only; several optima; contradictory hard rules; scores of second order, for
three labels in a row; soft and hard rules."""


class ShippedReferences:
    """The references in the package. A kind is read at first access.

    Examples
    --------
    >>> from ilpinfer import references
    >>> len(references.ShippedReferences().kind("plain")) > 0
    True
    """

    kinds = KINDS

    def kind(self, kind: str) -> tuple[Reference, ...]:
        """The references of a kind.

        Parameters
        ----------
        kind : str
            A name from `kinds`.

        Returns
        -------
        tuple of Reference
            The references.

        Raises
        ------
        ValueError
            For an unknown kind.
        """
        if kind not in KINDS:
            raise ValueError(f"no kind {kind!r}{suggestion(str(kind), KINDS)}")
        return _read(kind)

    def __iter__(self) -> Iterator[Reference]:
        return (reference for kind in KINDS for reference in self.kind(kind))

    def __len__(self) -> int:
        return sum(len(self.kind(kind)) for kind in KINDS)

    def __getitem__(self, name: str) -> Reference:
        """The reference of a name; KeyError for an unknown name."""
        match = next((reference for reference in self if reference.name == name), None)
        if match is None:
            raise KeyError(name)
        return match

    def __repr__(self) -> str:
        return f"ShippedReferences({', '.join(KINDS)})"


@cache
def _read(kind: str) -> tuple[Reference, ...]:
    return tuple(read(FOLDER / f"{kind}.jsonl.gz"))
