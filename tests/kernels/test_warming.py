"""Warming up compiles everything: no call afterwards compiles a kernel for other arguments."""

import json
import subprocess
import sys

SCRIPT = """
import json, sys
import numpy as np, ilpinfer
from formulations import Trellis, constraints as C

def signatures():
    kernels = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("ilpinfer"):
            for kernel in vars(module).values():
                if hasattr(kernel, "signatures"):
                    kernels[f"{kernel.py_func.__module__}.{kernel.py_func.__name__}"] = set(map(str, kernel.signatures))
    return kernels

ilpinfer.warm_up()
before = signatures()
rng = np.random.default_rng(0)
labels = [f"L{k}" for k in range(8)]
pairs = [C.requires_present(a, b, penalty=1.0) for a in labels for b in labels if a < b]
rules = [C.at_most_runs(label, 2, penalty=1.0) for label in labels]
for some in ([], rules[:1], rules, pairs, [*rules, *pairs], [C.at_most_tokens("L0", 2)]):
    trellis = Trellis.from_emissions(2 * rng.normal(size=(30, 8)), rng.normal(size=(8, 8)), labels=labels)
    for method in [m.name for m in ilpinfer.methods() if not m.exact or m.name == "auto"]:
        ilpinfer.decode(trellis, some, method=method, time_limit=0.25)
    ilpinfer.decode(trellis, some, top=3, time_limit=1)
ilpinfer.marginals(trellis, some)
after = signatures()
called = {name for name in after if after[name] and "._" not in name}
print(json.dumps(sorted(name for name in called if after[name] != before.get(name))))
"""


def test_nothing_is_compiled_after_warming_up():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == []
