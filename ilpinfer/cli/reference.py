"""`ilpinfer reference`."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Annotated, Any

from formulations import RuleSet
from formulations.messages import counted
from ilpinfer.checker import MAX_STEPS
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OPTIONS, output_file, value_option
from ilpinfer.cli.command import build, command
from ilpinfer.cli.failure import Failure, LeftOut
from ilpinfer.cli.inputs import InputOptions, prepare
from ilpinfer.cli.outputs import Outputs, check_streams
from ilpinfer.cli.progress import progress
from ilpinfer.cli.screen import print_json
from ilpinfer.cli.streams import notice, show_line
from ilpinfer.cli.tree import CommandGroup
from ilpinfer.corpus.examples import InputError
from ilpinfer.pipelines.trellises import ScoredExample
from ilpinfer.references.files import number_references, write
from ilpinfer.references.record import Reference
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
    top: int | None = OPTIONS.option(
        None, "NUMBER: List at least this many labellings of each sequence, best first.", min=1
    )
    time_limit: arguments.Limit = None
    as_json: arguments.AsJson = False


@dataclass(frozen=True)
class _Work:
    options: MakeOptions
    scored: list[ScoredExample]
    rules: RuleSet
    failures: LeftOut = field(default_factory=LeftOut)

    def references(self) -> Iterator[Reference]:
        from ilpinfer.references.making import make

        options = self.options
        with progress("making references", len(self.scored)) as advance:
            for item in self.scored:
                with self.failures.at(item.where):
                    if item.trellis is None:
                        raise item.error or InputError("it has no scores")
                    if not len(item.trellis):
                        raise InputError("an empty sequence has one labelling, and no reference")
                    yield make(
                        item.trellis,
                        self.rules.of(item.example.notes),
                        name=item.where,
                        time_limit=options.time_limit,
                        top=options.top,
                    )
                advance()


@command("ilpinfer reference make scores.jsonl --rules rules.toml --output references.jsonl")
def make_references(options: MakeOptions) -> None:
    """Decode each sequence, and write it with all optimal labellings, the next best score, and proofs.

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
            "tables: trust the compiled rules in the file. meaning: also compile the rules again and compare.",
        ),
    ] = "meaning",
    max_steps: Annotated[
        int | None,
        value_option(
            "NUMBER",
            "Largest number of steps that checking one reference may take; about a minute if not given.",
            min=1,
        ),
    ] = None,
    verbose: Annotated[
        bool,
        value_option(
            None,
            "Also show score, margin and optimal labellings of each verified reference.",
            OPTIONS,
            "--verbose",
            "-v",
        ),
    ] = False,
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
            shown = each if verbose and isinstance(each, Reference) and finding.holds else None
            findings.append(
                {
                    "file": path,
                    "reference": number,
                    "name": name,
                    "holds": finding.holds,
                    "reasons": finding.reasons,
                    **({} if shown is None else _values(shown)),
                }
            )
            title = f"{path}: {_title(number, name)}"
            lines = [f"{title}: {reason}" for reason in finding.reasons]
            faults += lines[:1]
            if shown is not None:
                first, *others = _lines(shown)
                lines += [f"{title}: {first}", *others]
            for line in () if as_json else lines:
                show_line(line)
    count = len(findings)
    if not count:
        raise InputError(f"{', '.join(files)}: no reference in the file")
    if as_json:
        print_json({"depth": depth, "references": findings})
    if faults:
        raise Failure(f"{len(faults)} of {count} references are not verified: first {faults[0]}", 1)
    if not as_json:
        show_line(f"{counted(count, 'reference')} verified (depth: {depth})")


def _title(number: int, name: str) -> str:
    return f"reference {number}{f' ({name})' if name else ''}"


def _values(reference: Reference) -> dict[str, Any]:
    """The content of a reference as plain values for JSON."""
    optima = [list(reference.named(labelling)) for labelling in reference.optima]
    said = {name: getattr(reference, name) for name in ("status", "score", "margin", "complete", "tokens")}
    return {**said, "optima": optima}


def _lines(reference: Reference) -> Iterator[str]:
    """The content of a reference as text: the figures and the first optima."""
    sizes = f"{counted(len(reference.tokens), 'token')}, {counted(len(reference.labels), 'label')}"
    if reference.score is None:
        yield f"{reference.status}; {sizes}"
        return
    others = "" if reference.complete else ", and there may be more"
    margin = "no other labelling" if reference.margin is None else f"margin {reference.margin!r}"
    optima = counted(len(reference.optima), "labelling")
    yield f"{reference.score!r} nats, {margin}; {optima}{others}; {sizes}"
    for labelling in reference.optima[:3]:
        pairs = zip(reference.tokens, reference.named(labelling), strict=True)
        yield "  " + " ".join(f"{token}/{label}" if token else label for token, label in pairs)


reference = CommandGroup(
    name="reference",
    commands={"make": build("make", make_references), "verify": build("verify", verify_references)},
    help="Make and verify references: problems with their optimal labellings and the proofs, in one file.",
    epilog="ilpinfer reference make scores.jsonl --rules rules.toml --output references.jsonl\n"
    "ilpinfer reference verify references.jsonl",
    rich_markup_mode=None,
)
