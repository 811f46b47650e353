"""Modules of methods are imported at first use."""

from concurrent.futures import ThreadPoolExecutor

from ilpinfer.core.deadline import Deadline
from ilpinfer.core.methods import Method
from ilpinfer.core.result import Task


def test_threads_wait_for_a_module_that_another_one_imports(tmp_path, monkeypatch):
    module = tmp_path / "slow_to_import.py"
    module.write_text("import time\ntime.sleep(0.3)\ndef run(problem, task, name): yield name\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    method, task = Method("own", True, "", "slow_to_import:run"), Task(Deadline(None))
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: list(method.run(None, task)), range(4)))
    assert results == [["own"]] * 4
