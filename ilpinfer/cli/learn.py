"""`ilpinfer learn`."""

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

from formulations import RuleSet, dump_rules
from formulations.errors import RuleNotice
from formulations.messages import counted
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OPTIONS, output_file
from ilpinfer.cli.command import command, common
from ilpinfer.cli.failure import about
from ilpinfer.cli.inputs import canonical_scheme
from ilpinfer.cli.outputs import Outputs
from ilpinfer.cli.progress import progress
from ilpinfer.cli.rule_files import comments, files_read, read_rules, with_source
from ilpinfer.cli.screen import add_row, table
from ilpinfer.cli.streams import notice, remark
from ilpinfer.cli.training_scores import TrainingInput, TrainingScores
from ilpinfer.corpus.examples import InputError
from ilpinfer.models.crf import CRF
from ilpinfer.models.files import record_of, text_of
from ilpinfer.models.hmm import HMM
from ilpinfer.models.sequences import Labelled
from ilpinfer.models.training import KINDS
from ilpinfer.system.files import write_atomically

if TYPE_CHECKING:
    from rich.console import Console

    from ilpinfer.learning import LearntWeights, WeightLearner

MOST_ROWS = 40
"""Rules of the table on screen."""
WEIGHTS = ("rules", "all")


@dataclass(frozen=True)
class LearnOptions:
    input: TrainingInput
    output: Annotated[str, output_file("File for the rules with learnt penalties, TOML")]
    rules: arguments.Rules = ()
    update: str | None = OPTIONS.option(
        None,
        "NAME: How weights are learnt: counts (of violations), perceptron (steps towards gold), margin (steps until gold leads), or risk "
        "(fewest expected errors). If not given, the best on held-out folds.",
    )
    measure: str = OPTIONS.option(
        "all",
        "NAME: Measure to maximize: tokens, spans, sequences, all, or an F measure of spans such as f0.5, which weighs precision "
        "above recall.",
    )
    folds: int = OPTIONS.option(5, "NUMBER: Folds in which models, updates and rules are evaluated.")
    weights: str = OPTIONS.option(
        "rules",
        "WHICH: rules: penalties and weights of features. all: also the scores of an hmm or crf that is trained on TRAIN, all corrected "
        "together under inference, on scores of models of the other folds, where that is better on held-out parts.",
    )
    output_model: Annotated[str | None, output_file("File for the model of --weights all, JSON")] = None
    rate: float | None = OPTIONS.option(
        None,
        "NATS: Largest step of perceptron and margin, in nats; 0.3 if not given, 0.1 with --weights all.",
    )
    epochs: int | None = OPTIONS.option(
        None,
        "NUMBER: Passes of perceptron and margin over TRAIN in each round; 20 if not given, 10 with --weights all.",
    )
    start: float | None = OPTIONS.option(
        None,
        "FACTOR: Factor of the penalties of RULES that steps begin with; 0 if not given, 1 with --weights all. 2 is good for few labels.",
    )
    seed: int = OPTIONS.option(0, "NUMBER: Seed of the folds and of the order of sequences.", min=0)
    as_json: arguments.AsJson = False


@command(
    "ilpinfer learn train.tsv --rules rules.toml --kind hmm --output learnt.toml",
    "ilpinfer learn train.tsv --rules citations --model crf.json --measure spans --output learnt.toml",
    "ilpinfer learn train.tsv --rules citations --kind hmm --weights all --output-model hmm.json --output learnt.toml",
)
def learn(options: LearnOptions) -> None:
    """Learn the penalties of rules from labelled sequences, judged by their effect on held-out labellings."""
    from ilpinfer.core.rule_compiler import stated
    from ilpinfer.learning.weights import WeightLearner, learnable

    if not options.rules:
        raise InputError("no rules are given; name them with --rules RULES")
    source, scheme = options.input.source, canonical_scheme(options.input.scheme)
    together = _together(options)
    learner = WeightLearner(**common(options, WeightLearner))
    inputs = files_read(source, options.input.model, toml=options.rules)
    outputs = Outputs(
        options.as_json, inputs, output=options.output, **{"output-model": options.output_model}
    )
    rules = read_rules(options.rules)
    try:
        _ = stated(rules, "learning of all weights") if together else learnable(rules)
    except ValueError as error:
        raise InputError(f"{', '.join(options.rules)}: {error}") from None
    warnings.simplefilter("ignore", RuleNotice)
    with about(source):
        data = options.input.read(scheme)
        learn_these = _all_weights if together else _penalties
        result = learn_these(learner, data, rules, options, outputs)
    outputs.show(result.to_dict(), lambda screen: _show(result, screen))
    _remark(options, result)


