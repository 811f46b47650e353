"""Reading sequences: `token<TAB>label` columns, JSON lines and archives of logits, from files or standard input."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from formulations import LabelSet, Trellis

if TYPE_CHECKING:
    from ilpinfer.models.outside.logits import Reading


class InputError(ValueError):
    """Input that cannot be used; the message names file, place, value and way out."""


@dataclass(frozen=True)
class Example:
    """One sequence as it came.

    Parameters
    ----------
    tokens : T texts
    labels : T label names, or None where there are none
    where : file and line, for messages
    scores : `start` and `edges`, or `emissions` and `transitions` with `start` and `end`, with `label_names`, and with
        `first` for second order; None where a model has to score the tokens
    rank : 1, or the place among several labellings of one sequence, as `ilpinfer decode --top` writes them
    """

    tokens: tuple[str, ...]
    labels: tuple[str, ...] | None
    where: str
    scores: dict[str, Any] | None = None
    rank: int = 1

    def trellis(self, scheme: str = "") -> Trellis:
        """The trellis of given scores."""
        assert self.scores is not None
        scores = dict(self.scores)
        names = scores.pop("label_names")
        dense = Trellis.second_order if "first" in scores else Trellis
        build = dense if "edges" in scores else Trellis.from_emissions
        try:
            labels = None if names is None else LabelSet(tuple(names), scheme)
            return build(**scores, labels=labels, tokens=self.tokens or None)
        except ValueError as error:
            raise InputError(f"{self.where}: {error}") from None


def read(source: str | Path, reading: "Reading | None" = None) -> list[Example]:
    """Every sequence of a file, or of standard input where the source is `-`.

    Parameters
    ----------
    source : columns, JSON lines, or a file that ends in `.npz`, with the layout of `ilpinfer.corpus.archives`
    reading : how logits are to be read

    Raises
    ------
    InputError
        for what is missing, empty, not UTF-8, or neither columns nor JSON lines.
    """
    if str(source).endswith(".npz"):
        from ilpinfer.corpus.archives import archived
        from ilpinfer.models.outside.logits import Reading

        return list(archived(source, reading or Reading()))
    text = _text(source)
    name = "standard input" if str(source) == "-" else str(source)
    lines = text.split("\n")
    first = next((line for line in lines if line.strip()), "")
    if not first:
        raise InputError(f"{name}: empty; expected token<TAB>label lines or JSON lines")
    is_json = first.lstrip().startswith("{") and "\t" not in first.lstrip()[:2]
    return list(_json_lines(lines, name, reading) if is_json else _columns(lines, name))


def labelled(examples: Sequence[Example]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Tokens and labels of every example; InputError where one has no labels."""
    pairs = []
    for example in examples:
        if example.labels is None:
            raise InputError(f"{example.where}: no labels; expected token<TAB>label on every line")
        pairs.append((example.tokens, example.labels))
    return pairs


def _text(source: str | Path) -> str:
    name = "standard input" if str(source) == "-" else str(source)
    try:
        data = sys.stdin.buffer.read() if str(source) == "-" else Path(source).read_bytes()
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(
            f"{name}, line {line}: byte {data[error.start]:#04x} is not UTF-8; save it as UTF-8"
        ) from None


def _columns(lines: list[str], name: str) -> Iterator[Example]:
    has_labels = any("\t" in line for line in lines)
    block: list[list[str]] = []
    began = 1
    for number, line in enumerate([*lines, ""], 1):
        line = line.rstrip("\r")
        if line.strip() or "\t" in line:
            began = began if block else number
            block.append(_cells(line, has_labels, f"{name}, line {number}"))
        elif block:
            tokens, *labels = zip(*block, strict=True)
            yield Example(tokens, labels[0] if labels else None, f"{name}, line {began}")
            block = []


