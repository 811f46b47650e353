"""The hard instances as files: scores, rules and what is known of each, checked by their digests."""

import hashlib
import json
from pathlib import Path

from benchmarks.data.hard import by_name
from benchmarks.studies.hard.known import PATH
from benchmarks.study import Disagreement

INDEX = "instances.json"


def write(folder: Path) -> int:
    """Write `NAME.jsonl` and `NAME.toml` of each committed instance, and the index; Disagreement where a digest differs."""
    known = json.loads(PATH.read_text("utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    for name in known:
        one = by_name(name)
        (folder / f"{name}.jsonl").write_text(one.scores_text, "utf-8")
        (folder / f"{name}.toml").write_text(one.rules_text, "utf-8")
    (folder / INDEX).write_text(json.dumps(known, indent=1) + "\n", "utf-8")
    check(folder)
    return len(known)


def check(folder: Path) -> None:
    """Raise Disagreement for the first instance of a folder whose files do not have the committed digest."""
    for name, record in json.loads(PATH.read_text("utf-8")).items():
        content = b"".join((folder / f"{name}.{end}").read_bytes() for end in ("jsonl", "toml"))
        found = hashlib.sha256(content).hexdigest()[:16]
        if found != record["digest"]:
            raise Disagreement(f"{name}: the digest of its files is {found}, expected {record['digest']}")
