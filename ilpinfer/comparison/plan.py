"""The plan of a comparison: sequences, and methods with their options and seeds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

from formulations import RuleSet
from formulations.arguments import function, whole
from ilpinfer.core.methods import Method
from ilpinfer.core.registry import outside_method
from ilpinfer.core.request import MOST, Request
from ilpinfer.core.solution import finite
from ilpinfer.pipelines.trellises import ScoredExample

if TYPE_CHECKING:
    import pandas as pd

Labelling = Sequence[str] | None
"""T label names, or None without a labelling."""
PREDICTIONS = "predictions"
"""The kind of methods that are files or lists of labellings."""
BARE = "bare Viterbi pass"
"""The line of a Viterbi pass without rules, in tables of methods; its kind is "bare"."""
CAP = 50.0
"""Default gap of a missing labelling, nats."""
RESULTS, SUMMARY = "results.jsonl", "summary.json"
"""Files from which a comparison is loaded."""


@dataclass(frozen=True, repr=False, eq=False)
class ComparisonData:
    """The data of a comparison; `ilpinfer.Comparison` adds tables and files."""

    frame: "pd.DataFrame"
    cap: float
    about: Mapping[str, Any]
    cases: Sequence[ScoredExample] = ()
    rules: RuleSet | None = None


@dataclass(frozen=True)
class PlannedMethod:
    """A method with its options and one seed. Entries that differ only in the seed have the same name; predictions have no request."""

    name: str
    kind: str
    request: Request | None
    seed: int | None = None
    labellings: Sequence[Labelling] = ()
    given: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The options without the seed, as plain values, and the original name of a renamed method."""
        other = {"method": self.given} if self.given else {}
        if self.request is None:
            return {**other, "predictions": len(self.labellings)}
        limit, settings = self.request.time_limit, self.request.settings
        others = {name: value for name, value in settings.items() if name != "parameters"}
        record = settings.get("parameters")
        own = (
            {} if record is None else {name: value for name, value in vars(record).items() if name != "seed"}
        )
        return {**other, "time_limit": None if limit is None else finite(limit), **others, **own}


@dataclass(frozen=True)
class Plan:
    """All entries, in the order of the table; entries of the same name are adjacent."""

    entries: tuple[PlannedMethod, ...]

    @property
    def kinds(self) -> dict[str, str]:
        return {entry.name: entry.kind for entry in self.entries}

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """The options of each method by name, as plain values."""
        result: dict[str, dict[str, Any]] = {}
        for entry in self.entries:
            options = result.setdefault(entry.name, {**entry.to_dict(), "seeds": []})
            options["seeds"] += [] if entry.seed is None else [entry.seed]
        return result


def plan_of(
    methods: Iterable[str | Callable[..., Any]],
    *,
    time_limit: float | None = None,
    seeds: int | Iterable[int] = 1,
    predictions: Mapping[str, Sequence[Labelling]] | None = None,
    options: Callable[[Method], Mapping[str, Any]] = lambda method: {},
    names: Mapping[str, str] | None = None,
) -> Plan:
    """The plan of methods. `options` are further options of each method, `seeds` apply to methods without a seed, and `names` are shown."""
    chosen = _seeds(seeds)
    if isinstance(methods, str):
        methods = methods.split(",")
    entries: list[PlannedMethod] = []
    for given in methods:
        name, request = _request(given, time_limit, options)
        _check_new(name, entries)
        kind = "exact" if request.method.exact else "heuristic"
        if not request.method.seeded or ":seed=" in name:
            entries.append(PlannedMethod(name, kind, request, _seed_of(request)))
            continue
        record = request.settings["parameters"]
        for seed in chosen:
            settings = {**request.settings, "parameters": replace(record, seed=seed)}
            entries.append(PlannedMethod(name, kind, replace(request, settings=settings), seed))
    for name, labellings in (predictions or {}).items():
        _check_new(name, entries)
        entries.append(PlannedMethod(name, PREDICTIONS, None, None, tuple(labellings)))
    if not entries:
        raise ValueError("no methods to compare")
    shown = shown_names([entry.name for entry in entries], names or {})
    return Plan(
        tuple(
            entry
            if shown[entry.name] == entry.name
            else replace(entry, name=shown[entry.name], given=entry.name)
            for entry in entries
        )
    )


def shown_names(methods: Iterable[str], names: Mapping[str, str]) -> dict[str, str]:
    """The shown name of each method; ValueError for an unknown method, and for a name of two methods."""
    known = list(dict.fromkeys(methods))
    for method, name in names.items():
        if method not in known:
            raise ValueError(f"names: no method {method!r}; the methods are {', '.join(known)}")
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"names: the name of {method} is {name!r}; expected a text")
    shown = {method: names.get(method, method) for method in known}
    owners: dict[str, str] = {}
    for method, name in shown.items():
        if name == BARE:
            raise ValueError(
                f"{name!r} is a line of every table of methods; choose another name for {method}"
            )
        if owners.setdefault(name, method) != method:
            raise ValueError(f"names: {name!r} is the name of two methods, {owners[name]} and {method}")
    return shown


def _request(
    given: str | Callable[..., Any], limit: float | None, options: Callable[[Method], Mapping[str, Any]]
) -> tuple[str, Request]:
    if isinstance(given, str):
        name = given.strip()
        first = Request.of(name, limit, {})
        more = options(first.method)
        return name, Request.of(name, limit, more) if more else first
    function(given, "a method", "or the name of a method")
    name = getattr(given, "__name__", type(given).__name__)
    return name, Request.for_method(outside_method(name, given), limit, {})


def _check_new(name: str, entries: Sequence[PlannedMethod]) -> None:
    if not isinstance(name, str) or not name:
        raise ValueError(f"method {name!r} has no name")
    if any(entry.name == name for entry in entries):
        raise ValueError(f"method {name} is given twice")


def _seed_of(request: Request) -> int | None:
    seed = getattr(request.settings.get("parameters"), "seed", None)
    return seed if isinstance(seed, int) else None


def _seeds(seeds: int | Iterable[int]) -> tuple[int, ...]:
    if isinstance(seeds, Integral):
        return tuple(range(whole(seeds, "seeds", 1, MOST["seeds"])))
    chosen = tuple(seeds) if isinstance(seeds, Iterable) else ()
    if (
        not chosen
        or len(set(chosen)) < len(chosen)
        or not all(isinstance(s, Integral) and s >= 0 for s in chosen)
    ):
        raise ValueError(f"seeds is {seeds!r}; expected how many, or different whole numbers from 0")
    return tuple(int(seed) for seed in chosen)
