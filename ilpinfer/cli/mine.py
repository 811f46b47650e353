"""`ilpinfer mine`."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from formulations import InferenceError, dump_rules
from formulations.messages import counted
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OPTIONS, OptionGroup, output_file
from ilpinfer.cli.command import command, common
from ilpinfer.cli.failure import Failure, about
from ilpinfer.cli.inputs import canonical_scheme, notice_scheme
from ilpinfer.cli.labelled import read_labelled, reading
from ilpinfer.cli.outputs import Outputs
from ilpinfer.cli.progress import progress
from ilpinfer.cli.rule_files import files_read
from ilpinfer.cli.screen import add_row, table
from ilpinfer.cli.streams import notice, remark
from ilpinfer.corpus.examples import InputError
from ilpinfer.evaluation.predictions import read_pairs
from ilpinfer.models.sequences import Labelled
from ilpinfer.system.files import write_atomically

if TYPE_CHECKING:
    from rich.console import Console

    from ilpinfer.learning import MinedRules, RuleMiner

MOST_ROWS = 20
"""Largest number of rules in the table on screen."""


SELECTION = OptionGroup("Selection of rules")


@dataclass(frozen=True)
class MineOptions:
    source: arguments.TrainFile
    output: Annotated[str, output_file("File for the rules, TOML")]
    families: str = OPTIONS.option(
        "",
        "NAMES: Families of rules, separated by commas: one-run, requires-present, never-together, requires-before, precedence, "
        "presence-precedence, adjacency, state-change, begin-end, minimum-length, words, next-words, "
        "conjunctions, maximum-length, alternation, spacing, first-field, last-field. All but conjunctions, maximum-length, "
        "alternation and spacing if not given.",
    )
    support: int = SELECTION.option(10, "NUMBER: Keep a rule only if it applies at least this many times.")
    confidence: str = SELECTION.option(
        "0.95",
        "SHARE: Keep a rule only if it holds in at least this share of the times that it applies. cross-validated: choose the share on the folds.",
    )
    gain: float = SELECTION.option(
        5.0,
        "NATS: Keep a rule only if its gain is at least this many nats. The gain measures how much more often it holds than by "
        "chance.",
    )
    word_support: int = SELECTION.option(5, "NUMBER: Use a word only if it occurs at least this many times.")
    smoothing: float = SELECTION.option(
        1.0,
        "NUMBER: Number added to the counts of places where a rule holds and where it is broken; penalties are computed from these counts.",
    )
    folds: int = SELECTION.option(
        5, "NUMBER: Number of folds of TRAIN; a rule must also hold in the held-out folds. 0 for no folds."
    )
    pruning: Literal["cover", "none"] = SELECTION.option(
        "cover",
        "NAME: cover: keep the cheapest rules that separate correct labellings from wrong ones; none: keep all.",
    )
    power: int = SELECTION.option(
        1,
        "NUMBER: Keep a rule only if it detects at least this many wrong labellings that the rules kept before it do "
        "not detect.",
    )
    most: int | None = SELECTION.option(None, "NUMBER: Largest number of rules to keep.")
    predictions: str = OPTIONS.option(
        "",
        "FILE: The sequences of TRAIN with labels predicted by a model; rules must detect errors in these labels. - for standard "
        "input.",
    )
    scheme: arguments.Scheme = ""
    never: arguments.HelperLabels = ()
    column: arguments.Column = ""
    label_names: arguments.TagNames = None
    seed: int = OPTIONS.option(0, "NUMBER: Seed of the folds and of generated wrong labellings.")
    as_json: arguments.AsJson = False

    @property
    def miner(self) -> "RuleMiner":
        """The miner; InputError or ValueError with the name of an option out of range."""
        from ilpinfer.learning import RuleMiner

        names = (
            tuple(name.strip() for name in self.families.split(",")) if self.families else RuleMiner.families
        )
        return RuleMiner(
            **{**common(self, RuleMiner), "families": names, "confidence": _share(self.confidence)}
        )


def _share(text: str) -> float | Literal["cross-validated"]:
    if text == "cross-validated":
        return "cross-validated"
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--confidence {text}: expected a share such as 0.95, or cross-validated") from None


@command(
    "ilpinfer mine train.tsv --output rules.toml",
    "ilpinfer mine train.tsv --predictions predicted.jsonl --families words,next-words --output rules.toml",
)
def mine(options: MineOptions) -> None:
    """Mine soft rules from labelled sequences. Each rule is written with the counts that support it.

    If no rule is found, nothing is written.
    """
    from ilpinfer.learning import PredictionsError

    source = options.source
    scheme, miner = canonical_scheme(options.scheme), options.miner
    inputs = files_read(source, options.predictions, options.label_names)
    outputs = Outputs(options.as_json, inputs, output=options.output)
    with about(source):
        pairs, predictions = _read(options, scheme)
    try:
        with outputs.reserved(), about(source):
            with progress("mining", len(miner.families) + 1) as advance:
                result = miner.fit(pairs, scheme, predictions, lambda step: advance())
            if not result.entries:
                raise Failure(f"{source}: {result.remark}", 1)
            write_atomically(options.output, dump_rules(result.rules))
    except PredictionsError as error:
        raise InputError(f"{options.predictions}: {error}") from None
    except ValueError as error:
        raise error if isinstance(error, InferenceError) else InputError(f"{source}: {error}") from None
    _tell(result)
    outputs.show(_record(result), lambda screen: _show(options, result, screen))


def _read(options: MineOptions, scheme: str) -> tuple[list[Labelled], list[tuple[str, ...] | None] | None]:
    """Tokens and labels, and predicted labels if there are any, all in one scheme."""
    if options.predictions:
        (both,), _, remarks = read_pairs(
            [options.predictions],
            options.source,
            scheme,
            options.column,
            reading(options.label_names, options.column),
            options.never,
        )
        for text in remarks:
            notice(text)
        return [(pair.tokens, pair.gold) for pair in both], [pair.predicted for pair in both]
    pairs = read_labelled(
        options.source, options.column, scheme, label_names=options.label_names, never=options.never
    )
    notice_scheme([labels for _, labels in pairs], scheme)
    return pairs, None


def _tell(result: "MinedRules") -> None:
    """Notices about dropped rules, and about a selection that is not proved."""
    if not result.proved:
        notice("the selection of rules is not proved optimal: the solver reached its time limit")
    for dropped in result.dropped:
        if dropped.reason == "contradictory":
            first = dropped.rules[0]
            more = f" (and {dropped.number - 1} more)" if dropped.number > 1 else ""
            notice(f"{first.rule.title} is left out: {first.rule.reason.rpartition('; ')[2]}{more}")


def _show(options: MineOptions, result: "MinedRules", screen: "Console") -> None:
    shown = table(
        "rule", "family", numbers=("applies\ntimes", "holds\n%", "lift", "penalty\nnats", "folds", "power")
    )
    for mined in result.entries[:MOST_ROWS]:
        folds = f"{mined.folds_held}/{mined.folds_applied}" if mined.folds_applied else "-"
        counts = str(mined.support), f"{100 * mined.confidence:.1f}", f"{mined.lift:.1f}"
        power = str(mined.discrimination) if options.pruning == "cover" else "-"
        add_row(shown, mined.rule.title, mined.family, *counts, f"{mined.cost:.2f}", folds, power)
    screen.print(shown)
    if len(result.entries) > MOST_ROWS:
        screen.print(f"and {len(result.entries) - MOST_ROWS} more")
    families = Counter(mined.family for mined in result.entries)
    screen.print(
        "families: " + ", ".join(f"{name} {n}" for name, n in families.most_common()), soft_wrap=True
    )
    if result.dropped:
        reasons = ", ".join(f"{dropped.reason} {dropped.number}" for dropped in result.dropped)
        screen.print(f"left out: {reasons}", soft_wrap=True)
    count = len(result.entries)
    remark(
        f"{options.output}: {counted(count, 'rule')} from {counted(result.sequences, 'sequence')} of {counted(result.tokens, 'token')}, "
        f"confidence {result.confidence:g}"
    )
    remark("penalties are estimated from gold labels alone; `ilpinfer learn` fits them to a model")


def _record(result: "MinedRules") -> dict[str, object]:
    return {
        "sequences": result.sequences,
        "tokens": result.tokens,
        "confidence": result.confidence,
        "wrong_labellings": result.wrong,
        "proved": result.proved,
        "rules": [mined.to_dict() for mined in result.entries],
        "dropped": [{"reason": dropped.reason, "number": dropped.number} for dropped in result.dropped],
    }
