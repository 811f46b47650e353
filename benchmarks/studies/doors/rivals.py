"""Viterbi decoders of other libraries, which take no rules, on the same sentences."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from pandas import DataFrame

import ilpinfer
from benchmarks.data.models import kept
from benchmarks.report import Cells, Report, number
from benchmarks.studies.doors.calls import BARE, TIMES, Way, count, padded, timed
from benchmarks.studies.doors.tagger import RULES, Ids, Scores, Sentences, rules_of, sentences
from benchmarks.study import Cell, Missing, Row, Sources, require
from formulations import RuleSet, Trellis
from formulations.grid import nats
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.models.crf import CRF

NO_RULES, ALL_RULES = "`decode_scores`, no rules", f"`decode_scores`, scheme and {len(RULES)} rules"
BATCH, TRAINED = 64, 300
"""Sentences of a batch, and those that CRFsuite's model is trained on."""
LOST = 1e-2
"""Nats that labels from scores in single precision may lose."""


def absent(packages: Sequence[str]) -> str:
    """Why a program is not measured; empty where it is there."""
    try:
        require(*packages)
    except Missing as missing:
        return str(missing)
    return ""


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """A program, and why it is not measured."""
    return (Cell(part=part, data=name, absent=absent(packages)) for name, (packages, _) in TAGGERS.items())


def without_rules(sources: Sources, cell: Cell) -> Iterator[Row]:
    """A program on all sentences, in turns with the engine without and with rules; its labels have to be worth the optimum."""
    if cell.absent:
        yield {}
        return
    some = sentences(count(sources))
    own, trellises = TAGGERS[cell.data][1](some)
    try:
        lost = {name: most_lost(trellises, way()) for name, way in own.items()}
    except Exception as error:
        yield {"failed": f"{type(error).__name__}: {error}"[:200]}
        return
    ours = {
        name: partial(padded, ilpinfer.Decoder(rules, some.names), some)
        for name, rules in ((NO_RULES, RuleSet(())), (ALL_RULES, rules_of(len(RULES))))
    }
    for name, row in timed(some, RuleSet(()), {**ours, **own}, sources(smoke=1, sample=7)):
        yield {"way": name, **row} | ({"lost": lost[name]} if name in lost else {})


def most_lost(trellises: Sequence[Trellis], paths: Iterable[Any]) -> float:
    """Nats by which labellings are below the optimum, at most."""
    none = RuleSet(())
    best = (ilpinfer.decode(trellis, none, method="viterbi").score for trellis in trellises)
    worths = (
        nats(compile_problem(trellis, none).value(np.asarray(path, np.int64)).score)
        for trellis, path in zip(trellises, paths, strict=True)
    )
    return max(one - other for one, other in zip(best, worths, strict=True))


def viterbi(emissions: Scores, transitions: Scores) -> Ids:
    """The best label ids (T,) of one sentence, as one writes it with numpy."""
    best, pointers = emissions[0], []
    for scores in emissions[1:]:
        sums = best[:, None] + transitions
        previous = sums.argmax(0)
        best = sums[previous, np.arange(len(previous))] + scores
        pointers.append(previous)
    path = [int(best.argmax())]
    for previous in reversed(pointers):
        path.append(int(previous[path[-1]]))
    return np.array(path[::-1])


def viterbi_of_many(emissions: Scores, mask: Any, transitions: Scores) -> list[Ids]:
    """The same for a padded batch (N, T, K), step by step for all; a sentence that has ended keeps its label."""
    best, pointers, own = emissions[:, 0], [], np.arange(emissions.shape[2])
    for t in range(1, emissions.shape[1]):
        sums = best[:, :, None] + transitions
        previous = sums.argmax(1)
        scores = np.take_along_axis(sums, previous[:, None], 1)[:, 0] + emissions[:, t]
        goes_on = mask[:, t, None]
        best = np.where(goes_on, scores, best)
        pointers.append(np.where(goes_on, previous, own))
    path = [best.argmax(1)]
    for previous in reversed(pointers):
        path.append(np.take_along_axis(previous, path[-1][:, None], 1)[:, 0])
    paths = np.stack(path[::-1], 1)
    return [ids[:length] for ids, length in zip(paths, mask.sum(1).tolist(), strict=True)]


def split(some: Sentences) -> list[tuple[Scores, Any]]:
    """Padded emissions and masks of batches, each as long as its longest sentence."""
    result = []
    for begin in range(0, len(some.mask), BATCH):
        mask = some.mask[begin : begin + BATCH]
        T = int(mask.sum(1).max())
        result.append((some.padded[begin : begin + BATCH, :T].copy(), mask[:, :T].copy()))
    return result


Made = tuple[Mapping[str, Way], list[Trellis]]
"""The ways of a program, and the scores that it decodes."""


def by_numpy(some: Sentences) -> Made:
    parts, steps = split(some), some.transitions
    return {
        "numpy, one by one": lambda: [viterbi(each, steps) for each in some.emissions],
        f"numpy, batches of {BATCH}": lambda: [
            ids for each, mask in parts for ids in viterbi_of_many(each, mask, steps)
        ],
    }, some.trellises


