"""`ilpinfer codl`."""

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from formulations import LabelSet, RuleSet
from formulations.errors import RuleNotice
from formulations.files import plain_name
from formulations.messages import counted
from formulations.problem.compiled_rules import notices
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OPTIONS, OptionGroup, argument, output_file
from ilpinfer.cli.command import command, common
from ilpinfer.cli.failure import about
from ilpinfer.cli.inputs import canonical_scheme, notice_scheme, parameters
from ilpinfer.cli.labelled import held_out_of_file, names_in, read_labelled
from ilpinfer.cli.outputs import Outputs
from ilpinfer.cli.progress import progress
from ilpinfer.cli.rule_files import NO_METADATA, files_read, read_rules
from ilpinfer.cli.screen import add_row, table
from ilpinfer.cli.streams import notice, remark
from ilpinfer.corpus.conversion import convert_all
from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.corpus.sequences import read_beside, read_plain_text
from ilpinfer.models.sequences import Labelled
from ilpinfer.system.files import write_atomically

if TYPE_CHECKING:
    from rich.console import Console

    from ilpinfer.learning import CODLResult
    from ilpinfer.learning.measures import Measures

METHOD = OptionGroup("Method")
MEASURES = ("token accuracy %", "span F1 %", "whole sequences %")


@dataclass(frozen=True)
class CodlOptions:
    labelled: Annotated[str, argument("LABELLED", arguments.LABELLED)]
    pool: Annotated[
        str,
        argument(
            "POOL",
            "Unlabelled sequences or plain text (labels in them are ignored); - for standard input.",
        ),
    ]
    output: Annotated[str, output_file("File for the model, JSON")]
    rules: arguments.Rules = ()
    kind: arguments.ModelKind = "hmm"
    option: arguments.KindOption = ()
    gamma: float | None = METHOD.option(
        None,
        "SHARE: Weight of the supervised model, from 0 to 1. If not given: 0.6, or another value that is clearly better on folds of LABELLED.",
    )
    k: int = METHOD.option(1, "NUMBER: Number of best labellings of each POOL sequence to learn from.")
    cycles: int = METHOD.option(
        5, "NUMBER: Number of times that POOL is labelled and the model is trained again."
    )
    e_step: str = METHOD.option(
        "top-k",
        "NAME: How POOL is labelled: top-k (the best labellings), or posterior (probabilities of labels under the rules).",
    )
    m_step: str = METHOD.option(
        "likelihood",
        "NAME: How models are learnt: likelihood (counts; a crf by its own algorithm), or perceptron (steps towards the labels).",
    )
    held_out: str = OPTIONS.option(
        "", "FILE: Labelled sequences to evaluate the model on after each cycle; - for standard input."
    )
    text: bool = OPTIONS.option(False, "Read POOL as plain text, one sequence per line, as .txt files are.")
    split: str = OPTIONS.option(
        "spaces",
        "WHERE: Where plain text is split into tokens: spaces, or punctuation (at spaces and punctuation).",
    )
    scheme: arguments.Scheme = ""
    never: arguments.HelperLabels = ()
    column: arguments.Column = ""
    seed: int = OPTIONS.option(0, "NUMBER: Seed of random draws.", min=0)
    as_json: arguments.AsJson = False


@command(
    "ilpinfer codl few.tsv pool.txt --rules citations --output model.json",
    "ilpinfer codl few.tsv pool.jsonl --rules citations --e-step posterior --held-out test.tsv --output model.json",
)
def codl(options: CodlOptions) -> None:
    """Train a model on few labelled sequences, many unlabelled sequences, and rules (constraint-driven learning)."""
    from ilpinfer.learning import CODL
    from ilpinfer.learning.learners import learner_of

    scheme, model = canonical_scheme(options.scheme), parameters(options.option)
    method = CODL(**common(options, CODL))
    learner_of(options.kind, model, options.m_step)  # validates kind and options before any reading
    inputs = files_read(options.labelled, options.pool, options.held_out, toml=options.rules)
    outputs = Outputs(options.as_json, inputs, output=options.output)
    rules = read_rules(options.rules, NO_METADATA)
    with about(options.labelled):
        labelled = read_labelled(options.labelled, options.column, scheme, never=options.never, partly=True)
    names = names_in(labelled)
    if len(names) < 2:
        raise InputError(
            f"{options.labelled}: {f'every token is labelled {min(names)!r}' if names else 'no token has a label'}; "
            "expected at least two labels"
        )
    notice_scheme([labels for _, labels in labelled], scheme)
    with about(options.pool):
        pool = _pool(options, labelled, scheme)
    with about(options.held_out or None):
        path = options.held_out
        held_out = (
            held_out_of_file(path, options.column, scheme, labelled, never=options.never) if path else []
        )
    _show_rules(rules, labelled, scheme)
    warnings.simplefilter("ignore", RuleNotice)

    with outputs.reserved():
        with _bars(method.cycles) as watch, about(options.labelled):
            result = method.fit(
                labelled,
                pool,
                rules,
                kind=options.kind,
                options=model,
                scheme=scheme,
                held_out=held_out,
                seed=options.seed,
                progress=watch,
            )
        write_atomically(options.output, result.text)
    outputs.show(_record(options, result), lambda screen: _show(result, screen))
    _remark(options, result, len(pool) + sum(None in labels for _, labels in labelled))


