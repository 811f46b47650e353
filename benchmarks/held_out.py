"""What studies of decoding under mined rules share: models, rules, and measures in per cent."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpora import Labelled, read_labelled, soft_rules
from formulations import LabelSet, RuleSet, Trellis
from formulations import constraints as C
from ilpinfer.core.solution import Solution
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.learning.measures import Measures
from ilpinfer.models.files import load_model
from ilpinfer.models.hmm import HMM
from ilpinfer.models.sequence_model import SequenceModel


@dataclass(frozen=True)
class Setting:
    """A model, rules, and sequences with gold that neither was made from.

    Parameters
    ----------
    name : for tables
    trellises, gold : N sequences
    rules : under which they are decoded
    """

    name: str
    trellises: tuple[Trellis, ...]
    gold: tuple[tuple[str, ...], ...]
    rules: RuleSet


def mined(train: Sequence[Labelled], most: int | None = None) -> RuleSet:
    """The strongest rules that labelled sequences suggest, all soft."""
    labels = LabelSet(tuple(sorted({label for _, gold in train for label in gold})))
    return RuleSet(tuple(soft_rules(train, most)), tuple(labels.fields), "mined")


def cora(folder: Path, sizes: Iterable[int], number: int, rules: RuleSet | None = None) -> Iterator[Setting]:
    """References tagged by HMMs of so many others; rules mined from all 300 training references where none are given."""
    train, dev = (read_labelled(folder / "cora" / f"{name}.tsv") for name in ("train", "dev"))
    for size in sizes:
        known = mined(train) if rules is None else rules
        yield _setting(f"Cora, HMM of {size}", HMM.train(train[:size]), dev[:number], known)


def umass(folder: Path, model: str, number: int, most: int) -> Iterator[Setting]:
    """References tagged by a trained CRF, its own steps hard, under so many mined rules."""
    train, dev = (read_labelled(folder / "umass_cfe" / f"{name}.tsv") for name in ("train", "dev"))
    rules = mined(train, most)
    crf, hard = load_model(model), RuleSet((*rules, C.valid_scheme()), rules.fields, "mined")
    yield _setting(f"UMass, CRF, {most} rules", crf, dev[:number], hard)


def _setting(name: str, model: SequenceModel, some: Sequence[Labelled], rules: RuleSet) -> Setting:
    trellises = tuple(model.trellis(tokens) for tokens, _ in some)
    return Setting(name, trellises, tuple(labels for _, labels in some), rules)


@dataclass(frozen=True)
class Line:
    """A row of a table: measures in per cent, milliseconds a sequence, and in how many something is proved."""

    method: str
    accuracy: float
    f1: float
    whole: float
    milliseconds: float
    proved: int

    def __str__(self) -> str:
        figures = f"{self.accuracy:8.2f} {self.f1:8.2f} {self.whole:8.2f} {self.milliseconds:10.2f}"
        return f"  {self.method:34} {figures} {self.proved:7}"


HEAD = f"  {'method':34} {'tokens':>8} {'span F1':>8} {'whole':>8} {'ms a seq.':>10} {'optimal':>7}"


def line_of(method: str, setting: Setting, decode: Callable[[Trellis], Solution]) -> Line:
    """A method on all sequences of a setting; what is missing counts as wrong."""
    began = time.process_time()
    solutions = [decode(trellis) for trellis in setting.trellises]
    spent = 1000 * (time.process_time() - began) / len(solutions)
    proved = sum(solution.status == "optimal" for solution in solutions)
    return Line(method, *percentages(setting, [labels_of(s) for s in solutions]), spent, proved)


def labels_of(solution: Solution) -> tuple[str, ...] | None:
    """T names, or None."""
    return tuple(solution.labels) if solution.has_labelling else None


def percentages(setting: Setting, labellings: Sequence[tuple[str, ...] | None]) -> tuple[float, float, float]:
    """Right tokens, F1 of spans and whole sequences."""
    pairs = [Pair(gold, labels, gold) for labels, gold in zip(labellings, setting.gold, strict=True)]
    shares = Measures.of(evaluate(pairs, scheme=setting.trellises[0].labels.scheme))._asdict()
    return 100 * shares["accuracy"], 100 * shares["f1"], 100 * shares["whole"]
