# mypy: allow-untyped-calls
"""Faster compilation by numba: subroutines are optimised and translated only as parts of the kernels that call them."""

import importlib
import sys
from collections.abc import Callable
from typing import Any, ClassVar

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags


class SharedFlags(Flags):
    """Flags for type inference of all kernels. Numba looks them up for each operation, which is fast only for one
    shared object.
    """

    __slots__ = ("_hash",)
    _known: ClassVar[dict["SharedFlags", "SharedFlags"]] = {}

    @classmethod
    def of(cls, flags: Flags) -> "SharedFlags":
        """One object for all flags that differ in the wrapper alone, so that numba compiles its own functions once."""
        shared = cls(flags)
        return cls._known.setdefault(shared, shared)

    def __init__(self, flags: Flags) -> None:
        super().__init__(flags)
        own: Any = self
        own.no_cpython_wrapper = True
        self._hash = super().__hash__()

    def __hash__(self) -> int:
        return int(self._hash)

    def __eq__(self, other: object) -> bool:
        return self is other or bool(super().__eq__(other))


class OwnFlags(Flags):
    """The flags of one kernel."""

    __slots__ = ()

    def copy(self) -> SharedFlags:
        """The flags for type inference."""
        return SharedFlags.of(self)


class KernelCode(JITCodeLibrary):
    """Code of a kernel; its wrapper, which unpacks arguments, is optimised once, with the kernel."""

    def _optimize_functions(self, module: Any) -> None:
        if module.name == "wrapper":
            module.data_layout = self._codegen._data_layout
        else:
            super()._optimize_functions(module)


class LinkedCode(JITCodeLibrary):
    """Code to be linked into that of kernels, neither optimised as a whole nor turned into machine code by itself."""

    @property
    def codegen(self) -> "LinkedCode":
        """Codegen for linked code; it ignores the environment of machine code."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing, as there is no machine code."""

    def get_pointer_to_function(self, name: str) -> int:
        """None."""
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class Kernel(Compiler):
    """Compiler of functions that Python calls."""

    library: type[JITCodeLibrary] = KernelCode

    def __init__(
        self, typing: Any, target: Any, library: Any, args: Any, kind: Any, flags: Flags, names: Any
    ):
        super().__init__(typing, target, library, args, kind, OwnFlags(flags), names)

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        """Machine code."""
        self.state.library = self.library(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(function)


class Subroutine(Kernel):
    """Compiler of functions that only kernels call."""

    library = LinkedCode


def load_arrays() -> None:
    """Load numba's types of arrays, without the parts of scipy that numba imports only to check for its presence."""
    if "numba.np.arraymath" not in sys.modules:
        linalg: Any = importlib.import_module("numba.np.linalg")
        looks = linalg.ensure_blas
        linalg.ensure_blas = lambda: None
        try:
            arrays: Any = importlib.import_module("numba.np.arraymath")
        finally:
            linalg.ensure_blas = looks
        arrays.ensure_blas = looks


load_arrays()
