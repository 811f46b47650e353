"""Input of commands: models, rules and scored sequences, with notices on standard error."""

import contextlib
import json
import tomllib
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from formulations import Feature, LabelSet, RuleSet, join_rules, load_rules, parse_rules
from formulations.errors import RuleNotice
from formulations.files import read_text
from formulations.labels.schemes import ALIASES, SCHEMES, scheme_name
from formulations.messages import suggestion
from formulations.problem.digest import digest
from formulations.rulefiles.loading import LARGEST, catalogue
from ilpinfer.cli import arguments, signals
from ilpinfer.cli.command import Without
from ilpinfer.cli.python_rules import code_of, file_of, is_python, python_rules
from ilpinfer.cli.streams import STDOUT, notice
from ilpinfer.core.solution import Solution
from ilpinfer.corpus.conversion import iob1_remark
from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.corpus.label_names import read_label_names
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.sequences import read, text_of
from ilpinfer.decoding.reporting import OnError
from ilpinfer.errors import describe, traceback_wanted, without_place
from ilpinfer.models.files import BUILT_IN, load_model
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.pipelines.rules_first import rules_first
from ilpinfer.pipelines.trellises import ScoredSequence, fitting_scheme, score
from ilpinfer.system.addresses import open_bytes, source_name

if TYPE_CHECKING:
    from ilpinfer.core.methods import Method


@dataclass(frozen=True)
class Scoring:
    """How sequences are read and scored; scheme, column and logits are empty where they are inferred."""

    model: arguments.Model = None
    rules: arguments.Rules = ()
    scheme: arguments.Scheme = ""
    column: arguments.Column = ""
    label_names: arguments.LabelNames = None
    pool: arguments.Pool = "first"
    logits: arguments.Logits = ""
    rewards: arguments.Reward = ()
    rules_first: arguments.RulesFirst = False

    @property
    def reading(self) -> LogitsOptions:
        """Options for reading logits; ValueError for invalid ones."""
        names = None if self.label_names is None else read_label_names(self.label_names)
        return LogitsOptions(names, self.pool, self.logits)


@dataclass(frozen=True)
class InputOptions(Scoring):
    source: arguments.Input = field(kw_only=True)

    @property
    def files(self) -> list[str]:
        return files_read(self.source, self.model, self.label_names, toml=self.rules)


ProgramInput = Annotated[InputOptions, Without(("rewards", "rules_first"))]
"""The input of commands that have no options of decoding."""


@dataclass(frozen=True)
class Job:
    """Model and rules for decoding: no model where the input has scores; `content` is the digest of both."""

    model: SequenceModel | None
    rules: RuleSet
    scheme: str
    content: str


def job_of(options: Scoring) -> Job:
    """Model and rules, read and checked."""
    model, scheme = options.model, canonical_scheme(options.scheme)
    rules = with_rewards(read_rules(options.rules), options.rewards)
    with about(model):
        known = load_model(model) if model else None
        if options.rules_first:
            known = _rules_first(known, rules)
    fitting_scheme(known, scheme)
    return Job(
        known,
        rules,
        scheme,
        f"{_content(model)}{digest(rules, code_of(options.rules))}{scheme}{options.rules_first}",
    )


def prepare(
    options: InputOptions, first: int | None = None, *, fit: bool = False
) -> tuple[list[ScoredSequence], RuleSet, str]:
    """Scored sequences, rules, and a digest of all; with `fit`, a notice names rules that rarely apply in place of absent fields."""
    from ilpinfer.pipelines.fit import about_rules
    from ilpinfer.pipelines.scored_stream import check_rules

    source, model = options.source, options.model
    canonical_scheme(options.scheme)
    with about(source):
        examples = read(source, options.reading, options.column, notice)[:first]
    job = job_of(options)
    with about(source):
        scored = score(examples, job.model, job.scheme)
    if model and all(example.scores is not None for example in examples):
        notice(unused_model(source, model))
    warnings.simplefilter("ignore", RuleNotice)
    with about(", ".join(options.rules) or None):
        notices = check_rules(scored, job.rules)
        trellises = [item.trellis for item in scored if item.trellis is not None]
        if fit:
            notices = about_rules(trellises, job.rules, notices)
    for each in notices:
        notice(each)
    return scored, job.rules, f"{job.content}{_contents(examples)}"


def unused_model(source: str, model: str) -> str:
    """A notice about a model that is not used, since the input has scores."""
    return f"{source} has scores of its own: {model} is not used"


def with_rewards(rules: RuleSet, rewards: Sequence[str]) -> RuleSet:
    """The rules with a feature for each FIELD=NATS; InputError for an entry of another form."""
    features = []
    for entry in rewards:
        field, equals, text = entry.rpartition("=")
        try:
            if not (field and equals):
                raise ValueError("expected FIELD=NATS")
            features.append(Feature(float(text), field))
        except ValueError as error:
            raise InputError(f"--reward {entry}: {error}") from None
    return replace(rules, items=(*rules.items, *features))


