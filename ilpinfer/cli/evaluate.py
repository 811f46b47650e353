"""`ilpinfer evaluate`."""

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from formulations import LabelSet, RuleSet
from formulations.dtypes import Integers
from formulations.errors import RuleNotice
from formulations.messages import counted, suggestion
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OPTIONS, OptionGroup, argument, output_file
from ilpinfer.cli.command import command
from ilpinfer.cli.failure import about
from ilpinfer.cli.inputs import canonical_scheme, with_never
from ilpinfer.cli.labelled import reading
from ilpinfer.cli.outputs import Outputs
from ilpinfer.cli.rule_files import files_read, read_rules
from ilpinfer.cli.screen import add_row, table
from ilpinfer.cli.streams import notice
from ilpinfer.corpus.examples import InputError
from ilpinfer.evaluation import significance
from ilpinfer.evaluation.broken_rules import broken_rules
from ilpinfer.evaluation.counts import UNITS
from ilpinfer.evaluation.evaluation import Evaluation, Pair, measures
from ilpinfer.evaluation.evaluation import evaluate as evaluate_pairs
from ilpinfer.evaluation.matches import KINDS, span_matches
from ilpinfer.evaluation.pictures import confusion_picture, mistakes
from ilpinfer.evaluation.predictions import DifferentSequences, read_pairs
from ilpinfer.evaluation.reports import field_rows, report_text
from ilpinfer.evaluation.significance import Difference
from ilpinfer.system.extras import require
from ilpinfer.system.files import write_atomically

if TYPE_CHECKING:
    from rich.console import Console

MISTAKES = 5
"""Number of confusions shown."""


VIEWS = ("fields", "report", "matches", "confusion")
"""Tables: all measures, the form of seqeval, matches as in nervaluate, and the confusion matrix of fields."""
TEST = OptionGroup("Significance test")


@dataclass(frozen=True)
class EvaluateOptions:
    predicted: Annotated[
        str,
        argument(
            "PREDICTED",
            "Predicted labels: output of `ilpinfer decode`, or labelled columns; - for standard input.",
        ),
    ]
    gold: Annotated[str, argument("GOLD", "The same sequences with gold labels; - for standard input.")]
    against: str | None = TEST.option(
        None,
        "FILE: Other predictions to compare with PREDICTED. A randomization test says whether the difference is "
        "significant.",
    )
    output: Annotated[str | None, output_file("File for all measures, JSON")] = None
    picture: Annotated[str | None, output_file("File for a picture of the confusion matrix, SVG")] = None
    by: str = OPTIONS.option(
        "spans",
        "UNIT: Unit to count: spans, tokens, lines, characters or sequences, in which all spans of a field are right.",
    )
    view: str = OPTIONS.option(
        "fields",
        "VIEW: Table to show: fields, report (as in seqeval), matches (spans, as in nervaluate) or confusion (fields of tokens, or of "
        "spans that overlap).",
    )
    rules: arguments.BrokenRules = ()
    beta: float = OPTIONS.option(
        1.0, "NUMBER: Weight of recall in F: below 1, precision counts more, and above 1, recall."
    )
    leave_out: Sequence[str] = OPTIONS.option(
        (), "FIELD: Ignore this field; O is always ignored. May be repeated."
    )
    scheme: arguments.Scheme = ""
    never: arguments.HelperLabels = ()
    column: arguments.Column = ""
    label_names: arguments.TagNames = None
    resamples: int = TEST.option(9999, "NUMBER: Number of resamples of the test.", min=1)
    seed: int = TEST.option(0, "NUMBER: Seed of the resamples.", min=0)
    as_json: arguments.AsJson = False


