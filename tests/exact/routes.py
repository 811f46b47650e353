"""Limits that force the engine to take one of its routes."""

from ilpinfer.exact import limits

PLAIN = {"PASSES": 0, "LEAST_STEPS": 0, "BEAMS": 0}
SMALL = {"LARGEST_PRODUCT": 0, "LARGEST_SEARCH": 0}


def take(monkeypatch, route: dict[str, int]) -> None:
    """Set limits by name; sequences are not decoded by compiled rules first."""
    monkeypatch.setattr("ilpinfer.core.request.Request.direct", False)
    for name, value in route.items():
        monkeypatch.setattr(limits, name, value)
