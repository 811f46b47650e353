"""What the study measures at once."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """Some methods on some sequences.

    Parameters
    ----------
    part, data : part of the study, and data set
    methods : the group of methods, or one of them
    first : the number of the first sequence
    """

    part: str
    data: str
    methods: str
    first: int = 0
