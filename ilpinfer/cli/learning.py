"""`ilpinfer learn`."""

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from formulations import RuleSet, dump_rules
from formulations.problem.problem import RuleNotice
from ilpinfer.cli.inputs import about, checked_scheme, comments, files_read, notice, parameters, read_rules
from ilpinfer.cli.progress import progress
from ilpinfer.cli.show import add_row, console, numbers, table
from ilpinfer.cli.streams import say
from ilpinfer.corpus.sequences import InputError, read, require_labels
from ilpinfer.learning.held_out import held_out_examples
from ilpinfer.learning.penalties import LearntPenalties, PenaltyLearner
from ilpinfer.learning.perceptron import LARGEST
from ilpinfer.learning.training_set import ScoredExample
from ilpinfer.models.files import BUILT_IN, TrainingRecord, load_model, training_digest, training_record
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.models.sequences import Labelled
from ilpinfer.models.training import KINDS, rewrite
from ilpinfer.pipelines.trellises import score
from ilpinfer.system.files import digest, reserve, write_atomically
from ilpinfer.system.output_paths import output_path

SHOWN = 40
"""Rules of the table on screen."""


@dataclass(frozen=True)
class LearnOptions:
    """Options of `ilpinfer learn`.

    Parameters
    ----------
    rules : rule files, or names of the catalogue, which are joined
    source : labelled sequences
    output : a rule file
    model : a model that scores them; where it was trained on them, others of its kind are trained on parts
    kind, option : of models that are trained on parts, where no model is given
    settings : those of `PenaltyLearner` that are given
    folds : parts
    scheme : of the labels; empty to infer it
    column : which column holds the labels
    as_json : whether to show JSON
    """

    rules: Sequence[str]
    source: str
    output: str
    model: str | None = None
    kind: str = ""
    option: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    folds: int = 5
    scheme: str = ""
    column: str = ""
    as_json: bool = False


def run_learn(options: LearnOptions) -> None:
    """Learn penalties, show what became of each rule, and write the rules whole."""
    source, scheme = options.source, checked_scheme(options.scheme)
    try:
        learner = PenaltyLearner(folds=options.folds, **options.settings)
    except ValueError as error:
        raise InputError(str(error)) from None
    place = output_path(options.output, files_read(source, options.model, toml=options.rules))
    rules = read_rules(options.rules)
    warnings.simplefilter("ignore", RuleNotice)
    with reserve(place), about(source):
        examples, scores, data = _examples(options, scheme)
        try:
            with _count(len(examples)) as advance:
                result = learner.fit(examples, rules, advance=advance)
        except ValueError as error:
            raise InputError(f"{', '.join(options.rules)}: {error}") from None
        write_atomically(options.output, _text(result, learner, f"{data}, {scores}"))
    _show(options, result)


def _examples(options: LearnOptions, scheme: str) -> tuple[list[ScoredExample], str, str]:
    """Sequences scored by models that have not seen them, where the scores are from, and a fingerprint of the data."""
    read_in = read(options.source, column=options.column, notify=notice)
    pairs = rewrite(require_labels(read_in), scheme)
    data = training_digest(pairs)
    if options.kind and options.model:
        raise InputError(f"--model {options.model} and --kind {options.kind}: give one of them")
    if options.kind:
        if options.kind not in KINDS:
            raise InputError(f'no kind of model "{options.kind}"; there are {", ".join(KINDS)}')
        made = TrainingRecord(options.kind, parameters(options.option), scheme, len(pairs), data)
        return _cross_fitted(options, pairs, made), _parts(made), data
    if options.option:
        raise InputError("--option: options of a model that is trained; add --kind")
    own = all(example.scores is not None for example in read_in)
    record = training_record(options.model) if options.model and not own else None
    if record is not None and record.kind in KINDS:
        pairs = rewrite(require_labels(read_in), record.scheme)
        data = training_digest(pairs)
        if record.data == data:
            notice(
                f"{options.model} was trained on {options.source}: models of its kind, each trained without a part, score it"
            )
            return _cross_fitted(options, pairs, record), _parts(record), data
    _warn(options, own, record)
    with about(options.model):
        model: SequenceModel | None = load_model(options.model) if options.model else None
    scored = score(read_in, model, scheme)
    examples = [
        ScoredExample(item.trellis, item.gold)
        for item in scored
        if item.trellis is not None and item.gold is not None
    ]
    if len(examples) < len(scored):
        notice(f"{len(scored) - len(examples)} sequences could not be scored, and are left out")
    return examples, "with scores" if own else f"scored by {_shown(options.model)}", data


