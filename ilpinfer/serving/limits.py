"""Limits of a service."""

from dataclasses import dataclass, fields

from formulations.arguments import positive, whole


@dataclass(frozen=True)
class Limits:
    """Limits on the size and the time of requests.

    Parameters
    ----------
    deadline, longest_deadline : float, default 1.0 and 30.0
        Time limit in seconds from arrival for requests without one, and the largest that a request may have.
    workers, queue : int, default 2 and 1000
        Threads that decode, and largest number of requests that wait for one; further requests are refused.
    body, rule_text : int, optional
        Largest body of a request, and largest text of its rules, in bytes; 0 to take no rules.
    tokens, labels, top : int, default 1000, 200 and 50
        Largest numbers of tokens of a sequence, of labels of its scores, and of its labellings.
    sequences : int, default 256
        Largest number of sequences of a batch.

    Raises
    ------
    ValueError
        For numbers out of range.

    Examples
    --------
    >>> Limits(deadline=0.5).tokens
    1000
    """

    deadline: float = 1.0
    longest_deadline: float = 30.0
    workers: int = 2
    queue: int = 1000
    body: int = 4 * 2**20
    rule_text: int = 64 * 2**10
    tokens: int = 1000
    labels: int = 200
    top: int = 50
    sequences: int = 256

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.type is float:
                positive(value, each.name, "seconds")
            else:
                whole(value, each.name, 0 if each.name == "rule_text" else 1)
        if self.deadline > self.longest_deadline:
            raise ValueError(
                f"deadline is {self.deadline:g} s, beyond the longest_deadline of {self.longest_deadline:g} s; "
                "raise that, or lower the deadline"
            )
