"""`ilpinfer check`."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from formulations import Feature, LabelSet, Rule, RuleSet, dump_rules
from formulations.errors import RuleNotice
from formulations.labels import schemes
from formulations.messages import brief, counted, distinct
from formulations.problem.compiled_rules import notices, unique_names
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OptionGroup, argument, model_option, output_file
from ilpinfer.cli.command import command
from ilpinfer.cli.inputs import canonical_scheme, with_never
from ilpinfer.cli.labelled import reading
from ilpinfer.cli.outputs import Outputs
from ilpinfer.cli.progress import progress
from ilpinfer.cli.rule_files import comments, files_read, read_rules
from ilpinfer.cli.screen import add_row, table
from ilpinfer.cli.streams import notice, remark
from ilpinfer.corpus.conversion import convert_all, iob1_remark
from ilpinfer.corpus.examples import InputError
from ilpinfer.corpus.helper_labels import places_with_labels, without_helpers
from ilpinfer.corpus.sequences import read, require_labels
from ilpinfer.system.files import write_atomically

if TYPE_CHECKING:
    from rich.console import Console

    from ilpinfer.evaluation.checking import Breach, RuleReport

RULES_ALONE = OptionGroup("Without GOLD")
SMALLEST_PENALTY = 0.01
"""Smallest suggested penalty of a kept rule, nats."""
HEADINGS = (
    "broken\nsequences",
    "of all\n%",
    "applies\ntimes",
    "holds\n%",
    "viola-\ntions",
    "penalty\nnats",
    "suggested\nnats",
)


@dataclass(frozen=True)
class CheckOptions:
    rules: arguments.RuleFile
    gold: Annotated[
        str | None,
        argument("GOLD", f"{arguments.LABELLED} Without it, the kind and the size of each rule are shown."),
    ] = None
    scheme: arguments.Scheme = ""
    never: arguments.Never = ()
    column: arguments.Column = ""
    label_names: arguments.TagNames = None
    as_json: arguments.AsJson = False
    write: Annotated[str, output_file("File for the rules with the suggested penalties, TOML")] = ""
    model: Annotated[
        str | None,
        model_option(
            "Model whose labels are used. If not given, each declared field is one label.", RULES_ALONE
        ),
    ] = None
    length: int | None = RULES_ALONE.option(
        None, "TOKENS: Length of the sequence for which sizes are computed; 25 if not given.", min=2, max=500
    )

    def __post_init__(self) -> None:
        with_gold = {"column": self.column, "label-names": self.label_names, "write": self.write}
        without = {"model": self.model, "length": self.length}
        for name, value in (without if self.gold else with_gold).items():
            if value:
                text = (
                    "cannot be used with GOLD; remove it, or remove GOLD"
                    if self.gold
                    else "needs labelled sequences; name GOLD"
                )
                raise InputError(f"--{name} {value}: {text}")


@command(
    "ilpinfer check citations",
    "ilpinfer check rules.toml --model hmm.json --json",
    "ilpinfer check citations train.tsv",
    "ilpinfer check rules.toml train.tsv --write weighted.toml",
)
def check(options: CheckOptions) -> None:
    """Check rules on gold labels: how often each applies, holds and is broken, with examples and a suggested penalty; without GOLD, show the kind and the size of each rule."""
    scheme = canonical_scheme(options.scheme)
    if options.gold:
        _check(options, options.gold, scheme)
        return
    from ilpinfer.cli.explaining import explain

    rules = with_never(read_rules([options.rules]), options.never)
    explain(rules, options.model, scheme, options.length or 25, options.as_json)


def _check(options: CheckOptions, gold: str, scheme: str) -> None:
    from ilpinfer.core.rule_compiler import compiler_of
    from ilpinfer.evaluation.checking import check_rules
    from ilpinfer.pipelines.scored_stream import Absent

    inputs = files_read(gold, options.label_names, toml=[options.rules])
    outputs = Outputs(options.as_json, inputs, write=options.write or None)
    rule_set = with_never(read_rules([options.rules]), options.never)
    examples = read(gold, reading(options.label_names, options.column), options.column, notice)
    given = require_labels(examples, never=rule_set.never)
    places = places_with_labels([labels for _, labels in given], rule_set.never)
    pairs = without_helpers(given, rule_set.never, notice)
    if not any(places):
        raise InputError(f"{gold}: no token is left to check rules on")
    labels_of = _read_as([labels for _, labels in pairs], scheme)
    pairs = list(zip((tokens for tokens, _ in pairs), labels_of, strict=True))
    names = tuple(sorted({label for labels in labels_of for label in labels}))
    read_labels = LabelSet(names, scheme)
    label_set = read_labels.with_optional_fields(rule_set.fields)
    about_scheme = "" if scheme else iob1_remark(labels_of, scheme) or read_labels.notice
    checked = replace(rule_set, never=())  # tokens with these labels are removed
    compiler_of(checked.everywhere).compiled(label_set)
    warnings.simplefilter("ignore", RuleNotice)
    absent = Absent(checked)
    for each in examples:
        absent.add(each)
    for text in distinct([about_scheme, *notices(checked, label_set), *absent.notices]):
        notice(text)
    sequences = [
        replace(each, tokens=tuple(tokens), labels=tuple(labels))
        for (tokens, labels), each in zip(pairs, examples, strict=True)
    ]
    with progress("checking", len(sequences)) as advance:
        result = check_rules(checked, sequences, label_set, advance)
    result = _at_given_tokens(result, {each.where: kept for each, kept in zip(examples, places, strict=True)})
    if options.write:
        with outputs.reserved():
            rules, left_out = suggested_rules(rule_set, result)
            write_atomically(
                options.write, dump_rules(rules) + comments(f"left out: {each}" for each in left_out)
            )
        remark(f"{options.write}: {len(rules)} of {len(rule_set)} rules and features kept")
    outputs.show([row.to_dict() for row in result], lambda screen: _show(result, screen))


def _at_given_tokens(
    reports: "Sequence[RuleReport]", places: Mapping[str, Sequence[int]]
) -> "list[RuleReport]":
    """Reports with token positions as in the file, tokens with helper labels included."""
    return [
        replace(
            report,
            breaches=tuple(
                replace(each, tokens=tuple(places[each.where][t] for t in each.tokens))
                for each in report.breaches
            ),
        )
        for report in reports
    ]


def suggested_rules(rules: RuleSet, reports: "Sequence[RuleReport]") -> tuple[RuleSet, list[str]]:
    """The rules with suggested penalties, and the names of dropped rules with the reason; hard rules that gold keeps are unchanged."""
    by_name = {report.rule: report for report in reports}
    items: list[Rule | Feature] = []
    left_out = []
    for name, item in zip(unique_names(rules), rules, strict=True):
        report = by_name.get(name)
        if isinstance(item, Rule) and report is not None and report.suggested_penalty is not None:
            penalty = report.suggested_penalty
            if item.hard and not report.breaks:
                items.append(item)
                continue
            counts = f"broken in {report.broken} of the {report.applicable} sequences to which it applies"
            if penalty < SMALLEST_PENALTY:
                left_out.append(f"{name} ({counts})")
                continue
            item = replace(
                item, penalty=penalty, reason=f"{item.reason}; {counts}" if item.reason else counts
            )
        items.append(item)
    return replace(rules, items=tuple(items)), left_out


def _read_as(labellings: list[Sequence[str]], scheme: str) -> list[tuple[str, ...]]:
    """Labels in the requested scheme; BIO labels are also converted to schemes with end marks in which their names are valid."""
    names = sorted({name for labels in labellings for name in labels})
    try:
        schemes.check(names, schemes.resolve(names, scheme or "plain"))
        begun = schemes.scheme_of(schemes.infer(names)) in ("bio", "io")
        fits = scheme != "plain" and not (schemes.scheme_of(scheme) in schemes.CLOSED and begun)
    except ValueError:
        fits = False
    return [tuple(labels) for labels in labellings] if fits else convert_all(labellings, scheme)


def _show(result: "Sequence[RuleReport]", screen: "Console") -> None:
    shown = table("rule", numbers=HEADINGS)
    for row in result:
        held = f"{100 * row.holds / row.applies:.1f}" if row.applies else "-"
        penalty = "hard" if row.penalty is None else f"{row.penalty:.2f}"
        suggestion = "-" if row.suggested_penalty is None else f"{row.suggested_penalty:.2f}"
        counts = str(row.broken), f"{100 * row.share:.1f}", str(row.applies), held, str(row.breaks)
        add_row(shown, row.rule, *counts, penalty, suggestion)
    screen.print(shown)
    for row in result:
        for line in _remarks(row):
            screen.print(f"{row.rule}: {line}", highlight=False, soft_wrap=True)


def _remarks(row: "RuleReport") -> list[str]:
    remarks = [_example(breach) for breach in row.breaches]
    if row.never_fires:
        remarks.append("never applies here")
    if row.implied_by:
        remarks.append(f"follows from {', '.join(row.implied_by)}")
    if row.contradicts:
        remarks.append(f"cannot always hold together with {', '.join(row.contradicts)}")
    if row.overruled:
        remarks.append(f"overruled by an earlier rule at {counted(row.overruled, 'token')}")
    return remarks


def _example(breach: "Breach") -> str:
    shown = zip(breach.tokens[:4], breach.text, breach.labels, strict=False)
    places = (
        ", ".join(f"token {t} {brief(text, 30)} [{label}]" for t, text, label in shown)
        or "the whole sequence"
    )
    return (
        f"broken in {breach.where.rpartition(', ')[2]} at {places}{', …' if len(breach.tokens) > 4 else ''}"
    )
