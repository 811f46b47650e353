"""Exact inference with the interfaces of scikit-learn, Hugging Face, spaCy and others."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ilpinfer.adapters.windows import join_windows as join_windows
    from ilpinfer.adapters.windows import merge_windows as merge_windows

_HOMES = {"join_windows": "windows", "merge_windows": "windows"}
"""Public names by module; modules are imported at first use."""
__all__ = list(_HOMES)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a name at first access."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
