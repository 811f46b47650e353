"""Former names of attributes of modules."""

import sys
from collections.abc import Callable, Mapping
from typing import Any


def former_attributes(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a module, which returns attributes by their former names with a DeprecationWarning.

    Parameters
    ----------
    module : str
        Name of the module.
    names : mapping of str to str
        The present name of each former one.
    """

    def find(name: str) -> Any:
        from warnings import warn

        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warn(f"{module}.{name} is now {module}.{names[name]}", DeprecationWarning, stacklevel=2)
        return getattr(sys.modules[module], names[name])

    return find
