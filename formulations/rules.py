"""Rule sets and their files: TOML, by path or by the name of a catalogue entry."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from formulations.constraints.feature import Feature
from formulations.constraints.rule import TEMPLATES, Rule
from formulations.labels import EACH_FIELD, OUTSIDE, Group, LabelSet, Selector, suggestion

CATALOGUE = Path(__file__).parent / "catalogue"


class RuleError(ValueError):
    """A rule file that cannot be used; the message names file, rule, value and way out."""


@dataclass(frozen=True)
class RuleSet:
    """Rules and features, with the fields that they may name.

    Parameters
    ----------
    items : rules and features
    fields : declared fields; one that a model lacks counts as absent
    name : of the file or catalogue entry
    """

    items: tuple[Rule | Feature, ...]
    fields: tuple[str, ...] = ()
    name: str = ""

    def __iter__(self) -> Iterator[Rule | Feature]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def absent(self, labels: LabelSet) -> list[str]:
        """Declared fields that no label carries."""
        return [f for f in self.fields if f not in labels.fields and f not in labels.names]


def catalogue() -> list[str]:
    """Names of the rule sets that come with the package."""
    return sorted(path.stem for path in CATALOGUE.glob("*.toml"))


def load_rules(source: str | Path) -> RuleSet:
    """Read a rule file, or the catalogue entry of that name.

    Raises
    ------
    RuleError
        where the file is missing, is not TOML, or names an unknown template, parameter or field.
    """
    if str(source) in catalogue():
        return parse_rules((CATALOGUE / f"{source}.toml").read_text("utf-8"), str(source))
    path = Path(source)
    try:
        if not str(source):
            raise FileNotFoundError
        return parse_rules(path.read_text("utf-8-sig"), str(source))
    except FileNotFoundError:
        hint = suggestion(str(source), catalogue())
        raise RuleError(f"{source}: no such rule file, and no catalogue entry of that name{hint}") from None
    except UnicodeDecodeError as error:
        raise RuleError(f"{source}: not UTF-8 at byte {error.start}: save the file as UTF-8") from None
    except OSError as error:
        raise RuleError(f"{source}: cannot be read: {error.strerror}") from None


def parse_rules(text: str, source: str = "rules") -> RuleSet:
    """Read rules from TOML text; `source` names them in messages."""
    import tomllib

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RuleError(f"{source}: not TOML: {error}") from None
    _known(document, {"title", "source", "fields", "groups", "rule", "feature"}, f"{source}: ")
    declared = _texts(document.get("fields", []), f"{source}: fields")
    groups = _groups(document.get("groups", {}), declared, source)
    items: list[Rule | Feature] = []
    for kind, build in (("rule", _rule), ("feature", _feature)):
        tables = document.get(kind, [])
        if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
            raise RuleError(f"{source}: write each {kind} as a table of its own, [[{kind}]]")
        for number, table in enumerate(tables, 1):
            name = f' ("{table["name"]}")' if table.get("name") else ""
            try:
                items.append(build(table, declared, groups))
            except (TypeError, ValueError) as error:
                raise RuleError(f"{source}, {kind} {number}{name}: {error}") from None
    return RuleSet(tuple(items), declared, source)


def _rule(table: Mapping[str, Any], declared: tuple[str, ...], groups: Mapping[str, Group]) -> Rule:
    if "template" not in table:
        raise ValueError(f"no template; there are {', '.join(sorted(TEMPLATES))}")
    template = table["template"]
    if not isinstance(template, str) or template not in TEMPLATES:
        raise ValueError(f'no template "{template}"{suggestion(str(template), TEMPLATES)}')
    statement = TEMPLATES[template]
    parameters = _parameters(
        table, statement, {"template", "name", "penalty", "distance", "reason"}, declared, groups
    )
    penalty = table.get("penalty", "hard")
    return Rule(
        statement(**parameters),
        math.inf if penalty == "hard" else _number(penalty, "penalty"),
        table.get("distance", "count"),
        table.get("name", ""),
    )


def _feature(table: Mapping[str, Any], declared: tuple[str, ...], groups: Mapping[str, Group]) -> Feature:
    parameters = _parameters(table, Feature, {"reason"}, declared, groups)
    _number(parameters["weight"], "weight")
    return Feature(**parameters)


def _parameters(
    table: Mapping[str, Any],
    record: type[Any],
    other: set[str],
    declared: tuple[str, ...],
    groups: Mapping[str, Group],
) -> dict[str, Any]:
    """Parameters of a template or feature, field names checked; `from` stands for `from_`."""
    known = {f.name.rstrip("_"): f for f in fields(record)}
    _known(table, known.keys() | other, "")
    missing = [name for name, f in known.items() if f.default is MISSING and name not in table]
    if missing:
        raise ValueError(f"{missing[0]} is missing")
    selectors = {name for name, f in known.items() if f.type in (Selector, Selector | None)}
    found = {}
    for name in known.keys() & (table.keys() - other):
        value = table[name]
        found[known[name].name] = _selector(value, name, declared, groups) if name in selectors else value
    return found


def _selector(value: Any, what: str, declared: tuple[str, ...], groups: Mapping[str, Group]) -> Any:
    """A field, a list of them, or a group, each of them declared."""
    if isinstance(value, list) and value:
        return tuple(_selector(v, what, declared, groups) for v in value)
    if isinstance(value, dict) and value.keys() == {"not"}:
        members = value["not"] if isinstance(value["not"], list) else [value["not"]]
        inner = tuple(_selector(v, what, declared, groups) for v in members)
        return Group(f"other than {', '.join(map(str, inner))}", inner, complement=True)
    if not isinstance(value, str):
        raise ValueError(f"{what} is {value!r}; expected a field, a list of fields, or {{ not = [...] }}")
    if value in groups:
        return groups[value]
    if value not in (*declared, OUTSIDE, EACH_FIELD):
        raise ValueError(f'no field "{value}"{suggestion(value, [*declared, *groups])}')
    return value


def _groups(table: Any, declared: tuple[str, ...], source: str) -> dict[str, Group]:
    if not isinstance(table, dict):
        raise RuleError(f"{source}: groups is {table!r}; expected a table of lists")
    groups: dict[str, Group] = {}
    for name, members in table.items():
        where = f"{source}, group {name!r}"
        if name in declared:
            raise RuleError(f"{where}: a field has that name already")
        if members == []:
            raise RuleError(f"{where}: without a member; name at least one field")
        try:
            groups[name] = Group(
                name, tuple(_selector(m, "member", declared, groups) for m in _texts(members, where))
            )
        except ValueError as error:
            raise RuleError(f"{where}: {error}") from None
    return groups


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str) and v for v in value):
        raise RuleError(f"{where} is {value!r}; expected a list of names")
    return tuple(value)


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 2**31:
        raise ValueError(
            f"{what} is {value!r}; expected nats up to 2^31{', or hard' if what == 'penalty' else ''}"
        )
    return float(value)


def _known(table: Mapping[str, Any], known: Any, where: str) -> None:
    for key in table:
        if key not in known:
            raise RuleError(f'{where}nothing is called "{key}"{suggestion(key, known)}')
