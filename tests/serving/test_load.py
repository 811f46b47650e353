"""Deadlines, refusals and metrics, with decoders that wait for permits."""

import asyncio
import time

import pytest
from support.service import EDGES, WaitingDecoder, service_of, talk, until

from ilpinfer import Decoder
from ilpinfer.serving.limits import RequestDeadline, without_reserve
from ilpinfer.serving.metrics import PERIOD, Lag
from ilpinfer.serving.work_queue import Estimate

SHORT = {**EDGES, "deadline": 0.2}


def metric(text: str, name: str) -> float:
    """The value of a line of metrics."""
    (value,) = [line.split()[-1] for line in text.splitlines() if line.startswith(f"ilpinfer_{name} ")]
    return float(value)


def test_a_full_queue_refuses_at_once_and_recovers():
    decoder = WaitingDecoder()
    service = service_of(decoder, queue=2)

    async def conversation(client):
        waiting = [asyncio.create_task(client.post("/decode", json=EDGES)) for _ in range(3)]
        await until(lambda: service.queue.waiting == 2 and decoder.begun)
        refused = await client.post("/decode", json=EDGES)
        shown = (await client.get("/metrics")).text
        decoder.permits.release(4)
        served = await asyncio.gather(*waiting)
        await until(lambda: service.queue.running == 0)
        return refused, shown, served, await client.post("/decode", json=EDGES)

    refused, shown, served, after = talk(service, conversation)
    assert refused.status_code == 503 and int(refused.headers["retry-after"]) >= 1
    assert refused.json()["detail"].startswith("2 requests are waiting, which is the limit")
    assert metric(shown, "queue_length") == 2 and metric(shown, "running") == 1
    assert [one.status_code for one in (*served, after)] == [200] * 4
    assert len(decoder.begun) == 4


def test_work_that_cannot_be_done_in_time_is_refused_at_once():
    decoder = WaitingDecoder()
    service = service_of(decoder)
    service.queue.estimate = Estimate(seconds=5.0, tokens=2.0)

    async def conversation(client):
        first = asyncio.create_task(client.post("/decode", json=EDGES))
        await until(lambda: decoder.begun)
        refused = await client.post("/decode", json={**EDGES, "deadline": 9.0})
        batch = await client.post("/batch", json={"sequences": [EDGES] * 5, "deadline": 20.0})
        in_time = asyncio.create_task(client.post("/decode", json={**EDGES, "deadline": 40.0}))
        await until(lambda: service.queue.waiting == 1)
        decoder.permits.release(2)
        return await first, refused, batch, await in_time

    first, refused, batch, in_time = talk(service, conversation)
    assert (first.status_code, in_time.status_code) == (200, 200)
    for one in (refused, batch):
        assert one.status_code == 503
        assert "s are needed after the current work" in one.json()["detail"]
    assert 5 < refused.json()["retry_after"] < 6
    assert refused.headers["retry-after"] == "6"


def test_a_free_thread_takes_work_whatever_was_estimated():
    service = service_of(Decoder([]))
    service.queue.estimate = Estimate(seconds=1e9, tokens=1.0)

    async def conversation(client):
        return [(await client.post("/decode", json=EDGES)).status_code for _ in range(2)]

    assert talk(service, conversation) == [200, 200]
    assert service.queue.estimate.seconds_per_token < 1e9


def test_a_deadline_that_passes_in_the_queue_or_in_work_is_not_answered_late():
    decoder = WaitingDecoder()
    service = service_of(decoder)

    async def conversation(client):
        working = asyncio.create_task(client.post("/decode", json=SHORT))
        await until(lambda: decoder.begun)
        queued = await client.post("/decode", json=SHORT)
        batch = await client.post("/batch", json={"sequences": [EDGES], "deadline": 0.2})
        late = await working
        decoder.permits.release(2)
        await until(lambda: service.queue.running == 0)
        return late, queued, batch, await client.post("/decode", json=EDGES)

    *refused, after = talk(service, conversation)
    for one in refused:
        assert one.status_code == 503 and "retry-after" in one.headers
        assert one.json()["detail"].startswith("the deadline of 0.2 s passed before it was decoded")
    assert after.status_code == 200
    assert len(decoder.begun) == 2


