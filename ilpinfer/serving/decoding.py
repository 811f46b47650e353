"""Decoding of the sequences of requests within their deadlines; solutions are plain values."""

from functools import partial
from typing import Any

from formulations import Trellis
from formulations.caches import RecentValues
from formulations.time_limits import OutOfTime
from ilpinfer.core.context import Context
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.solution import Solution, finite
from ilpinfer.corpus.examples import Example, input_at
from ilpinfer.decoding.decode import decode
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.decoding.explaining import Searches
from ilpinfer.decoding.reporting import failure
from ilpinfer.exact.marginals import marginals_within
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.pipelines.trellises import of_labelling, score, with_spans
from ilpinfer.serving.limits import Limits
from ilpinfer.serving.requests import DecodeRequest, RequestOptions, read_record
from ilpinfer.serving.rule_texts import with_rules

Row = dict[str, Any]
"""A solution as plain values."""
MOST_RULE_TEXTS = 8
"""Texts whose compiled rules are kept."""
BUDGET = 200_000
"""Joint states of marginals: a twentieth of a second."""
DIGITS = 4
"""Decimals of probabilities."""
RESERVE, SHARE = 0.02, 0.25
"""Seconds that are reserved for the answer, and the largest fraction of the whole time that they may be."""


def seconds_for_work(deadline: Deadline) -> float:
    """Seconds that a search may take now; OutOfTime if none are left."""
    left = deadline.limit - deadline.elapsed - min(RESERVE, SHARE * deadline.limit)
    if left <= 0:
        raise OutOfTime
    return left


class RecordDecoder:
    """A decoder for records of requests; threads may share it."""

    def __init__(self, decoder: Decoder, scheme: str, limits: Limits) -> None:
        self.decoder, self.scheme, self.limits = decoder, scheme, limits
        self._by_rules = RecentValues[Decoder](MOST_RULE_TEXTS)

    def row(self, record: Any, where: str, options: RequestOptions, deadline: Deadline) -> Row:
        """The solution of one record; InputError for an invalid one, OutOfTime if no time is left."""
        with deadline.as_limit():
            example, labels, notices = read_record(record, where, self.limits)
            decoder = self._decoder(options, labels).of(example.notes)
            with input_at(where):
                trellis = self._trellis(decoder, example)
                found = list[Solution]()
                if options.top:
                    limited = decoder.with_time_limit(seconds_for_work(deadline))
                    found = limited.decode(trellis, top=options.top)
                if not found:  # an empty list has no status
                    found = [decoder.with_time_limit(seconds_for_work(deadline)).decode(trellis)]
                further = _further(example, found[0], options, deadline)
        values = [with_spans(example, each.to_dict(certificate=options.certificate)) for each in found]
        first, *others = [{**example.about, **each} for each in values]
        if (context := found[0].context) is not None:
            notices.extend(context.rules.compiled(context.trellis.labels).notices)
        more = {"notices": notices} if notices else {}
        return {**first, **further, **more, **({"alternatives": others} if options.top else {})}

    def fill(
        self, rows: dict[int, Row], records: list[Any], options: RequestOptions, deadline: Deadline
    ) -> None:
        """Enter the solutions of records; the time left is divided evenly among the remaining ones."""
        for n, record in enumerate(records):
            part = Deadline(seconds_for_work(deadline) / (len(records) - n))
            try:
                rows[n] = self.row(record, f"sequences, item {n + 1}", options, part)
            except OutOfTime:
                continue
            except Exception as error:
                rows[n] = failed_row(error)

    def _decoder(self, options: RequestOptions, labels: int) -> Decoder:
        if not isinstance(options, DecodeRequest) or options.rules is None:
            return self.decoder
        made = partial(with_rules, self.decoder, options.rules, labels, self.limits.rule_text)
        return self._by_rules.get((options.rules, labels), made)

    def _trellis(self, decoder: Decoder, example: Example) -> Trellis:
        if example.scores is None and decoder.model is None:
            message = "tokens without scores; this service has no model"
            raise ValueError(f"{message}: give emissions and transitions, or start and edges")
        model: SequenceModel | None = decoder.model  # type: ignore[assignment]
        [scored] = score([example], model, self.scheme, decoder.rules.never)
        assert scored.trellis is not None  # a single sequence without scores is an error already
        return scored.trellis


def failed_row(error: Exception) -> Row:
    """The row of a sequence of a batch that is not decoded."""
    return failure(Solution, error, "none").to_dict(certificate=False)


def _further(
    example: Example, solution: Solution, options: RequestOptions, deadline: Deadline
) -> dict[str, Any]:
    """The further keys of an answer that options ask for; OutOfTime where no time is left for them."""
    context, result = solution.context, dict[str, Any]()
    if context is None or not isinstance(options, DecodeRequest):
        return result
    if options.explain is not False:
        result["explanation"] = _explanation(context, example, solution, seconds_for_work(deadline))
    if type(options.explain) is int and solution.has_labelling:
        seconds = seconds_for_work(deadline)
        result["explanation"]["change"] = _change(context, solution, options.explain, seconds)
    if options.marginals:
        seconds_for_work(deadline)
        result["marginals"] = _marginals(context, solution)
    return result


def _explanation(context: Context, example: Example, solution: Solution, seconds: float) -> dict[str, Any]:
    """Viterbi's labelling, rules, fields of labels, and the tokens of the violations of both labellings."""
    viterbi = decode(context.trellis, context.rules, method="viterbi", time_limit=seconds)
    labels, rules = context.trellis.labels, context.named().items()

    def places(one: Solution) -> dict[str, list[list[int]]]:
        names = [name for name, count in one.violations.items() if count and one.has_labelling]
        trials = {name: context.broken(name, one.labels) for name in names}
        return {name: [list(each.tokens) for each in trials[name]] for name in names}

    return {
        "label_names": list(labels.names),
        "fields": [labels.strip(name) for name in labels.names],
        "rules": [{"name": name, "penalty": finite(x.penalty), "reason": x.reason} for name, x in rules],
        "places": places(solution),
        "viterbi": {
            **with_spans(example, viterbi.to_dict(certificate=False)),
            "places": places(viterbi),
        },
    }


def _change(context: Context, solution: Solution, token: int, seconds: float) -> dict[str, Any]:
    """Why a token has its label."""
    last = len(context.trellis) - 1
    if not 0 <= token <= last:
        raise ValueError(f"explain: no token {token}; tokens are 0 to {last}")
    [change] = Searches(seconds).changes(context, solution.ids, token)
    return {**change.to_dict(), "words": str(change)}


def _marginals(context: Context, solution: Solution) -> dict[str, Any]:
    """Probabilities under the rules, but for those that take too many states."""
    known: dict[str, Any] = {"labels": None, "entities": [], "labelling": None}
    try:
        found, left_out = marginals_within(context.trellis, context.rules, BUDGET)
    except ValueError as error:
        return {**known, "constrained": False, "left_out": [], "reason": str(error)}
    if solution.has_labelling:
        known |= of_labelling(found, solution.ids, DIGITS)
    return {
        **known,
        "labels": found.labels.round(DIGITS).tolist(),
        "constrained": not left_out or bool(found.problem.rules),
        "left_out": list(left_out),
        "reason": next(iter(left_out.values()), ""),
    }
