"""The service without HTTP: it converts bodies to answers as plain values."""

import asyncio
from collections.abc import Iterable
from functools import cached_property, partial
from typing import Any

from formulations import dump_rules
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.serving.decoding import Row, decode_part, decode_single, error_row, late_row, with_notices
from ilpinfer.serving.description import examples_of
from ilpinfer.serving.limits import Limits, RequestDeadline
from ilpinfer.serving.metrics import Lag, Metrics
from ilpinfer.serving.refusal import Refusal
from ilpinfer.serving.requests import BatchRequest, DecodeRequest, RequestOptions, Sequence, read_request
from ilpinfer.serving.rule_texts import RuleTexts
from ilpinfer.serving.work_queue import Done, WorkQueue


class Service:
    """A decoder with a queue and metrics; arguments as of `create_app`."""

    def __init__(
        self,
        decoder: Decoder,
        limits: Limits,
        *,
        workers: int,
        scheme: str,
        examples: Iterable[dict[str, Any]] = (),
        rules_text: str = "",
    ) -> None:
        self.decoder, self.limits, self.scheme = decoder, limits, scheme
        self.examples, self.rules_text = tuple(examples), rules_text
        self.rule_texts = RuleTexts(decoder)
        self.queue = WorkQueue(workers, limits.queue)
        self.lag = Lag()
        self.metrics = Metrics(self.queue, self.lag)

    @cached_property
    def about(self) -> dict[str, Any]:
        """What the service decodes with, as plain values."""
        labels = self.decoder.labels
        rules: str | None
        try:
            rules = self.rules_text or dump_rules(self.decoder.rules)
        except ValueError:  # rules from Python that have no form in a file
            rules = None
        examples = self.examples or [
            each for each in examples_of(self.decoder).values() if "rules" not in each
        ]
        return {
            "rules": rules,
            "rule_text": self.limits.rule_text,
            "label_names": None if labels is None else list(labels.names),
            "examples": list(examples),
        }

    def close(self) -> None:
        """Cancel the requests that wait."""
        self.queue.close()

    async def single(self, body: bytes, arrived: float) -> Row:
        """The answer to a request for one sequence; raises Refusal."""
        request = read_request(DecodeRequest, body, self.limits)
        deadline = self._deadline(arrived, request)
        self.queue.admit(request.length, deadline)

        def work(seconds: float) -> Row:
            decoder = self.rule_texts.decoder(request.rules, request.label_count, seconds)
            return decode_single(decoder, self.scheme, request.example, request, deadline.left)

        done = await self._run(work, request.length, deadline)
        self.metrics.solution(done.value)
        return {**with_notices(done.value, request.notices), "queue_seconds": done.waited}

    async def several(self, body: bytes, arrived: float) -> dict[str, Any]:
        """The answer to a request for a batch; raises Refusal if no sequence is decoded."""
        request = read_request(BatchRequest, body, self.limits)
        deadline = self._deadline(arrived, request)
        rows: list[Row | None] = [
            error_row(each) if isinstance(each, Refusal) else None for each in request.sequences
        ]
        await self._fill(request, deadline, rows)
        result = [late_row(deadline) if row is None else row for row in rows]
        for row in result:
            self.metrics.solution(row)
        found = (() if isinstance(each, Refusal) else each.notices for each in request.sequences)
        return {"results": [with_notices(*each) for each in zip(result, found, strict=True)]}

    def _deadline(self, arrived: float, options: RequestOptions) -> RequestDeadline:
        seconds = self.limits.deadline if options.deadline is None else options.deadline
        return RequestDeadline(arrived, seconds)

    async def _fill(self, request: BatchRequest, deadline: RequestDeadline, rows: list[Row | None]) -> None:
        """Decode the sequences of a batch in one part for each thread; rows that are not reached in time stay None."""
        sound = [(n, item) for n, item in enumerate(request.sequences) if not isinstance(item, Refusal)]
        if not sound:
            return
        self.queue.admit(sum(item.length for _, item in sound), deadline)
        parts = [part for n in range(self.queue.workers) if (part := sound[n :: self.queue.workers])]

        def work(part: list[tuple[int, Sequence]], _: float) -> None:
            examples = [(n, item.example) for n, item in part]
            decode_part(self.decoder, self.scheme, examples, request, deadline, rows)

        runs = [
            self._run(partial(work, part), sum(item.length for _, item in part), deadline) for part in parts
        ]
        results = await asyncio.gather(*runs, return_exceptions=True)
        errors = [each for each in results if isinstance(each, BaseException)]
        if errors and (all(row is None for row in rows) or not isinstance(errors[0], Refusal)):
            raise errors[0]

    async def _run(self, work: Any, tokens: int, deadline: RequestDeadline) -> Done[Any]:
        done = await self.queue.run(work, tokens, deadline)
        self.metrics.waited.observe(done.waited)
        return done
