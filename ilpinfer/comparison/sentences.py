"""A comparison in sentences: exact methods, best heuristics, failures, effect of the rules, and open questions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ilpinfer.comparison.fields import FieldGain, f1_without_rules
from ilpinfer.comparison.record import Record
from ilpinfer.comparison.summary import Summary
from ilpinfer.comparison.text import readable, shown

if TYPE_CHECKING:
    import pandas as pd


def sentences(record: Record, frame: "pd.DataFrame", summary: Sequence[Summary]) -> list[str]:
    """Plain text, a paragraph each.

    Parameters
    ----------
    record : Record
        A comparison.
    frame, summary : DataFrame or sequence of Summary
        Its table of rows, and its lines.
    """
    ranked = sorted(summary, key=lambda line: line.rank)
    gains = record.field_gains()
    parts = (
        _input(record, frame, summary),
        _exact(ranked),
        _others(ranked),
        _failures(frame, ranked),
        _rules(record, ranked, gains),
        _times(ranked),
    )
    return [" ".join(part).replace(" %", "\u00a0%") for part in parts if part]


def _input(record: Record, frame: "pd.DataFrame", summary: Sequence[Summary]) -> list[str]:
    lengths = [len(case.trellis) for case in record.cases if case.trellis is not None]
    result = [f"{_many(len(summary), 'method')} on {_many(len(record.cases), 'sequence')}"]
    if lengths:
        low, high = min(lengths), max(lengths)
        many = _many(high, "token")
        result[0] += (
            f" of {many}" if low == high else f" of {low} to {many}, {np.median(lengths):g} in the median"
        )
    result[0] += "."
    unscored = len(record.cases) - len(lengths)
    if unscored:
        result.append(f"{_many(unscored, 'sequence')} could not be scored, and every method fails there.")
    impossible = frame.sequence[frame.infeasible].nunique()
    if impossible:
        result.append(
            f"{_many(impossible, 'sequence')} {_are(impossible)} proved to have no labelling that keeps the hard rules; "
            "shares of solved sequences and gaps leave them out."
        )
    return result


def _exact(ranked: Sequence[Summary]) -> list[str]:
    known, total = max(line.optimum_known for line in ranked), ranked[0].sequences
    result = []
    for line in ranked:
        if line.kind == "exact":
            every = line.sequences + line.infeasible
            count = shown(line.proved * every, "count")
            result.append(
                f"{_name(line)} is exact and proves its answer on {count} of {_many(every, 'sequence')}."
            )
    if not known:
        word = "No method proves an optimum here" if total else "No sequence has a labelling"
        result.append(
            f"{word}, so that gaps are not known{'; add the method auto to know them' if total else ''}."
        )
    elif known < total:
        result.append(
            f"The optimum is proved for {known} of {total} sequences that have, or may have, a labelling; gaps are over these."
        )
    return result


def _others(ranked: Sequence[Summary]) -> list[str]:
    exact = [line for line in ranked if line.kind == "exact"]
    rest = [line for line in ranked if line.kind != "exact"]
    if not rest:
        return []
    first, *later = rest
    opening = (
        "The next is"
        if exact and exact[0].rank < first.rank
        else "Of the others the best is"
        if exact
        else "The best is"
    )
    result = [f"{opening} {_name(first)}, which {_record_of(first)}."]
    if later:
        result.append(f"The last is {_name(later[-1])}, which {_record_of(later[-1])}.")
    if first.mean_gap is not None:
        result.append(
            f"In means over all sequences {first.cap:g} nats, the cap, stand for a labelling that is missing."
        )
    return result


def _record_of(line: Summary) -> str:
    text = f"solves {_percent(line.solved)} of the sequences"
    if line.mean_gap is None or line.reaches is None:
        return text
    text += f", reaches the proved optimum on {_percent(line.reaches)}"
    if line.missed == 0:
        return f"{text} and loses nothing"
    interval = ""
    if line.gap_low is not None and line.gap_low != line.gap_high:
        interval = f" (95 % interval {shown(line.gap_low, 'nats')} to {shown(line.gap_high, 'nats')})"
    return f"{text} and loses {shown(line.mean_gap, 'nats')} nats on average{interval}"


def _failures(frame: "pd.DataFrame", ranked: Sequence[Summary]) -> list[str]:
    result = []
    for line in ranked:
        own = frame[(frame.method == line.method) & (frame.error != "")]
        if line.failed:
            kinds = ", ".join(readable(str(kind)) for kind in own.error.value_counts().index[:3])
            of = _many(line.sequences + line.infeasible, "sequence")
            result.append(
                f"{_name(line)} fails with an error on {shown(line.failed, 'count')} of {of} ({kinds}), which are in none of its "
                "other figures but the shares solved and proved."
            )
        possible = frame[(frame.method == line.method) & ~frame.infeasible]
        empty = float((~possible.solved & (possible.error == "")).sum()) / line.seeds
        if empty:
            result.append(
                f"{_name(line)} has no labelling that keeps the hard rules for {shown(empty, 'count')} of "
                f"{_many(line.sequences, 'sequence')} that {_have(line)} one."
            )
    return result or [
        f"No method fails: {'each has' if len(ranked) > 1 else 'it has'} a labelling for every sequence that has one."
    ]


def _rules(record: Record, ranked: Sequence[Summary], gains: Sequence[FieldGain]) -> list[str]:
    if not len(record.rules.items):
        return ["There are no rules, so that Viterbi alone finds the optimum."]
    if ranked[0].accuracy is None:
        return ["There are no gold labels, so that accuracy and gains by rules are not known."]
    best = ranked[0]
    before = f1_without_rules(record.rows(), record.baseline.fields, best.method)
    if best.f1 is None or before is None:
        return []
    change = 100 * (best.f1 - before)
    result = [
        f"Against Viterbi without rules, {_name(best)} changes the F1 of fields from {_percent(before)} to "
        f"{_percent(best.f1)} ({shown(change, 'points')} points)."
    ]
    own = sorted((gain for gain in gains if gain.method == best.method), key=lambda gain: -gain.f1_gain)
    best_gain, worst = own[0], own[-1]
    if best_gain.f1_gain > 0.0005:
        result.append(f"The field with the largest gain is {_gain(best_gain)}.")
    if worst.f1_gain < -0.0005:
        result.append(f"The field with the largest loss is {_gain(worst)}.")
    if abs(best_gain.f1_gain) <= 0.0005 >= abs(worst.f1_gain):
        result.append("No field gains or loses 0.1 points.")
    return result


def _gain(gain: FieldGain) -> str:
    return f"{readable(gain.field)}: {shown(100 * gain.f1_gain, 'points')} points to an F1 of {_percent(gain.f1)}, {_many(gain.gold, 'field')} in gold"


def _times(ranked: Sequence[Summary]) -> list[str]:
    timed = [line for line in ranked if line.bare_passes is not None and (line.solved or line.infeasible)]
    if not timed:
        return []
    order = sorted(timed, key=lambda line: line.median_ms or 0.0)
    texts = [
        f"{_name(line)} ({shown(line.median_ms, 'ms')} ms, {shown(line.bare_passes, 'times')} bare Viterbi passes)"
        for line in (order if len(order) == 1 else (order[0], order[-1]))
    ]
    if len(order) == 1:
        return [f"The median time of a sequence: {texts[0]}."]
    return [f"By the median time of a sequence {texts[0]} is the fastest method and {texts[1]} the slowest."]


def _have(line: Summary) -> str:
    """Of sequences that are not proved to be without a labelling."""
    return "have" if line.optimum_known == line.sequences else "have, or may have,"


def _name(line: Summary) -> str:
    return readable(line.method)


def _percent(share: float) -> str:
    """A share that is not 0 or 1 never looks like it."""
    text = f"{100 * share:.1f}"
    if text == "100.0" and share < 1:
        return "more than 99.9 %"
    if text == "0.0" and share > 0:
        return "less than 0.1 %"
    return f"{text.removesuffix('.0')} %"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