def test_what_a_batch_has_in_time_is_answered():
    decoder = WaitingDecoder()
    service = service_of(decoder)

    async def conversation(client):
        decoder.permits.release(1)
        response = await client.post("/batch", json={"sequences": [EDGES] * 3, "deadline": 1.0})
        decoder.permits.release(2)
        return response.json()["results"]

    first, second, third = talk(service, conversation)
    assert (first["status"], first["labels"]) == ("optimal", ["title", "title"])
    for one in (second, third):
        assert (one["status"], one["error"], one["labels"]) == ("unknown", "DeadlinePassed", None)
        assert one["reason"].startswith("the deadline of 1 s passed")


def test_what_is_left_of_the_deadline_is_the_time_limit():
    decoder = WaitingDecoder()
    service = service_of(decoder)

    async def conversation(client):
        decoder.permits.release(5)
        await client.post("/decode", json={**EDGES, "deadline": 40.0})
        await client.post("/batch", json={"sequences": [EDGES] * 4, "deadline": 40.0})

    talk(service, conversation)
    one, *four = decoder.begun
    assert 20 < one < 40
    assert 5 < four[0] < 10 and 10 < four[2] < 20 and 20 < four[3] < 40


@pytest.mark.parametrize("left, given", [(1.0, 0.98), (0.04, 0.03), (0.0, 0.0)])
def test_time_is_kept_back_for_the_answer(left, given):
    assert without_reserve(left) == pytest.approx(given)


def test_time_counts_from_the_arrival():
    assert RequestDeadline(arrived=0.0, seconds=1e-9).left < 0


def test_estimates_follow_the_work():
    estimate = Estimate().after(2.0, 4)
    assert estimate.of(10) == pytest.approx(5.0)
    for _ in range(100):
        estimate = estimate.after(1.0, 10)
    assert estimate.of(10) == pytest.approx(1.0, rel=0.01)


def test_metrics_count_requests_results_and_refusals():
    service = service_of(Decoder([]), tokens=5)

    async def conversation(client):
        await client.post("/decode", json=EDGES)
        await client.post("/batch", json={"sequences": [EDGES, {"tokens": 1}]})
        await client.post("/decode", content=b"{")
        await client.post("/decode", json={"tokens": ["a"] * 6})
        return (await client.get("/metrics")).text

    text = talk(service, conversation)
    for name, value in {
        'requests_total{path="/decode",status="200"}': 1,
        'requests_total{path="/decode",status="422"}': 1,
        'requests_total{path="/decode",status="413"}': 1,
        'requests_total{path="/batch",status="200"}': 1,
        'refused_total{reason="invalid"}': 1,
        'refused_total{reason="too_large"}': 1,
        'sequences_total{status="optimal"}': 2,
        'sequences_total{status="error"}': 1,
        'request_seconds_count{path="/decode"}': 3,
        "queue_seconds_count": 2,
        "queue_length": 0,
        "proved_ratio": 2 / 3,
    }.items():
        assert metric(text, name) == pytest.approx(value), name
    assert metric(text, "seconds_per_token") > 0


def test_a_service_is_ready_at_once():
    async def conversation(client):
        return [await client.get("/health"), await client.get("/ready")]

    assert [one.status_code for one in talk(service_of(Decoder([])), conversation)] == [200, 200]


def test_an_error_of_the_decoder_is_one_message(caplog):
    class Broken(WaitingDecoder):
        def decode(self, trellis, top=None):
            raise OSError("solver\ngone")

    service = service_of(Broken())

    async def conversation(client):
        one = await client.post("/decode", json=EDGES)
        return one, await client.post("/batch", json={"sequences": [EDGES]})

    one, batch = talk(service, conversation)
    assert (one.status_code, one.json()["detail"]) == (500, "decoding failed: solver gone")
    assert batch.json()["results"][0]["error"] == "OSError"
    assert service.queue.running == 0


def test_a_busy_loop_counts_as_waiting():
    lag = Lag()

    async def blocked():
        watching = asyncio.create_task(lag.watch())
        await asyncio.sleep(3 * PERIOD)
        time.sleep(10 * PERIOD)
        await until(lambda: lag.seconds > 5 * PERIOD)
        watching.cancel()

    asyncio.run(blocked())
