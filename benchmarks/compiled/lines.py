"""Lines of the tables: seconds beside those of the unit, and targets."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.compiled.timing import Seconds

HEAD = f"{'':44} {'sequences':>9} {'bare, µs':>9} {'decoded, µs':>11}  | × {'median':>7} {'p90':>8} {'mean':>8}  target"


@dataclass(frozen=True)
class Line:
    """One way to decode sequences.

    Parameters
    ----------
    name : what is timed
    bare, decoded : seconds (N,) a sequence of the unit and of decoding
    targets : the largest multiple that is aimed at, by "median", "p90" or "mean"
    sequences : how many there are, where a number stands for many
    """

    name: str
    bare: Seconds
    decoded: Seconds
    targets: Mapping[str, float] = field(default_factory=dict)
    sequences: int = 0

    @property
    def multiples(self) -> dict[str, float]:
        """Median and 90th percentile of each sequence's multiple, and the multiple of the mean."""
        each = self.decoded / self.bare
        mean = float(self.decoded.sum() / self.bare.sum())
        return {"median": float(np.median(each)), "p90": float(np.percentile(each, 90)), "mean": mean}

    def __str__(self) -> str:
        count = self.sequences or len(self.bare)
        micro = 1e6 * np.array([np.median(self.bare), np.median(self.decoded)])
        if self.sequences:
            cells = f"{'':>7} {'':>8} {self.multiples['mean']:8.2f}"
        else:
            cells = " ".join(f"{v:{w}.2f}" for v, w in zip(self.multiples.values(), (7, 8, 8), strict=True))
        aims = [verdict(name, self.multiples[name], most) for name, most in self.targets.items()]
        return f"{self.name:44} {count:9} {micro[0]:9.1f} {micro[1]:11.1f}  |   {cells}  {', '.join(aims)}".rstrip()


def verdict(name: str, value: float, most: float) -> str:
    """A target that a value should not pass, and whether it does."""
    return f"{name} at most {most:g}: {'met' if value <= most else 'NOT met'}"


def shares(methods: Sequence[str]) -> str:
    """How often nothing was broken, multipliers and label setting were enough, and the engine behind them was needed."""
    kernels = re.compile(r"auto: (\d+ multipliers)?(, )?(label setting over \d+ machines)?")
    known = {
        "nothing broken": sum(method == "auto: viterbi" for method in methods),
        "multipliers or label setting": sum(kernels.fullmatch(method) is not None for method in methods),
    }
    known["the engine"] = len(methods) - sum(known.values())
    return ", ".join(f"{name} {count / len(methods):.0%}" for name, count in known.items())
