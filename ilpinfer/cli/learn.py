"""`ilpinfer learn`."""

import contextlib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

from formulations import InferenceError, RuleSet, dump_rules
from formulations.errors import RuleNotice
from formulations.messages import counted
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OPTIONS, output_file
from ilpinfer.cli.command import command, common
from ilpinfer.cli.failure import about
from ilpinfer.cli.inputs import canonical_scheme
from ilpinfer.cli.outputs import Outputs
from ilpinfer.cli.progress import progress
from ilpinfer.cli.rule_files import NO_METADATA, comments, files_read, read_rules, with_source
from ilpinfer.cli.screen import add_row, table
from ilpinfer.cli.streams import notice, remark
from ilpinfer.cli.training_scores import TrainingInput, TrainingScores
from ilpinfer.corpus.examples import InputError
from ilpinfer.models.files import record_of, save_trained, text_of
from ilpinfer.system.files import write_atomically

if TYPE_CHECKING:
    from rich.console import Console

    from ilpinfer.learning import LearntWeights, WeightLearner

MOST_ROWS = 40
"""Largest number of rules in the table on screen."""
WEIGHTS: Mapping[str, tuple[str, ...]] = {
    "rules": ("given", "penalties", "mined"),
    "all": ("given", "all weights"),
}
"""The ways of the learner, by the value of --weights."""
CORRECTED = ("hmm", "crf")
"""Model kinds with scores that can be corrected."""


@dataclass(frozen=True)
class LearnOptions:
    input: TrainingInput
    output: Annotated[str, output_file("File for the rules, TOML")]
    rules: arguments.Rules = ()
    output_model: Annotated[
        str | None,
        output_file(
            "File for the model, JSON, which --kind trains on TRAIN; with corrected scores where that is best. Without it, scores stay as "
            "they are"
        ),
    ] = None
    quick: bool = OPTIONS.option(False, "Try only given rules, as they are and with one update.")
    weights: str | None = OPTIONS.option(
        None,
        "WHICH: Try less: rules: given rules, learnt penalties and mined rules. all: the scores of an hmm or crf corrected together with the "
        "penalties of given rules.",
    )
    update: str | None = OPTIONS.option(
        None,
        "NAME: Try only ways with this update: counts (of violations), perceptron (steps towards gold), margin (steps until gold leads), or "
        "risk (fewest expected errors).",
    )
    measure: str = OPTIONS.option(
        "all",
        "NAME: Measure to maximize: tokens, spans, sequences, all, or an F measure of spans such as f0.5, which weighs precision "
        "above recall.",
    )
    folds: int | None = OPTIONS.option(
        None,
        "NUMBER: Folds of TRAIN on which everything is tried; if not given 5, and 3 from 1000 sequences on.",
    )
    seconds: float = OPTIONS.option(
        60.0,
        "NUMBER: Seconds of processor time for each way on all folds, and what earlier ways have left of theirs; one that needs more is "
        "tried on fewer folds.",
    )
    rate: float | None = OPTIONS.option(
        None,
        "NATS: Largest step of perceptron and margin, in nats; 0.3 if not given, 0.1 for all weights.",
    )
    epochs: int | None = OPTIONS.option(
        None,
        "NUMBER: Passes of perceptron and margin over TRAIN; 20 if not given, 10 for all weights.",
    )
    start: float | None = OPTIONS.option(
        None,
        "FACTOR: Factor of the penalties of RULES that steps begin with; each way has its own one if not given.",
    )
    seed: int = OPTIONS.option(0, "NUMBER: Seed of the folds and of the order of sequences.", min=0)
    as_json: arguments.AsJson = False


@command(
    "ilpinfer learn train.tsv --kind hmm --output-model hmm.json --output learnt.toml",
    "ilpinfer learn train.tsv --rules citations --kind crf --output-model crf.json --output learnt.toml",
    "ilpinfer learn train.tsv --rules citations --model crf.json --measure spans --output learnt.toml",
)
def learn(options: LearnOptions) -> None:
    """Learn rules, penalties and model scores from labelled sequences; held-out sequences decide which are best.

    It tries no rules, given rules, learnt penalties, mined rules, and all weights of the model and of the rules together.
    """
    from ilpinfer.core.rule_compiler import stated
    from ilpinfer.learning.weights import WeightLearner

    source, scheme = options.input.source, canonical_scheme(options.input.scheme)
    learner = WeightLearner(**common(options, WeightLearner), ways=_ways(options))
    inputs = files_read(source, options.input.model, toml=options.rules)
    outputs = Outputs(
        options.as_json, inputs, output=options.output, **{"output-model": options.output_model}
    )
    rules = read_rules(options.rules, NO_METADATA)
    with _about_rules(options):
        _ = stated(rules, "learning")
    warnings.simplefilter("ignore", RuleNotice)
    with about(source):
        data = options.input.read(scheme)
        result = _learn(learner, data, rules, options, outputs)
    outputs.show(result.to_dict(), lambda screen: _show(options, result, screen))
    _remark(options, result)


def _ways(options: LearnOptions) -> tuple[str, ...] | None:
    if options.weights is None:
        return None
    if options.weights not in WEIGHTS:
        raise InputError(f"--weights {options.weights}: expected {' or '.join(WEIGHTS)}")
    if options.weights == "all" and not options.output_model:
        raise InputError("--weights all also learns a model; add --output-model FILE")
    return WEIGHTS[options.weights]


