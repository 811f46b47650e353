"""Fixtures of all tests: interrupts reach them."""

import signal

import pytest
from hypothesis import HealthCheck, settings
from support.command_line import cli, folder, here, trained  # noqa: F401
from support.costs import function_of, slow_tests
from support.effort import STRICT, examples

from formulations.problem import compiled_rules

settings.register_profile(
    "busy", deadline=None, max_examples=examples(100), suppress_health_check=list(HealthCheck)
)
settings.load_profile("busy")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark slow tests; `make random` leaves out those that are the same in `make test`."""
    slow = slow_tests()
    for item in items:
        if function_of(item.nodeid) in slow and not item.get_closest_marker("examples"):
            item.add_marker("slow")
    if STRICT:
        more = [item for item in items if _has_more(item)]
        config.hook.pytest_deselected(items=[item for item in items if not _has_more(item)])
        items[:] = more


def _has_more(item: pytest.Item) -> bool:
    """Whether a test is slow, or has more random examples with `make random`."""
    random = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    return random or any(item.iter_markers("slow")) or any(item.iter_markers("examples"))


@pytest.fixture(autouse=True)
def notices(monkeypatch):
    """Each test is given notices about rules as if no other one had run in its process."""
    monkeypatch.setattr(compiled_rules, "_notices", set())


@pytest.fixture(autouse=True)
def interrupts():
    """CP-SAT, where it is solved in this process, leaves interrupts to the system, which would end the tests."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