def _pool(options: CodlOptions, labelled: Sequence[Labelled], scheme: str) -> list[tuple[str, ...]]:
    """The tokens of the pool; a notice if pool labels that the model lacks are ignored."""
    if options.text or plain_name(options.pool).endswith(".txt"):
        examples = read_plain_text(options.pool, options.split)
    else:
        examples = read_beside(options.pool, options.column, notice)
    there = [example for example in examples if example.tokens]
    if len(there) < len(examples):
        notice(
            f"{options.pool}: left out, as they have no token: {counted(len(examples) - len(there), 'sequence')}"
        )
    examples = there
    for example in examples:
        if not any(example.tokens):
            raise InputError(f"{example.where}: no tokens; expected sequences of tokens")
    if not examples:
        raise InputError(f"{options.pool}: no sequence with a token; expected unlabelled sequences")
    _show_ignored(options.pool, examples, labelled, scheme)
    return [example.tokens for example in examples]


def _show_ignored(path: str, examples: Sequence[Example], labelled: Sequence[Labelled], scheme: str) -> None:
    labels = [example.labels for example in examples if example.labels is not None]
    known = {*names_in(labelled)}
    others = {name for names in convert_all(labels, scheme) for name in names} - known if labels else set()
    if others:
        named = ", ".join(sorted(others)[:3]) + (", …" if len(others) > 3 else "")
        notice(f"{path}: its labels are ignored; the model does not have {len(others)} of them: {named}")


def _show_rules(rules: RuleSet, labelled: Sequence[Labelled], scheme: str) -> None:
    labels = LabelSet(names_in(labelled), scheme)
    for text in notices(rules, labels):
        notice(text)


@contextlib.contextmanager
def _bars(cycles: int) -> Iterator[Callable[[int, int, int], None]]:
    with contextlib.ExitStack() as stack:
        advance: list[Callable[[], None]] = []

        def show(cycle: int, done: int, total: int) -> None:
            if not advance:
                name = f"cycle {cycle} of {cycles}" if cycle else "models of folds"
                advance.append(stack.enter_context(progress(name, total)))
            advance[0]()
            if done == total:
                stack.close()
                advance.clear()

        yield show


def _record(options: CodlOptions, result: "CODLResult") -> dict[str, Any]:
    model = result.model
    return {
        "output": options.output,
        "labels": model.labels.names,
        "scheme": model.labels.scheme,
        "tried": [trial.to_dict() for trial in result.tried],
        "supervised": _plain(result.before),
        "cycles": [{**vars(cycle), "held_out": _plain(cycle.held_out)} for cycle in result.trace],
        "made": result.made,
    }


def _plain(measures: "Mapping[str, Measures]") -> dict[str, Any]:
    return {name: each._asdict() for name, each in measures.items()}


def _show(result: "CODLResult", screen: "Console") -> None:
    """Print a line for each tried γ and each cycle."""
    if result.tried:
        tried = table("on held-out parts", numbers=MEASURES)
        for trial in result.tried:
            add_row(tried, trial.name, *(f"{100 * share:.2f}" for share in trial.measures))
        screen.print(tried)
    shown = table("cycle", numbers=("changed %", "violations", *_headings(result.before)))
    add_row(shown, "supervised", "-", "-", *_cells(result.before))
    for cycle in result.trace:
        counts = f"{100 * cycle.changed:.1f}", str(sum(cycle.violations.values()))
        add_row(shown, str(cycle.number), *counts, *_cells(cycle.held_out))
    screen.print(shown)


def _remark(options: CodlOptions, result: "CODLResult", pool: int) -> None:
    """Notices about sequences that were not treated as requested, and a remark on the model."""
    if result.trace:
        last = result.trace[-1]
        if last.left_out:
            notice(
                f"{last.left_out} of {pool} sequences have no labelling that satisfies the hard rules, and are left out"
            )
        if other := {
            way: number for way, number in last.ways.items() if way != result.made["settings"]["e_step"]
        }:
            counts_text = ", ".join(
                f"{way} for {counted(number, 'sequence')}" for way, number in other.items()
            )
            notice(
                f"the rules need too many joint states for exact probabilities; used instead: {counts_text}"
            )
    model = result.model
    made = result.made["settings"]
    if result.trace:
        remark(f"settings: gamma {made['gamma']:g} ({result.made['choice']})")
    remark(f"{options.output}: {counted(len(model.labels), 'label')} ({model.labels.scheme}), {model.size}")


def _headings(held_out: "Mapping[str, Measures]") -> list[str]:
    return [text for name in held_out for text in (f"{name}: tokens %", "F1 %", "whole sequences %")]


def _cells(held_out: "Mapping[str, Measures]") -> list[str]:
    return [f"{100 * share:.2f}" for measures in held_out.values() for share in measures]
