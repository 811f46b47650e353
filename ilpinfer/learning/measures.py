"""Measures that learning maximises: field accuracy of tokens, span F1 and whole sequences."""

import re
from typing import NamedTuple

import numpy as np

from formulations.dtypes import Floats
from formulations.messages import suggestion
from ilpinfer.evaluation.counts import Totals, f_measure, shares
from ilpinfer.evaluation.evaluation import Evaluation

MEASURES = ("tokens", "spans", "sequences", "all")
"""Token accuracy, span F1, the share of whole sequences, or the mean of the three."""
_F_MEASURE = re.compile(r"[fF](\d{1,3}(\.\d{1,6})?)")


def check_measure(name: str) -> str:
    if name not in MEASURES and not beta_of(name):
        near = suggestion(name, (*MEASURES, "f0.5", "f2"))
        raise ValueError(
            f"no measure {name!r}{near}; an F measure of spans is f and a number above 0, as in f0.5"
        )
    return name


def beta_of(measure: str) -> float:
    """The β of an F measure of spans, such as "f0.5" (Trompper 2016); 0 for other measures."""
    match = _F_MEASURE.fullmatch(measure)
    return float(match[1]) if match else 0.0


class Measures(NamedTuple):
    """Measures of labellings of a corpus, as shares from 0 to 1.

    Parameters
    ----------
    accuracy : float
        Share of tokens with the gold field.
    f1 : float
        F1 of spans.
    whole : float
        Share of sequences whose spans all equal the gold spans.

    Examples
    --------
    >>> Measures(0.9, 0.8, 0.5).value("spans")
    0.8
    """

    accuracy: float
    f1: float
    whole: float

    @classmethod
    def of_counts(cls, counts: Totals) -> "Measures":
        """The measures of the counts of N sequences.

        Parameters
        ----------
        counts : Totals
            (N, 6) counts.

        Returns
        -------
        Measures
            The measures.
        """
        return cls.of_sums(counts.sum(axis=0), len(counts))

    @classmethod
    def of_sums(cls, sums: Totals, sequences: int) -> "Measures":
        """The measures of sums of counts.

        Parameters
        ----------
        sums : Totals
            (6,) counts over all sequences.
        sequences : int
            Number of sequences.

        Returns
        -------
        Measures
            The measures.
        """
        return cls(*shares(sums, sequences).tolist())

    @classmethod
    def of(cls, evaluation: Evaluation) -> "Measures":
        """The measures of an evaluation, with F1 of all fields together.

        Parameters
        ----------
        evaluation : Evaluation
            The evaluation.

        Returns
        -------
        Measures
            The measures.
        """
        f1 = float(f_measure(evaluation.of_all("spans")))
        return cls(evaluation.accuracy, f1, evaluation.whole_sequences)

    def value(self, measure: str) -> float:
        """One measure of `MEASURES`.

        Parameters
        ----------
        measure : str
            A name from `MEASURES`.

        Returns
        -------
        float
            The share.
        """
        return float(_chosen(np.array(self), "spans" if beta_of(measure) == 1 else measure))

    def __str__(self) -> str:
        return " / ".join(f"{100 * share:.2f}" for share in self)


def value(counts: Totals, measure: str) -> float:
    """One measure of `MEASURES`, or an F measure of spans, of the counts (N, 6) of N sequences."""
    return float(_measured(counts.sum(axis=0), len(counts), measure))


def losses(counts: Totals, measure: str) -> Floats:
    """(N,) loss of each sequence in a measure, from 0 to 1, from counts (N, 6)."""
    return 1 - _measured(counts, 1, measure)


def _measured(totals: Totals, sequences: int, measure: str) -> Floats:
    beta = beta_of(measure)
    return _chosen(shares(totals, sequences, beta or 1.0), "spans" if beta else measure)


def _chosen(each: Floats, name: str) -> Floats:
    return np.asarray(each.mean(axis=-1) if name == "all" else each[..., MEASURES.index(name)])
