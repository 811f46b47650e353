"""`ilpinfer reference`."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Annotated, Any

from formulations import RuleSet, parse_rules
from formulations.errors import InferenceError
from formulations.messages import counted
from ilpinfer.checker import MAX_STEPS
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OPTIONS, output_file, value_option
from ilpinfer.cli.command import command
from ilpinfer.cli.failure import Failure, LeftOut
from ilpinfer.cli.inputs import InputOptions, prepare
from ilpinfer.cli.outputs import Outputs, check_streams
from ilpinfer.cli.progress import progress
from ilpinfer.cli.screen import print_json
from ilpinfer.cli.streams import notice, show_line
from ilpinfer.corpus.examples import InputError
from ilpinfer.errors import describe
from ilpinfer.pipelines.trellises import ScoredSequence
from ilpinfer.references.files import number_references, write
from ilpinfer.references.record import InvalidReference, Reference
from ilpinfer.references.verification import DEPTHS, Depth, Finding, verify


@dataclass(frozen=True)
class MakeOptions:
    input: InputOptions
    output: Annotated[
        str,
        output_file(
            "File for the references: NAME.jsonl, or NAME.json for one sequence; NAME.jsonl.gz is compressed"
        ),
    ]
    top: int | None = OPTIONS.option(None, "NUMBER: List at least this many labellings.", min=1)
    ties: arguments.Ties = 100
    time_limit: arguments.Limit = None
    as_json: arguments.AsJson = False


@dataclass(frozen=True)
class _Work:
    options: MakeOptions
    scored: list[ScoredSequence]
    rules: RuleSet
    failures: LeftOut = field(default_factory=LeftOut)

    def references(self) -> Iterator[Reference]:
        from ilpinfer.references.making import make

        options = self.options
        with progress("making references", len(self.scored)) as advance:
            for item in self.scored:
                with self.failures.at(item.example.where):
                    if item.trellis is None:
                        raise item.error or InputError("it has no scores")
                    if not len(item.trellis):
                        raise InputError("an empty sequence has one labelling, and no reference")
                    yield make(
                        item.trellis,
                        self.rules,
                        name=item.example.where,
                        ties=options.ties,
                        time_limit=options.time_limit,
                        top=options.top,
                    )
                advance()


@command("ilpinfer reference make scores.jsonl --rules rules.toml --output references.jsonl")
def make_references(options: MakeOptions) -> None:
    """Decode each sequence, and write it with all optima, the next best score, and proofs.

    Sequences without a reference are reported at the end.
    """
    inputs = options.input.files
    Outputs(options.as_json, inputs, output=options.output)
    scored, rules, _ = prepare(options.input, fit=True)
    if len(scored) > 1 and ".jsonl" not in options.output and not options.output.startswith("/dev/"):
        raise InputError(
            f"--output {options.output}: a JSON file holds one reference, and there are {len(scored)}; use .jsonl"
        )
    work = _Work(options, scored, rules)
    references = work.references()
    first = next(references, None)
    written = 0
    if first is not None:
        written = write(options.output, chain([first], references), inputs)
    notice(f"{options.output}: {counted(written, 'reference')}" if written else "no reference was made")
    if options.as_json:
        print_json({"output": options.output, "references": written, "failures": work.failures})
    work.failures.check(f"{len(scored)} sequences have no reference", 1)


@command("ilpinfer reference verify references.jsonl", "ilpinfer reference verify - <references.jsonl")
def verify_references(
    files: arguments.ReferenceFiles,
    depth: Annotated[
        str,
        value_option(
            "DEPTH",
            "tables: trust the compiled rules; meaning: also compile the rules again, and compare.",
        ),
    ] = "meaning",
    max_steps: Annotated[
        int | None,
        value_option(
            "NUMBER",
            "Largest number of steps to check a reference; as many as a minute takes if not given.",
            min=1,
        ),
    ] = None,
    as_json: arguments.AsJson = False,
) -> None:
    """Verify references. No solver is needed.

    Wrong references, and records that are not references, are reported.
    """
    if depth not in DEPTHS:
        raise InputError(f"--depth {depth}: expected {' or '.join(DEPTHS)}")
    wanted: Depth = "tables" if depth == "tables" else "meaning"
    check_streams(as_json, [], files)
    faults, findings = list[str](), list[dict[str, Any]]()
    for path in files:
        for number, each in number_references(path):
            if isinstance(each, Reference):
                name, finding = each.name, verify(each, wanted, max_steps=max_steps or MAX_STEPS)
            else:
                name, finding = "", Finding(False, (str(each),))
            place = {"file": path, "reference": number, "name": name}
            findings.append({**place, "holds": bool(finding), "reasons": finding.reasons})
            lines = [f"{path}: {_title(number, name)}: {reason}" for reason in finding.reasons]
            for line in () if as_json else lines:
                show_line(line)
            faults += lines[:1]
    count = len(findings)
    if not count:
        raise InputError(f"{', '.join(files)}: there is no reference")
    if as_json:
        print_json({"depth": depth, "references": findings})
    if faults:
        raise Failure(f"{len(faults)} of {count} references do not hold: first {faults[0]}", 1)
    if not as_json:
        show_line(f"{counted(count, 'reference')} hold{'s' * (count == 1)} ({depth})")


@command("ilpinfer reference show references.jsonl --number 1")
def show_references(
    files: arguments.ReferenceFiles,
    number: Annotated[
        int | None,
        value_option("NUMBER", "Show only the reference of this number, from 1, of each file.", min=1),
    ] = None,
    as_json: arguments.AsJson = False,
) -> None:
    """Show labellings, scores, the margin to the next best score, rules, and the size of the proofs."""
    check_streams(as_json, [], files)
    shown, records = 0, list[dict[str, Any]]()
    for path in files:
        for place, each in number_references(path):
            if number not in (None, place):
                continue
            if isinstance(each, InvalidReference):
                raise InvalidReference(f"{path}, reference {place}: {each}")
            try:
                lines, plain = list(_lines(each)), _record(each)
            except InferenceError as error:
                raise InvalidReference(f"{path}, reference {place}: {describe(error)}") from None
            records.append({"file": path, "reference": place, "name": each.name, **plain})
            for line in (
                () if as_json else [*[""] * (shown > 0), f"{path}: {_title(place, each.name)}", *lines]
            ):
                show_line(line)
            shown += 1
    if not shown:
        raise InputError(f"{', '.join(files)}: there is no reference {number or 1}")
    if as_json:
        print_json(records)


def _title(number: int, name: str) -> str:
    return f"reference {number}{f' ({name})' if name else ''}"


def _record(reference: Reference) -> dict[str, Any]:
    """The content of `_lines` as plain values."""
    optima = [list(reference.named(labelling)) for labelling in reference.optima]
    proofs = [
        {"score": level.score, "leaves": _leaves(level.proof["tree"]), "steps": level.proof["steps"]}
        for level in reference.levels
    ]
    return {
        "status": reference.status,
        "score": reference.score,
        "margin": reference.margin,
        "complete": reference.complete,
        "tokens": reference.tokens,
        "optima": optima,
        "labels": reference.labels,
        "rules": _rules(reference),
        "proofs": proofs,
        "digest": reference.digest,
    }


def _lines(reference: Reference) -> Iterator[str]:
    yield f"  status   {reference.status}"
    if reference.score is not None:
        others = "" if reference.complete else ", and there may be more"
        yield f"  score    {reference.score!r} nats, {counted(len(reference.optima), 'labelling')}{others}"
        yield f"  margin   {'none' if reference.margin is None else f'{reference.margin!r} nats'}"
        for labelling in reference.optima[:3]:
            pairs = zip(reference.tokens, reference.named(labelling), strict=True)
            yield "  optimum  " + " ".join(f"{token}/{label}" if token else label for token, label in pairs)
        if len(reference.optima) > 3:
            yield f"           and {len(reference.optima) - 3} more"
    yield f"  size     {counted(len(reference.tokens), 'token')}, {counted(len(reference.labels), 'label')}"
    for title in _rules(reference) or ["none"]:
        yield f"  rule     {title}"
    for level in reference.levels:
        what = "no other labelling" if level.score is None else f"score {level.score} / 2^20"
        leaves = _leaves(level.proof["tree"])
        shown = f"{leaves} {'leaf' if leaves == 1 else 'leaves'}"
        yield f"  proof    {what}: {shown}, {counted(level.proof['steps'], 'step')}"
    yield f"  digest   {reference.digest}"


def _rules(reference: Reference) -> list[str]:
    """The names of the rules; InvalidReference if they cannot be read."""
    try:
        return [item.name or item.title for item in parse_rules(reference.rules)]
    except ValueError as error:
        raise InvalidReference(f"its rules cannot be read: {describe(error)}") from None


def _leaves(tree: Any) -> int:
    waiting, count = [tree], 0
    while waiting:
        node = waiting.pop()
        if "case" in node:
            waiting += [node["below"], node["above"]]
        else:
            count += 1
    return count
