"""The commands about references; the work is imported when a command runs."""

from typing import TYPE_CHECKING, Annotated

import typer

from ilpinfer.cli.arguments import AsJson, Limit, decodes_input, output, output_folder
from ilpinfer.cli.registration import Panel
from ilpinfer.cli.tree import Group

if TYPE_CHECKING:
    from ilpinfer.cli.inputs import InputOptions

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE", help="References: JSON, JSON lines, or either gzipped; - for standard input."
    ),
]

panel = Panel("Commands")


def register(app: typer.Typer) -> None:
    """Add these commands as the group `reference` of an application."""
    references = typer.Typer(cls=Group, rich_markup_mode=None, add_completion=False)
    panel.register(references)
    app.add_typer(
        references,
        name="reference",
        help="Make and verify reference solutions: problems with their optima, in files that contain the proof.",
        epilog="ilpinfer reference make scores.jsonl --rules rules.toml --output references.jsonl\n"
        "ilpinfer reference verify references.jsonl",
        rich_help_panel="Programs and proofs",
    )


@panel.command("make", "ilpinfer reference make scores.jsonl --rules rules.toml --output references.jsonl")
@decodes_input
def _make(
    source: "InputOptions",
    output: Annotated[
        str,
        output(
            "File for the references: NAME.jsonl, or NAME.json for one sequence; NAME.jsonl.gz is compressed"
        ),
    ],
    top: Annotated[
        int | None, typer.Option(min=1, metavar="NUMBER", help="List at least this many labellings.")
    ] = None,
    ties: Annotated[
        int, typer.Option(min=1, metavar="NUMBER", help="List at most this many optima of equal score.")
    ] = 100,
    time_limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """Decode each sequence, and write it with all optima, the next best score, and proofs."""
    from ilpinfer.cli.referencing import MakeOptions, make_references

    make_references(MakeOptions(source, output, top, ties, time_limit, as_json))


@panel.command(
    "verify", "ilpinfer reference verify references.jsonl", "ilpinfer reference verify - <references.jsonl"
)
def _verify(
    files: Files,
    depth: Annotated[
        str,
        typer.Option(
            metavar="DEPTH",
            help="tables: trust the compiled rules; meaning: also compile the rules again, and compare.",
        ),
    ] = "meaning",
    max_steps: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", help="Most steps of a reference; as many as a minute takes if not given."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Verify references. No solver is needed."""
    from ilpinfer.cli.referencing import verify_references

    verify_references(files, depth, max_steps, as_json=as_json)


@panel.command("show", "ilpinfer reference show references.jsonl --number 1")
def _show(
    files: Files,
    number: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", help="Show only the reference of this number, from 1, of each file."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show labellings, scores, the margin to the next best score, rules, and the size of the proofs."""
    from ilpinfer.cli.referencing import show_references

    show_references(files, number, as_json=as_json)


@panel.command("generate", "ilpinfer reference generate ties --count 5 --seed 1 --output ties.jsonl")
def _generate(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", help="Kind of problem: plain, ties, infeasible, second-order or soft-and-hard."
        ),
    ],
    output: Annotated[
        str,
        output(
            "File for the references: NAME.jsonl, or NAME.json for one reference; NAME.jsonl.gz is compressed"
        ),
    ],
    count: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER", help="Number of references; the set that the package contains if not given."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="NUMBER", help="Seed; the same seed gives the same references.")
    ] = 0,
    tokens: Annotated[int, typer.Option(metavar="NUMBER", help="Tokens of each sequence.")] = 20,
    labels: Annotated[int, typer.Option(metavar="NUMBER", help="Number of labels, 3 or more.")] = 6,
    rule_count: Annotated[int, typer.Option(metavar="NUMBER", help="Most rules of a sequence.")] = 4,
    hardness: Annotated[
        float,
        typer.Option(metavar="SHARE", help="How much the scores favor labellings that break rules, 0 to 1."),
    ] = 0.5,
    ties: Annotated[
        int, typer.Option(min=1, metavar="NUMBER", help="List at most this many optima of equal score.")
    ] = 100,
    as_json: AsJson = False,
) -> None:
    """Generate references with random scores and rules."""
    from ilpinfer.cli.generating import GenerateOptions, generate_references

    generate_references(
        GenerateOptions(kind, output, count, seed, tokens, labels, rule_count, hardness, ties, as_json)
    )


@panel.command("programs", "ilpinfer reference programs references.jsonl --output programs")
def _programs(
    files: Files,
    output: Annotated[str, output_folder("Folder for the programs.")],
    units: Annotated[
        str,
        typer.Option(metavar="UNIT", help="Unit of the objective: nats, or grid for integers of 2^-20 nats."),
    ] = "nats",
    as_json: AsJson = False,
) -> None:
    """Write the integer program of each reference, as LP and as MPS."""
    from ilpinfer.cli.generating import write_reference_programs

    write_reference_programs(files, output, units, as_json=as_json)
