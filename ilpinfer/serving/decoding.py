"""Decoding of the sequences of requests within their deadlines; solutions are plain values."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from formulations.time_limits import OutOfTime, time_limit
from ilpinfer.core.solution import Solution
from ilpinfer.corpus.examples import Example
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.decoding.reporting import failure
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.pipelines.trellises import ScoredSequence, score
from ilpinfer.serving.explaining import allowed, further
from ilpinfer.serving.limits import RequestDeadline, without_reserve
from ilpinfer.serving.refusal import INVALID, Refusal, invalid
from ilpinfer.serving.requests import DecodeOptions, RequestOptions

Row = dict[str, Any]
"""A solution as plain values."""
NOTHING_MORE = DecodeOptions.model_validate({})


class DeadlinePassed(Exception):
    """The deadline passed before decoding could begin."""


def decode_single(
    decoder: Decoder, scheme: str, sequence: Example, options: RequestOptions, seconds: float
) -> Row:
    """The solution of one sequence within a time limit of `seconds`; Refusal, or DeadlinePassed if no time is left after scoring."""
    began = time.perf_counter()

    def left() -> float:
        result = without_reserve(seconds - (time.perf_counter() - began))
        if result <= 0:
            raise DeadlinePassed
        return result

    def limited() -> Decoder:
        return decoder.with_time_limit(left())

    own = options if isinstance(options, DecodeOptions) else NOTHING_MORE
    try:
        scored = _scored(decoder, scheme, sequence)
        trellis = allowed(scored, own.forbidden)
        solutions = limited().decode(trellis, top=options.top) if options.top else []
        solutions = solutions or [limited().decode(trellis)]  # an empty list has no status
        rows = [_row(scored, solution, options) for solution in solutions]
        rows[0] = with_notices(rows[0], _notices(solutions[0]))
        with time_limit(lambda: time.perf_counter() - began > seconds):
            rows[0] |= further(decoder, scored, trellis, solutions[0], own, left)
    except OutOfTime:
        raise DeadlinePassed from None
    except ValueError as error:
        raise _refusal(error, sequence) from None
    return rows[0] if options.top is None else {**rows[0], "alternatives": rows[1:]}


def decode_part(
    decoder: Decoder,
    scheme: str,
    sequences: Sequence[tuple[int, Example]],
    options: RequestOptions,
    deadline: RequestDeadline,
    rows: list[Row | None],
) -> None:
    """Decode sequences one after the other, and enter the solutions into `rows`.

    The time left is divided evenly among the remaining sequences, so that a hard sequence does not use all of it.
    """
    for done, (place, sequence) in enumerate(sequences):
        left = deadline.left / (len(sequences) - done)
        if left <= 0:
            return
        try:
            rows[place] = decode_single(decoder, scheme, sequence, options, left)
        except DeadlinePassed:
            continue
        except Refusal as refusal:
            rows[place] = error_row(refusal)
        except Exception as error:
            rows[place] = failure(error, "none").to_dict(certificate=options.certificate)


def with_notices(row: Row, notices: Sequence[str]) -> Row:
    """The row with further notices, where there are some."""
    return {**row, "notices": [*row.get("notices", ()), *notices]} if notices else row


def _notices(solution: Solution) -> Sequence[str]:
    """What there is to say about rules and labels, none of which is an error."""
    context = solution.context
    return () if context is None else context.rules.compiled(context.trellis.labels).notices


def error_row(refusal: Refusal) -> Row:
    """The row of a sequence of a batch that cannot be decoded."""
    name = "InputError" if refusal.status == INVALID else "LimitError"
    return _failed(name, refusal.message)


def late_row(deadline: RequestDeadline) -> Row:
    """The row of a sequence of a batch whose decoding could not begin before the deadline."""
    reason = (
        f"the deadline of {deadline.seconds:g} s passed before it was decoded; ask for more, or send fewer"
    )
    return _failed("DeadlinePassed", reason)


def _failed(name: str, reason: str) -> Row:
    return replace(failure(DeadlinePassed(), "none"), error=name, reason=reason).to_dict(certificate=False)


def _scored(decoder: Decoder, scheme: str, sequence: Example) -> ScoredSequence:
    model: SequenceModel | None = decoder.model  # type: ignore[assignment]
    if sequence.scores is None and model is None:
        raise ValueError(
            f"{sequence.where}: tokens without scores; this service has no model: give emissions and transitions, "
            "or start and edges"
        )
    return score([sequence], model, scheme, decoder.rules.never)[0]


def _row(scored: ScoredSequence, solution: Solution, options: RequestOptions) -> Row:
    return {**scored.example.about, **scored.row(solution.to_dict(certificate=options.certificate))}


def _refusal(error: Exception, sequence: Example) -> Refusal:
    text = str(error)
    return invalid(text if text.startswith(sequence.where) else f"{sequence.where}: {text}")
