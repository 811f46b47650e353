"""Rules of a command: their files, and their text with its origin."""

import contextlib
import tomllib
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from formulations import RuleSet, join_rules, load_rules, parse_rules
from formulations.constraints.counting import RunLength
from formulations.errors import RuleNotice
from formulations.files import read_text
from formulations.labels.selectors import alternatives
from formulations.rulefiles.loading import LARGEST, catalogue
from ilpinfer.cli.failure import about
from ilpinfer.cli.python_rules import file_of, is_python, python_rules
from ilpinfer.cli.streams import notice
from ilpinfer.corpus.examples import input_at
from ilpinfer.corpus.sequences import text_of

NO_METADATA = "the command trains on tokens and labels without metadata; remove when, or leave the rule out"
"""Why commands that learn refuse rules with a condition."""


def read_rules(sources: Sequence[str], only: str = "") -> RuleSet:
    """The rules of all sources together; none without sources.

    `only` says why a command accepts only rules without a condition, and what to do; other commands use the rules of each sequence.
    """
    result = []
    for source in sources:
        with about(source), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuleNotice)
            if source == "-":
                result.append(parse_rules(text_of("-"), "standard input"))
            else:
                result.append(python_rules(source) if is_python(source) else load_rules(source))
        if only:
            with input_at("standard input" if source == "-" else source):
                result[-1].check_unconditional(only)
    rules = join_rules(result)
    for text in _lengths_of_lists(rules):
        notice(text)
    if sources and not rules.items:
        notice(f"{rules.name}: no rule and no feature")
    return rules


def _lengths_of_lists(rules: RuleSet) -> Iterator[str]:
    """Notices about bounds on run lengths of several fields together, which do not bound the runs of each field."""
    for rule in rules.rules:
        if isinstance(rule.statement, RunLength) and len(members := alternatives(rule.statement.field)) > 1:
            yield (
                f'rule "{rule.title}": {" and ".join(map(str, members))} count as one field, so a run can contain both; '
                "to limit the runs of each field, write one rule for each"
            )


def files_read(*paths: str | None, toml: Sequence[str | None] = ()) -> list[str]:
    """Files that a command reads, including those named in its TOML files, `{ file = "words.txt" }`."""
    known = catalogue()
    toml = [path and file_of(path) for path in toml]
    result = [path for path in (*paths, *toml) if path and path not in known]
    for path in (Path(name) for name in toml if name in result):
        with contextlib.suppress(OSError, ValueError, RecursionError):
            if path.is_file() and path.stat().st_size <= LARGEST:
                record = tomllib.loads(read_text(path, LARGEST))
                result += [str(path.parent / name) for name in _named_files(record)]
    return result


def _named_files(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("file"), str) and "words" not in value:
            yield value["file"]
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _named_files(each)


def with_source(rules: RuleSet, made: str) -> RuleSet:
    """Learnt rules without a name, with their origin as the source."""
    return replace(rules, name="", source=f"{rules.source}; {made}" if rules.source else made)


def comments(lines: Iterable[str]) -> str:
    """Lines of comments for the end of a TOML text, after an empty line; empty if there are none."""
    printable = ("".join(c if c.isprintable() else " " for c in line) for line in lines)
    text = "".join(f"# {line}\n" for line in printable)
    return f"\n{text}" if text else ""
