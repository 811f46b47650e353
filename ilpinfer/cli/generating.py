"""`ilpinfer reference generate` and `ilpinfer reference programs`."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from formulations.messages import counted
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OPTIONS, argument, output_file, output_folder
from ilpinfer.cli.command import command
from ilpinfer.cli.exporting import check_texts
from ilpinfer.cli.failure import LeftOut
from ilpinfer.cli.outputs import Outputs, check_streams
from ilpinfer.cli.progress import progress
from ilpinfer.cli.screen import print_json
from ilpinfer.cli.streams import notice
from ilpinfer.corpus.examples import InputError
from ilpinfer.references.files import number_references, write
from ilpinfer.references.integer_programs import write_programs
from ilpinfer.references.record import InvalidReference, Reference
from ilpinfer.system.output_paths import check_folder

if TYPE_CHECKING:
    from ilpinfer.references.generator import Instance


@dataclass(frozen=True)
class GenerateOptions:
    kind: Annotated[
        str,
        argument("KIND", "Kind of problem: plain, ties, infeasible, second-order or soft-and-hard."),
    ]
    output: Annotated[
        str,
        output_file(
            "File for the references: NAME.jsonl, or NAME.json for one reference; NAME.jsonl.gz is compressed"
        ),
    ]
    count: int | None = OPTIONS.option(
        None, "NUMBER: Number of references; the set that the package contains if not given."
    )
    seed: int = OPTIONS.option(0, "NUMBER: Seed; the same seed gives the same references.")
    tokens: int = OPTIONS.option(20, "NUMBER: Tokens of each sequence.")
    labels: int = OPTIONS.option(6, "NUMBER: Number of labels, 3 or more.")
    rule_count: int = OPTIONS.option(4, "NUMBER: Largest number of rules of a sequence.")
    hardness: float = OPTIONS.option(
        0.5, "SHARE: How much the scores favor labellings that break rules, 0 to 1."
    )
    ties: arguments.Ties = 100
    as_json: arguments.AsJson = False

    def instances(self) -> "Iterator[Instance]":
        from ilpinfer.references.generator import generate
        from ilpinfer.references.shipped import instances

        if self.count is None:
            return instances(self.kind)
        sizes = {"T": self.tokens, "K": self.labels, "rules": self.rule_count}
        return generate(self.kind, self.count, seed=self.seed, hardness=self.hardness, **sizes)


@command("ilpinfer reference generate ties --count 5 --seed 1 --output ties.jsonl")
def generate_references(options: GenerateOptions) -> None:
    """Generate references with random scores and rules.

    If one cannot be proved, nothing is written.
    """
    from ilpinfer.references.making import make

    Outputs(options.as_json, [], output=options.output)
    made = options.instances()
    if options.count != 1 and ".jsonl" not in options.output and not options.output.startswith("/dev/"):
        raise InputError(f"--output {options.output}: a JSON file holds one reference; use .jsonl")
    with progress("making references", options.count or 20) as advance:

        def references() -> Iterator[Reference]:
            for instance in made:
                yield make(instance.trellis, instance.rules, name=instance.name, ties=options.ties)
                advance()

        written = write(options.output, references())
    notice(f"{options.output}: {counted(written, 'reference')} of kind {options.kind}")
    if options.as_json:
        print_json({"output": options.output, "references": written, "kind": options.kind})


@command("ilpinfer reference programs references.jsonl --output programs")
def write_reference_programs(
    files: arguments.ReferenceFiles,
    output: Annotated[str, output_folder("Folder for the programs.")],
    units: arguments.Units = "nats",
    as_json: arguments.AsJson = False,
) -> None:
    """Write the integer program of each reference, as LP and as MPS."""
    check_texts("lp", units)
    check_streams(False, [], files)
    check_folder(output)
    failures, count, taken = LeftOut(), 0, set[str]()
    for path in files:
        for number, each in number_references(path):
            count += 1
            with failures.at(f"{path}, reference {number}"):
                if isinstance(each, InvalidReference):
                    raise each
                write_programs([each], Path(output), units=units, taken=taken, inputs=files)
    if not count:
        raise InputError(f"{', '.join(files)}: there is no reference")
    if as_json:
        print_json(
            {"output": output, "references": count, "programs": count - len(failures), "failures": failures}
        )
    notice(f"{output}: {counted(count - len(failures), 'program')}, as .lp and .mps")
    failures.check(f"{count} references have no program", 2)
