"""The compiled kernels: the module for the instruction set of this processor.

The environment variable ILPINFER_KERNELS names another: `v2` or `v3`, levels of x86-64 (`v2` is also that of other processors), or `checked`, which
`make bounds` builds with a check of each index.
"""

import importlib
import os
from types import ModuleType
from typing import TYPE_CHECKING

__all__ = ["JointProduct", "Search", "Tables", "kernels"]
NAMES = ("v2", "v3", "checked")
VARIABLE = "ILPINFER_KERNELS"


def _module(name: str) -> ModuleType:
    full = f"{__package__}._kernels_{name}"
    try:
        return importlib.import_module(full)
    except ModuleNotFoundError as error:
        if error.name != full:
            raise
        raise ImportError(
            f"the compiled kernels are missing ({full}); install with pip install ., or run make kernels"
        ) from None


def _chosen() -> ModuleType:
    name = os.environ.get(VARIABLE, "")
    if name and name not in NAMES:
        raise ImportError(
            f"{VARIABLE}: {name!r} is none of {', '.join(NAMES)}; unset it, or name one of them"
        )
    if name:
        return _module(name)
    base = _module("v2")
    return _module("v3") if base.level() >= 3 else base


if TYPE_CHECKING:
    from ilpinfer.kernels import _kernels as kernels
    from ilpinfer.kernels._kernels import JointProduct, Search, Tables
else:
    kernels = _chosen()
    Tables, JointProduct, Search = kernels.Tables, kernels.JointProduct, kernels.Search
