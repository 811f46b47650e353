"""Input of commands: models, rules and scored sequences, with notices on standard error."""

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from formulations import LabelSet, RuleSet
from formulations.errors import RuleNotice
from formulations.labels.schemes import ALIASES, SCHEMES, scheme_name, scheme_of
from formulations.messages import suggestion
from formulations.problem.digest import digest
from ilpinfer.cli import arguments, signals
from ilpinfer.cli.failure import about
from ilpinfer.cli.python_rules import code_of
from ilpinfer.cli.rule_files import files_read, read_rules
from ilpinfer.cli.streams import notice
from ilpinfer.core.solution import Solution
from ilpinfer.corpus.conversion import iob1_remark
from ilpinfer.corpus.examples import InputError, fingerprint
from ilpinfer.corpus.label_names import names_of
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.sequences import read
from ilpinfer.decoding.reporting import OnError
from ilpinfer.errors import traceback_wanted
from ilpinfer.models.files import load_model
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.models.sequences import mixed_scheme
from ilpinfer.pipelines.trellises import ScoredExample, fitting_scheme, score
from ilpinfer.system.storage import open_bytes

if TYPE_CHECKING:
    from ilpinfer.core.methods import Method


@dataclass(frozen=True)
class Scoring:
    """How sequences are read and scored; empty scheme, column and logits are inferred.

    Commands that decode have an option for the logits.
    """

    model: arguments.Model = None
    rules: arguments.Rules = ()
    scheme: arguments.Scheme = ""
    never: arguments.Never = ()
    column: arguments.Column = ""
    label_names: arguments.LabelNames = None
    pool: arguments.Pool = "first"
    logits: arguments.Logits = ""
    rules_first: bool = field(default=False, init=False)

    @property
    def reading(self) -> LogitsOptions:
        """Options for reading logits; ValueError for invalid ones."""
        names = None if self.label_names is None else names_of(self.label_names, self.column)
        return LogitsOptions(names, self.pool, self.logits)


@dataclass(frozen=True)
class DecodeScoring(Scoring):
    rules_first: arguments.RulesFirst = False


@dataclass(frozen=True)
class ProgramInput(Scoring):
    source: arguments.Input = field(kw_only=True)

    @property
    def files(self) -> list[str]:
        return files_read(self.source, self.model, self.label_names, toml=self.rules)


@dataclass(frozen=True)
class InputOptions(DecodeScoring, ProgramInput):
    """The input of commands that decode."""


@dataclass(frozen=True)
class Job:
    """Model and rules for decoding, no model if the input has scores; `content` is the digest of both."""

    model: SequenceModel | None
    rules: RuleSet
    scheme: str
    content: str


def job_of(options: Scoring, only: str = "") -> Job:
    """Model and rules, read and checked; `only` as for `read_rules`."""
    model, scheme = options.model, canonical_scheme(options.scheme)
    if options.rules_first:
        only = "--rules-first restricts labels before the metadata is looked at; leave --rules-first out"
    rules = with_never(read_rules(options.rules, only), options.never)
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
    options: ProgramInput, first: int | None = None, *, fit: bool = False
) -> tuple[list[ScoredExample], RuleSet, str]:
    """Scored sequences, rules, and their digest; with `fit`, a notice names rules that rarely apply instead of absent fields."""
    from ilpinfer.pipelines.fit import about_rules
    from ilpinfer.pipelines.scored_stream import check_rules

    source, model = options.source, options.model
    canonical_scheme(options.scheme)
    with about(source):
        examples = read(source, options.reading, options.column, notice)[:first]
    job = job_of(options)
    with about(source):
        scored = score(examples, job.model, job.scheme, job.rules.never)
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
    return scored, job.rules, f"{job.content}{[*map(fingerprint, examples)]}"


def unused_model(source: str, model: str) -> str:
    """A notice about an unused model, if the input has scores."""
    return f"{source} contains scores, so {model} is not used"


def _rules_first(model: SequenceModel | None, rules: RuleSet) -> SequenceModel:
    from ilpinfer.pipelines.rules_first import rules_first

    try:
        return rules_first(model, rules)
    except ValueError as error:
        raise InputError(f"--rules-first: {error}") from None


def with_never(rules: RuleSet, never: Sequence[str]) -> RuleSet:
    """The rules with additional labels that are never predicted."""
    return replace(rules, never=(*rules.never, *never)) if never else rules


def method_options(method: "Method", **values: float | None) -> dict[str, Any]:
    """The shared options that have a value and that this method supports."""
    return {name: value for name, value in values.items() if name in method.options and value is not None}


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
    if scheme and scheme_of(scheme_name(scheme)) not in SCHEMES:
        raise InputError(f'no scheme "{scheme}"{suggestion(scheme, (*SCHEMES, *ALIASES))}')
    return scheme_name(scheme)


def notice_scheme(labellings: Sequence[Sequence[str]], scheme: str) -> None:
    """A notice about ambiguous or unusual labels if their scheme is inferred; not about mixed schemes, which training refuses."""
    known = [[name for name in labels if name is not None] for labels in labellings]
    names = tuple(dict.fromkeys(name for labels in known for name in labels))
    if names and not scheme and not mixed_scheme(names):
        gaps = [*map(len, known)] != [*map(len, labellings)]
        notice(iob1_remark([] if gaps else known, scheme) or LabelSet(names).notice)


def parameters(entries: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE entries; a value is a number, true, false, or text. InputError for a malformed entry or a repeated name."""
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


def _content(path: str | None) -> str:
    if path is None:
        return ""
    with open_bytes(path) as stream:
        return stream.read().decode("utf-8", "backslashreplace")
