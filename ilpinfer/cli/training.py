"""`ilpinfer train`."""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from formulations import LabelSet, RuleSet, load_rules
from formulations.messages import suggestion
from formulations.problem.problem import RuleNotice
from ilpinfer.cli.inputs import about, checked_scheme, files_read, notice, parameters
from ilpinfer.cli.progress import progress
from ilpinfer.cli.show import add_row, console, numbers, table
from ilpinfer.cli.streams import say
from ilpinfer.corpus.conversion import converted, read_as, shown, sound, taken_as
from ilpinfer.corpus.sequences import InputError, labelled, read
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.models.crf_training import Iteration, Progress
from ilpinfer.models.training import KINDS
from ilpinfer.pipelines.cross_validation import Labelled, cross_validate, folds, kept_apart, labelled_by
from ilpinfer.system.files import reserved
from ilpinfer.system.places import place_of


@dataclass(frozen=True)
class Trying:
    """How a model is tried.

    Parameters
    ----------
    held_out : a file, or a share of the training sequences; empty for none
    parts : of cross-validation; 0 for none
    documents : a file with the document of each sequence, a line each; empty where each is one
    rules : under which sequences are labelled
    seed : of shuffling
    """

    held_out: str = ""
    parts: int = 0
    documents: str = ""
    rules: str | None = None
    seed: int = 0


def train(
    source: str,
    kind: str,
    output: str,
    scheme: str,
    first: int | None,
    options: Sequence[str],
    trying: Trying,
    column: str = "",
) -> None:
    """Train a model and write it whole; say how good it is, as far as asked."""
    if kind not in KINDS:
        raise InputError(f'no kind of model "{kind}"{suggestion(kind, KINDS)}')
    scheme = checked_scheme(scheme)
    _check_use(trying)
    own = parameters(options)
    place = place_of(
        output, files_read(source, trying.held_out, trying.documents, toml=[trying.rules, _template(own)])
    )
    with about(source):
        pairs = _read(source, scheme, first, column)
    _say_what_was_taken([labels for _, labels in pairs], scheme)
    with about(trying.rules):
        rules = RuleSet(()) if trying.rules is None else load_rules(trying.rules)
    documents = _documents(trying, len(pairs), first is not None)
    with about(trying.held_out or None):
        left, held_out = _held_out(source, pairs, scheme, trying, documents, column)
    parts = _parts(source, trying, documents)
    warnings.simplefilter("ignore", RuleNotice)

    def make(pairs: Sequence[Labelled], held_out: Sequence[Labelled] = (), watch: Any = None) -> Any:
        return KINDS[kind].make(pairs, scheme, held_out, watch, own)

    with reserved(place), about(source):
        if parts:
            _cross_validated(pairs, make, rules, parts)
        with _watched() as watch:
            model = make(left, held_out, watch)
        model.save(output)
    tokens = sum(len(labels) for _, labels in left)
    say(
        f"{output}: {KINDS[kind].title}, {len(model.labels)} labels ({model.labels.scheme}), {model.size}, "
        f"from {len(left)} sequence{'s' * (len(left) > 1)} of {tokens} token{'s' * (tokens > 1)}"
    )
    if held_out:
        tried = _table("held out")
        _add(tried, f"{len(held_out)} sequences", labelled_by(model, held_out, rules))
        console().print(tried)


def _read(source: str, scheme: str, first: int | None, column: str) -> list[Labelled]:
    pairs = labelled(read(source, column=column, notify=notice)[:first])
    labels = converted([labels for _, labels in pairs], scheme)
    return list(zip((tokens for tokens, _ in pairs), labels, strict=True))


def _say_what_was_taken(labellings: Sequence[Sequence[str]], scheme: str) -> None:
    """Notices where the scheme was inferred, and names or labellings are ambiguous or odd."""
    names = tuple(dict.fromkeys(name for labels in labellings for name in labels))
    text = "" if scheme else taken_as(labellings, scheme) or LabelSet(names).notice
    if text:
        notice(text)


def _check_use(trying: Trying) -> None:
    """Raise InputError for what says how to try a model where nothing asks for it."""
    for name, value in (("documents", trying.documents), ("rules", trying.rules)):
        if value and not (trying.held_out or trying.parts):
            raise InputError(f"--{name} {value}: nothing to try; add --held-out or --cross-validate")


