"""Defaults of options from a file: `ilpinfer.toml`, or the table `[tool.ilpinfer]` of `pyproject.toml`."""

import os
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ilpinfer.cli.failure import Failure

OWN, PROJECT = "ilpinfer.toml", "pyproject.toml"
FILE_VARIABLE, NO_FILE_VARIABLE = "ILPINFER_CONFIG", "ILPINFER_NO_CONFIG"
PATHS = ("FILE", "FOLDER", "MODEL", "RULES", "FILE|SHARE", "NAME=FILE")
"""Placeholders of options whose values may be paths."""
SHARED = ("quiet", "no_color", "log_json", "as_json")
"""Parameters of the program that are also parameters of its commands."""
_NOT_IN_FILES = ("config", "no_config", "version")


@dataclass(frozen=True)
class ConfigFile:
    place: str  # the file, and the table in it, for messages
    folder: str  # where relative paths begin; empty for the working folder
    table: Mapping[str, Any]

    def defaults(self, root: Any, path: Sequence[str]) -> dict[str, Any]:
        """The defaults of the command at a path of names, by parameter; Failure for an unknown name and an invalid value."""
        self._check(self.table, root, "")
        group, table, where, found = root, self.table, "", dict[str, tuple[str, Any]]()
        for name in (*path, ""):
            found |= {key: (where, each) for key, each in table.items() if not isinstance(each, dict)}
            if name:
                group, where = group.commands[name], f"{where}{name}."
                table = table.get(name, {})
        known = options(group)
        return {
            known[key].name: self._value(known[key], value, f"{self._key(place, key)}")
            for key, (place, value) in found.items()
            if key in known
        }

    def _check(self, table: Mapping[str, Any], group: Any, where: str) -> None:
        """Raise Failure for an unknown name in a table of the program or of a group of commands."""
        for name, value in table.items():
            if name not in group.commands:
                if not _shared(name, group):
                    raise Failure(f"{self.place}: no {self._unknown(name, value, group, where)}", 2)
                continue
            if not isinstance(value, dict):
                raise Failure(
                    f"{self.place}: {self._key(where, name)}: a command; write its options in a table [{where}{name}]",
                    2,
                )
            command = group.commands[name]
            if hasattr(command, "commands"):
                self._check(value, command, f"{where}{name}.")
                continue
            known = options(command)
            wrong = next((key for key in value if key not in known), None)
            if wrong is not None:
                from formulations.messages import suggestion

                key = self._key(f"{where}{name}.", wrong)
                raise Failure(f"{self.place}: no option {key}{suggestion(wrong, known)}", 2)

    def _unknown(self, name: str, value: Any, group: Any, where: str) -> str:
        """What an unknown name is, with what may be meant."""
        from formulations.messages import suggestion

        shared = Counter(key for command in _leaves(group) for key in options(command))
        common = [key for key, number in shared.items() if number > 1]
        once = [each.name for each in _leaves(group) if name in options(each)]
        hint = suggestion(name, [*common, *group.commands])
        way = f"; it is an option of one command: put it into [{once[0]}]" if once else hint
        kind = "table" if isinstance(value, dict) else "shared option"
        return f"{kind} {self._key(where, name)}{way}"

    def _value(self, option: Any, value: Any, key: str) -> Any:
        if option.is_flag:
            if not isinstance(value, bool):
                raise Failure(f"{self.place}: {key} is {value!r}; expected true or false", 2)
            return value
        if not option.multiple:
            return self._text(option, value, key)
        return [self._text(option, each, key) for each in (value if isinstance(value, list) else [value])]

    def _text(self, option: Any, value: Any, key: str) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            expected = "a text or a number" + (", or a list of them" if option.multiple else "")
            raise Failure(f"{self.place}: {key} is {value!r}; expected {expected}", 2)
        text = str(value)
        if not self.folder or not text or text == "-":
            return text
        if option.metavar in PATHS:
            return self._resolved(text, option.metavar)
        name, equals, rest = text.partition("=")
        if option.metavar == "NAME=VALUE" and name == "template" and Path(self.folder, rest).is_file():
            return f"{name}{equals}{os.path.join(self.folder, rest)}"
        return text

    def _resolved(self, text: str, kind: str) -> str:
        """A relative path, converted to one from the working folder; names of rule sets and models are not changed."""
        if kind == "RULES":
            from formulations.rulefiles.loading import catalogue

            return text if text in catalogue() else os.path.join(self.folder, text)
        if kind == "MODEL":
            from ilpinfer.models.files import BUILT_IN

            return text if text in BUILT_IN else os.path.join(self.folder, text)
        if kind == "FILE|SHARE" and text.replace(".", "", 1).isdigit():
            return text
        name, equals, path = text.rpartition("=") if kind == "NAME=FILE" else ("", "", text)
        return f"{name}{equals}{os.path.join(self.folder, path)}"

    @staticmethod
    def _key(where: str, name: str) -> str:
        return f"[{where[:-1]}] {name}" if where else name


