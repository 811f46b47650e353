"""`ilpinfer mine`."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from formulations import InferenceError, LabelSet, dump_rules
from ilpinfer.cli.failure import Failure
from ilpinfer.cli.inputs import about, check_streams, checked_scheme, files_read
from ilpinfer.cli.progress import progress
from ilpinfer.cli.screen import add_row, console_beside, numbers, print_json, table
from ilpinfer.cli.streams import notice, remark
from ilpinfer.corpus.conversion import convert_all, iob1_remark
from ilpinfer.corpus.sequences import InputError, read, require_labels
from ilpinfer.evaluation.predictions import read_pairs
from ilpinfer.learning import FAMILIES, MinedRules, PredictionsError, RuleMiner
from ilpinfer.models.sequences import Labelled
from ilpinfer.system.files import reserve, write_atomically
from ilpinfer.system.output_paths import output_path

SHOWN = 20
"""Rules of the table on screen."""


@dataclass(frozen=True)
class MineOptions:
    """Options of `ilpinfer mine`.

    Parameters
    ----------
    source : labelled sequences
    output : a rule file
    settings : arguments of `RuleMiner` as text or numbers; families are names separated by commas, empty for all
    predictions : a file of the same sequences with the labels of a model; empty for none
    scheme : of the labels; empty to infer it
    column : column of the labels
    as_json : whether to show JSON
    """

    source: str
    output: str
    settings: Mapping[str, Any]
    predictions: str = ""
    scheme: str = ""
    column: str = ""
    as_json: bool = False

    @property
    def miner(self) -> RuleMiner:
        """The miner; InputError for options out of range, and ValueError with the name of the option."""
        names, confidence = self.settings["families"], self.settings["confidence"]
        families = tuple(name.strip() for name in names.split(",")) if names else FAMILIES
        return RuleMiner(**{**self.settings, "families": families, "confidence": _share(confidence)})


def _share(text: str) -> float | Literal["cross-validated"]:
    if text == "cross-validated":
        return "cross-validated"
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--confidence {text}: expected a share such as 0.95, or cross-validated") from None


def mine(options: MineOptions) -> None:
    """Mine rules, show them, and write the file.

    Raises
    ------
    Failure
        if no rule is found; nothing is written then.
    """
    source = options.source
    scheme, miner = checked_scheme(options.scheme), options.miner
    inputs = files_read(source, options.predictions)
    check_streams(options.as_json, [options.output], inputs)
    place = output_path(options.output, inputs)
    with about(source):
        pairs, predictions = _read(options, scheme)
    try:
        with reserve(place), about(source):
            with progress("mining", len(miner.families) + 1) as advance:
                result = miner.fit(pairs, scheme, predictions, lambda step: advance())
            if not result.rules:
                raise Failure(f"{source}: {result.remark}", 1)
            write_atomically(options.output, dump_rules(result.rule_set))
    except PredictionsError as error:
        raise InputError(f"{options.predictions}: {error}") from None
    except ValueError as error:
        raise error if isinstance(error, InferenceError) else InputError(f"{source}: {error}") from None
    _show(options, result)


def _read(options: MineOptions, scheme: str) -> tuple[list[Labelled], list[tuple[str, ...] | None] | None]:
    """Tokens and labels, and predicted labels where there are some, all in one scheme."""
    if options.predictions:
        (both,), _, remarks = read_pairs([options.predictions], options.source, scheme, options.column)
        for text in remarks:
            notice(text)
        return [(pair.tokens, pair.gold) for pair in both], [pair.predicted for pair in both]
    examples = read(options.source, column=options.column, notify=notice)
    texts, golden = zip(*require_labels(examples), strict=True)
    labellings = convert_all(golden, scheme)
    names = tuple(dict.fromkeys(name for labels in labellings for name in labels))
    remark = "" if scheme else iob1_remark(labellings, scheme) or LabelSet(names).notice
    if remark:
        notice(remark)
    return list(zip(texts, labellings, strict=True)), None


def _show(options: MineOptions, result: MinedRules) -> None:
    if not result.proved:
        notice("the selection of rules is not proved optimal: the solver reached its time limit")
    for dropped in result.dropped:
        if dropped.reason == "contradictory":
            first = dropped.rules[0]
            more = f" (and {dropped.number - 1} more)" if dropped.number > 1 else ""
            notice(f"{first.rule.title} is left out: {first.rule.reason.rpartition('; ')[2]}{more}")
    if options.as_json:
        print_json(_record(result))
        return
    shown = table("rule", "family")
    numbers(shown, "support", "held %", "lift", "penalty", "folds", "power")
    for mined in result.rules[:SHOWN]:
        folds = f"{mined.folds_held}/{mined.folds_applied}" if mined.folds_applied else "-"
        counts = str(mined.support), f"{100 * mined.confidence:.1f}", f"{mined.lift:.1f}"
        power = str(mined.discrimination) if options.settings["pruning"] == "cover" else "-"
        add_row(shown, mined.rule.title, mined.family, *counts, f"{mined.cost:.2f}", folds, power)
    screen = console_beside(options.output)
    screen.print(shown)
    if len(result.rules) > SHOWN:
        screen.print(f"and {len(result.rules) - SHOWN} more")
    families = Counter(mined.family for mined in result.rules)
    screen.print(
        "families: " + ", ".join(f"{name} {n}" for name, n in families.most_common()), soft_wrap=True
    )
    if result.dropped:
        reasons = ", ".join(f"{dropped.number} {dropped.reason}" for dropped in result.dropped)
        screen.print(f"left out: {reasons}", soft_wrap=True)
    count = len(result.rules)
    remark(
        f"{options.output}: {count} rule{'s' * (count != 1)} from {result.sequences} sequences of {result.tokens} tokens, "
        f"confidence {result.confidence:g}"
    )


def _record(result: MinedRules) -> dict[str, object]:
    return {
        "sequences": result.sequences,
        "tokens": result.tokens,
        "confidence": result.confidence,
        "wrong_labellings": result.wrong,
        "proved": result.proved,
        "rules": [mined.to_dict() for mined in result.rules],
        "dropped": [{"reason": dropped.reason, "number": dropped.number} for dropped in result.dropped],
    }
