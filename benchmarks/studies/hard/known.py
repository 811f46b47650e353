"""What is known of each instance: the best incumbent and bound ever seen, kept in `best.json` beside the report."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, reduce
from pathlib import Path

from benchmarks.data.hard import UNIT, Instance, by_name
from benchmarks.journal import ROOT
from benchmarks.study import Disagreement, Row

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
    check_files(folder)
    return len(known)


def check_files(folder: Path) -> None:
    """Raise Disagreement for the first instance of a folder whose files do not have the committed digest."""
    for name, record in json.loads(PATH.read_text("utf-8")).items():
        content = b"".join((folder / f"{name}.{end}").read_bytes() for end in ("jsonl", "toml"))
        found = hashlib.sha256(content).hexdigest()[:16]
        if found != record["digest"]:
            raise Disagreement(f"{name}: the digest of its files is {found}, expected {record['digest']}")


PATH = ROOT / "benchmarks" / "results" / "hard" / "best.json"


@cache
def _committed() -> Mapping[str, Row]:
    return json.loads(PATH.read_text("utf-8")) if PATH.exists() else {}


def of(one: Instance) -> Row | None:
    """What is known of an instance from earlier runs; None where nothing is, or where its bytes were others."""
    result = _committed().get(one.name)
    return result if result is not None and result["digest"] == one.digest else None


def better(one: Row, other: Row) -> Row:
    """The higher incumbent and the lower bound of two records; the first one's where they are equal."""
    result = dict(one)
    if other["score"] is not None and (one["score"] is None or other["score"] > one["score"]):
        result |= {key: other[key] for key in ("score", "score_by", "path")}
    if other["bound"] is not None and (one["bound"] is None or other["bound"] < one["bound"]):
        result |= {key: other[key] for key in ("bound", "bound_by")}
    return result


def best_of(instance: Row, answers: Iterable[Row]) -> Row:
    """The best of what is known of an instance and of a run's answers; None where nothing is known."""
    empty = dict.fromkeys(("score", "score_by", "path", "bound", "bound_by"))
    records = [instance["known"]] if instance["known"] else []
    for row in answers:
        by = f"{row['method']} ({row['by']})" if row.get("by") else row["method"]
        values = {key: row.get(key) for key in ("score", "path", "bound")}
        records.append({**values, "score_by": by, "bound_by": by})
    return reduce(better, records, {"digest": instance["digest"], **empty})


def is_proved(best: Row) -> bool:
    """Whether bound and incumbent meet on the grid."""
    return best["score"] is not None and best["bound"] is not None and _same(best["score"], best["bound"])


def check(rows: Sequence[Row]) -> None:
    """Raise Disagreement where scores and bounds, known ones included, cannot all be right."""
    for instance, answers in by_instance(rows):
        known = instance["known"]
        claims = [*answers, {"method": "what is known", **known}] if known else answers
        scores = [(row["score"], row["method"]) for row in claims if row.get("score") is not None]
        bounds = [(row["bound"], row["method"]) for row in claims if row.get("bound") is not None]
        bounds += [(float("-inf"), row["method"]) for row in claims if row.get("status") == "infeasible"]
        if scores and bounds:
            (score, finder), (bound, prover) = max(scores), min(bounds)
            if score > bound and not _same(score, bound):
                raise Disagreement(
                    f"{instance['name']}: {finder} has a labelling of score {score!r}, "
                    f"but {prover} claims that none is above {bound!r}"
                )


def by_instance(rows: Sequence[Row]) -> Iterable[tuple[Row, list[Row]]]:
    """The row of each instance, and the answers of methods."""
    for instance in (row for row in rows if row["method"] == "set"):
        yield instance, [row for row in rows if row["name"] == instance["name"] and row is not instance]


def text(best: Mapping[str, Row]) -> str:
    lines = (f"{json.dumps(name)}: {json.dumps(best[name])}" for name in sorted(best))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def everything(best: Mapping[str, Row]) -> Mapping[str, Row]:
    """The records of a run and the committed ones, the better of both where the instance is the same."""
    result = dict(_committed())
    for name, record in best.items():
        same = name in result and result[name]["digest"] == record["digest"]
        result[name] = better(result[name], record) if same else record
    return result


def _same(one: float, other: float) -> bool:
    return abs(one - other) < UNIT / 2
