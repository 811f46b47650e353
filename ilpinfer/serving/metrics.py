"""Metrics of the service in the format of Prometheus."""

import asyncio
import time
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ilpinfer.serving.decoding import Row
from ilpinfer.serving.work_queue import WorkQueue

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper ends of the histograms of seconds."""
PROVED = ("optimal", "infeasible")
"""Statuses of solutions with a proof."""
PERIOD = 0.02
"""Seconds between two measurements of the delay."""


class Lag:
    """The latest delay of the event loop, which requests wait before they are read."""

    def __init__(self) -> None:
        self.seconds = 0.0

    async def watch(self) -> None:
        """Measure until cancelled."""
        while True:
            due = time.perf_counter() + PERIOD
            await asyncio.sleep(PERIOD)
            self.seconds = max(0.0, time.perf_counter() - due)


class Metrics:
    """Counters of one application, in a registry of their own."""

    def __init__(self, queue: WorkQueue, lag: Lag) -> None:
        self._registry = CollectorRegistry()
        self.requests = self._counter("requests", "Requests by path and status of HTTP.", "path", "status")
        self.refused = self._counter("refused", "Requests refused, by reason.", "reason")
        self.sequences = self._counter("sequences", "Sequences by status of their solution.", "status")
        self.seconds = Histogram(
            "ilpinfer_request_seconds",
            "Seconds from the arrival of a request to its answer.",
            ["path"],
            buckets=BUCKETS,
            registry=self._registry,
        )
        self.waited = Histogram(
            "ilpinfer_queue_seconds",
            "Seconds from the arrival of a request to its work.",
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._counts = {"proved": 0, "all": 0}
        self._gauge("queue_length", "Jobs that wait for a thread.", lambda: queue.waiting)
        self._gauge("lag_seconds", "Delay of the event loop.", lambda: lag.seconds)
        self._gauge("running", "Jobs that threads work on.", lambda: queue.running)
        self._gauge(
            "proved_ratio", "Share of the sequences with a proved result, 1 before the first.", self._proved
        )
        self._gauge(
            "seconds_per_token",
            "Average of the work done lately, by which requests are refused.",
            lambda: queue.estimate.seconds_per_token,
        )

    def solution(self, row: Row) -> None:
        status = "error" if row.get("error") else row["status"]
        self.sequences.labels(status).inc()
        self._counts["proved"] += status in PROVED
        self._counts["all"] += 1

    def text(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        return generate_latest(self._registry)

    def _proved(self) -> float:
        return self._counts["proved"] / self._counts["all"] if self._counts["all"] else 1.0

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"ilpinfer_{name}", text, labels, registry=self._registry)

    def _gauge(self, name: str, text: str, value: Callable[[], float]) -> None:
        Gauge(f"ilpinfer_{name}", text, registry=self._registry).set_function(value)