def _cells(line: str, has_labels: bool, where: str) -> list[str]:
    cells = line.split("\t")
    shown = line if len(line) <= 60 else line[:57] + "..."
    if has_labels and len(cells) == 1:
        raise InputError(f"{where}: {shown!r} has no tab; expected token<TAB>label, as on other lines")
    if len(cells) > 2:
        raise InputError(f"{where}: {shown!r} has {len(cells) - 1} tabs; expected token<TAB>label")
    if not all(cells):
        raise InputError(f"{where}: {shown!r} has an empty {'label' if cells[0] else 'token'}")
    return cells


_TEXT_KEYS = {"tokens", "labels"}
_SCORE_KEYS = {"start", "first", "edges", "end", "emissions", "transitions", "label_names"}


def _json_lines(lines: list[str], name: str, reading: "Reading | None") -> Iterator[Example]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{name}, line {number}"
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise InputError(f"{where}: not JSON: {error}") from None
        except (ValueError, RecursionError):
            raise InputError(f"{where}: a number is too long, or lists are nested too deeply") from None
        if not isinstance(record, dict):
            raise InputError(f"{where}: expected a JSON object")
        yield _example(record, where, reading)


def _example(record: dict[str, Any], where: str, reading: "Reading | None") -> Example:
    if "logits" in record:
        record = _from_logits(record, where, reading)
    scored = record.keys() & {"start", "first", "edges", "emissions", "transitions"}
    if scored and not ({"start", "edges"} <= record.keys() or {"emissions", "transitions"} <= record.keys()):
        raise InputError(
            f"{where}: has {', '.join(sorted(scored))}; expected start and edges, or emissions and transitions"
        )
    if {"edges", "emissions"} <= record.keys():
        raise InputError(f"{where}: has both edges and emissions; give one of them")
    if "edges" in record and "end" in record:
        raise InputError(f"{where}: end goes with emissions and transitions; add it to the last edges")
    tokens = _names(record.get("tokens", []), f"{where}: tokens")
    if not tokens and not scored:
        raise InputError(f'{where}: an empty sequence; expected "tokens" with at least one token, or scores')
    labels = None if record.get("labels") is None else _names(record["labels"], f"{where}: labels")
    if labels is not None and tokens and len(labels) != len(tokens):
        raise InputError(f"{where}: {len(labels)} labels for {len(tokens)} tokens")
    scores = None
    if scored:
        scores = {
            key: _forbidding(record[key]) for key in _SCORE_KEYS & record.keys() if key != "label_names"
        }
        names = record.get("label_names")
        scores["label_names"] = None if names is None else _names(names, f"{where}: label_names")
    return Example(tokens, labels, where, scores, record.get("rank", 1))


def _from_logits(record: dict[str, Any], where: str, reading: "Reading | None") -> dict[str, Any]:
    """The record with `emissions` and `transitions` in place of `logits`."""
    from ilpinfer.corpus.archives import OF_ALL, scores_of
    from ilpinfer.models.outside.logits import Reading

    both = record.keys() & {"edges", "emissions", "first"}
    if both:
        raise InputError(f"{where}: has both logits and {sorted(both)[0]}; give one of them")
    numbers = {
        key: _forbidding(value) for key, value in record.items() if key in OF_ALL and key != "label_names"
    }
    record = {**record, **numbers, "logits": _forbidding(record["logits"])}
    scores = scores_of(record, where, reading or Reading())
    names = scores["label_names"]
    scores["label_names"] = None if names is None else list(names)
    return {key: value for key, value in record.items() if key not in OF_ALL} | scores


def _names(value: Any, what: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise InputError(f"{what} is not a list of texts")
    for text in value:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"{what}: {text!a} has half of a surrogate pair, which is no text") from None
    return tuple(value)


def _forbidding(value: Any) -> Any:
    """Nested lists with -inf in place of null."""
    if isinstance(value, list):
        return [_forbidding(v) for v in value]
    return float("-inf") if value is None else value
