"""`ilpinfer decode`."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from formulations import RuleSet, Trellis
from formulations.programs.formulation import score_floor
from ilpinfer import __version__
from ilpinfer.cli.failure import Failure
from ilpinfer.cli.inputs import notice, prepare
from ilpinfer.cli.progress import progress
from ilpinfer.corpus.trellises import Scored
from ilpinfer.decoding import deadline_for
from ilpinfer.decoding import decode as decode_one
from ilpinfer.files import Journal, digest
from ilpinfer.methods import method as method_named
from ilpinfer.solution import Solution
from ilpinfer.two_phase import decode_two_phase

Row = dict[str, Any]


def decode(
    source: str,
    model: str | None,
    rules: str | None,
    output: str,
    method: str,
    time_limit: float | None,
    scheme: str,
    options: Row,
) -> None:
    """Write one JSON object a labelling; an infeasible sequence is a row like any other, and exit code 2 at the end."""
    solve = _solver(method, time_limit, options)
    scored, rule_set, content = prepare(source, model, rules, scheme)
    if output == "-":
        infeasible = _decode_all(scored, range(len(scored)), rule_set, solve, _print, options["explain"])
    else:
        job = digest(__version__, content, method, time_limit, options)
        infeasible = _to_file(output, job, scored, rule_set, solve, options["explain"])
    if infeasible:
        more = f" (and {len(infeasible) - 1} more)" if len(infeasible) > 1 else ""
        raise Failure(infeasible[0] + more, 2)


def _to_file(
    output: str, job: str, scored: list[Scored], rules: RuleSet, solve: "Solve", explain: bool
) -> list[str]:
    with Journal(output, job) as journal:
        last = [row for row in journal.rows if row["sequence"] == journal.rows[-1]["sequence"]]
        journal.forget(len(last) if last and len(last) < last[-1].get("ranks", 1) else 0)
        earlier = [message for row in journal.rows for message in _complaint(row, scored)]
        begin = 1 + max((row["sequence"] for row in journal.rows), default=-1)
        with progress("decoding", len(scored), begin) as advance:

            def write(rows: list[Row]) -> None:
                journal.write(rows)
                advance()

            return earlier + _decode_all(scored, range(begin, len(scored)), rules, solve, write, explain)


Solve = Callable[..., list[Solution]]


def _decode_all(
    scored: list[Scored],
    numbers: Iterable[int],
    rules: RuleSet,
    solve: Solve,
    write: Callable[[list[Row]], None],
    explain: bool,
) -> list[str]:
    """Decode and write sequence by sequence; a message for each that is infeasible."""
    messages = []
    overruled: Counter[str] = Counter()
    for number in numbers:
        item = scored[number]
        solutions = solve(item.trellis, rules)
        rows = [
            {"sequence": number, "tokens": list(item.trellis.tokens), **_row(s, explain)} for s in solutions
        ]
        if len(rows) > 1:
            rows = [{**row, "rank": rank, "ranks": len(rows)} for rank, row in enumerate(rows, 1)]
        write(rows)
        messages += [message for row in rows for message in _complaint(row, scored)]
        overruled.update({rule: len(at) for rule, at in solutions[0].overruled.items()})
    for rule, times in overruled.items():
        notice(f'rule "{rule}" was overruled by an earlier one at {times} token{"s" * (times > 1)}')
    return messages


def _row(solution: Solution, explain: bool) -> Row:
    row = solution.to_dict()
    return {**row, "explanation": solution.explain().to_dict()} if explain and solution.found else row


def _complaint(row: Row, scored: list[Scored]) -> list[str]:
    if row["status"] != "infeasible":
        return []
    return [f"{scored[row['sequence']].example.where}: infeasible: {row['reason']}"]


def _solver(method: str, time_limit: float | None, options: Row) -> Solve:
    """The call for one sequence; bad options are found before any work."""
    chosen = method_named(method)
    top, tau = options["top"], options["tau"]
    deadline_for(time_limit)
    call: Row = {"method": method, "time_limit": time_limit}
    decoder: Callable[..., Any] = decode_one
    if tau is None:
        call |= {name: options[name] for name in chosen.options}
    else:
        score_floor(0, tau, options["bound"])
        decoder, call = decode_two_phase, call | {name: options[name] for name in ("tau", "bound", "threads")}

    def solve(trellis: Trellis, rules: RuleSet) -> list[Solution]:
        found = decoder(trellis, rules, top=top, **call) if top else []
        return found or [decoder(trellis, rules, **call)]

    return solve


def _print(rows: list[Row]) -> None:
    for row in rows:
        print(json.dumps(row, ensure_ascii=False, allow_nan=False), file=sys.stdout, flush=True)
