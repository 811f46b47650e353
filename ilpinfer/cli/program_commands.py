"""The commands that write integer programs and read their solutions; the work is imported when a command runs."""

from typing import TYPE_CHECKING, Annotated

import typer

from ilpinfer.cli.arguments import AsJson, First, Limit, output, output_folder, reads_input, solution_files
from ilpinfer.cli.registration import Panel

if TYPE_CHECKING:
    from ilpinfer.cli.inputs import InputOptions

panel = Panel("Programs and proofs")
PROGRAM = "Integer program"

ProgramName = Annotated[
    str,
    typer.Option(
        "--program",
        metavar="NAME",
        help="soft: rules with penalties are soft; hard: every rule is hard; two-phase: the second phase of two-phase inference; "
        "shortest-path: no rules.",
        rich_help_panel=PROGRAM,
    ),
]
Folded = Annotated[
    bool,
    typer.Option(
        "--folded/--no-folded",
        help="Add rules on one token or step to the scores, in place of columns and rows.",
        rich_help_panel=PROGRAM,
    ),
]
Tau = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Share that sets the least score of a two-phase program, 0 to 1; 0.9 if not given.",
        rich_help_panel=PROGRAM,
    ),
]
FloorKind = Annotated[
    str,
    typer.Option(
        metavar="KIND", help="How --tau sets the least score: relative or odds.", rich_help_panel=PROGRAM
    ),
]


@panel.command(
    "export",
    "ilpinfer export scores.jsonl --rules rules.toml --output programs",
    "ilpinfer export test.tsv --model hmm.json --rules citations --format mps --first 10 --output programs",
)
@reads_input
def _export(
    source: "InputOptions",
    output: Annotated[
        str,
        output_folder(
            "Folder for the programs: 0001.lp and 0001.columns.json of the first sequence, and so on."
        ),
    ],
    format_: Annotated[str, typer.Option("--format", metavar="FORMAT", help="lp or mps.")] = "lp",
    units: Annotated[
        str,
        typer.Option(metavar="UNIT", help="Unit of the objective: nats, or grid for integers of 2^-20 nats."),
    ] = "nats",
    program: ProgramName = "soft",
    folded: Folded = False,
    tau: Tau = None,
    bound: FloorKind = "relative",
    first: First = None,
    as_json: AsJson = False,
) -> None:
    """Write the integer program of each sequence for other solvers, with named columns and rows."""
    from ilpinfer.cli.exporting import ExportOptions, export
    from ilpinfer.cli.programs import ProgramOptions

    export(
        ExportOptions(
            source,
            ProgramOptions(program, folded, tau, bound),
            output,
            format=format_,
            units=units,
            first=first,
            as_json=as_json,
        )
    )


@panel.command(
    "import-solution",
    "ilpinfer import-solution scores.jsonl programs/0001.sol --rules rules.toml",
    "ilpinfer import-solution scores.jsonl programs --rules rules.toml --output values.jsonl",
)
@reads_input
def _import_solution(
    source: "InputOptions",
    solutions: Annotated[
        list[str],
        solution_files(
            "Solution files of CBC, HiGHS, SCIP, Gurobi or CPLEX, or folders of them, named after their programs: 0001.sol."
        ),
    ],
    output: Annotated[str, output("File for the results, JSON lines, in place of a table")] = "",
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Format of the solved program, where 0001.columns.json is not beside the solution: lp or mps.",
            rich_help_panel=PROGRAM,
            show_default=False,
        ),
    ] = "",
    units: Annotated[
        str,
        typer.Option(
            metavar="UNIT",
            help="Unit of its objective, likewise: nats or grid.",
            rich_help_panel=PROGRAM,
            show_default=False,
        ),
    ] = "",
    program: ProgramName = "soft",
    folded: Folded = False,
    tau: Tau = None,
    bound: FloorKind = "relative",
    time_limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """Read solutions of other solvers: their labellings, scores, and gaps to the proved optimum."""
    from ilpinfer.cli.importing import ImportOptions, import_solutions
    from ilpinfer.cli.programs import ProgramOptions

    import_solutions(
        ImportOptions(
            source,
            ProgramOptions(program, folded, tau, bound),
            solutions,
            output=output,
            format=format_,
            units=units,
            time_limit=time_limit,
            as_json=as_json,
        )
    )