def options(command: Any) -> dict[str, Any]:
    """The options of a command that a file may set, by their names in it."""
    result = {}
    for each in command.params:
        if each.param_type_name == "option" and each.name not in _NOT_IN_FILES:
            long = next(name for name in each.opts if name.startswith("--"))
            result[long.removeprefix("--")] = each
    return result


def _shared(key: str, group: Any) -> bool:
    """Whether several commands have an option; commands are loaded until two are found."""
    return len(list(islice((1 for each in _leaves(group) if key in options(each)), 2))) > 1


def _leaves(group: Any) -> Iterator[Any]:
    for command in group.commands.values():
        if hasattr(command, "commands"):
            yield from _leaves(command)
        else:
            yield command


def apply(context: Any, command: Any, arguments: Sequence[str]) -> None:
    """Set the defaults of a command's context from the file and from options before its name; with `--help`, without errors of the file."""
    if context.resilient_parsing:
        return
    given, _, _ = command.make_parser(context).parse_args(args=list(arguments))
    parents = list(_parents(context))
    for parent in reversed(parents):
        given = {**{name: each for name, each in parent.params.items() if each is not None}, **given}
    values: dict[str, Any] = {}
    try:
        file = _chosen(given.get("config"), bool(given.get("no_config")))
        if file is not None:
            names = [each.info_name for each in (*reversed(parents[:-1]), context)]
            values = file.defaults(context.find_root().command, names)
            context.meta[__name__] = file.place, dict(values)
    except Failure:
        if not given.get("help"):
            raise
    for parent in parents:
        values |= {name: each for name in SHARED if (each := parent.params.get(name)) is not None}
    context.default_map = values


def origin(context: Any) -> tuple[str, dict[str, Any]]:
    """The file of the defaults of a command, empty if there is none, and the defaults by parameter."""
    place, values = context.meta.get(__name__, ("", {}))
    return place, values


def _parents(context: Any) -> Iterator[Any]:
    while (context := context.parent) is not None:
        yield context


def _chosen(path: str | None, none: bool) -> ConfigFile | None:
    """The file named by options or environment, or else the nearest one; None if there is none, or with `--no-config`."""
    if path is not None and none:
        raise Failure(f"--config {path} and --no-config: give one of them", 2)
    if none or (path is None and os.environ.get(NO_FILE_VARIABLE)):
        return None
    path = path if path is not None else os.environ.get(FILE_VARIABLE) or None
    return find() if path is None else read(path)


def find() -> ConfigFile | None:
    """The file of the working folder, or of the nearest parent folder with one."""
    try:
        folders = [here := Path.cwd(), *here.parents]
    except OSError:  # the working folder was removed
        return None
    for folder in folders:
        for name in (OWN, PROJECT):
            path = os.path.join(os.path.relpath(folder, here), name)
            if os.path.isfile(path) and (name == OWN or b"ilpinfer" in _bytes(path)):
                found = _read(os.path.normpath(path))
                if found is not None:
                    return found
    return None


def read(path: str) -> ConfigFile:
    """A file of defaults; Failure if it cannot be read, is not TOML, or is a `pyproject.toml` without the table."""
    found = _read(path)
    if found is None:
        raise Failure(f"{path}: has no table [tool.ilpinfer]", 2)
    return found


def _read(path: str) -> ConfigFile | None:
    try:
        text = _bytes(path).decode("utf-8-sig")
        table = tomllib.loads(text)
    except UnicodeDecodeError:
        raise Failure(f"{path}: not UTF-8; correct it, or leave it out with --no-config", 2) from None
    except (ValueError, RecursionError):
        from formulations.rulefiles.toml_text import NotToml, loads

        try:
            loads(text)
        except NotToml as error:
            raise Failure(f"{path}: {error}; correct it, or leave it out with --no-config", 2) from None
        raise
    folder = os.path.dirname(path)
    if os.path.basename(path) != PROJECT:
        return ConfigFile(path, folder, table)
    tool = table.get("tool")
    own = tool.get("ilpinfer") if isinstance(tool, dict) else None
    return ConfigFile(f"{path}, [tool.ilpinfer]", folder, own) if isinstance(own, dict) else None


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Failure(
            f"{path}: cannot be read: {reason}; name another file, or give --no-config", 2
        ) from None