def _parts(record: TrainingRecord) -> str:
    """How models of a kind score a sequence that they are not trained on, in a few words."""
    settings = ", ".join(f"{name}={value}" for name, value in record.options.items())
    return f"scored by {record.kind}{f' ({settings})' if settings else ''} trained without each part"


def _shown(model: str | None) -> str:
    """A model by its name, or by a fingerprint of its file."""
    if model is None or model in BUILT_IN:
        return model or "no model"
    return f"a model ({digest(Path(model).read_bytes())})"


def _warn(options: LearnOptions, own: bool, record: TrainingRecord | None) -> None:
    """Notices of a model that is not used, and of one that may have seen the sequences."""
    if options.model and own:
        notice(f"{options.source} has scores of its own: {options.model} is not used")
    elif options.model and options.model not in BUILT_IN and record is None:
        notice(
            f"{options.model} does not say what it was trained on: if {options.source} was among that, take --kind instead, "
            "which trains models without parts of it"
        )


def _cross_fitted(
    options: LearnOptions, pairs: Sequence[Labelled], record: TrainingRecord
) -> list[ScoredExample]:
    """Each sequence as scored by a model of a kind that was trained without its part."""

    def train(some: Sequence[Labelled]) -> SequenceModel:
        return KINDS[record.kind].make(some, record.scheme, [], None, record.options)

    if len(pairs) < 2:
        raise InputError(
            f"{options.source}: one sequence: nothing is left to score it by; give another model with --model"
        )
    seed = options.settings.get("seed", 0)
    with progress("training", min(options.folds, len(pairs))) as advance:
        return held_out_examples(pairs, train, folds=options.folds, seed=seed, advance=advance)


@contextmanager
def _count(number: int) -> Iterator[Any]:
    """Shows how many passes over the sequences were decoded."""
    done = 0
    with console(stderr=True).status("learning") as status:

        def advance() -> None:
            nonlocal done
            done += 1
            if done % max(1, number) == 0:
                status.update(f"learning: {done // number} passes over {number} sequences")

        yield advance


def _text(result: LearntPenalties, learner: PenaltyLearner, data: str) -> str:
    """The rule file, with how it was made, and what was left out."""
    settings = ", ".join(f"{name} {value}" for name, value in asdict(learner).items())
    made = (
        f"penalties learnt by ilpinfer {version('ilpinfer')}: {result.algorithm}, from {result.sequences} sequences "
        f"({data}); {settings}"
    )
    rules: RuleSet = result.rules
    source = f"{rules.source}; {made}" if rules.source else made
    text = dump_rules(
        RuleSet(rules.items, rules.fields, "", rules.groups, rules.templates, rules.title, source)
    )
    left = [verdict for verdict in result.verdicts if not verdict.learnt]
    return text + comments(f"left out: {verdict.name} ({verdict.reason})" for verdict in left)


def _show(options: LearnOptions, result: LearntPenalties) -> None:
    if options.as_json:
        print(json.dumps(result.to_dict(), indent=2, ensure_ascii=False))
    else:
        screen = console()
        if result.candidates:
            shown = table("on held-out parts")
            numbers(shown, "token accuracy", "span F1", "whole sequences")
            for candidate in result.candidates:
                name = candidate.algorithm + (", taken" if candidate.algorithm == result.algorithm else "")
                figures = (f"{100 * share:.2f}" for share in candidate.measures)
                add_row(shown, name, *figures)
            screen.print(shown)
        shown = table("rule")
        numbers(shown, "given", "learnt")
        shown.add_column("why", overflow="fold")
        for verdict in sorted(result.verdicts, key=lambda v: -abs(v.learnt))[:SHOWN]:
            add_row(shown, verdict.name, f"{verdict.given:.2f}", f"{verdict.learnt:.2f}", verdict.reason)
        screen.print(shown)
        if len(result.verdicts) > SHOWN:
            screen.print(f"… and {len(result.verdicts) - SHOWN} more; --json shows all", highlight=False)
    if result.capped:
        notice(
            f"weights that ran to the cap of {LARGEST:.0f} nats, as where predictions break a rule whatever it costs: "
            f"{', '.join(result.capped[:3])}{f' and {more} more' if (more := len(result.capped) - 3) > 0 else ''}"
        )
    if result.unlabelled:
        notice(f"hard rules leave no labelling of {result.unlabelled} of {result.sequences} sequences")
    for candidate in result.candidates:
        if candidate.algorithm == result.algorithm and candidate.refused:
            notice(f"{result.algorithm}: {candidate.refused}, before rules were left out")
    kept = sum(verdict.learnt != 0 for verdict in result.verdicts)
    say(f"{options.output}: {kept} of {len(result.verdicts)} rules and features kept, by {result.algorithm}")
