"""What is committed of a study: `results.md` with its pictures, `summary.json`, and the rows that they are made of."""

import datetime
import json
import os
import platform
import shutil
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.journal import Journal
from benchmarks.report import Report
from benchmarks.study import Row, study_named

PACKAGES = [
    "ilpinfer",
    "numpy",
    "scipy",
    "ortools",
    "pulp",
    "pytoulbar2",
    "cpmpy",
    "conin",
    "python-crfsuite",
    "hmmlearn",
    "pytorch-crf",
    "torch",
]


def header() -> str:
    """Date, versions of what is installed, size of the machine and its load when the run begins, one line."""
    result = {name: _version(name) for name in PACKAGES}
    versions = ", ".join(f"{name} {number}" for name, number in result.items() if number)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[0]  # beyond the number of cores, other programs share them
    size = f"{os.cpu_count()} cores, {memory:.0f} GiB, load {load:.1f}"
    return f"{datetime.date.today()}, Python {platform.python_version()}, {versions}; {platform.machine()}, {size}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


ROWS = "rows.jsonl.gz"


def write(name: str, scale: str, journal: Journal, folder: Path) -> Path:
    """Replace what the folder has by the report of the rows; nothing is replaced where the report fails."""
    study, lines = study_named(name), journal.all_lines()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        report = Report(Path(temporary) / name)
        report.folder.mkdir()
        report.heading(study.title, 1)
        report.text(study.summary)
        report.heading("Protocol")
        report.text("\n".join(f"- **{key.capitalize()}**: {text}" for key, text in study.protocol.items()))
        study.write([row for line in lines for row in line["rows"]], report)
        summary = summarise(scale, journal)
        _run(name, summary, report)
        (report.folder / "results.md").write_text(report.markdown(), "utf-8")
        (report.folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", "utf-8")
        journal.compress(report.folder / ROWS)
        if folder.exists():
            shutil.rmtree(folder)
        report.folder.replace(folder)
    return folder / "results.md"


def summarise(scale: str, journal: Journal) -> Row:
    """The scale and the machine, cells and seconds by part, and how many optima were rechecked."""
    parts: dict[str, Row] = {}
    for line in journal.all_lines():
        part = parts.setdefault(line["part"], {"cells": 0, "seconds": 0.0})
        part["cells"] += 1
        part["seconds"] = round(part["seconds"] + line["seconds"], 1)
    totals = {name: sum(line[name] for line in journal.all_lines()) for name in ("optima", "open")}
    return {"scale": scale, "header": journal.header, "parts": parts, **totals}


def _run(name: str, summary: Row, report: Report) -> None:
    report.heading("The run")
    cells = sum(part["cells"] for part in summary["parts"].values())
    seconds = sum(part["seconds"] for part in summary["parts"].values())
    option = "" if summary["scale"] == "sample" else f" --{summary['scale']}"
    report.text(
        f"`python -m benchmarks run {name}{option}`: {cells} cells, {seconds / 60:.1f} minutes of one core. "
        f"{summary['optima']} optima are certified and rechecked; {summary['open']} problems were left open in their time."
    )
    report.text("\n".join(f"- {line}" for line in summary["header"].splitlines()))
    if ", load " in summary["header"]:
        report.text(
            "The load is the machine's when the run began. Where it is above the number of cores, other programs ran at the same "
            "time: seconds are longer than on an idle machine, and ratios of the same run are what counts."
        )
