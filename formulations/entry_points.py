"""Entry points of other packages; a package is imported when its entry point is used."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def offered(group: str) -> "list[EntryPoint]":
    """The entry points of a group."""
    from importlib.metadata import entry_points

    return list(entry_points(group=group))


def names(point: "EntryPoint") -> list[str]:
    """The names of an entry point: its own name, and the name with its module or package as a prefix."""
    owners = [point.module.partition(".")[0], *([] if point.dist is None else [point.dist.name])]
    return [point.name, *(f"{owner}:{point.name}" for owner in owners)]


def named(group: str, name: str) -> "EntryPoint | None":
    """The entry point of a name, or None."""
    return next((point for point in offered(group) if name in names(point)), None)


def load(point: "EntryPoint", what: str) -> Any:
    """Load an entry point; ValueError, which begins with `what`, if it cannot be imported."""
    try:
        return point.load()
    except Exception as error:
        raise ValueError(
            f"{what}: {point.value} cannot be imported ({type(error).__name__}: {error})"
        ) from error