def _together(options: LearnOptions) -> bool:
    """Whether all weights are learnt; InputError for options of the other way to learn."""
    if options.weights not in WEIGHTS:
        raise InputError(f"--weights {options.weights}: expected {' or '.join(WEIGHTS)}")
    if options.weights == "rules":
        if options.output_model:
            raise InputError("--output-model needs --weights all; add it, or remove --output-model")
        return False
    if not options.output_model:
        raise InputError("--weights all also learns a model; add --output-model FILE")
    return True


def _penalties(
    learner: "WeightLearner", data: TrainingScores, rules: RuleSet, options: LearnOptions, outputs: Outputs
) -> "LearntWeights":
    with outputs.reserved():
        examples = data.examples or data.cross_fit(learner)
        try:
            with progress("learning", learner.fits(len(examples))) as advance:
                result = learner.fit(examples, rules, advance=advance)
        except ValueError as error:
            raise InputError(f"{', '.join(options.rules)}: {error}") from None
        write_atomically(options.output, _text(result, learner, f"{data.digest}, {data.scores}"))
    return result


def _all_weights(
    learner: "WeightLearner", data: TrainingScores, rules: RuleSet, options: LearnOptions, outputs: Outputs
) -> "LearntWeights":
    record, pairs = data.record, data.pairs
    if record is None or record.kind not in ("hmm", "crf"):
        raise InputError(
            "--weights all: the model has to be trained on the same sequences; add --kind hmm or crf"
        )

    def train(some: Sequence[Labelled]) -> HMM | CRF:
        model = KINDS[record.kind].make(some, record.scheme, [], None, record.options)
        assert isinstance(model, HMM | CRF)
        return model

    made = {
        "by": "learn",
        "settings": asdict(learner),
        "scores": "held-out",
        "kind": record.kind,
        "data": record.data,
    }
    assert options.output_model is not None
    with outputs.reserved():
        with progress("models and folds", learner.fits(len(pairs), "all")) as advance:
            result = learner.fit_model(pairs, train, rules, advance=advance)
        assert result.model is not None
        model = text_of({**record_of(result.model), "made": made})
        write_atomically(options.output_model, model, outputs.inputs)
        write_atomically(options.output, _text(result, learner, record.data))
    return result


def _text(result: "LearntWeights", learner: "WeightLearner", data: str) -> str:
    """The rule file with its origin, and with the removed rules as comments."""
    what = "penalties" if result.model is None else "all weights"
    settings = ", ".join(f"{name} {value}" for name, value in asdict(learner).items())
    origin = (
        f"{what} learnt by ilpinfer {version('ilpinfer')}: {result.chosen}, from {counted(result.sequences, 'sequence')} "
        f"({data}); {settings}"
    )
    text = dump_rules(with_source(result.rules, origin))
    left = [verdict for verdict in result.verdicts if not verdict.learnt]
    return text + comments(f"left out: {verdict.name} ({verdict.reason})" for verdict in left)


def _show(result: "LearntWeights", screen: "Console") -> None:
    if result.tried:
        tried = table("on held-out parts", numbers=("token accuracy", "span F1", "whole sequences"))
        for each in result.tried:
            name = each.name + (", taken" if each.name == result.chosen else "")
            add_row(tried, name, *(f"{100 * share:.2f}" for share in each.measures))
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
    """Notices about penalties and sequences, and a remark on what is learnt."""
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
        how = result.chosen if result.chosen == "apart" else f"with the rules ({result.chosen})"
        remark(f"{options.output_model}: {result.model.size}, learnt {how}")
        return
    number = sum(verdict.learnt != 0 for verdict in result.verdicts)
    remark(
        f"{options.output}: {number} of {len(result.verdicts)} rules and features kept, by {result.chosen}"
    )
