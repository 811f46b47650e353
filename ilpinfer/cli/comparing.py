"""`ilpinfer compare`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ilpinfer import __version__
from ilpinfer.cli.failure import Failure
from ilpinfer.cli.inputs import parameters, prepare, reading_of
from ilpinfer.cli.progress import progress
from ilpinfer.cli.show import show_comparison
from ilpinfer.corpus.sequences import InputError
from ilpinfer.decoding import asked, deadline_for, decode
from ilpinfer.evaluation.comparison import Disagreement, check_agreement, row_of, summarise
from ilpinfer.evaluation.report import report
from ilpinfer.files import Journal, digest, write_whole
from ilpinfer.method_table import method as method_named

Row = dict[str, Any]


def compare(
    source: str,
    model: str | None,
    rules: str | None,
    methods: str,
    output: str,
    time_limit: float | None,
    scheme: str,
    first: int | None,
    options: Row,
) -> None:
    """Decode every sequence with every method, check that proofs agree, and show and write the comparison."""
    reading = reading_of(*(options.pop(name) for name in ("label_names", "pool", "scale")))
    plan = _plan(methods, time_limit, options)
    scored, rule_set, content = prepare(source, model, rules, scheme, first, reading)
    results = Path(output, "results.jsonl")
    names = list(plan)
    with (
        Journal(results, digest(__version__, content, plan)) as journal,
        progress("comparing", len(scored) * len(names), len(journal.rows)) as advance,
    ):
        for number, item in enumerate(scored):
            rows = journal.rows[number * len(names) : (number + 1) * len(names)]
            for name in names[len(rows) :]:
                solution = decode(item.trellis, rule_set, method=name, **plan[name])
                rows = [*rows, row_of(number, name, solution, item.gold, item.trellis.labels.scheme)]
                journal.write(rows[-1:])
                advance()
            try:
                check_agreement(rows, f"sequence {number} ({item.example.where})")
            except Disagreement as disagreement:
                raise Failure(f"{disagreement}; the rows are in {journal.part}", 1) from None
        rows = journal.rows
        summary = summarise(rows)
        about: Row = {
            "source": source,
            "rules": rules,
            "sequences": len(scored),
            "version": __version__,
            "limits": plan,
        }
        record = {**about, "methods": [asdict(line) for line in summary]}
        write_whole(Path(output, "summary.json"), json.dumps(record, indent=2) + "\n")
        write_whole(Path(output, "report.html"), report(about, summary, rows))
    show_comparison(summary)
    impossible = {row["sequence"]: row["reason"] for row in rows if row["status"] == "infeasible"}
    if impossible:
        number, reason = next(iter(impossible.items()))
        more = f" (and {len(impossible) - 1} more)" if len(impossible) > 1 else ""
        raise Failure(f"{scored[number].example.where}: infeasible: {reason}{more}", 2)


def _plan(methods: str, time_limit: float | None, options: Row) -> dict[str, Row]:
    """Options of each method; `name:seconds` sets a limit of its own."""
    plan: dict[str, Row] = {}
    given = {tuple(name.partition(".")[::2]): value for name, value in parameters(options["option"]).items()}
    for entry in methods.split(","):
        name, colon, seconds = entry.strip().partition(":")
        chosen = method_named(name)
        if name in plan:
            raise InputError(f"method {name} is given twice")
        try:
            limit = float(seconds) if colon else time_limit
        except ValueError:
            raise InputError(f"{entry.strip()}: expected seconds after the colon") from None
        deadline_for(limit)
        own = {option: value for (method, option), value in given.items() if method == name}
        asked(name, limit, None, own)
        plan[name] = {
            "time_limit": limit,
            **{option: options[option] for option in chosen.options if option in options},
            **own,
        }
    for name, option in given:
        if not option:
            raise InputError(f"--option {name}: expected METHOD.NAME=VALUE")
        if name not in plan:
            raise InputError(f"--option {name}.{option}: {name} is none of the methods {', '.join(plan)}")
    return plan
