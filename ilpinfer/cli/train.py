"""`ilpinfer train`."""

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from formulations import RuleSet
from formulations.arguments import one_of
from formulations.errors import RuleNotice
from formulations.messages import counted
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OptionGroup, output_file, value_option
from ilpinfer.cli.command import command
from ilpinfer.cli.failure import about
from ilpinfer.cli.inputs import canonical_scheme, notice_scheme, parameters
from ilpinfer.cli.labelled import check_whole, held_out_of_file, read_labelled
from ilpinfer.cli.outputs import Outputs
from ilpinfer.cli.progress import progress, status
from ilpinfer.cli.rule_files import NO_METADATA, files_read, read_rules
from ilpinfer.cli.screen import add_row, print_json, table
from ilpinfer.cli.streams import remark
from ilpinfer.corpus.examples import InputError
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.models.files import TrainingRecord, save_trained, training_digest
from ilpinfer.models.sequence_model import TrainedModel
from ilpinfer.models.sequences import Labelled
from ilpinfer.models.training import KINDS
from ilpinfer.system.storage import open_bytes

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ilpinfer.models.crf.training import Iteration, Progress

EVALUATION = OptionGroup("Evaluation")


@dataclass(frozen=True)
class TrainOptions:
    source: arguments.TrainFile
    output: Annotated[str, output_file("File for the model, JSON")]
    kind: arguments.ModelKind = "hmm"
    scheme: arguments.Scheme = ""
    never: arguments.HelperLabels = ()
    column: arguments.Column = ""
    label_names: arguments.TagNames = None
    first: arguments.First = None
    option: arguments.KindOption = ()
    held_out: str = EVALUATION.option(
        "",
        "FILE|SHARE: Sequences to evaluate the model on: a file, or a share of TRAIN such as 0.2 that is not trained on.",
    )
    folds: int = EVALUATION.option(
        0, "NUMBER: Cross-validate with this number of folds; 0 for no cross-validation.", "--cross-validate"
    )
    documents: str = EVALUATION.option(
        "",
        "FILE: File with the name of the document of each sequence, one name per line. A document is never split between training and evaluation.",
    )
    rules: Annotated[
        Sequence[str],
        value_option(
            "RULES", "Rules under which the evaluated sequences are decoded. May be repeated.", EVALUATION
        ),
    ] = ()
    seed: int = EVALUATION.option(0, "NUMBER: Seed of the split into training and evaluation.", min=0)
    as_json: arguments.AsJson = False


@command(
    "ilpinfer train train.tsv --output hmm.json",
    "ilpinfer train train.tsv --kind crf --option template=citations --held-out test.tsv --output crf.json",
)
def train(options: TrainOptions) -> None:
    """Train a model on labelled sequences, and evaluate it."""
    from ilpinfer.pipelines.cross_validation import predict

    source, kind = options.source, options.kind
    one_of(kind, "kind of model", KINDS, InputError)
    scheme = canonical_scheme(options.scheme)
    _check_use(options)
    own = parameters(options.option)
    inputs = files_read(
        source,
        options.held_out,
        options.documents,
        options.label_names,
        toml=[*options.rules, _template(own)],
    )
    outputs = Outputs(options.as_json, inputs, output=options.output)
    rules = read_rules(options.rules, NO_METADATA)
    with about(source):
        pairs = read_labelled(
            source,
            options.column,
            scheme,
            options.first,
            options.label_names,
            options.never,
            partly=KINDS[kind].partly,
        )
    notice_scheme([labels for _, labels in pairs], scheme)
    documents = _documents(options, len(pairs))
    with about(options.held_out or None):
        training, held_out = _held_out(options, pairs, scheme, documents)
    folds = _folds(options, documents)
    if folds or held_out:
        check_whole(pairs if folds else held_out, "--cross-validate" if folds else "--held-out")
    warnings.simplefilter("ignore", RuleNotice)

    def make(
        pairs: Sequence[Labelled], held_out: Sequence[Labelled] = (), watch: "Progress | None" = None
    ) -> TrainedModel:
        return KINDS[kind].make(pairs, scheme, held_out, watch, own)

    validated: list[list[Pair]] = []
    with outputs.reserved(), about(source):
        if folds:
            validated = _cross_validate(pairs, make, rules, folds)
            if not options.as_json:
                _show_folds(validated, outputs.screen)
        with _show_iterations() as watch:
            model = make(training, held_out, watch)
        record = TrainingRecord(kind, own, scheme, len(training), training_digest(training))
        save_trained(options.output, model, record)
    tokens = sum(len(labels) for _, labels in training)
    remark(
        f"{options.output}: {KINDS[kind].title}, {counted(len(model.labels), 'label')} ({model.labels.scheme}), {model.size}, "
        f"from {counted(len(training), 'sequence')} of {counted(tokens, 'token')}"
    )
    predicted = predict(model, held_out, rules) if held_out else []
    if options.as_json:
        made = {
            "output": options.output,
            "kind": kind,
            "labels": model.labels.names,
            "scheme": model.labels.scheme,
            "sequences": len(training),
            "tokens": tokens,
        }
        measures = {
            "cross_validation": [_measures(pairs) for pairs in validated] or None,
            "held_out": _measures(predicted) if predicted else None,
        }
        print_json({**made, **measures})
    elif predicted:
        shown = _table("held out")
        _add(shown, counted(len(held_out), "sequence"), predicted)
        outputs.screen.print(shown)


