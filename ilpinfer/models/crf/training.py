"""Training of conditional random fields with python-crfsuite, on the features of templates."""

import os
import signal
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing import Pipe
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from formulations import LabelSet
from formulations.arguments import items, one_of, texts
from formulations.messages import counted, suggestion
from ilpinfer.corpus.helper_labels import check_labelled
from ilpinfer.models.crf.crfsuite import read_crfsuite
from ilpinfer.models.crf.features import FeatureTemplate
from ilpinfer.models.crf.weights import Weights
from ilpinfer.models.labelled_sequences import tokens_and_labels, without_empty
from ilpinfer.models.sequences import Labelled, check_scheme, mixed_scheme, way_out_of_mixture
from ilpinfer.system import temporary_folders
from ilpinfer.system.posix import require_posix
from ilpinfer.system.processes import end_with_parent

if TYPE_CHECKING:  # some systems lack it
    from multiprocessing.connection import Connection

ALGORITHMS: Mapping[str, str] = {
    "lbfgs": "L-BFGS on the penalised log-likelihood (Fersini et al. 2014, eq. 6): c1 weighs |w|, c2 weighs w²",
    "l2sgd": "stochastic gradient descent with an L2 penalty",
    "averaged-perceptron": "the averaged perceptron",
    "passive-aggressive": "passive-aggressive updates",
    "arow": "adaptive regularisation of weights",
}

LINE_SEARCHES = ("MoreThuente", "Backtracking", "StrongBacktracking")
LARGEST = 2**31
"""Parameters must stay below this: CRFsuite counts in 32 bits."""

Observation = tuple[Sequence[Any], Sequence[str]]


@dataclass(frozen=True)
class Iteration:
    number: int
    loss: float
    held_out: float | None
    seconds: float


Progress = Callable[[Iteration], None]


def learn(
    observations: Iterable[Observation],
    *,
    algorithm: str = "lbfgs",
    parameters: Mapping[str, Any] | None = None,
    held_out: Iterable[Observation] = (),
    progress: Progress | None = None,
) -> Weights:
    """Weights of a linear-chain conditional random field, labels sorted by name; held-out sequences need known labels."""
    require_posix("training with CRFsuite", "train on Linux or macOS, and decode with the model here")
    trainer = _trainer(algorithm, dict(parameters or {}))
    names = set[str]()
    for features, labels in observations:
        trainer.append(features, list(labels))
        names.update(labels)
    if not names:
        raise ValueError("no sequences to train on")
    for features, labels in held_out:
        if names.issuperset(labels):
            trainer.append(features, list(labels), 1)
            trainer.holds_out = True
    with temporary_folders.temporary_folder() as folder:
        path = Path(folder) / "model"
        _train_apart(trainer, path, progress or (lambda iteration: None))
        return sorted_labels(read_crfsuite(path), sorted(names))


def _train_apart(trainer: Any, path: Path, progress: Progress) -> None:
    """Train in a forked process: CRFsuite blocks interrupts during an iteration, which can take a minute."""
    ours, theirs = Pipe(duplex=False)
    lifeline, its = Pipe()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        child = os.fork()
    if child == 0:
        lifeline.close()
        _train_and_leave(trainer, path, theirs, its, mask)
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        theirs.close()
        its.close()
        while isinstance(news := ours.recv(), Iteration):
            progress(news)
    except EOFError:
        news = "its process ended unexpectedly; try other parameters"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        ours.close()
        lifeline.close()
    if news:
        raise RuntimeError(f"CRFsuite: {news}")


def _train_and_leave(
    trainer: Any, path: Path, pipe: "Connection", lifeline: "Connection", mask: set[int]
) -> NoReturn:
    """Train in the child: send each iteration, then an error message or an empty text, and exit without cleanup."""
    try:
        end_with_parent(lifeline.fileno())
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        trainer.report = pipe.send
        try:
            trainer.train(str(path), 1 if trainer.holds_out else -1)
            pipe.send("")
        except Exception as error:
            pipe.send(f"{type(error).__name__}: {error}")
    finally:
        os._exit(0)


