"""The figures that the study claims: shares, losses, and ratios of times taken on the same sequences."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.engine.running import EVERY
from benchmarks.journal import Row

PROVED = ("optimal", "infeasible")
Summary = dict[str, Any]
ByMethod = Mapping[str, Mapping[str, Row]]
"""Rows by method and sequence."""


def summarise(rows: Sequence[Row]) -> Summary:
    """Figures of every data set, of slopes over lengths, and of what is measured once."""
    names = list(dict.fromkeys(row["data"] for row in rows if row["data"] != "extra"))
    extra = {row["item"]: row for row in rows if row["data"] == "extra"}
    sets = {name: data_set([row for row in rows if row["data"] == name]) for name in names}
    return {"data sets": sets, "overall": overall(rows), "slopes": slopes(rows), "extra": extra}


def overall(rows: Sequence[Row]) -> Summary:
    """Total time of each method over all data sets, as a multiple of `auto` on the same sequences."""
    done = [row for row in rows if row["item"] != EVERY and row["data"] != "extra"]
    auto = {(row["data"], row["item"]): row["seconds"] for row in done if row["method"] == "auto"}
    result = {}
    for name in dict.fromkeys(row["method"] for row in done):
        both = [row for row in done if row["method"] == name and (row["data"], row["item"]) in auto]
        if both:
            own = sum(row["seconds"] for row in both)
            result[name] = {
                "sequences": len(both),
                "proved": _share([row["status"] in PROVED for row in both]),
                "total / auto": own / sum(auto[row["data"], row["item"]] for row in both),
            }
    return result


def data_set(rows: Sequence[Row]) -> Summary:
    """Figures of one data set."""
    by: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row["item"] != EVERY:
            by.setdefault(row["method"], {})[row["item"]] = row
    about = {row["method"]: f"{row['status']}: {row['note']}" for row in rows if row["item"] == EVERY}
    if "auto" not in by:
        return {"sequences": 0, "remarks": about}
    auto = by["auto"]
    broken = {key for key, row in by.get("viterbi", {}).items() if row.get("breaks")} & auto.keys()
    verified = [row["verified"] for row in auto.values() if "verified" in row]
    return {
        "sequences": len(auto),
        "viterbi breaks a rule": len(broken),
        "proved": _share([row["status"] in PROVED for row in auto.values()]),
        "verified": _share(verified),
        "certificates": _tally([row["certificate"] for row in auto.values()]),
        "all": against(by, set(auto)),
        "broken": against(by, broken),
        "losses": {name: loss(by, name) for name in by if name != "auto" and not _is_exact(name)},
        "speed": {name: speed(result) for name, result in by.items() if name.startswith("beam")},
        "remarks": about,
    }


def against(by: ByMethod, keys: set[str]) -> Summary:
    """Times in ms of each method, and its total as a multiple of `auto` on the sequences that both decoded."""
    result = {}
    for name, rows in by.items():
        both = sorted(keys & rows.keys() & by["auto"].keys())
        if both:
            own, auto = (_ms([by[method][key] for key in both]) for method in (name, "auto"))
            result[name] = {
                "sequences": len(both),
                "median": float(np.median(own)),
                "p90": float(np.percentile(own, 90)),
                "maximum": float(own.max()),
                "total": float(own.sum()),
                "median / auto": float(np.median(own) / np.median(auto)),
                "p90 / auto": float(np.percentile(own, 90) / np.percentile(auto, 90)),
                "maximum / auto": float(own.max() / auto.max()),
                "total / auto": float(own.sum() / auto.sum()),
                "median of ratios": float(np.median(own / auto)),
                "proved": _share([by[name][key]["status"] in PROVED for key in both]),
            }
    return result


def loss(by: ByMethod, name: str) -> Summary:
    """How many proved optima a method misses, and by how many nats on average where it has a labelling at all."""
    best = {key: row["score"] for key, row in by["auto"].items() if row["status"] == "optimal"}
    known = [(best[key], row["score"]) for key, row in by[name].items() if key in best]
    gaps = [optimum - score for optimum, score in known if score is not None]
    return {
        "optima known": len(known),
        "missed": len(known) - sum(gap <= 0 for gap in gaps),
        "without a labelling": len(known) - len(gaps),
        "mean loss, nats": float(np.mean(gaps)) if gaps else None,
        "largest loss, nats": float(np.max(gaps)) if gaps else None,
    }


def speed(rows: Mapping[str, Row]) -> float:
    """Prefixes that a beam keeps in a second: width times tokens over all sequences."""
    width = int(next(iter(rows.values()))["method"].split()[1])
    return float(
        width * sum(row["T"] for row in rows.values()) / sum(row["seconds"] for row in rows.values())
    )


def slopes(rows: Sequence[Row], least: int = 120) -> Summary:
    """For each method and number of labels: d log(seconds) / d log T over lengths from `least` on.

    Of mean and of median seconds at each length.
    """
    result: Summary = {}
    for method in ("auto", "viterbi"):
        done = _generated(rows, method)
        for name, middle in (("mean", np.mean), ("median", np.median)):
            for K in sorted({row["K"] for row in done}):
                seconds = by_length([row for row in done if row["K"] == K and row["T"] >= least])
                if len(seconds) > 1:
                    line = slope({T: float(middle(values)) for T, values in seconds.items()})
                    result.setdefault(f"{method}, {name}", {})[str(K)] = line
    return result


def by_length(rows: Sequence[Row]) -> dict[int, list[float]]:
    """Seconds at each length."""
    result: dict[int, list[float]] = {}
    for row in rows:
        result.setdefault(row["T"], []).append(row["seconds"])
    return dict(sorted(result.items()))


def slope(seconds: Mapping[int, float]) -> float:
    """Of a line through log T and log seconds."""
    return float(np.polyfit(np.log(list(seconds)), np.log(list(seconds.values())), 1)[0])


def _generated(rows: Sequence[Row], method: str) -> list[Row]:
    return [
        row
        for row in rows
        if row["data"].startswith("generator ") and row["method"] == method and row["item"] != EVERY
    ]


def _is_exact(name: str) -> bool:
    return not name.startswith(("viterbi", "beam"))


def _ms(rows: Sequence[Row]) -> Any:
    return np.array([1000 * row["seconds"] for row in rows])


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None


def _tally(values: Sequence[str]) -> dict[str, int]:
    return {value: list(values).count(value) for value in sorted(set(values))}
