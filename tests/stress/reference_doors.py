"""Changed references through every door: `python -m stress.reference_doors SOURCES COUNT SEED`, in tests/.

Prints one JSON object: how many were refused and accepted, faults, and the peak of memory in MB. It imports no kernels, so that
the peak is that of the checks.
"""

import contextlib
import gzip
import io
import json
import re
import resource
import sys
import tempfile
import traceback
from collections import Counter
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

from support.reference_mutations import falsehood, mutated

from formulations.errors import InferenceError
from ilpinfer import checker
from ilpinfer.cli.failure import Failure
from ilpinfer.cli.reference import verify_references
from stress import mutations

STEPS = 3 * 10**6
MOST_LABELLINGS = 70_000
RAW = re.compile(
    r"\b(Key|Index|Type|Attribute|Overflow|Memory|Recursion|Unicode\w*|Arithmetic|Assertion|Name)Error\b"
)
VALUES: tuple[Any, ...] = (
    *(10**30, -(10**30), 2**27, 2**31, 2**63, -1, 1e308, float("nan"), float("inf"), -0.0, True, None),
    *("", "nan", "9" * 30, "\x1b[31m", "\ud800", [], {}, [[]], [{}], [None], {"0": 1}),
    *([10**30] * 3, [["nan"]], "[" * 500),
)


def altered(source: Any, random: Random) -> bytes:
    """The bytes of a file with one reference, or with what was one."""
    if random.random() < 0.4:
        record = mutated(source, random)
    else:
        record = mutations.value(deepcopy(source), random, (*VALUES, *mutations.VALUES))
        if random.random() < 0.3:
            record = mutations.value(record, random, VALUES)
        if random.random() < 0.02:
            record["levels"] = mutations.nested(random.choice((300, 990)), cases=random.random() < 0.5)
    data = _text(record).encode("utf-8", "surrogatepass")
    return mutations.text(data, random) if random.random() < 0.15 else data


def _text(record: Any) -> str:
    """JSON of any depth; reading it keeps the usual limit."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        return json.dumps(record)
    finally:
        sys.setrecursionlimit(limit)


def stored(data: bytes, folder: Path, random: Random) -> Path:
    """A file of these bytes; of those that are compressed, some are cut or damaged."""
    name = random.choice(("reference.jsonl.gz", *["reference.jsonl"] * 3, *["reference.json"] * 2))
    if name.endswith(".gz"):
        data = gzip.compress(data + b"\n", 1)
        cut = data[: random.randrange(len(data))]
        data = random.choice((cut, mutations.text(data, random), data))
    path = folder / name
    path.write_bytes(data)
    return path


def door(path: Path, name: str) -> tuple[bool, str]:
    """Whether a command ends well, and what it says; a raw error is raised."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            if name == "checker":
                sys.argv = ["checker", "--max-steps", str(STEPS), str(path)]
                return checker.main() == 0, said.getvalue()
            verify_references([str(path)], name, STEPS, verbose=True)
        except (Failure, InferenceError) as error:
            return False, f"{said.getvalue()}{error}"
    return True, said.getvalue()


def same_claims(record: Any, source: Any) -> bool:
    """Whether a record claims no more than its source, of the same tables."""
    same_size = len(record["labels"]) == len(source["labels"])
    if not same_size or any(record[key] != source[key] for key in ("tables", "status")):
        return False
    levels, known = record["levels"], source["levels"]
    pairs = list(zip(levels, known, strict=False))
    listed = [(sorted(one["labellings"]), sorted(other["labellings"])) for one, other in pairs]
    return (
        len(levels) <= len(known)
        and all(one["score"] == other["score"] for one, other in pairs)
        and all(one == other for one, other in listed[: len(levels) - 1])
        and all(path in listed[-1][1] for path in listed[-1][0])
    )


def judged(record: Any, source: Any) -> str:
    """What an accepted record claims falsely; "?" where that would take too long to find out."""
    T, K = len(record["tables"]["node"]), len(record["labels"])
    if same_claims(record, source):
        return ""
    return falsehood(record) if K**T <= MOST_LABELLINGS else "?"


def accepted_records(path: Path) -> list[Any]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    lines = content.split(b"\n") if ".jsonl" in path.name else [content]
    return [json.loads(line) for line in lines if line]


MEANT = ("labels", "scheme", "tokens", "model", "tables", "digest")
"""What must be as in the source where the meaning holds; the digest stands for the rules, whose text may have other spaces."""


def faults(path: Path, source: Any, counts: Counter[str]) -> list[str]:
    """What went wrong at a file: raw errors, false acceptance, a depth that lets through what another one refuses."""
    found, ends = list[str](), dict[str, bool]()
    for name in ("checker", "tables", "meaning"):
        try:
            ends[name], said = door(path, name)
        except Exception:
            ends[name], said = False, ""
            found.append(f"{name}: {traceback.format_exc(limit=-3)}")
        counts[f"{name} {'accepts' if ends[name] else 'refuses'}"] += 1
        if raw := RAW.search(said):
            found.append(f"{name}: says {raw[0]}: {said[:300]}")
    if ends["tables"] > ends["checker"] or ends["meaning"] > ends["tables"]:
        found.append(f"one depth lets through what another refuses: {ends}")
    for record in accepted_records(path) if ends["checker"] else ():
        fault = judged(record, source)
        counts["undecided"] += fault == "?"
        if fault not in ("", "?"):
            found.append(f"false and accepted: {fault}")
        if ends["meaning"] and any(record[key] != source[key] for key in MEANT):
            found.append("accepted with another meaning")
    return found


def run(sources: list[Any], count: int, seed: int) -> dict[str, Any]:
    """Counts and faults of so many changed references; most of them are changes of small ones."""
    random, counts, found = Random(seed), Counter[str](), list[Any]()
    weights = [1 / len(source["tokens"]) ** 2 for source in sources]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(count):
            source = random.choices(sources, weights)[0]
            path = stored(altered(source, random), folder, random)
            for fault in faults(path, source, counts):
                found.append({"number": number, "source": source["name"], "fault": fault})
                kept = f"reference-{seed}-{number}{''.join(path.suffixes)}"
                Path(tempfile.gettempdir(), kept).write_bytes(path.read_bytes())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if sys.platform == "linux":
        status = Path("/proc/self/status").read_text()
        peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    return {"counts": dict(counts), "faults": found, "peak": peak}


if __name__ == "__main__":
    lines = Path(sys.argv[1]).read_text().splitlines()
    print(json.dumps(run([json.loads(line) for line in lines], int(sys.argv[2]), int(sys.argv[3]))))
