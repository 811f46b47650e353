"""References: problems with proved optima, in files that contain the proofs. Names are imported at first use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ilpinfer.references.files import read as read
    from ilpinfer.references.files import write as write
    from ilpinfer.references.making import UnprovedOptimum as UnprovedOptimum
    from ilpinfer.references.making import make as make
    from ilpinfer.references.record import InvalidReference as InvalidReference
    from ilpinfer.references.record import Level as Level
    from ilpinfer.references.record import Reference as Reference
    from ilpinfer.references.shipped import ShippedReferences as ShippedReferences
    from ilpinfer.references.tables import NoTables as NoTables
    from ilpinfer.references.verification import Finding as Finding
    from ilpinfer.references.verification import verify as verify

_HOMES = {
    "Finding": "verification",
    "InvalidReference": "record",
    "Level": "record",
    "NoTables": "tables",
    "Reference": "record",
    "ShippedReferences": "shipped",
    "UnprovedOptimum": "making",
    "make": "making",
    "read": "files",
    "verify": "verification",
    "write": "files",
}
"""The module of each name. A program that only checks references does not import the decoder."""
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