def by_hmmlearn(some: Sentences) -> Made:
    """Its HMM with the emissions as log likelihoods; equal probabilities of first labels change no labelling."""
    from hmmlearn.base import BaseHMM

    K = len(some.names)
    model = BaseHMM(K)
    model.startprob_, model.transmat_ = np.full(K, 1 / K), np.exp(some.transitions)
    model._compute_log_likelihood = lambda scores: scores
    joined, lengths = np.concatenate(some.emissions), [len(each) for each in some.emissions]
    ends = np.cumsum(lengths)[:-1]
    return {
        "hmmlearn, one by one": lambda: [model.decode(each)[1] for each in some.emissions],
        "hmmlearn, one call": lambda: np.split(model.decode(joined, lengths)[1], ends),
    }, some.trellises


def by_torch(some: Sentences) -> Made:
    """The decoder of pytorch-crf on one thread, in single precision."""
    import torch
    import torchcrf

    torch.set_num_threads(1)
    layer = torchcrf.CRF(len(some.names), batch_first=True)
    layer.transitions.data = torch.tensor(some.transitions, dtype=torch.float32)
    for ends in (layer.start_transitions, layer.end_transitions):
        ends.data.zero_()
    parts = [(torch.tensor(each, dtype=torch.float32), torch.tensor(mask)) for each, mask in split(some)]

    def decode() -> Iterable[Any]:
        with torch.inference_mode():
            return [ids for part in parts for ids in layer.decode(*part)]

    return {f"pytorch-crf, batches of {BATCH}": decode}, some.trellises


def by_crfsuite(some: Sentences) -> Made:
    """Its tagger with a model of its own: a feature for each label, whose value is the score of the label."""
    import pycrfsuite

    def write(path: Any) -> None:
        trainer = pycrfsuite.Trainer("lbfgs", {"c2": 0.1, "max_iterations": 30}, verbose=False)
        for features, ids in zip(items[:TRAINED], some.planted, strict=False):
            trainer.append(features, [some.names[k] for k in ids])
        trainer.train(str(path))

    items = [[dict(zip(some.names, row, strict=True)) for row in each.tolist()] for each in some.emissions]
    path = kept("crfsuite", ["doors", items[:TRAINED]], "crfsuite", write)
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    model = CRF.from_crfsuite(path)
    ids_of = {name: k for k, name in enumerate(model.labels.names)}
    sequences = [pycrfsuite.ItemSequence(each) for each in items]
    return {
        "CRFsuite, one by one": lambda: [[ids_of[name] for name in tagger.tag(each)] for each in sequences]
    }, [model.trellis_of(each) for each in items]


TAGGERS: Mapping[str, tuple[tuple[str, ...], Callable[[Sentences], Made]]] = {
    "numpy": ((), by_numpy),
    "hmmlearn": (("hmmlearn",), by_hmmlearn),
    "pytorch-crf": (("torch", "torchcrf"), by_torch),
    "CRFsuite": (("pycrfsuite",), by_crfsuite),
}
"""What each program without rules needs, and what makes its decoder."""


def _absences(frame: DataFrame) -> str:
    """The programs that were not there, and why; one that an earlier part of the run did not find may have been found since."""
    if "absent" not in frame:
        return ""
    away = frame[frame.absent.fillna("") != ""]
    found = set(frame.data[frame.absent == ""])
    notes = {str(row.data): str(row.absent) for row in away.itertuples() if row.data not in found}
    return "".join(f"- {name}: not measured, {note}.\n" for name, note in notes.items())


def report(frame: DataFrame, report: Report) -> None:
    report.heading("Programs without rules")
    report.text(
        "Each program decodes all sentences in turns with `decode_scores`; what it reads is made beforehand, and it ends with the label ids of all. "
        "numpy is the recursion that one writes oneself, hmmlearn its HMM whose log likelihoods are the emissions, pytorch-crf the layer on padded "
        f"batches of {BATCH} in single precision on one thread. CRFsuite takes no scores: its tagger has a model of its own with a feature for each "
        "label, whose value is the score of the label, and learnt transitions."
    )
    measured = frame[frame.way.notna()] if "way" in frame else frame[:0]
    cells: Cells = {
        **TIMES,
        "below the optimum, nats": lambda x: number(x.lost.iloc[0], 2) if x.way.iloc[0] in lossy else "0",
    }
    lossy = set(measured.way[measured.lost.notna()]) if "lost" in measured else set()
    report.pivot(measured[measured.way != BARE], {"beside": "data", "program": "way"}, cells)
    failed = frame[frame.failed.notna()] if "failed" in frame else frame[:0]
    report.text("".join(f"- {row.data}: failed, {row.failed}\n" for row in failed.itertuples()))
    report.text(_absences(frame))
    report.text(
        f"{len(failed)} of these programs failed. Labels may be at most {LOST:g} nats below the optimum of the scores that a program is given; "
        "those of `decode_scores` are proved."
    )
