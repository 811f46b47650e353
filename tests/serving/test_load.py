"""Deadlines, refusals and metrics, with decoders that wait for permits."""

import asyncio

import pytest
from support.service import EDGES, WaitingDecoder, service_of, talk, until

from formulations.time_limits import OutOfTime
from ilpinfer import Decoder
from ilpinfer.core.deadline import Deadline
from ilpinfer.serving.decoding import seconds_for_work

SHORT = {**EDGES, "deadline": 0.1}


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
        refused = await client.post("/decode", json={**EDGES, "deadline": 9.0})
        shown = (await client.get("/metrics")).text
        decoder.permits.release(4)
        served = await asyncio.gather(*waiting)
        return refused, shown, served, await client.post("/decode", json=EDGES)

    refused, shown, served, after = talk(service, conversation)
    assert refused.status_code == 503 and refused.headers["retry-after"] == "5"
    assert refused.json()["detail"] == "2 requests are waiting, which is the limit; try again later"
    assert metric(shown, "queue_length") == 2 and metric(shown, "running") == 1
    assert [one.status_code for one in (*served, after)] == [200] * 4
    assert len(decoder.begun) == 4


def test_a_deadline_that_passes_in_the_queue_or_in_work_is_not_answered_late():
    decoder = WaitingDecoder()
    service = service_of(decoder)

    async def conversation(client):
        working = asyncio.create_task(client.post("/decode", json=SHORT))
        await until(lambda: decoder.begun)
        queued = await client.post("/decode", json=SHORT)
        batch = await client.post("/batch", json={"sequences": [EDGES], "deadline": 0.1})
        late = await working
        decoder.permits.release(2)
        await until(lambda: service.queue.running == 0)
        return queued, batch, late, await client.post("/decode", json=EDGES)

    *refused, late, after = talk(service, conversation)
    for one in refused:
        assert one.json()["detail"].startswith("no thread was free within half of the deadline of 0.1 s")
    assert late.json()["detail"].startswith("the deadline of 0.1 s passed before the sequence was decoded")
    assert all(one.status_code == 503 and one.headers["retry-after"] == "1" for one in (*refused, late))
    assert after.status_code == 200
    assert len(decoder.begun) == 2


def test_what_a_batch_has_in_time_is_answered():
    decoder = WaitingDecoder()
    service = service_of(decoder)

    async def conversation(client):
        decoder.permits.release(1)
        response = await client.post("/batch", json={"sequences": [EDGES] * 3, "deadline": 0.2})
        decoder.permits.release(2)
        return response.json()["results"]

    first, second, third = talk(service, conversation)
    assert (first["status"], first["labels"]) == ("optimal", ["title", "title"])
    for one in (second, third):
        assert (one["status"], one["error"], one["labels"]) == ("unknown", "Busy", None)
        assert one["reason"].startswith("the deadline of 0.2 s passed")


def test_what_is_left_of_the_deadline_is_the_time_limit():
    decoder = WaitingDecoder()

    async def conversation(client):
        decoder.permits.release(5)
        await client.post("/decode", json={**EDGES, "deadline": 40.0})
        await client.post("/batch", json={"sequences": [EDGES] * 4, "deadline": 40.0})

    talk(service_of(decoder), conversation)
    one, *four = decoder.begun
    assert 20 < one < 40
    assert 5 < four[0] < 10 and 10 < four[2] < 20 and 20 < four[3] < 40


@pytest.mark.parametrize("limit, given", [(1.0, 0.98), (0.04, 0.03)])
def test_time_is_kept_back_for_the_answer(limit, given):
    now = 5.0
    deadline = Deadline(limit, lambda: now)
    assert seconds_for_work(deadline) == pytest.approx(given)
    now += limit
    with pytest.raises(OutOfTime):
        seconds_for_work(deadline)


def test_metrics_count_requests_and_results():
    async def conversation(client):
        await client.post("/decode", json=EDGES)
        await client.post("/batch", json={"sequences": [EDGES, {"tokens": 1}]})
        await client.post("/decode", content=b"{")
        await client.post("/decode", json={"tokens": ["a"] * 6})
        return (await client.get("/metrics")).text

    text = talk(service_of(Decoder([]), tokens=5), conversation)
    for name, value in {
        'requests_total{path="/decode",status="200"}': 1,
        'requests_total{path="/decode",status="422"}': 1,
        'requests_total{path="/decode",status="413"}': 1,
        'requests_total{path="/batch",status="200"}': 1,
        'sequences_total{status="optimal"}': 2,
        'sequences_total{status="error"}': 1,
        'request_seconds_count{path="/decode"}': 3,
        "queue_seconds_count": 3,
        "queue_length": 0,
    }.items():
        assert metric(text, name) == value, name


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