@contextlib.contextmanager
def _about_rules(options: LearnOptions) -> Iterator[None]:
    """Add the names of the rule files to errors of the rules."""
    try:
        yield
    except ValueError as error:
        if isinstance(error, InferenceError) or not options.rules:
            raise
        raise InputError(f"{', '.join(options.rules)}: {error}") from None


def _learn(
    learner: "WeightLearner", data: TrainingScores, rules: RuleSet, options: LearnOptions, outputs: Outputs
) -> "LearntWeights":
    record, model = data.record, options.output_model
    if model and (record is None or (options.weights == "all" and record.kind not in CORRECTED)):
        what = "--weights all" if options.weights == "all" else f"--output-model {model}"
        raise InputError(f"{what}: the model has to be trained on the same sequences; add --kind hmm or crf")
    with outputs.reserved():
        if model is None or record is None:
            examples = data.examples or data.cross_fit(learner)
            with progress("learning", learner.fits(len(examples), rules)) as advance, _about_rules(options):
                result = learner.fit(examples, rules, advance=advance)
            write_atomically(options.output, _text(result, learner, f"{data.digest}, {data.scores}"))
            return result
        fits = learner.fits(len(data.pairs), rules, record.kind in CORRECTED, trained=True)
        with progress("models and folds", fits) as advance, _about_rules(options):
            result = learner.fit_model(data.pairs, data.train, rules, advance=advance)
        assert result.model is not None
        if result.corrected:
            made = {
                "by": "learn",
                "settings": asdict(learner),
                "scores": "held-out",
                "kind": record.kind,
                "data": record.data,
            }
            write_atomically(model, text_of({**record_of(result.model), "made": made}), outputs.inputs)
        else:
            save_trained(model, result.model, record)
        write_atomically(options.output, _text(result, learner, record.data))
    return result


def _text(result: "LearntWeights", learner: "WeightLearner", data: str) -> str:
    """The text of the rule file with its origin, and with removed rules as comments."""
    what = "all weights" if result.corrected else "rules"
    settings = ", ".join(f"{name} {value}" for name, value in asdict(learner).items())
    origin = (
        f"{what} learnt by ilpinfer {version('ilpinfer')}: {result.chosen}, from {counted(result.sequences, 'sequence')} "
        f"({data}); {settings}"
    )
    text = dump_rules(with_source(result.rules, origin))
    left = [verdict for verdict in result.verdicts if not verdict.learnt]
    return text + comments(f"left out: {verdict.name} ({verdict.reason})" for verdict in left)


def _show(options: LearnOptions, result: "LearntWeights", screen: "Console") -> None:
    if result.tried:
        tried = table("tried on folds", numbers=("token accuracy", "span F1", "whole sequences", "seconds"))
        tried.add_column("")
        for each in result.tried:
            notes = ("chosen" if each.name == result.chosen else "", each.stopped, each.refused)
            shares = [f"{100 * share:.2f}" for share in each.measures] if each.measured else ["–"] * 3
            add_row(tried, each.name, *shares, f"{each.seconds:.1f}", "; ".join(filter(None, notes)))
        if options.weights is None and not options.quick and not options.output_model:
            add_row(
                tried, "all weights", *["–"] * 4, "not tried: needs --kind hmm or crf, and --output-model"
            )
        screen.print(tried)
    if result.verdicts:
        shown = table("rule", numbers=("given", "learnt"))
        shown.add_column("why", overflow="fold")
        for verdict in sorted(result.verdicts, key=lambda v: -abs(v.learnt))[:MOST_ROWS]:
            add_row(shown, verdict.name, f"{verdict.given:.2f}", f"{verdict.learnt:.2f}", verdict.reason)
        screen.print(shown)
    if len(result.verdicts) > MOST_ROWS:
        screen.print(f"… and {len(result.verdicts) - MOST_ROWS} more; --json shows all", highlight=False)


def _remark(options: LearnOptions, result: "LearntWeights") -> None:
    """Notices about penalties and sequences, and a remark on the result."""
    from ilpinfer.learning.task import LARGEST

    if result.capped:
        notice(
            f"penalties that reached the cap of {LARGEST:.0f} nats, because predictions break the rule at any penalty: "
            f"{', '.join(result.capped[:3])}{f' and {more} more' if (more := len(result.capped) - 3) > 0 else ''}"
        )
    if result.unlabelled:
        notice(f"{result.unlabelled} of {result.sequences} sequences have no labelling under the hard rules")
    if result.unproved:
        notice(f"left out {counted(result.unproved, 'time')}: a sequence without a proved optimum")
    if result.unscored:
        notice(
            f"{result.unscored} of {result.sequences} sequences have labels that the models of the other folds lack, and were left out"
        )
    for each in result.tried:
        if each.name == result.chosen and each.refused:
            notice(f"{result.chosen}: {each.refused}, before rules were left out")
    if result.model is not None:
        how = "corrected together with the rules" if result.corrected else "as trained"
        remark(f"{options.output_model}: {result.model.size}, {how}")
    number = sum(verdict.learnt != 0 for verdict in result.verdicts)
    of = f"{number} of {counted(len(result.verdicts), 'rule')} and features kept"
    remark(f"{options.output}: {result.chosen}{f', {of}' if result.verdicts else ''}")
