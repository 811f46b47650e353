"""The service without HTTP: it converts bodies to answers as plain values."""

import asyncio
import contextlib
import threading
from functools import partial
from typing import Any

import numpy as np

from formulations import Trellis
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.decoding.warming import warm_up
from ilpinfer.errors import describe
from ilpinfer.serving.decoding import Row, decode_part, decode_single, error_row, late_row
from ilpinfer.serving.lag import Lag
from ilpinfer.serving.limits import Limits
from ilpinfer.serving.metrics import Metrics
from ilpinfer.serving.refusal import FAILED, UNAVAILABLE, Refusal
from ilpinfer.serving.request_deadline import RequestDeadline
from ilpinfer.serving.requests import Several, read_several, read_single, size
from ilpinfer.serving.work_queue import Done, WorkQueue

WARMING_SECONDS = 1.0
"""Time limit in seconds of a first sequence, whose decoding builds the tables of the rules."""


class Service:
    """A decoder with a queue and metrics.

    Parameters
    ----------
    decoder, limits, workers, scheme, warm : Decoder, Limits, int, str or bool
        As of `ilpinfer.serving.create_app`.
    """

    def __init__(self, decoder: Decoder, limits: Limits, *, workers: int, scheme: str, warm: bool) -> None:
        self.decoder, self.limits, self.scheme = decoder, limits, scheme
        self.queue = WorkQueue(workers, limits.queue)
        self.lag = Lag()
        self.metrics = Metrics(self.queue, self.lag, lambda: self.ready)
        self.ready, self.failed = not warm, ""

    def begin(self) -> None:
        """Load kernels in a daemon thread."""
        if not self.ready:
            threading.Thread(target=self._warm, name="ilpinfer-warming", daemon=True).start()

    def close(self) -> None:
        """Cancel the requests that wait."""
        self.queue.close()

    async def single(self, body: bytes, arrived: float) -> Row:
        """The answer to a request for one sequence; raises Refusal."""
        self.check_ready()
        request = read_single(body, self.limits)
        tokens, deadline = size(request.example)[0], RequestDeadline(arrived, request.options.seconds)
        self.queue.admit(tokens, deadline)
        work = partial(decode_single, self.decoder, self.scheme, request.example, request.options)
        done = await self._run(work, tokens, deadline)
        self.metrics.solution(done.value)
        return {**done.value, "queue_seconds": done.waited}

    async def several(self, body: bytes, arrived: float) -> dict[str, Any]:
        """The answer to a request for a batch; raises Refusal if no sequence is decoded."""
        self.check_ready()
        request = read_several(body, self.limits)
        deadline = RequestDeadline(arrived, request.options.seconds)
        rows: list[Row | None] = [error_row(i) if isinstance(i, Refusal) else None for i in request.items]
        await self._fill(request, deadline, rows)
        result = [late_row(deadline) if row is None else row for row in rows]
        for row in result:
            self.metrics.solution(row)
        return {"results": result}

    def check_ready(self) -> None:
        """Raise Refusal while kernels are being loaded, and if loading has failed."""
        if self.failed:
            raise Refusal(
                FAILED, f"kernels could not be loaded: {self.failed}; see ilpinfer warm-up", "failed"
            )
        if not self.ready:
            raise Refusal(UNAVAILABLE, "kernels are being loaded; ask /ready", "starting", 1.0)

    async def _fill(self, request: Several, deadline: RequestDeadline, rows: list[Row | None]) -> None:
        """Decode the sequences of a batch in one part for each thread; rows that are not reached in time stay None."""
        sound = [(n, item) for n, item in enumerate(request.items) if not isinstance(item, Refusal)]
        if not sound:
            return
        self.queue.admit(sum(size(item)[0] for _, item in sound), deadline)
        parts = [part for n in range(self.queue.workers) if (part := sound[n :: self.queue.workers])]

        def work(part: list[tuple[int, Any]], _: float) -> None:
            decode_part(self.decoder, self.scheme, part, request.options, deadline, rows)

        runs = [self._run(partial(work, p), sum(size(item)[0] for _, item in p), deadline) for p in parts]
        results = await asyncio.gather(*runs, return_exceptions=True)
        errors = [each for each in results if isinstance(each, BaseException)]
        if errors and (all(row is None for row in rows) or not isinstance(errors[0], Refusal)):
            raise errors[0]

    async def _run(self, work: Any, tokens: int, deadline: RequestDeadline) -> Done[Any]:
        done = await self.queue.run(work, tokens, deadline)
        self.metrics.waited.observe(done.waited)
        return done

    def _warm(self) -> None:
        try:
            warm_up()
            labels = self.decoder.labels
            if labels is not None:
                K = len(labels)
                first = Trellis(np.zeros(K), np.zeros((1, K, K)), labels, ["a", "b"])
                with contextlib.suppress(
                    ValueError
                ):  # of rules that read columns, which these tokens do not have
                    self.decoder.with_time_limit(WARMING_SECONDS).decode(first)
        except Exception as error:
            self.failed = describe(error)
        else:
            self.ready = True
