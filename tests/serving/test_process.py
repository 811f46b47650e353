"""`ilpinfer serve` as a process of its own, on loopback."""

import signal
import socket
import threading

import httpx
import pytest
from support.served import Served
from support.service import GENEROUS

ENDLESS = ("--method", "evolutionary", "--option", "iterations=0")
"""Arguments for a search that goes on until its time limit."""
LONG = {
    "label_names": ["a", "b"],
    "emissions": [[0.0, -1.0]] * 500,
    "transitions": [[0.0, 0.0], [0.0, 0.0]],
    "deadline": 3.0,
}


@pytest.mark.parametrize(
    "number, code, said", [(signal.SIGTERM, 0, ""), (signal.SIGINT, 130, "ilpinfer: interrupted\n")]
)
def test_a_signal_ends_the_service_behind_the_request_in_work(number, code, said, tmp_path):
    with Served(tmp_path, *ENDLESS, "--workers", "1") as served:
        answers = []
        other = httpx.Client(base_url=served.client.base_url, timeout=GENEROUS)
        working = threading.Thread(target=lambda: answers.append(other.post("/decode", json=LONG)))
        working.start()
        served.until(served.working)
        served.process.send_signal(number)
        working.join(GENEROUS)
        other.close()
        (answer,) = (
            answers  # a search that overshoots its time limit on a busy machine gets the 503 of its deadline
        )
        assert answer.status_code == 200 or answer.json()["detail"].startswith("the deadline of 3 s passed")
        assert served.ended() == (code, said)
        with pytest.raises(httpx.ConnectError):
            httpx.get(served.client.base_url)


@pytest.mark.parametrize(
    "number, code, said",
    [(signal.SIGTERM, 143, "ilpinfer: terminated\n"), (signal.SIGINT, 130, "ilpinfer: interrupted\n")],
)
def test_a_second_signal_ends_it_at_once(number, code, said, tmp_path):
    with Served(tmp_path, *ENDLESS, "--longest-deadline", "600", "--grace", "600") as served:
        other = served.sent({**LONG, "deadline": 600.0})
        served.process.send_signal(number)
        served.until(lambda: refused(served))
        served.process.send_signal(number)
        assert served.ended() == (code, said)
        other.close()


def refused(served: Served) -> bool:
    """Whether new connections are."""
    try:
        socket.create_connection(served.address).close()
    except OSError:
        return True
    return False


def test_requests_beyond_the_grace_period_are_told(tmp_path):
    with Served(tmp_path, *ENDLESS, "--grace", "0") as served:
        other = served.sent(LONG)
        served.process.send_signal(signal.SIGTERM)
        assert served.ended() == (1, "ilpinfer: 1 request was not finished within --grace 0 s\n")
        other.close()


def test_a_trained_model_is_served(folder):
    with Served(folder, "--model", "hmm.json", "--rules", "citations") as served:
        answer = served.client.post("/decode", json={"tokens": ["Ada", "Lovelace", ".", "Notes"]}).json()
        assert answer["status"] == "optimal"
        assert answer["labels"] == ["B-author", "I-author", "I-author", "B-title"]


def test_a_port_in_use(folder, cli):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        err = cli.refused(f"serve --port {port}")
    assert f"--port {port}: cannot listen there: Address already in use; choose another port" in err
