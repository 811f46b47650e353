"""`ilpinfer check`."""

import json
from collections.abc import Sequence

from rich.table import Table

from formulations import LabelSet, load_rules
from ilpinfer.cli.inputs import check_scheme, notice
from ilpinfer.cli.progress import progress
from ilpinfer.cli.show import console
from ilpinfer.corpus.conversion import strip
from ilpinfer.corpus.sequences import labelled, read
from ilpinfer.evaluation.checking import Breach, Checked, Gold, check_rules


def check(rules: str, gold: str, scheme: str, as_json: bool, column: str) -> None:
    """Hold rules against gold labels, and say what that shows."""
    check_scheme(scheme)
    rule_set = load_rules(rules)
    examples = read(gold, column=column, notify=notice)
    pairs = labelled(examples)
    if scheme == "plain":
        labels_of = strip([labels for _, labels in pairs])
        pairs = list(zip((tokens for tokens, _ in pairs), labels_of, strict=True))
    names = tuple(sorted({label for _, labels in pairs for label in labels}))
    label_set = LabelSet(names, scheme).declaring(rule_set.fields)
    absent = rule_set.absent(label_set)
    if absent:
        notice(f"no label for {', '.join(absent)}: counted as absent")
    sequences = [
        Gold(tokens, labels, example.where) for (tokens, labels), example in zip(pairs, examples, strict=True)
    ]
    with progress("checking", len(sequences)) as advance:
        found = check_rules(rule_set, sequences, label_set, advance)
    if as_json:
        print(json.dumps([row.to_dict() for row in found], indent=2, ensure_ascii=False))
    else:
        _show(found)


def _show(found: Sequence[Checked]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("rule")
    for name in ("broken in", "share", "applies", "holds", "breaks", "penalty", "suggested"):
        table.add_column(name, justify="right")
    for row in found:
        held = f"{row.holds / row.applies:.1%}" if row.applies else "-"
        penalty = "hard" if row.penalty is None else f"{row.penalty:.2f}"
        suggested = "-" if row.suggested_penalty is None else f"{row.suggested_penalty:.2f}"
        counts = str(row.broken), f"{row.share:.1%}", str(row.applies), held, str(row.breaks)
        table.add_row(row.rule, *counts, penalty, suggested)
    screen = console()
    screen.print(table)
    for row in found:
        for line in _remarks(row):
            screen.print(f"{row.rule}: {line}", markup=False, highlight=False, soft_wrap=True)


def _remarks(row: Checked) -> list[str]:
    remarks = [_example(breach) for breach in row.breaches]
    if row.never_fires:
        remarks.append("never applies here")
    if row.implied_by:
        remarks.append(f"follows from {', '.join(row.implied_by)}")
    if row.contradicts:
        remarks.append(f"cannot always hold together with {', '.join(row.contradicts)}")
    if row.overruled:
        remarks.append(f"overruled by an earlier rule at {row.overruled} tokens")
    return remarks


def _example(breach: Breach) -> str:
    shown = zip(breach.tokens[:4], breach.text, breach.labels, strict=False)
    places = ", ".join(f"{t} {text} [{label}]" for t, text, label in shown) or "the whole sequence"
    return (
        f"broken in {breach.where.rpartition(', ')[2]} at {places}{', …' if len(breach.tokens) > 4 else ''}"
    )