def _trainer(algorithm: str, parameters: dict[str, Any]) -> Any:
    from pycrfsuite import Trainer

    class Reporting(Trainer):
        holds_out = False
        report: Progress
        began = time.perf_counter()

        def message(self, text: str) -> None:
            if self.logparser.feed(text) == "iteration":
                last = self.logparser.last_iteration
                right = float(last["item_accuracy"]) if self.holds_out else None
                self.report(Iteration(last["num"], last["loss"], right, time.perf_counter() - self.began))

    one_of(algorithm, "algorithm", ALGORITHMS)
    trainer = Reporting(algorithm, verbose=False)
    for name, value in parameters.items():
        if name not in trainer.params():
            raise ValueError(f'{algorithm} has no parameter "{name}"{suggestion(name, trainer.params())}')
        usual = trainer.get(name)
        if demand := _demand(usual, value):
            raise ValueError(
                f"{algorithm}: {name} is {value!r}; its usual value is {usual!r}, expected {demand}"
            )
        trainer.set(name, value)
    return trainer


def _demand(usual: Any, value: Any) -> str:
    """The requirement that a value violates, by the type of the default; empty if the value is valid."""
    if isinstance(usual, str):
        return "" if value in LINE_SEARCHES else f"one of {', '.join(LINE_SEARCHES)}"
    if isinstance(usual, bool):
        return "" if value in (False, True) else "true or false"
    kind, what = (Integral, "a whole number") if isinstance(usual, int) else (Real, "a number")
    fits = isinstance(value, kind) and not isinstance(value, bool) and 0 <= float(value) < LARGEST
    return "" if fits else f"{what} from 0"


def sorted_labels(weights: Weights, names: Sequence[str]) -> Weights:
    """Reorder the labels of weights to `names`, which may include labels without weights."""
    place = {name: k for k, name in enumerate(names)}
    where = np.array([place[name] for name in weights.labels], np.int64)
    transitions = np.zeros((len(names), len(names)))
    transitions[np.ix_(where, where)] = weights.transitions
    return replace(weights, labels=tuple(names), targets=where[weights.targets], transitions=transitions)


def check_sequences(sequences: Iterable[Labelled], what: str, scheme: str) -> list[Labelled]:
    """Check sequences; tokens may be features instead of texts."""
    pairs = list[Labelled]()
    first: dict[str, int] = {}
    for number, (given, names) in enumerate(tokens_and_labels(sequences, f"{what} sequence")):
        place = f"{what} sequence {number}"
        check_labelled(names, place)
        tokens, labels = items(given, f"{place}: tokens", "texts"), texts(names, f"{place}: labels")
        pairs.append((tokens, labels))
        if len(tokens) != len(labels):
            raise ValueError(f"{place}: {counted(len(labels), 'label')} for {counted(len(tokens), 'token')}")
        for label in labels:
            first.setdefault(label, number)
    pairs = without_empty(pairs, f"{what} sequence")
    if not scheme and (mixture := mixed_scheme(first)):
        one, other = mixture
        raise ValueError(
            f"{what} labels are of different schemes: {one!r} in sequence {first[one]} has a prefix, {other!r} in "
            f"sequence {first[other]} has none; {way_out_of_mixture(list(first))}"
        )
    if first:
        LabelSet(tuple(first), scheme)
    check_scheme([labels for _, labels in pairs], scheme)
    return pairs


def observations(pairs: Iterable[Labelled], template: FeatureTemplate, what: str) -> list[Observation]:
    """The features and labels of sequences."""
    result = list[Observation]()
    for number, (tokens, labels) in enumerate(pairs):
        try:
            features = template.features(texts(tokens, "tokens"))
        except ValueError as error:
            raise ValueError(f"{what} sequence {number}: {error}") from None
        result.append((features, labels))
    return result
