"""`ilpinfer learn`."""

import shlex
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

from formulations import dump_rules
from formulations.errors import RuleNotice
from formulations.messages import counted
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OPTIONS, argument, output_file
from ilpinfer.cli.command import command, common
from ilpinfer.cli.failure import about
from ilpinfer.cli.inputs import canonical_scheme
from ilpinfer.cli.joint_learning import learn_all, searcher, show_candidates
from ilpinfer.cli.outputs import Outputs
from ilpinfer.cli.progress import progress
from ilpinfer.cli.rule_files import comments, files_read, read_rules, with_source
from ilpinfer.cli.screen import add_row, table
from ilpinfer.cli.streams import notice, remark
from ilpinfer.cli.training_scores import TrainingInput
from ilpinfer.corpus.examples import InputError
from ilpinfer.system.files import write_atomically

if TYPE_CHECKING:
    from rich.console import Console

    from ilpinfer.learning.penalties import LearntPenalties, PenaltyLearner

MOST_ROWS = 40
"""Rules of the table on screen."""
WEIGHTS = ("rules", "all")


@dataclass(frozen=True)
class LearnOptions:
    input: TrainingInput
    output: Annotated[str, output_file("File for the rules with learnt penalties, TOML")]
    rules: arguments.Rules = ()
    algorithm: str = OPTIONS.option(
        "cross-validated",
        "NAME: given (penalties of RULES), log-odds (counts of violations), perceptron (towards gold), conservative (towards the best "
        "labelling that rules can reach), perceptron-given or conservative-given (the same, beginning with the given penalties), "
        "risk (fewest expected errors), or cross-validated (the best of all but risk).",
    )
    measure: str = OPTIONS.option(
        "all",
        "NAME: Measure to maximize: tokens, spans, sequences, all, or an F measure of spans such as f0.5, which weighs precision "
        "above recall.",
    )
    folds: int = OPTIONS.option(5, "NUMBER: Folds in which models, algorithms and rules are evaluated.")
    weights: str = OPTIONS.option(
        "rules",
        "WHICH: rules: penalties and weights of features. all: also the scores of an hmm or crf that is trained on TRAIN, all corrected "
        "together under inference, on scores of models of the other folds, where that is better on held-out parts.",
    )
    output_model: Annotated[str | None, output_file("File for the model of --weights all, JSON")] = None
    rate: float | None = OPTIONS.option(
        None, "NATS: Step size of the perceptron, in nats; 0.3 if not given, 0.1 with --weights all."
    )
    epochs: int | None = OPTIONS.option(
        None,
        "NUMBER: Passes of the perceptron over TRAIN in each round; 20 if not given, 10 with --weights all.",
    )
    prune: bool = OPTIONS.option(True, "Remove rules that do not improve the measure.")
    seed: int = OPTIONS.option(0, "NUMBER: Seed of the folds and of the order of sequences.", min=0)
    as_json: arguments.AsJson = False
    others: Annotated[Sequence[str], argument("", "", hidden=True)] = ()


