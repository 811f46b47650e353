"""`ilpinfer compare`."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from formulations import RuleSet
from ilpinfer import __version__
from ilpinfer.cli.failure import Failure, Findings
from ilpinfer.cli.inputs import (
    InputOptions,
    method_options,
    notice,
    on_error,
    parameters,
    prepare,
    raise_interrupt,
)
from ilpinfer.cli.progress import progress
from ilpinfer.cli.show import show_comparison
from ilpinfer.core.registry import method as method_named
from ilpinfer.core.request import Request, deadline_for
from ilpinfer.corpus.conversion import iob1_remark
from ilpinfer.corpus.sequences import InputError
from ilpinfer.decoding.failures import attempt, failure
from ilpinfer.decoding.single import decode
from ilpinfer.evaluation.comparison import Disagreement, Tally, check_agreement, row_of, tallies
from ilpinfer.evaluation.report import report
from ilpinfer.pipelines.trellises import ScoredSequence
from ilpinfer.system.checkpoint import Row, RowCheckpoint, RowPosition
from ilpinfer.system.files import digest, write_atomically
from ilpinfer.system.output_paths import OutputError, output_path

FILES = ("results.jsonl", "summary.json", "report.html")
"""What a comparison writes into its folder."""


@dataclass(frozen=True)
class CompareOptions:
    """Options of `ilpinfer compare`.

    Parameters
    ----------
    input : what to decode
    output : a folder
    methods : names with commas between; `name:seconds` sets a time limit of its own
    time_limit : seconds for each sequence
    first : how many sequences; None for all
    width, threads : options of methods
    option : METHOD.NAME=VALUE, parameters of methods
    """

    input: InputOptions
    output: str
    methods: str = "auto,viterbi,beam"
    time_limit: float | None = None
    first: int | None = None
    width: int = 10
    threads: int = 1
    option: Sequence[str] = ()


def compare(options: CompareOptions) -> None:
    """Decode every sequence with every method, check that proofs agree, and show and write the comparison."""
    inputs, output = options.input.files, options.output
    places = [output_path(Path(output, name), inputs) for name in FILES]
    if places[0].direct:
        raise OutputError(f"{places[0].name}: is read back, and so must be a file; choose another output")
    reading = options.input.reading
    plan = _plan(options)
    scored, rules, content = prepare(options.input, reading, options.first)
    golden = [
        item.gold for item in scored if item.gold and item.trellis and item.trellis.labels.scheme == "bio"
    ]
    if remark := iob1_remark(golden, options.input.scheme):
        notice(remark)
    work = _Work(scored, rules, plan, Findings())
    job = digest(__version__, content, plan)
    with RowCheckpoint(Path(output, FILES[0]), job, work.position, inputs) as checkpoint:
        work.run(checkpoint)
        result = tallies(checkpoint.rows())
        summary = [tally.summary() for tally in result]
        about: Row = {
            "source": options.input.source,
            "rules": options.input.rules,
            "sequences": len(scored),
            "version": __version__,
            "limits": plan,
        }
        record = {**about, "methods": [asdict(line) for line in summary]}
        write_atomically(Path(output, FILES[1]), json.dumps(record, indent=2) + "\n", inputs)
        write_atomically(Path(output, FILES[2]), report(about, result), inputs)
    show_comparison(summary)
    work.findings.check()


@dataclass(frozen=True)
class _Work:
    """Sequences to decode with each method of a plan, and what was found wrong with them."""

    scored: list[ScoredSequence]
    rules: RuleSet
    plan: dict[str, Row]
    findings: Findings

    def position(self, row: Row) -> RowPosition:
        """The place of a row: those of a sequence form a group, in the order of the plan."""
        Tally("").add(row, None)
        if type(row["sequence"]) is not int or not isinstance(row["reason"], str):
            raise TypeError("a number and a text are expected")
        return RowPosition(row["sequence"], list(self.plan).index(row["method"]), len(self.plan))

    def run(self, checkpoint: RowCheckpoint) -> None:
        """Go on behind the rows that are there already, which are looked at again."""
        if checkpoint.damage:
            notice(checkpoint.damage)
        earlier = checkpoint.rows()
        with progress("comparing", len(self.scored) * len(self.plan)) as advance:
            for number, item in enumerate(self.scored):
                known = len(self.plan) if number < checkpoint.groups else 0
                known = len(checkpoint.unfinished) if number == checkpoint.groups else known
                rows = list(islice(earlier, known))
                for name in list(self.plan)[known:]:
                    rows.append(self._row(number, item, name))
                    checkpoint.write(rows[-1:])
                for row in rows:
                    self.findings.add(row, item.example.where)
                    advance()
                try:
                    check_agreement(rows, f"sequence {number} ({item.example.where})")
                except Disagreement as disagreement:
                    raise Failure(f"{disagreement}; the rows are in {checkpoint.place.part}", 1) from None

    def _row(self, number: int, item: ScoredSequence, name: str) -> Row:
        if item.trellis is None:
            assert item.error is not None
            solution, scheme = failure(item.error, "none"), ""
        else:
            scheme, call = item.trellis.labels.scheme, {"method": name, **self.plan[name]}
            decoded = partial(decode, item.trellis, self.rules, **call)
            solution = attempt(
                decoded, on_error(), lambda error, seconds: failure(error, name, seconds=seconds)
            )
        row = row_of(number, name, raise_interrupt(solution), item.gold, scheme)
        return {**row, "reason": f"{item.example.where}: {solution.reason}"} if solution.error else row


def _plan(options: CompareOptions) -> dict[str, Row]:
    """Options of each method; `name:seconds` sets a limit of its own."""
    plan: dict[str, Row] = {}
    entries = parameters(options.option)
    values = {tuple(name.partition(".")[::2]): value for name, value in entries.items()}
    for entry in options.methods.split(","):
        name, colon, seconds = entry.strip().partition(":")
        known = method_named(name)
        if name in plan:
            raise InputError(f"method {name} is given twice")
        try:
            limit = float(seconds) if colon else options.time_limit
        except ValueError:
            raise InputError(f"{entry.strip()}: expected seconds after the colon") from None
        deadline_for(limit)
        own = {option: value for (method, option), value in values.items() if method == name}
        Request.of(name, limit, own)
        common = method_options(known, width=options.width, threads=options.threads)
        plan[name] = {"time_limit": limit, **common, **own}
    for name, option in values:
        if not option:
            raise InputError(f"--option {name}: expected METHOD.NAME=VALUE")
        if name not in plan:
            raise InputError(f"--option {name}.{option}: {name} is none of the methods {', '.join(plan)}")
    return plan
