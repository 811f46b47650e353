"""Which tests are slow, by measurement: `python -m pytest -p support.costs -m ""` writes `tests/slow.txt` anew.

A test function is slow where its cases take more than 0.6 s of processor time each, in the mean, or more than 6 s
together, child processes included. `make test` leaves slow tests out, and `make strict` runs them.
"""

import os
from collections import defaultdict
from pathlib import Path

import pytest

SLOW = Path(__file__).parents[1] / "slow.txt"
LIMIT, TOGETHER = 0.6, 6.0
"""Processor seconds of a case, and of all cases of a function."""
_costs: dict[str, list[float]] = defaultdict(list)
_began = pytest.StashKey[float]()


def slow_tests() -> set[str]:
    """The functions that the committed measurement calls slow."""
    return set(SLOW.read_text(encoding="utf-8").split())


def function_of(node: str) -> str:
    return node.split("[")[0]


def _used() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[_began] = _used()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> object:
    result = yield
    item.user_properties.append(("seconds", _used() - item.stash[_began]))
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "teardown":
        _costs[function_of(report.nodeid)].append(dict(report.user_properties).get("seconds", 0.0))


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):
        slow = sorted(
            name for name, costs in _costs.items() if sum(costs) > min(TOGETHER, LIMIT * len(costs))
        )
        SLOW.write_text("".join(f"{name}\n" for name in slow), encoding="utf-8")
