"""`ilpinfer explain` and `ilpinfer methods`."""

import warnings
from dataclasses import dataclass
from typing import Annotated

from formulations import LabelSet, RuleSet
from formulations.errors import RuleNotice
from formulations.labels.schemes import OUTSIDE, WRITABLE, labels_of, scheme_of
from formulations.messages import counted
from formulations.programs.analysis import Analysis, analyse
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OPTIONS, model_option
from ilpinfer.cli.command import command
from ilpinfer.cli.inputs import canonical_scheme, with_never
from ilpinfer.cli.rule_files import read_rules
from ilpinfer.cli.screen import add_row, console, print_json, table
from ilpinfer.cli.streams import notice
from ilpinfer.models.files import load_model


@dataclass(frozen=True)
class ExplainOptions:
    rules: arguments.RuleFile
    model: Annotated[
        str | None,
        model_option("Model whose labels are used; one label for each declared field if not given."),
    ] = None
    length: int = OPTIONS.option(
        25, "TOKENS: Length of the sequence that the sizes are stated for.", min=2, max=500
    )
    scheme: arguments.Scheme = ""
    never: arguments.Never = ()
    as_json: arguments.AsJson = False


@command("ilpinfer explain citations", "ilpinfer explain rules.toml --model hmm.json --json")
def explain(options: ExplainOptions) -> None:
    """Explain each rule: its kind (local, linear, regular, auxiliary), its size, and how searches can prune with it."""
    scheme = canonical_scheme(options.scheme)
    rules = with_never(read_rules([options.rules]), options.never)
    labels = _labels(rules, options.model, scheme)
    absent = rules.absent(labels)
    if absent:
        notice(f"no label for {', '.join(absent)}: counted as absent")
    warnings.simplefilter("ignore", RuleNotice)
    result = analyse(rules, labels, ["word"] * options.length)
    if options.as_json:
        print_json([row.to_dict() for row in result])
        return
    _show(result, labels, options.length)


@command("ilpinfer methods", "ilpinfer methods --json")
def show_methods(as_json: arguments.AsJson = False) -> None:
    """List the decoding methods, exact and heuristic, with their options."""
    from ilpinfer.core.registry import methods, offered

    if as_json:
        fields = [
            {"name": m.name, "exact": m.exact, "summary": m.summary, "options": m.all_options}
            for m in methods()
        ] + [
            {"name": name, "exact": False, "summary": place, "options": ("seed",)}
            for name, place in offered()
        ]
        print_json(fields)
        return
    result = table("method", "kind", "what it does", "options")
    for m in methods():
        add_row(result, m.name, "exact" if m.exact else "heuristic", m.summary, ", ".join(m.all_options))
    for name, place in offered():
        add_row(result, name, "heuristic", f"{place}, of another package", "seed")
    console().print(result)


def _labels(rules: RuleSet, model: str | None, scheme: str) -> LabelSet:
    """The model's labels, or one for each declared field and `O`."""
    if model is not None:
        return load_model(model).labels.with_optional_fields(rules.fields)
    plain = LabelSet((*dict.fromkeys((*rules.fields, OUTSIDE)),), "plain", frozenset(rules.fields))
    if not scheme and any(rule.statement.vacuous(plain) for rule in rules.rules):
        scheme = "bio"
    if scheme_of(scheme) not in WRITABLE or not rules.fields:
        return plain
    names = [name for field in rules.fields for name in labels_of(field, scheme)]
    return LabelSet(tuple(dict.fromkeys((*names, OUTSIDE))), scheme, frozenset(rules.fields))


_KINDS = {
    "local": "local: folds into the trellis",
    "linear": "linear: a row",
    "regular": "regular",
    "auxiliary": "needs auxiliary variables",
    "function": "a Python function",
}
_PARTIAL = {
    "exact": "counts never fall",
    "sound": "may fall, not to 0",
    "forced": "forced",
    "": "not used",
}


def _show(result: list[Analysis], labels: LabelSet, length: int) -> None:
    screen = console()
    shown = table("rule", "form", "kind", numbers=("states",))
    for name in ("on prefixes", "a prefix shows"):
        shown.add_column(name)
    for name in ("rows", "columns"):
        shown.add_column(name, justify="right")
    for row in result:
        states = "too many" if row.states is None else str(row.states)
        states += f" x {row.machines}" if row.machines > 1 else ""
        size = str(row.rows), str(row.columns)
        kind = "of each sequence anew" if row.apart and row.kind == "local" else _KINDS[row.kind]
        add_row(shown, row.rule, row.form, kind, states, _PARTIAL[row.partial], row.bound, *size)
    screen.print(shown)
    screen.print(
        f"rows and columns that each rule adds to the whole program of a sequence of {counted(length, 'token')} and {counted(len(labels), 'label')}"
    )
    for row in result:
        if row.apart:
            text = f"{row.rule}: stated anew for each sequence, as {row.apart}"
            screen.print(text, highlight=False, soft_wrap=True)
        if row.warning:
            screen.print(f"{row.rule}: {row.warning}", highlight=False, soft_wrap=True)
