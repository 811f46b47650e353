"""What rules become: their kind, their size, and how searches can prune with them."""

import warnings

from formulations import LabelSet, RuleSet
from formulations.errors import RuleNotice
from formulations.labels.schemes import OUTSIDE, WRITABLE, labels_of, scheme_of
from formulations.messages import counted
from formulations.programs.analysis import Analysis, analyse
from ilpinfer.cli.screen import add_row, console, print_json, table
from ilpinfer.cli.streams import notice
from ilpinfer.models.files import load_model


def explain(rules: RuleSet, model: str | None, scheme: str, length: int, as_json: bool) -> None:
    """Show what each rule becomes under the labels of a model, or of the declared fields."""
    rules = rules.everywhere
    labels = _labels(rules, model, scheme)
    absent = rules.absent(labels)
    if absent:
        notice(f"no label for {', '.join(absent)}: counted as absent")
    warnings.simplefilter("ignore", RuleNotice)
    result = analyse(rules, labels, ["word"] * length)
    if as_json:
        print_json([row.to_dict() for row in result])
        return
    _show(result, labels, length)


def _labels(rules: RuleSet, model: str | None, scheme: str) -> LabelSet:
    """The labels of the model, or one label per declared field and `O`."""
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
_PRUNABLE = {
    "exact": "exactly",
    "sound": "safely",
    "forced": "forced",
    "": "no",
}


def _show(result: list[Analysis], labels: LabelSet, length: int) -> None:
    screen = console()
    shown = table("rule", "form", "kind", numbers=("states",))
    for name in ("prunable", "bound from a prefix"):
        shown.add_column(name)
    for name in ("rows", "columns"):
        shown.add_column(name, justify="right")
    for row in result:
        states = "too many" if row.states is None else str(row.states)
        states += f" x {row.machines}" if row.machines > 1 else ""
        size = str(row.rows), str(row.columns)
        kind = "of each sequence again" if row.apart and row.kind == "local" else _KINDS[row.kind]
        add_row(shown, row.rule, row.form, kind, states, _PRUNABLE[row.partial], row.bound, *size)
    screen.print(shown)
    screen.print(
        f"rows, columns: what each rule adds to the integer program of a sequence of {counted(length, 'token')} and {counted(len(labels), 'label')}"
    )
    screen.print(
        "prunable: whether searches can reject prefixes by the rule; exactly: violations of a prefix remain; "
        "safely: a prefix that breaks the rule has no completion that keeps it"
    )
    for row in result:
        if row.apart:
            text = f"{row.rule}: stated again for each sequence, as {row.apart}"
            screen.print(text, highlight=False, soft_wrap=True)
        if row.warning:
            screen.print(f"{row.rule}: {row.warning}", highlight=False, soft_wrap=True)
