"""The command that labels corpora of any size; the work is imported when it runs."""

from typing import TYPE_CHECKING, Annotated

import typer

from ilpinfer.cli.arguments import Limit, reads_many

if TYPE_CHECKING:
    from ilpinfer.cli.inputs import InputOptions


@reads_many
def reprocess(
    source: "InputOptions",
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...",
            help="Files, folders and patterns: token<TAB>label columns, JSON lines, Parquet, Arrow; or - for standard input.",
        ),
    ],
    output: Annotated[str, typer.Option(help="A folder for part-00000.parquet, …, and manifest.json.")],
    method: Annotated[str, typer.Option(help="See `ilpinfer methods`.")] = "auto",
    time_limit: Limit = None,
    budget: Annotated[
        float | None, typer.Option(help="Seconds for the run, after which it stops; --resume goes on.")
    ] = None,
    shard_size: Annotated[int, typer.Option(min=1, help="Sequences of a file.")] = 1000,
    longest: Annotated[
        int, typer.Option(min=1, help="Tokens of a sequence; longer ones are rejected.")
    ] = 100_000,
    jobs: Annotated[int, typer.Option(min=0, help="Processes; 0 for one a core.")] = 0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in the output folder.")
    ] = False,
    only_unproved: Annotated[
        bool,
        typer.Option(
            "--only-unproved", help="Decode again what a finished run has not proved, as with more time."
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Decode a few sequences, say how long all will take, and write nothing."
        ),
    ] = False,
    scheduler: Annotated[
        str, typer.Option(help="Decode on the workers of a Dask scheduler, such as tcp://10.0.0.1:8786.")
    ] = "",
    option: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE, a parameter of the method; may be repeated.")
    ] = None,
) -> None:
    """Label a corpus of any size into Parquet files; what is done is kept, and gone on from."""
    from ilpinfer.cli.reprocessing import ReprocessOptions
    from ilpinfer.cli.reprocessing import reprocess as run

    run(
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
        )
    )
