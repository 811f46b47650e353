"""The library that the estimators need beside those of the package."""

from formulations.errors import InferenceError


class MissingLibrary(InferenceError, ModuleNotFoundError):
    """A library that is not installed; the message names it and the extra."""


def require_sklearn() -> None:
    """Raise MissingLibrary where scikit-learn is not installed, or too old to have tags as methods."""
    try:
        from sklearn.utils import get_tags  # type: ignore[import-untyped] # noqa: F401
    except ImportError as error:
        raise MissingLibrary(
            "ilpinfer.adapters.sklearn needs scikit-learn 1.6 or newer, which is not installed; "
            f"pip install 'ilpinfer[sklearn]' ({error})"
        ) from None
