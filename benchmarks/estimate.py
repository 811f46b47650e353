"""How long a run will take, from the cells of a scale and the seconds that a cell took in the committed result."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.running import cells_of
from benchmarks.study import Sources, study_named


def text(chosen: Sequence[str], parts: Sequence[str], sources: Sources, results: Path, processes: int) -> str:
    lines, total, unknown = [], 0.0, []
    for name in chosen:
        study = study_named(name)
        cells = Counter(cell.part for cell in cells_of(name, sources, parts or study.parts))
        path = results / name / "summary.json"
        known = json.loads(path.read_text("utf-8"))["parts"] if path.exists() else {}
        if not cells or cells.keys() - known.keys():
            unknown.append(name)
            continue
        seconds = sum(
            number * known[part]["seconds"] / known[part]["cells"] for part, number in cells.items()
        )
        seconds *= study.growth / (1 if study.timed else processes)
        total += seconds
        lines.append(f"{name}: {cells.total()} cells, about {seconds / 60:.0f} min")
    lines.append(f"in all about {total / 60:.0f} min" + (f", and {', '.join(unknown)}" if unknown else ""))
    return "\n".join(lines)
