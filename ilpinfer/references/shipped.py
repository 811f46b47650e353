"""The references that come with the package: random instances of each kind, in few kilobytes."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ilpinfer.references.files import read
from ilpinfer.references.generator import KINDS, Instance, check_kind, generate
from ilpinfer.references.record import Reference

FOLDER = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Sizes:
    """Arguments of `generate` for instances of one size."""

    count: int
    T: int
    K: int
    rules: int
    hardness: float


SMALL, MIDDLE = Sizes(8, 8, 4, 3, 0.5), Sizes(8, 25, 8, 4, 0.6)
LARGE = Sizes(3, 80, 12, 5, 0.7)
LARGEST = Sizes(1, 200, 30, 4, 0.5)
SIZES = {
    "plain": (SMALL, MIDDLE, LARGE, LARGEST),
    "ties": (SMALL, MIDDLE, LARGE, LARGEST),
    "infeasible": (SMALL, MIDDLE, LARGE, LARGEST),
    "second-order": (SMALL, Sizes(8, 20, 5, 3, 0.6), Sizes(3, 40, 6, 3, 0.7), Sizes(1, 200, 5, 3, 0.5)),
    "soft-and-hard": (SMALL, MIDDLE, LARGE, Sizes(1, 200, 30, 3, 0.5)),
}
"""Twenty instances of each kind."""


def instances(kind: str) -> Iterator[Instance]:
    """The instances from which the references of a kind were made; ValueError for an unknown kind."""
    check_kind(kind)
    return (
        instance
        for seed, size in enumerate(SIZES[kind])
        for instance in generate(kind, seed=seed, **vars(size))
    )


class ShippedReferences:
    """The references that come with the package. A kind is read at first access.

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
            A name from `KINDS`.

        Returns
        -------
        tuple of Reference
            The references.

        Raises
        ------
        ValueError
            For an unknown kind.
        """
        check_kind(kind)
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
