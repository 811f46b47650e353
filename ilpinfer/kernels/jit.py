# mypy: allow-untyped-calls
"""Compilation of kernels, and their cache on disk."""

import contextlib
import hashlib
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llvmlite.binding import ffi
from numba import njit, types
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.compiler_lock import global_compiler_lock

from formulations.forks import fork_safe
from ilpinfer.kernels.linking import Kernel, Subroutine

for _owner in (global_compiler_lock, ffi.lib._lock):
    fork_safe(_owner._lock)  # a child compiles although another thread of its parent did

SEAL = b"ilpinfer sha256 "
"""Separates the content of a file from its digest."""


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that runs without the interpreter lock; its code is cached on disk where possible."""
    compiled = _compiled(function, Kernel)
    try:
        compiled._cache = KernelCache(function)
    except (RuntimeError, OSError):  # nowhere to write
        compiled._cache = NoCache()
    return compiled


def subroutine(function: Callable[..., Any]) -> Any:
    """Compile a function as a part of each kernel that calls it."""
    compiled = _compiled(function, Subroutine, no_cpython_wrapper=True)
    compiled._cache = SubroutineCache(function)
    compiled._insert = lambda *overload: None  # no code exists that Python could call

    def _compile_for_args(*args: Any) -> None:
        raise TypeError(f"{function.__name__} can only be called by kernels")

    compiled._compile_for_args = _compile_for_args
    return compiled


def _compiled(function: Callable[..., Any], pipeline: type, **more: bool) -> Any:
    options: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, "pipeline_class": pipeline, **more}
    compiled: Any = njit(**options)(function)
    specialise = compiled.get_call_template
    compiled.get_call_template = lambda kinds, named: specialise(
        tuple(_plain(kind) for kind in kinds), {name: _plain(kind) for name, kind in named.items()}
    )
    return compiled


def _plain(kind: Any) -> Any:
    """The argument type for calls between kernels, so that numba does not compile them for each constant and integer
    type.
    """
    kind = types.unliteral(kind)
    return types.int64 if kind in types.signed_domain else kind


class SubroutineCache(NullCache):
    """The cache of a subroutine. It is empty, since kernels contain the code of subroutines."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.digest = _digest(function)


class NoCache:
    """A cache that stores nothing, for systems where no folder can be written."""

    cache_path = None

    def load_overload(self, signature: Any, target: Any) -> None:
        pass

    def save_overload(self, signature: Any, compiled: Any) -> None:
        pass


class KernelCache(FunctionCache):
    """Numba's cache. A file that cannot be read or written leads to a compilation."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self.digest = _digest(function)
        self._files = SealedFiles(self._cache_path, self._impl.filename_base, self.digest)
        self._cache_file = self._files

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        """Numba's key, and the field names of the named tuples that a kernel reads."""
        return super()._index_key(signature, codegen), _fields(signature)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled kernel, or None where it is about to be compiled."""
        try:
            return super().load_overload(signature, target)
        except Exception:  # damaged files raise errors of many types
            self._files.discard()
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled kernel if possible."""
        with contextlib.suppress(Exception):
            super().save_overload(signature, compiled)


class SealedFiles(IndexDataCacheFile):
    """An index and files of machine code, each with a digest at its end, so that damaged code is never run."""

    def discard(self) -> None:
        """Remove files that cannot be read, as far as possible."""
        with contextlib.suppress(OSError):
            os.unlink(self._index_path)

    def _dump(self, obj: Any) -> bytes:
        content: bytes = super()._dump(obj)
        return content + SEAL + hashlib.sha256(content).digest()

    def _load_data(self, name: str) -> Any:
        with open(self._data_path(name), "rb") as file:
            content, seal, digest = file.read().rpartition(SEAL)
        if not seal or hashlib.sha256(content).digest() != digest:
            raise ValueError("its content has changed")
        return super()._load_data(name)


def _digest(function: Callable[..., Any]) -> str:
    """A digest of the source of a kernel: its file, the constants that it may use, and kernels of other files.

    Numba's own key depends on the kernel's file only, so that changes of other files would have no effect.
    """
    known = function.__globals__
    constants = sorted(f"{name}={known[name]!r}" for name in known if isinstance(known[name], int | float))
    caches = (getattr(value, "_cache", None) for value in known.values())
    digests = sorted({cache.digest for cache in caches if isinstance(cache, KernelCache | SubroutineCache)})
    text = Path(inspect.getfile(function)).read_bytes()
    return hashlib.sha256(repr((text, constants, digests)).encode()).hexdigest()


def _fields(kinds: Any) -> Any:
    return tuple((kind.fields, _fields(kind.types)) for kind in kinds if isinstance(kind, types.NamedTuple))
