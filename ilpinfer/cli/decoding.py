"""`ilpinfer decode`."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import tee
from typing import Any

from formulations import RuleSet, Trellis
from formulations.programs.formulation import score_floor
from ilpinfer import __version__
from ilpinfer.batch import decode_many
from ilpinfer.cli.failure import Failure
from ilpinfer.cli.inputs import notice, parameters, prepare, reading_of
from ilpinfer.cli.progress import progress
from ilpinfer.corpus.trellises import Scored
from ilpinfer.decoding import asked, deadline_for
from ilpinfer.decoding import decode as decode_one
from ilpinfer.files import Journal, digest
from ilpinfer.method_table import method as method_named
from ilpinfer.solution import Solution, finite
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
    reading = reading_of(*(options.pop(name) for name in ("label_names", "pool", "scale")))
    solve = _solver(method, time_limit, options)
    scored, rule_set, content = prepare(source, model, rules, scheme, reading=reading)
    if output == "-":
        infeasible = _decode_all(scored, range(len(scored)), rule_set, solve, _print, options)
    else:
        lasting = {name: value for name, value in options.items() if name != "jobs"}
        job = digest(__version__, content, method, time_limit, lasting)
        infeasible = _to_file(output, job, scored, rule_set, solve, options)
    if infeasible:
        more = f" (and {len(infeasible) - 1} more)" if len(infeasible) > 1 else ""
        raise Failure(infeasible[0] + more, 2)


def _to_file(
    output: str, job: str, scored: list[Scored], rules: RuleSet, solve: "Solve", options: Row
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

            return earlier + _decode_all(scored, range(begin, len(scored)), rules, solve, write, options)


Trace = list[list[float | None]]
"""Seconds, incumbent and bound of each improvement; nats, None for what is not finite."""
Solve = Callable[[Iterable[Trellis], RuleSet], Iterator[tuple[list[Solution], Trace]]]


def _decode_all(
    scored: list[Scored],
    numbers: Iterable[int],
    rules: RuleSet,
    solve: Solve,
    write: Callable[[list[Row]], None],
    options: Row,
) -> list[str]:
    """Decode and write sequence by sequence; a message for each that is infeasible."""
    messages = []
    overruled: Counter[str] = Counter()
    items = [scored[number] for number in numbers]
    results = solve((item.trellis for item in items), rules)
    for number, item, (solutions, trace) in zip(numbers, items, results, strict=True):
        rows = [
            {"sequence": number, "tokens": list(item.trellis.tokens), **_row(s, options)} for s in solutions
        ]
        if len(rows) > 1:
            rows = [{**row, "rank": rank, "ranks": len(rows)} for rank, row in enumerate(rows, 1)]
        if options["trace"]:
            rows = [{**row, "trace": trace} for row in rows]
        write(rows)
        messages += [message for row in rows for message in _complaint(row, scored)]
        overruled.update({rule: len(at) for rule, at in solutions[0].overruled.items()})
    for rule, times in overruled.items():
        notice(f'rule "{rule}" was overruled by an earlier one at {times} token{"s" * (times > 1)}')
    return messages


def _row(solution: Solution, options: Row) -> Row:
    row = solution.to_dict(incumbents=options["trace"])
    explained = options["explain"] and solution.found
    return {**row, "explanation": solution.explain().to_dict()} if explained else row


def _complaint(row: Row, scored: list[Scored]) -> list[str]:
    if row["status"] != "infeasible":
        return []
    return [f"{scored[row['sequence']].example.where}: infeasible: {row['reason']}"]


def _solver(method: str, time_limit: float | None, options: Row) -> Solve:
    """The call for many sequences; bad options are found before any work."""
    chosen = method_named(method)
    top, jobs = options["top"], options["jobs"]
    deadline_for(time_limit)
    call: Row = {"method": method, "time_limit": time_limit, "top": top}
    if options["tau"] is not None:
        if options["option"]:
            raise ValueError(f"--option {options['option'][0]}: --tau takes none; leave it out")
        return _two_phase_solver(call, options)
    call |= {name: options[name] for name in chosen.options if options.get(name) is not None}
    own = parameters(options["option"])
    asked(method, time_limit, top, own)
    call |= own
    if options["trace"] and jobs > 1:
        raise ValueError("--trace follows one sequence at a time: leave --jobs out")

    def solve(trellises: Iterable[Trellis], rules: RuleSet) -> Iterator[tuple[list[Solution], Trace]]:
        trace: Trace = []
        watch = {"callback": lambda *now: trace.append([finite(x) for x in now])} if options["trace"] else {}
        given, again = tee(trellises)
        for trellis, found in zip(
            again, decode_many(given, rules, n_jobs=jobs, **call, **watch), strict=False
        ):
            solutions: Any = found if top else [found]
            yield solutions or [decode_one(trellis, rules, **{**call, "top": None})], list(trace)
            trace.clear()

    return solve


def _two_phase_solver(call: Row, options: Row) -> Solve:
    score_floor(0, options["tau"], options["bound"])
    if options["trace"] or options["jobs"] > 1:
        raise ValueError(
            "--tau decodes one sequence at a time, without a trace: leave --jobs and --trace out"
        )
    call = call | {name: options[name] for name in ("tau", "bound", "threads")}

    def solve(trellises: Iterable[Trellis], rules: RuleSet) -> Iterator[tuple[list[Solution], Trace]]:
        for trellis in trellises:
            found: Any = decode_two_phase(trellis, rules, **call)
            found = found if call["top"] else [found]
            yield found or [decode_two_phase(trellis, rules, **{**call, "top": None})], []

    return solve


def _print(rows: list[Row]) -> None:
    for row in rows:
        print(json.dumps(row, ensure_ascii=False, allow_nan=False), file=sys.stdout, flush=True)