@command(
    "ilpinfer evaluate predicted.jsonl test.tsv",
    "ilpinfer evaluate predicted.jsonl test.tsv --against viterbi.jsonl --by tokens --json",
    "ilpinfer evaluate predicted.jsonl test.tsv --rules rules.toml --view confusion",
)
def evaluate(options: EvaluateOptions) -> None:
    """Evaluate predicted labels against gold labels: fields, tokens, whole sequences and confusions."""
    scheme = canonical_scheme(options.scheme)
    predicted, against, unit, beta = options.predicted, options.against, options.by, options.beta
    if unit not in UNITS:
        raise InputError(f"--by {unit}: no such unit{suggestion(unit, UNITS)}")
    if options.view not in VIEWS:
        raise InputError(f"--view {options.view}: no such table{suggestion(options.view, VIEWS)}")
    if options.view == "confusion" and unit not in ("spans", "tokens"):
        raise InputError(
            f"--view confusion and --by {unit}: confusions are counted for spans and tokens; choose one of these units"
        )
    if options.view == "matches" and unit != "spans":
        raise InputError(
            f"--view matches and --by {unit}: matches are counted for spans only; remove one of the options"
        )
    if not 0 < beta < float("inf"):
        raise InputError(f"--beta is {beta:g}; expected a number above 0")
    if options.picture:
        require(f"--picture {options.picture}", "plots", "matplotlib")
    rules = with_never(read_rules(options.rules), options.never)
    inputs = files_read(predicted, options.gold, against, options.label_names, toml=options.rules)
    outputs = Outputs(options.as_json, inputs, output=options.output or None, picture=options.picture or None)
    with about(predicted), _in_order():
        files = [predicted] + ([against] if against else [])
        pairs, labels, notices = read_pairs(
            files,
            options.gold,
            scheme,
            options.column,
            reading(options.label_names, options.column),
            rules.never,
        )
    for text in notices:
        notice(text)
    result = [evaluate_pairs(each, labels=labels, leave_out=options.leave_out) for each in pairs]
    for path, each in zip((predicted, against), result, strict=False):
        if each.missing:
            notice(
                f"{path}: {counted(each.missing, 'sequence')} without a labelling; their tokens count as wrong"
            )
    matches = span_matches(pairs[0], labels=labels, leave_out=options.leave_out)
    broken = _broken(pairs, rules, labels) if rules.rules else []
    differences: list[Difference] = []
    with outputs.reserved():
        if against:
            differences = significance.compare(
                *result, unit=unit, beta=beta, resamples=options.resamples, seed=options.seed
            )
        record = {
            "predicted": predicted,
            "gold": options.gold,
            "scheme": labels.scheme,
            **result[0].to_dict(beta),
            "report": field_rows(result[0], unit),
            "matches": matches,
            **({"rules": broken} if options.rules else {}),
        }
        if against:
            tests = [{**asdict(each), "gain": each.gain} for each in differences]
            record["against"] = {"predicted": against, "unit": unit, "differences": tests}
        if options.output:
            write_atomically(options.output, json.dumps(record, indent=2, ensure_ascii=False) + "\n")
        if options.picture:
            write_atomically(options.picture, confusion_picture(labels.names, result[0].confusion))

    def tables(screen: "Console") -> None:
        if options.view == "fields":
            _show(screen, result[0], unit, beta)
        elif options.view == "report":
            for line in report_text(field_rows(result[0], unit), 4).splitlines():
                screen.print(line, highlight=False, soft_wrap=True)
        elif options.view == "confusion":
            _show_confusion(screen, *result[0].field_confusion(unit))
        else:
            _show_matches(screen, matches)
        if broken:
            _show_broken(screen, broken)
        if against:
            _show_differences(screen, differences, predicted, against)

    outputs.show(record, tables)


@contextmanager
def _in_order() -> Iterator[None]:
    """Add the order of the arguments to errors of files that do not match."""
    try:
        yield
    except DifferentSequences as error:
        raise InputError(
            f"{error}; expected the same sequences in both files, first PREDICTED, then GOLD"
        ) from None


