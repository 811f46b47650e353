"""Limits that force the engine to take one of its routes."""

from ilpinfer.exact import branch, stages, tree

PLAIN = {"stages.PASSES": 0, "stages.LEAST_STEPS": 0, "stages.BEAMS": 0}
SMALL = {"stages.LARGEST_PRODUCT": 0, "stages.LARGEST_SEARCH": 0}
MODULES = {"stages": stages, "branch": branch, "tree": tree}


def take(monkeypatch, limits: dict[str, int]) -> None:
    """Set limits, by module and name; sequences are not decoded by compiled rules first."""
    monkeypatch.setattr("ilpinfer.core.request.Request.direct", False)
    for name, value in limits.items():
        module, _, limit = name.partition(".")
        monkeypatch.setattr(MODULES[module], limit, value)
