"""Published files of an instance: scores and rules that `ilpinfer decode` reads, and the integer program where it is small."""

import gzip
from typing import Any

import formulations
from benchmarks.data.hard import Instance
from benchmarks.journal import ROOT

FOLDER = ROOT / "benchmarks" / "rows" / "hard-instances"
MOST_STEPS = 12_000
"""(T - 1) K² of an instance whose program is written: text of the largest ones has more than 100 MB."""


def publish(one: Instance) -> dict[str, Any]:
    """Write NAME.json and NAME.toml, and NAME.mps.gz where the program is small, whose size is the result."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{one.name}.json").write_text(one.scores_text, "utf-8")
    (FOLDER / f"{one.name}.toml").write_text(one.rules_text, "utf-8")
    if (one.level.T - 1) * one.level.K**2 > MOST_STEPS:
        return {"columns": None, "rows": None}
    program = formulations.formulate(one.trellis(), one.rules)
    data = gzip.compress(program.text("mps").encode("ascii"), compresslevel=1, mtime=0)
    (FOLDER / f"{one.name}.mps.gz").write_bytes(data)
    return {"columns": program.integer.n_columns, "rows": program.integer.n_rows}