def _show(screen: "Console", result: Evaluation, unit: str, beta: float) -> None:
    f_name = [] if beta == 1 else [f"F{beta:g}"]
    headings = ["gold", "predicted", "correct", "precision", "recall", "F1", *f_name, "overlap"]
    shown = table("field", numbers=headings)
    rows = [(name, measures(result.counts[unit][:, f], beta)) for f, name in enumerate(result.fields)]
    rows = [(name, row) for name, row in rows if row["gold"] or row["predicted"]]
    for name, row in [*rows, ("all", measures(result.counts[unit].sum(axis=1), beta))]:
        kinds = ["precision", "recall", "f1", *(["f_beta"] if f_name else []), "overlap"]
        shares = [row[kind] for kind in kinds]
        sums = [str(row[key]) for key in ("gold", "predicted", "both")]
        add_row(shown, name, *sums, *map(_percent, shares), style="bold" if name == "all" else "")
    screen.print(shown)
    right, whole = int(result.correct.sum()), int(result.whole.sum())
    labels = ""
    if result.label_accuracy != result.accuracy:
        labels = f", with prefixes {_percent(result.label_accuracy)} % ({result.correct_labels.sum()})"
    screen.print(
        f"gold, predicted and correct are numbers of {unit}; the other columns are in %",
        soft_wrap=True,
        highlight=False,
    )
    screen.print(
        f"token accuracy {_percent(result.accuracy)} % ({right} of {result.tokens.sum()}){labels}, whole "
        f"sequences {_percent(result.whole_sequences)} % ({whole} of {len(result.tokens)})",
        soft_wrap=True,
        highlight=False,
    )
    worst = mistakes(result.labels.names, result.confusion, MISTAKES)
    if worst:
        pairs = ", ".join(f"{gold} as {predicted} {count}" for gold, predicted, count in worst)
        screen.print(f"most frequent confusions, gold as predicted: {pairs}", soft_wrap=True, highlight=False)


def _broken(pairs: Sequence[Sequence[Pair]], rules: RuleSet, labels: LabelSet) -> list[dict[str, Any]]:
    """Violations of each rule by gold, by the predictions and by the predictions of --against."""
    from ilpinfer.pipelines.scored_stream import Absent

    absent = Absent(rules)
    for pair in pairs[0]:
        absent.add_metadata(pair.metadata)
    for text in absent.notices:
        notice(text)
    with warnings.catch_warnings(action="ignore", category=RuleNotice):
        first, *others = (broken_rules(each, rules, labels=labels) for each in pairs)
    for other in others:
        first = [{**row, "against": own["predicted"]} for row, own in zip(first, other, strict=True)]
    return first


def _show_broken(screen: "Console", rows: Sequence[Mapping[str, Any]]) -> None:
    sides = [side for side in ("gold", "predicted", "against") if side in rows[0]]
    shown = table("rule", numbers=sides)
    for row in rows:
        add_row(shown, row["rule"], *(f"{row[side]['broken']} / {row[side]['violations']}" for side in sides))
    screen.print()
    screen.print(shown)
    screen.print("sequences that break a rule / violations", highlight=False)


def _show_confusion(screen: "Console", names: Sequence[str], counts: Integers) -> None:
    shown = table("gold \\ predicted", numbers=names)
    for name, row in zip(names, counts.tolist(), strict=True):
        add_row(shown, name, *map(str, row))
    screen.print(shown)


def _show_matches(screen: "Console", matches: Mapping[str, Any]) -> None:
    shown = table("field", "match", numbers=(*KINDS, "precision", "recall", "F1"))
    for name, ways in [*matches["fields"].items(), ("all", matches["all"])]:
        for way, row in ways.items():
            shares = (_percent(row[key]) for key in ("precision", "recall", "f1"))
            counts = (str(row[kind]) for kind in KINDS)
            add_row(shown, name, way, *counts, *shares, style="bold" if name == "all" else "")
    screen.print(shown)


def _show_differences(screen: "Console", differences: Sequence[Difference], one: str, other: str) -> None:
    shown = table("in %", numbers=("predicted", "against", "difference", "95 % interval", "p"))
    for each in differences:
        interval = f"{100 * each.low:+.2f} to {100 * each.high:+.2f}"
        values = _percent(each.value), _percent(each.other), f"{100 * each.gain:+.2f}"
        add_row(shown, each.measure, *values, interval, f"{each.p:.4f}")
    screen.print(f"\n{one} against {other}", highlight=False, soft_wrap=True)
    screen.print(shown)


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"
