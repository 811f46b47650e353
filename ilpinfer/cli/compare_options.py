"""The options of `ilpinfer compare`, with the plan and layout made from them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OPTIONS, OptionGroup, output_folder
from ilpinfer.cli.inputs import InputOptions, method_options, parameters
from ilpinfer.comparison.plan import ComparisonData, Plan, plan_of
from ilpinfer.comparison.plots import WIDTH, write_plots
from ilpinfer.comparison.tables import Layout
from ilpinfer.corpus.examples import InputError

if TYPE_CHECKING:
    from ilpinfer.core.methods import Method

TABLE_OPTIONS = (
    "name",
    "join",
    "support",
    "tables",
    "preset",
    "columns",
    "digits",
    "caption",
    "label",
    "position",
    "plots",
    "only",
    "plot_width",
    "as_json",
)
"""Options for the files of a comparison, which also apply to result folders."""
METHODS, PAPER = OptionGroup("Methods"), OptionGroup("Tables and plots")


@dataclass(frozen=True)
class CompareOptions:
    input: InputOptions
    output: Annotated[str, output_folder("Folder for results.jsonl, summary.json and report.html.")]
    methods: str = METHODS.option(
        "auto,viterbi,beam",
        "NAMES: Methods, separated by commas, with their options after colons: "
        "auto,beam:width=50,lds:variant=published,cbc:time_limit=10. PACKAGE:DECODER is a decoder of another package.",
    )
    predictions: Sequence[str] = METHODS.option(
        (),
        "NAME=FILE: Also compare the labellings in FILE, of the same sequences, as method NAME. May be repeated.",
    )
    time_limit: arguments.Limit = None
    first: arguments.First = None
    seeds: str = METHODS.option("", "NUMBERS: Seeds of randomized methods, such as 1,2,3.")
    repeats: int = METHODS.option(
        1, "NUMBER: Number of runs of randomized methods, with seeds from 0.", min=1
    )
    name: Sequence[str] = METHODS.option(
        (), "NAME=METHOD: Show METHOD as NAME in rows, tables, plots and report. May be repeated."
    )
    join: Sequence[str] = OPTIONS.option(
        (),
        "FOLDER: With a folder as INPUT: add the comparison in this folder, which must be of the same "
        "sequences. May be repeated.",
    )
    support: int = OPTIONS.option(
        20,
        "NUMBER: Report the loss on a field only if gold has at least this many spans of the field.",
        min=1,
    )
    tables: Sequence[str] = PAPER.option(
        (),
        "FORMAT: Also write tables for papers: csv, markdown, latex or parquet. May be repeated.",
        "--format",
    )
    preset: str = PAPER.option(
        "",
        "NAME: Write one table that fits a column of a two-column paper, with confidence intervals: paper (F1, gaps, times) or gaps (gaps, "
        "search errors, model errors, times).",
    )
    columns: str = PAPER.option(
        "", "NAMES: Write one table of methods with these columns, such as method,f1,mean_gap."
    )
    digits: int | None = PAPER.option(None, "NUMBER: Decimal places of all numbers except counts.", min=0)
    caption: str = PAPER.option("", "TEXT: Caption of the tables.")
    label: str = PAPER.option("", "NAME: Label of the table in LaTeX, such as tab:gaps.")
    position: str = PAPER.option("", "TEXT: Placement of floating tables in LaTeX, such as tb.")
    plots: Sequence[str] = PAPER.option(
        (), "FORMAT: Also write the plots of the report as files: pdf, svg or png. May be repeated."
    )
    only: str = PAPER.option("", "NAMES: Write only these plots, such as gaps,anytime,profile,lengths.")
    plot_width: float = PAPER.option(WIDTH, "INCHES: Width of the plots; 3.3 for one column of a paper.")
    threads: arguments.Threads = 1
    option: Sequence[str] = METHODS.option((), "METHOD.NAME=VALUE: A parameter of a method. May be repeated.")
    as_json: arguments.AsJson = False

    def __post_init__(self) -> None:
        for name, formats in (("format", self.tables), ("plots", self.plots)):
            for kind, times in Counter(formats).items():
                if times > 1:
                    raise InputError(f"--{name} {kind} is given twice")

    @property
    def prediction_files(self) -> dict[str, str]:
        """The prediction file of each method; InputError for a malformed entry or a repeated name."""
        result: dict[str, str] = {}
        for entry in self.predictions:
            name, path = _pair("--predictions", entry, "FILE")
            if name in result:
                raise InputError(f"--predictions {name} is given twice")
            result[name] = path
        return result

    @property
    def names(self) -> dict[str, str]:
        """The custom names of methods."""
        result: dict[str, str] = {}
        for entry in self.name:
            name, method = _pair("--name", entry, "METHOD")
            if method in result:
                raise InputError(f"--name {entry}: {method} has the name {result[method]} already")
            result[method] = name
        return result

    @property
    def layout(self) -> Layout:
        """The layout of tables; ValueError for an unknown format, column or preset."""
        columns = self.columns.split(",") if self.columns else None
        layout = Layout(columns, self.digits, self.caption, self.preset, self.label, self.position)
        if self.tables:
            layout.check(*self.tables)
        elif layout != Layout():
            names = "--preset, --columns, --digits, --caption, --label and --position"
            raise InputError(f"{names} are for tables; add --format")
        return layout

    @property
    def only_plots(self) -> list[str] | None:
        """The names of plots; InputError without a plot format."""
        if not self.plots and (self.only or self.plot_width != WIDTH):
            raise InputError("--only and --plot-width are for plots; add --plots")
        return self.only.split(",") if self.only else None

    def write_plots(self, comparison: ComparisonData, inputs: Sequence[str]) -> None:
        for kind in self.plots:
            write_plots(
                comparison, self.output, kind, width=self.plot_width, only=self.only_plots, inputs=inputs
            )

    def plan(self, predictions: Mapping[str, Any]) -> Plan:
        """The plan; invalid methods and options are errors before any work."""
        values = {tuple(name.partition(".")[::2]): value for name, value in parameters(self.option).items()}
        taken = set[str]()

        def own(method: "Method") -> dict[str, Any]:
            taken.add(method.name)
            common = method_options(method, threads=self.threads)
            return common | {key: value for (name, key), value in values.items() if name == method.name}

        for name, key in values:
            if not key:
                raise InputError(f"--option {name}: expected METHOD.NAME=VALUE")
        plan = plan_of(
            self.methods,
            time_limit=self.time_limit,
            seeds=self._seeds,
            predictions=predictions,
            options=own,
            names=self.names,
        )
        for name, key in values:
            if name not in taken:
                known = ", ".join(plan.kinds)
                raise InputError(f"--option {name}.{key}: {name} is none of the methods {known}")
        return plan

    @property
    def _seeds(self) -> int | list[int]:
        if not self.seeds:
            return self.repeats
        if self.repeats != 1:
            raise InputError("--seeds and --repeats: give one of them")
        try:
            return [int(seed) for seed in self.seeds.split(",")]
        except ValueError:
            raise InputError(f"--seeds {self.seeds}: expected whole numbers separated by commas") from None


def _pair(option: str, entry: str, value: str) -> tuple[str, str]:
    """The name and the value of an entry NAME=VALUE."""
    name, equals, given = entry.partition("=")
    if not (name and equals and given):
        raise InputError(f"{option} {entry}: expected NAME={value}")
    return name, given