def _rules_first(model: SequenceModel | None, rules: RuleSet) -> SequenceModel:
    try:
        return rules_first(model, rules)
    except ValueError as error:
        raise InputError(f"--rules-first: {error}") from None


def check_streams(as_json: bool, outputs: Sequence[str | None], inputs: Sequence[str | None]) -> None:
    """Raise InputError where two results would go to standard output, or two inputs come from standard input."""
    if sum(each == STDOUT for each in outputs) > 1:
        raise InputError("two outputs are -, for standard output; name a file for one of them")
    if as_json and STDOUT in outputs:
        raise InputError(
            "--json and an output - both write to standard output; leave one out, or name a file"
        )
    if sum(each == "-" for each in inputs) > 1:
        raise InputError("two inputs are -, for standard input; name a file for one of them")


def read_rules(sources: Sequence[str]) -> RuleSet:
    """The rules of all sources together; none where there is no source."""
    result = []
    for source in sources:
        with about(source), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuleNotice)
            if source == "-":
                result.append(parse_rules(text_of("-"), "standard input"))
            else:
                result.append(python_rules(source) if is_python(source) else load_rules(source))
    rules = join_rules(result)
    if sources and not rules.items:
        notice(f"{rules.name}: no rule and no feature")
    return rules


def method_options(method: "Method", **values: float | None) -> dict[str, Any]:
    """The options common to several methods that this method has, and that have a value."""
    return {name: value for name, value in values.items() if name in method.options and value is not None}


@contextlib.contextmanager
def about(path: str | None) -> Iterator[None]:
    """Add the name of the file to errors that do not have it, such as MemoryError."""
    try:
        yield
    except Exception as error:
        if path is None or not without_place(error):
            raise
        raise InputError(f"{source_name(path)}: {describe(error)}") from error


def files_read(*paths: str | None, toml: Sequence[str | None] = ()) -> list[str]:
    """Files that a command reads, including those named in its TOML files, `{ file = "words.txt" }`."""
    known = {*catalogue(), *BUILT_IN}
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


def on_error() -> OnError:
    """ "row" for sequences that cannot be decoded; "raise" if tracebacks are requested."""
    return "raise" if traceback_wanted() else "row"


def raise_interrupt(solution: Solution) -> Solution:
    """The solution; KeyboardInterrupt if its error was caused by an interrupt."""
    if solution.error and signals.is_interrupted():
        raise KeyboardInterrupt
    return solution


def canonical_scheme(scheme: str) -> str:
    """The canonical name of a scheme; InputError for an unknown one."""
    if scheme and scheme_name(scheme) not in SCHEMES:
        raise InputError(f'no scheme "{scheme}"{suggestion(scheme, (*SCHEMES, *ALIASES))}')
    return scheme_name(scheme)


def notice_scheme(labellings: Sequence[Sequence[str]], scheme: str) -> None:
    """A notice about ambiguous or unusual labels, if their scheme is inferred."""
    if not scheme:
        names = tuple(dict.fromkeys(name for labels in labellings for name in labels))
        notice(iob1_remark(labellings, scheme) or LabelSet(names).notice)


def parameters(entries: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE entries; a value is a number, true or false, or else text. InputError for another form or a repeated name."""
    result: dict[str, Any] = {}
    for entry in entries:
        name, equals, text = entry.partition("=")
        if not (name and equals):
            raise InputError(f"--option {entry}: expected NAME=VALUE")
        if name in result:
            raise InputError(f"--option {name} is given twice")
        try:
            result[name] = json.loads(text)
        except RecursionError:
            raise InputError(f"--option {name}: lists are nested too deeply") from None
        except ValueError:
            result[name] = text
    return result


def with_source(rules: RuleSet, made: str) -> RuleSet:
    """Rules that were learnt, without a name, and with how they were made in their source."""
    return replace(rules, name="", source=f"{rules.source}; {made}" if rules.source else made)


def comments(lines: Iterable[str]) -> str:
    """Lines of comments for the end of a TOML text, after an empty line; empty if there are none."""
    printable = ("".join(c if c.isprintable() else " " for c in line) for line in lines)
    text = "".join(f"# {line}\n" for line in printable)
    return f"\n{text}" if text else ""


def _content(path: str | None) -> str:
    if path is None or path in BUILT_IN:
        return path or ""
    with open_bytes(path) as stream:
        return stream.read().decode()


def _contents(examples: list[Example]) -> list[Any]:
    """The content of examples, as plain values with the same text in every process."""
    return [
        (e.tokens, e.columns, e.labels, e.given, None if e.scores is None else e.scores.to_plain())
        for e in examples
    ]
