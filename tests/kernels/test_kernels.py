"""Compiled kernels on disk: what is damaged or cannot be kept costs a compilation and a word, and nothing else."""

import importlib
import itertools
import logging
import shutil
import sys
from pathlib import Path

import numba
import pytest

from formulations import time_limits
from ilpinfer.kernels import notices, warming
from ilpinfer.kernels.jit import SealedFiles

SOURCE = "from ilpinfer.kernels.jit import kernel\n@kernel\ndef three_times(x):\n    return 3 * x\n"
NAMES = (f"small_kernel_{number}" for number in itertools.count())


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """Writes a module, and imports it as a new process would, with a cache of kernels of its own."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    names = []

    def imported(name, source=None):
        names.append(name)
        if source is not None:
            (tmp_path / f"{name}.py").write_text(source)
            shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
            importlib.invalidate_caches()
        sys.modules.pop(name, None)
        return importlib.import_module(name)

    yield imported
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def load(modules, monkeypatch, caplog):
    """Runs a kernel; returns how often the cache had it, and what was said."""
    name = next(NAMES)
    modules(name, SOURCE)
    caplog.set_level(logging.WARNING, "ilpinfer")

    def loaded():
        monkeypatch.setattr(notices, "_announced", set())
        monkeypatch.setattr(notices, "cacheable", True)
        caplog.clear()
        module = modules(name)
        assert module.three_times(2) == 6
        hits = sum(module.three_times.stats.cache_hits.values())
        return hits, [record.getMessage() for record in caplog.records]

    return loaded


def files(folder: Path, kind: str) -> list[Path]:
    return list((folder / "cache").rglob(f"*.{kind}"))


def test_only_a_compilation_is_announced(load):
    hits, [said] = load()
    assert hits == 0
    assert said.startswith("compiling kernels for ") and "once for this installation" in said
    assert load() == (1, [])


def truncate(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def garble(path):
    path.write_bytes(b"\x80garbage" * 100)


def empty(path):
    path.write_bytes(b"")


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 4
    path.write_bytes(data)


def hide(path):
    """A folder in its place cannot be read by anybody."""
    path.unlink()
    path.mkdir()
    (path / "file").touch()


@pytest.mark.parametrize(
    ("kind", "damage"),
    [(kind, damage) for kind in ("nbi", "nbc") for damage in (truncate, garble, empty)] + [("nbc", flip)],
)
def test_damaged_files_are_replaced(kind, damage, load, tmp_path):
    load()
    (path,) = files(tmp_path, kind)
    damage(path)
    hits, said = load()
    assert hits == 0
    assert len(said) == 1 and "cannot be read" in said[0] and str(path.parent) in said[0]
    assert load() == (1, [])


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_files_that_can_be_neither_read_nor_written_are_worked_without(kind, load, tmp_path):
    load()
    hide(files(tmp_path, kind)[0])
    for _ in range(2):
        hits, said = load()
        assert hits == 0
        assert any("cannot be kept in" in line and "NUMBA_CACHE_DIR" in line for line in said)


@pytest.mark.parametrize(("old", "new", "value"), [("4", "5", 10), ("FACTOR * x", "FACTOR * x + 1", 9)])
def test_a_kernel_is_compiled_again_where_what_it_uses_changes(modules, old, new, value):
    outer, inner = next(NAMES), next(NAMES)
    head = "from ilpinfer.kernels.jit import kernel\n"
    source = f"{head}FACTOR = 4\n@kernel\ndef times(x):\n    return FACTOR * x\n"
    uses = f"{head}from {inner} import times\n@kernel\ndef outer(x):\n    return times(x)\n"
    for text, expected in ((source, 8), (source.replace(old, new), value)):
        modules(inner, text)
        assert modules(outer, uses).outer(2) == expected


def test_a_full_disk_is_worked_without(load, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(SealedFiles, "_save_data", full)
        hits, said = load()
    assert hits == 0
    assert len(said) == 2 and "cannot be kept in" in said[1] and "No space left on device" in said[1]
    assert load()[0] == 0  # the index names a file that was never written
    assert load() == (1, [])


def test_the_same_is_announced_once(monkeypatch, caplog):
    monkeypatch.setattr(notices, "_announced", set())
    caplog.set_level(logging.INFO, "ilpinfer")
    for purpose in ("one thing", "one thing", "another", "one thing"):
        monkeypatch.setattr(notices, "purpose", purpose)
        notices.begins()
    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [
        ("WARNING", "compiling kernels for one thing, once for this installation: this can take minutes"),
        ("WARNING", "compiling kernels for another, once for this installation"),
    ]


STEPS = """
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.warming import Stage

@subroutine
def _inner(x):
    return x + 1

@subroutine
def middle(x):
    return 2 * _inner(x)

@kernel
def outer(x):
    return middle(x) + _inner(x)

def unused(x):
    return outer(x)
"""


@pytest.fixture
def steps(monkeypatch):
    """What is told of each step of a compilation."""
    told = []
    monkeypatch.setattr(notices, "watch", told.append)
    monkeypatch.setattr(notices, "_announced", set())
    monkeypatch.setattr(warming, "STAGES", [])
    return told


@pytest.mark.parametrize("cached", [True, False])
def test_each_step_of_a_compilation_is_told(modules, monkeypatch, steps, cached):
    if not cached:
        monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    module = modules(next(NAMES), STEPS)
    warming.Stage("small", "a test", lambda: module.outer(3)).warm()
    assert [(s.purpose, s.function, s.done, s.total) for s in dict.fromkeys(steps) if s] == [
        ("a test", "outer", 0, 3),
        ("a test", "middle", 0, 3),
        ("a test", "_inner", 0, 3),
        ("a test", "middle", 1, 3),
        ("a test", "outer", 2, 3),
    ]
    assert steps[-1] is None and str(steps[-2]) == "compiling outer for a test, 3 of 3"


def test_a_kernel_that_fails_to_compile_leaves_no_step(modules, steps):
    source = "from ilpinfer.kernels.jit import kernel\n@kernel\ndef bad(x):\n    return x.missing\n"
    module = modules(next(NAMES), source)
    with pytest.raises(numba.core.errors.TypingError):
        warming.Stage("bad", "a test", lambda: module.bad(3)).warm()
    assert steps[-1] is None and not notices._compilation.stack


@pytest.mark.usefixtures("steps")
def test_a_time_limit_that_passes_meanwhile_does_not_end_a_compilation():
    checked = []
    with time_limits.time_limit(lambda: True):
        warming.Stage("slow", "a test", lambda: checked.append(time_limits.check())).warm()
    assert checked == [None]


def test_no_place_for_a_cache_at_all(load, tmp_path, monkeypatch):
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    for _ in range(2):
        hits, said = load()
        assert hits == 0
        assert len(said) == 1 and "anew in every process" in said[0]
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)