def _check_use(options: TrainOptions) -> None:
    for name, value in (("documents", options.documents), ("rules", ", ".join(options.rules))):
        if value and not (options.held_out or options.folds):
            raise InputError(
                f"--{name} {value}: is used in an evaluation only; add --held-out or --cross-validate"
            )


def _template(own: dict[str, Any]) -> str | None:
    name = own.get("template")
    return name if isinstance(name, str) and Path(name).is_file() else None


def _folds(options: TrainOptions, documents: Sequence[Any]) -> list[list[int]]:
    """The folds of cross-validation; empty without it."""
    from ilpinfer.pipelines.cross_validation import make_folds

    if not options.folds:
        return []
    try:
        return make_folds(documents, options.folds, options.seed)
    except ValueError as error:
        where = options.documents or options.source
        raise InputError(f"{where}: --cross-validate {options.folds}: {error}") from None


def _held_out(
    options: TrainOptions, pairs: list[Labelled], scheme: str, documents: Sequence[Any]
) -> tuple[list[Labelled], list[Labelled]]:
    """Training sequences and evaluation sequences."""
    from ilpinfer.pipelines.cross_validation import held_out_places

    if not options.held_out:
        return pairs, []
    try:
        share = float(options.held_out)
    except ValueError:
        return pairs, held_out_of_file(
            options.held_out, options.column, scheme, pairs, options.label_names, options.never
        )
    if not 0 < share < 1:
        raise InputError(f"--held-out {options.held_out}: expected a file, or a share between 0 and 1")
    try:
        chosen = set(held_out_places(documents, share, options.seed))
    except ValueError as error:
        where = options.documents or options.source
        raise InputError(f"{where}: --held-out {options.held_out}: {error}") from None
    return [p for i, p in enumerate(pairs) if i not in chosen], [pairs[i] for i in sorted(chosen)]


def _documents(options: TrainOptions, number: int) -> Sequence[Any]:
    """The document of each sequence; more names than sequences are allowed with `first` only."""
    path = options.documents
    if not path:
        return range(number)
    try:
        with io.TextIOWrapper(open_bytes(path), "utf-8") as stream:
            names = stream.read().split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    names = [name.strip() for name in names if name.strip()]
    if len(names) < number or (len(names) > number and options.first is None):
        raise InputError(
            f"{path}: {counted(len(names), 'line')} for {counted(number, 'sequence')}; expected one line for each"
        )
    return names[:number]


def _cross_validate(
    pairs: list[Labelled],
    make: Callable[[Sequence[Labelled]], TrainedModel],
    rules: RuleSet,
    folds: Sequence[Sequence[int]],
) -> list[list[Pair]]:
    from ilpinfer.pipelines.cross_validation import cross_validate

    result: list[list[Pair]] = []
    with progress("folds", len(folds)) as advance:
        for predicted in cross_validate(pairs, make, folds, rules):
            result.append(list(predicted))
            advance()
    return result


def _show_folds(folds: Sequence[Sequence[Pair]], screen: "Console") -> None:
    shown = _table("cross-validation")
    for number, pairs in enumerate(folds, 1):
        _add(shown, f"fold {number}, {counted(len(pairs), 'sequence')}", pairs)
    every = [pair for pairs in folds for pair in pairs]
    _add(shown, f"all {len(every)}", every)
    screen.print(shown)


def _measures(pairs: Sequence[Pair]) -> dict[str, Any]:
    return {"sequences": len(pairs), **evaluate(pairs).to_dict()}


def _table(title: str) -> "Table":
    return table(title, numbers=("token accuracy", "span precision", "recall", "F1", "whole sequences"))


def _add(shown: "Table", name: str, pairs: Sequence[Pair]) -> None:
    result = evaluate(pairs)
    spans = result.to_dict()["all"]["spans"]
    shares = (result.accuracy, spans["precision"], spans["recall"], spans["f1"], result.whole_sequences)
    add_row(shown, name, *(f"{100 * share:.2f}" for share in shares))


@contextmanager
def _show_iterations() -> "Iterator[Progress | None]":
    with status("training") as update:
        if update is None:
            yield None
            return

        def show(iteration: "Iteration") -> None:
            right = (
                "" if iteration.held_out is None else f", {iteration.held_out:.2%} of held-out labels right"
            )
            update(f"iteration {iteration.number}: loss {iteration.loss:.1f}{right}")

        yield show
