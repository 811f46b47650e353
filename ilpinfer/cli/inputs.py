"""What commands read: models, rules and scored sequences, with notices on standard error."""

import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from formulations import RuleSet, load_rules
from formulations.compiled.problem import RuleNotice
from formulations.labels import suggestion
from formulations.schemes import ALIASES, SCHEMES, named
from ilpinfer.corpus.sequences import Example, InputError, read
from ilpinfer.corpus.trellises import Scored, check_rules, score
from ilpinfer.models.files import BUILT_IN, load_model
from ilpinfer.models.outside.logits import Reading
from ilpinfer.models.outside.names import read_label_names


def prepare(
    source: str,
    model: str | None,
    rules: str | None,
    scheme: str,
    first: int | None = None,
    reading: Reading | None = None,
    column: str = "",
) -> tuple[list[Scored], RuleSet, str]:
    """Scored sequences, rules, and a text that stands for all three; everything is checked before work begins."""
    scheme = checked_scheme(scheme)
    examples = read(source, reading, column, notice)[:first]
    rule_set = RuleSet(()) if rules is None else load_rules(rules)
    scored = score(examples, load_model(model) if model else None, scheme)
    if model and all(example.scores is not None for example in examples):
        notice(f"{source} has scores of its own: {model} is not used")
    warnings.simplefilter("ignore", RuleNotice)
    for text in check_rules(scored, rule_set):
        notice(text)
    return scored, rule_set, f"{_content(model)}{rule_set}{_contents(examples)}{scheme}"


def reading_of(label_names: str | None, pool: str, scale: str) -> Reading:
    """How logits are to be read; ValueError for options that make no sense."""
    return Reading(None if label_names is None else read_label_names(label_names), pool, scale)


def checked_scheme(scheme: str) -> str:
    """A scheme under its own name; InputError for one that does not exist."""
    if scheme and named(scheme) not in SCHEMES:
        raise InputError(f'no scheme "{scheme}"{suggestion(scheme, (*SCHEMES, *ALIASES))}')
    return named(scheme)


def parameters(entries: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE entries; a value is a number, true or false, or else text.

    Raises
    ------
    InputError
        for an entry of another form, or a name given twice.
    """
    found: dict[str, Any] = {}
    for entry in entries:
        name, equals, text = entry.partition("=")
        if not (name and equals):
            raise InputError(f"--option {entry}: expected NAME=VALUE")
        if name in found:
            raise InputError(f"--option {name} is given twice")
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found


def notice(text: str) -> None:
    """Something to know that is no error, on standard error."""
    print(f"ilpinfer: notice: {text}", file=sys.stderr)


def _content(path: str | None) -> str:
    if path is None or path in BUILT_IN:
        return path or ""
    return Path(path).read_text("utf-8")


def _contents(examples: list[Example]) -> list[Any]:
    return [(e.tokens, e.labels, e.scores) for e in examples]
