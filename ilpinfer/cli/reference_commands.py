"""The commands about references; the work is imported when a command runs."""

from typing import TYPE_CHECKING, Annotated

import typer

from ilpinfer.cli.arguments import Limit, decodes_input

if TYPE_CHECKING:
    from ilpinfer.cli.inputs import InputOptions

Files = Annotated[list[str], typer.Argument(metavar="FILE...", help="JSON, JSON lines, or either gzipped.")]

references = typer.Typer(
    help="Reference solutions: problems with their optima, in files that carry the proof.",
    rich_markup_mode=None,
    add_completion=False,
)


@references.command("make")
@decodes_input
def _make(
    source: "InputOptions",
    output: Annotated[str, typer.Option(help="NAME.jsonl, or NAME.json for one sequence; .gz packs it.")],
    top: Annotated[int | None, typer.Option(min=1, help="List at least so many labellings.")] = None,
    ties: Annotated[int, typer.Option(min=1, help="List at most so many optima.")] = 100,
    time_limit: Limit = None,
) -> None:
    """Decode, and write each sequence with all optima, the next best score, and proofs."""
    from ilpinfer.cli.referencing import MakeOptions, make_references

    make_references(MakeOptions(source, output, top, ties, time_limit))


@references.command("verify")
def _verify(
    files: Files,
    depth: Annotated[
        str, typer.Option(help="tables: trust the rules as compiled; meaning: compile them again, too.")
    ] = "meaning",
    max_steps: Annotated[
        int | None, typer.Option(min=1, help="Of one proof; if not given, about a minute.")
    ] = None,
) -> None:
    """Check that references hold; no solver is needed."""
    from ilpinfer.cli.referencing import verify_references

    verify_references(files, depth, max_steps)


@references.command("show")
def _show(
    files: Files,
    number: Annotated[int | None, typer.Option(min=1, help="Only this reference of each file.")] = None,
) -> None:
    """Show labellings, scores, margin, rules and size of the proof."""
    from ilpinfer.cli.referencing import show_references

    show_references(files, number)


@references.command("generate")
def _generate(
    kind: Annotated[
        str,
        typer.Argument(metavar="KIND", help="plain, ties, infeasible, second-order or soft-and-hard."),
    ],
    output: Annotated[str, typer.Option(help="NAME.jsonl, or NAME.json for one reference; .gz packs it.")],
    count: Annotated[
        int | None, typer.Option(help="How many; if not given, those that come with the package.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed makes the same references.")] = 0,
    tokens: Annotated[int, typer.Option(help="Of each sequence.")] = 20,
    labels: Annotated[int, typer.Option(help="At least 3.")] = 6,
    rule_count: Annotated[int, typer.Option(help="Rules of each sequence, at most.")] = 4,
    hardness: Annotated[float, typer.Option(help="How strongly scores fight the rules, 0 to 1.")] = 0.5,
    ties: Annotated[int, typer.Option(min=1, help="List at most so many optima.")] = 100,
) -> None:
    """Make references of random scores and rules."""
    from ilpinfer.cli.generating import GenerateOptions, generate_references

    generate_references(
        GenerateOptions(kind, output, count, seed, tokens, labels, rule_count, hardness, ties)
    )


@references.command("programs")
def _programs(
    files: Files,
    output: Annotated[str, typer.Option(help="A folder.")],
    units: Annotated[str, typer.Option(help="Of the objective: nats, or grid for 2^-20 nats.")] = "nats",
) -> None:
    """Write the integer program of each reference, as LP and as MPS."""
    from ilpinfer.cli.generating import write_reference_programs

    write_reference_programs(files, output, units)
