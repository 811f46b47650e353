"""The commands that decode; the work is imported when a command runs."""

from typing import TYPE_CHECKING, Annotated

import typer

from ilpinfer.cli.arguments import (
    AsJson,
    Limit,
    MethodName,
    MethodOption,
    Threads,
    Width,
    decodes_input,
    output_folder,
    reads_many,
)
from ilpinfer.cli.registration import Panel

if TYPE_CHECKING:
    from ilpinfer.cli.inputs import InputOptions

panel = Panel("Decode")
TWO_PHASE = "Two-phase inference"


@panel.command("demo", "ilpinfer demo --items 20")
def _demo(
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="Seed of the generated items.")] = 0,
    items: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="Number of items to decode.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Run an embedded example: train an HMM on generated résumé items, and compare exact and heuristic decoding."""
    from ilpinfer.cli.demo import DemoOptions, demo

    demo(DemoOptions(seed, items, as_json))


@panel.command(
    "decode",
    "ilpinfer decode scores.jsonl --rules rules.toml --output labels.jsonl",
    "ilpinfer decode test.tsv --model hmm.json --rules citations --time-limit 0.5",
    "cat scores.jsonl | ilpinfer decode - --rules rules.toml --top 3 | head",
)
@decodes_input
def _decode(
    source: "InputOptions",
    output: Annotated[
        str, typer.Option(metavar="FILE", help="File for the labellings, JSON lines; - for standard output.")
    ] = "-",
    method: MethodName = "auto",
    time_limit: Limit = None,
    top: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", help="Write this many labellings of each sequence, best first."
        ),
    ] = None,
    tau: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Minimize violations first, among labellings whose score is near the best one; 0 to 1, and 1 for the best "
            "score only.",
            rich_help_panel=TWO_PHASE,
        ),
    ] = None,
    bound: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="How --tau sets the least score: relative or odds.",
            rich_help_panel=TWO_PHASE,
        ),
    ] = "relative",
    risk: Annotated[
        str,
        typer.Option(
            metavar="UNIT",
            help="With --method posterior: maximize the expected number of correct tokens, or the expected F1 of spans; tokens "
            "or spans.",
            show_default=False,
        ),
    ] = "",
    width: Width = 10,
    threads: Threads = 1,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain/--no-explain",
            help="Add the violations of each rule: where they are, and how the labelling would change without the rule.",
        ),
    ] = False,
    within: Annotated[
        float | None,
        typer.Option(
            metavar="NATS",
            help="With --top: only labellings at most this far below the best score; 0 for ties.",
        ),
    ] = None,
    trace: Annotated[
        bool,
        typer.Option(
            "--trace/--no-trace",
            help="Add the incumbents and bounds of each sequence over time, in seconds and nats, with the violations of each "
            "incumbent.",
        ),
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="Number of processes.")] = 1,
    option: MethodOption = None,
) -> None:
    """Label sequences. Each line of output is a JSON object with labels, score, penalty, violations, bound and proof."""
    from ilpinfer.cli.decoding import DecodeOptions, decode

    decode(
        DecodeOptions(
            source,
            output=output,
            jobs=jobs,
            method=method,
            time_limit=time_limit,
            width=width,
            threads=threads,
            top=top,
            tau=tau,
            bound=bound,
            risk=risk,
            explain=explain,
            within=within,
            trace=trace,
            option=option or [],
        )
    )


RUN = "Run"


@panel.command(
    "reprocess",
    "ilpinfer reprocess corpus/*.jsonl --rules rules.toml --output labelled",
    "ilpinfer reprocess corpus --model hmm.json --rules citations --output labelled --resume",
)
@reads_many
def _reprocess(
    source: "InputOptions",
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="Files, folders and patterns: token<TAB>label columns, JSON lines, Parquet or Arrow; - for standard input.",
        ),
    ],
    output: Annotated[
        str, output_folder("Folder for the results: part-00000.parquet and so on, and manifest.json.")
    ],
    method: MethodName = "auto",
    time_limit: Limit = None,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Seconds after which the run stops; --resume continues it.",
            rich_help_panel=RUN,
        ),
    ] = None,
    shard_size: Annotated[
        int, typer.Option(min=1, metavar="NUMBER", help="Sequences of one output file.", rich_help_panel=RUN)
    ] = 1000,
    longest: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="TOKENS",
            help="Most tokens of a sequence; longer sequences are rejected.",
            rich_help_panel=RUN,
        ),
    ] = 100_000,
    jobs: Annotated[
        int,
        typer.Option(
            min=0, metavar="NUMBER", help="Number of processes; 0 for one a core.", rich_help_panel=RUN
        ),
    ] = 0,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume/--no-resume", help="Continue the run in the output folder.", rich_help_panel=RUN
        ),
    ] = False,
    only_unproved: Annotated[
        bool,
        typer.Option(
            "--only-unproved/--no-only-unproved",
            help="Decode again only the sequences of a finished run that have no proof, for example with a longer time limit.",
            rich_help_panel=RUN,
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run/--no-dry-run",
            help="Decode a few sequences, estimate the time of the run, and write nothing.",
            rich_help_panel=RUN,
        ),
    ] = False,
    scheduler: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Decode on the workers of a Dask scheduler, such as tcp://10.0.0.1:8786.",
            rich_help_panel=RUN,
            show_default=False,
        ),
    ] = "",
    option: MethodOption = None,
    as_json: AsJson = False,
) -> None:
    """Label a corpus of any size into Parquet files. An interrupted run can be resumed."""
    from ilpinfer.cli.reprocessing import ReprocessOptions, reprocess

    reprocess(
        ReprocessOptions(
            sources,
            source,
            output,
            method=method,
            option=option or [],
            time_limit=time_limit,
            budget=budget,
            shard_size=shard_size,
            longest=longest,
            jobs=jobs,
            resume=resume,
            only_unproved=only_unproved,
            dry_run=dry_run,
            scheduler=scheduler,
            as_json=as_json,
        )
    )
