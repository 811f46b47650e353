"""`ilpinfer check`."""

import json
from typing import Any

from rich.table import Table

from formulations import LabelSet, Rule, load_rules
from formulations.compiled.problem import unique_names
from ilpinfer.cli.inputs import check_scheme, notice
from ilpinfer.cli.show import console
from ilpinfer.corpus.sequences import labelled, read
from ilpinfer.corpus.trellises import strip

EXAMPLES = 3


def check(rules: str, gold: str, scheme: str, as_json: bool) -> None:
    """Count violations in gold labels, by the plain checker, and show where they are."""
    check_scheme(scheme)
    rule_set = load_rules(rules)
    examples = read(gold)
    pairs = labelled(examples)
    if scheme == "plain":
        pairs = list(
            zip((tokens for tokens, _ in pairs), strip([labels for _, labels in pairs]), strict=True)
        )
    names = tuple(sorted({label for _, labels in pairs for label in labels}))
    label_set = LabelSet(names, scheme).declaring(rule_set.fields)
    absent = rule_set.absent(label_set)
    if absent:
        notice(f"no label for {', '.join(absent)}: counted as absent")
    found: list[dict[str, Any]] = []
    for rule, name in zip(rule_set, unique_names(rule_set), strict=True):
        if not isinstance(rule, Rule):
            continue
        rule.statement.ground(label_set, pairs[0][0])
        counts = [rule.violations(labels, tokens, label_set) for tokens, labels in pairs]
        broken = [(example.where, count) for example, count in zip(examples, counts, strict=True) if count]
        found.append(
            {
                "rule": name,
                "hard": rule.hard,
                "sequences": len(pairs),
                "broken": len(broken),
                "share": len(broken) / len(pairs),
                "violations": sum(counts),
                "examples": [where for where, _ in broken[:EXAMPLES]],
            }
        )
    if as_json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        _show(found)


def _show(found: list[dict[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("rule")
    for name in ("broken in", "share", "violations"):
        table.add_column(name, justify="right")
    table.add_column("for example")
    for row in found:
        where = ", ".join(text.rpartition(", ")[2] for text in row["examples"])
        table.add_row(row["rule"], str(row["broken"]), f"{row['share']:.1%}", str(row["violations"]), where)
    console().print(table)
