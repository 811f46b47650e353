"""References: problems with their optima, in files that carry the proof."""

from ilpinfer.references.files import read, write
from ilpinfer.references.generator import KINDS, Instance, generate
from ilpinfer.references.making import Unproved, make
from ilpinfer.references.record import InvalidReference, Level, Reference
from ilpinfer.references.shipped import ShippedReferences
from ilpinfer.references.tables import NoTables
from ilpinfer.references.twins import program_of, write_programs
from ilpinfer.references.verification import Finding, verify

__all__ = [
    "KINDS",
    "Finding",
    "Instance",
    "InvalidReference",
    "Level",
    "NoTables",
    "Reference",
    "ShippedReferences",
    "Unproved",
    "generate",
    "make",
    "program_of",
    "read",
    "verify",
    "write",
    "write_programs",
]