@command(
    "ilpinfer learn train.tsv --rules rules.toml --kind hmm --output learnt.toml",
    "ilpinfer learn train.tsv --rules citations --model crf.json --measure spans --output learnt.toml",
    "ilpinfer learn train.tsv --rules citations --kind hmm --weights all --output-model hmm.json --output learnt.toml",
)
def learn(options: LearnOptions) -> None:
    """Learn the penalties of rules from labelled sequences, by their effect on held-out labellings."""
    from ilpinfer.core.rule_compiler import stated
    from ilpinfer.learning.penalties import PenaltyLearner, learnable

    _check_rules(options)
    source, scheme = options.input.source, canonical_scheme(options.input.scheme)
    if options.weights not in WEIGHTS:
        raise InputError(f"--weights {options.weights}: expected {' or '.join(WEIGHTS)}")
    together = searcher(options) if options.weights == "all" else None
    if options.output_model and not together:
        raise InputError("--output-model: a model is learnt with --weights all only")
    learner = PenaltyLearner(**common(options, PenaltyLearner))
    inputs = files_read(source, options.input.model, toml=options.rules)
    outputs = Outputs(
        options.as_json, inputs, output=options.output, **{"output-model": options.output_model}
    )
    rules = read_rules(options.rules)
    try:
        _ = stated(rules, "joint learning") if together else learnable(rules)
    except ValueError as error:
        raise InputError(f"{', '.join(options.rules)}: {error}") from None
    warnings.simplefilter("ignore", RuleNotice)
    with about(source):
        data = options.input.read(scheme)
        if together:
            learn_all(together, data.pairs, data.record, rules, options, outputs)
            return

        with outputs.reserved():
            examples = data.examples or data.cross_fit(learner)
            try:
                with progress("learning", learner.fits(len(examples))) as fitted:
                    result = learner.fit(examples, rules, fitted=fitted)
            except ValueError as error:
                raise InputError(f"{', '.join(options.rules)}: {error}") from None
            write_atomically(options.output, _text(result, learner, f"{data.digest}, {data.scores}"))
    outputs.show(result.to_dict(), lambda screen: _show(result, screen))
    _remark(options, result)


def _check_rules(options: LearnOptions) -> None:
    """Whether rules are given, and by --rules; they were the first argument once."""
    if options.others:
        *more, train = options.others
        rules = shlex.join(word for each in (options.input.source, *more) for word in ("--rules", each))
        output = shlex.join(["--output", options.output])
        raise InputError(f"rules are an option: ilpinfer learn {shlex.quote(train)} {rules} {output}")
    if not options.rules:
        raise InputError("no rules to learn penalties of: name them with --rules RULES")


def _text(result: "LearntPenalties", learner: "PenaltyLearner", data: str) -> str:
    """The rule file with its origin, and with the removed rules as comments."""
    settings = ", ".join(f"{name} {value}" for name, value in asdict(learner).items())
    origin = (
        f"penalties learnt by ilpinfer {version('ilpinfer')}: {result.algorithm}, from {counted(result.sequences, 'sequence')} "
        f"({data}); {settings}"
    )
    text = dump_rules(with_source(result.rules, origin))
    left = [verdict for verdict in result.verdicts if not verdict.learnt]
    return text + comments(f"left out: {verdict.name} ({verdict.reason})" for verdict in left)


def _show(result: "LearntPenalties", screen: "Console") -> None:
    if result.candidates:
        show_candidates(result.candidates, result.algorithm, screen)
    shown = table("rule", numbers=("given", "learnt"))
    shown.add_column("why", overflow="fold")
    for verdict in sorted(result.verdicts, key=lambda v: -abs(v.learnt))[:MOST_ROWS]:
        add_row(shown, verdict.name, f"{verdict.given:.2f}", f"{verdict.learnt:.2f}", verdict.reason)
    screen.print(shown)
    if len(result.verdicts) > MOST_ROWS:
        screen.print(f"… and {len(result.verdicts) - MOST_ROWS} more; --json shows all", highlight=False)


def _remark(options: LearnOptions, result: "LearntPenalties") -> None:
    """Notices about penalties and sequences, and a remark on the rules that are kept."""
    from ilpinfer.learning.perceptron import LARGEST

    if result.capped:
        notice(
            f"penalties that reached the cap of {LARGEST:.0f} nats, because predictions break the rule at any penalty: "
            f"{', '.join(result.capped[:3])}{f' and {more} more' if (more := len(result.capped) - 3) > 0 else ''}"
        )
    if result.unlabelled:
        notice(f"{result.unlabelled} of {result.sequences} sequences have no labelling under the hard rules")
    for candidate in result.candidates:
        if candidate.algorithm == result.algorithm and candidate.refused:
            notice(f"{result.algorithm}: {candidate.refused}, before rules were left out")
    number = sum(verdict.learnt != 0 for verdict in result.verdicts)
    remark(
        f"{options.output}: {number} of {len(result.verdicts)} rules and features kept, by {result.algorithm}"
    )