def _template(own: dict[str, Any]) -> str | None:
    """The file of a feature template, where options name one."""
    name = own.get("template")
    return name if isinstance(name, str) and Path(name).is_file() else None


def _parts(source: str, trying: Trying, documents: Sequence[Any]) -> list[list[int]]:
    """The parts of a cross-validation; none where it is not asked for."""
    if not trying.parts:
        return []
    try:
        return folds(documents, trying.parts, trying.seed)
    except ValueError as error:
        raise InputError(f"{trying.documents or source}: --cross-validate {trying.parts}: {error}") from None


def _held_out(
    source: str,
    pairs: list[Labelled],
    scheme: str,
    trying: Trying,
    documents: Sequence[Any],
    column: str,
) -> tuple[list[Labelled], list[Labelled]]:
    """Sequences to train on, and those to try the model on."""
    if not trying.held_out:
        return pairs, []
    try:
        share = float(trying.held_out)
    except ValueError:
        return pairs, _alike(trying.held_out, scheme, pairs, column)
    if not 0 < share < 1:
        raise InputError(f"--held-out {trying.held_out}: expected a file, or a share between 0 and 1")
    try:
        chosen = set(kept_apart(documents, share, trying.seed))
    except ValueError as error:
        raise InputError(f"{trying.documents or source}: --held-out {trying.held_out}: {error}") from None
    return [p for i, p in enumerate(pairs) if i not in chosen], [pairs[i] for i in sorted(chosen)]


def _alike(path: str, scheme: str, pairs: Sequence[Labelled], column: str) -> list[Labelled]:
    """Held-out sequences of a file, their labels in the scheme of those to train on."""
    examples = read(path, column=column, notify=notice)
    labels = converted([names for _, names in labelled(examples)], scheme)
    result, rewrite = shown(labels), sound(labels)
    if not scheme and {result, shown([names for _, names in pairs])} == {"bio", "iob1"}:
        notice(
            f"of the labels to train on and those of {path} some look like bio, others like iob1: compared as they are; "
            "--scheme bio writes all as bio"
        )
    known = LabelSet(tuple(sorted({name for _, names in pairs for name in names})), scheme)
    alike: list[Labelled] = []
    for example, names in zip(examples, labels, strict=True):
        try:
            alike.append((example.tokens, read_as(known, names, result, rewrite)))
        except ValueError as error:
            hint = "label both files alike, or take --scheme plain"
            raise InputError(f"{example.where}: {error}, as in what is trained on; {hint}") from None
    return alike


def _documents(trying: Trying, number: int, cut: bool) -> Sequence[Any]:
    """What tells the documents of the sequences apart; names beyond the sequences only where these were `cut`."""
    if not trying.documents:
        return range(number)
    try:
        names = Path(trying.documents).read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{trying.documents}: cannot be read: {error}") from None
    names = [name.strip() for name in names if name.strip()]
    if len(names) < number or (len(names) > number and not cut):
        raise InputError(
            f"{trying.documents}: {len(names)} lines for {number} sequences; expected a line each"
        )
    return names[:number]


def _cross_validated(
    pairs: list[Labelled], make: Any, rules: RuleSet, parts: Sequence[Sequence[int]]
) -> None:
    tried, every = _table("cross-validation"), list[Pair]()
    with progress("folds", len(parts)) as advance:
        for number, result in enumerate(cross_validate(pairs, make, parts, rules), 1):
            _add(tried, f"fold {number}, {len(result)} sequences", result)
            every += result
            advance()
    _add(tried, f"all {len(every)}", every)
    console().print(tried)


def _table(title: str) -> Table:
    made = table(title)
    numbers(made, "token accuracy", "span precision", "recall", "F1", "whole sequences")
    return made


def _add(tried: Table, name: str, pairs: Sequence[Pair]) -> None:
    result = evaluate(pairs)
    spans = result.to_dict()["all"]["spans"]
    shares = (result.accuracy, spans["precision"], spans["recall"], spans["f1"], result.whole_sequences)
    add_row(tried, name, *(f"{100 * share:.2f}" for share in shares))


@contextmanager
def _watched() -> Iterator[Progress | None]:
    """Shows each iteration on a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with console(stderr=True).status("training") as status:

        def show(iteration: Iteration) -> None:
            right = (
                "" if iteration.held_out is None else f", {iteration.held_out:.2%} of held-out tokens right"
            )
            status.update(f"iteration {iteration.number}: loss {iteration.loss:.1f}{right}")

        yield show
