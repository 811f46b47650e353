"""Accuracy of neural taggers under rules, by the scale of their logits and by where the penalties come from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, product
from pathlib import Path

import numpy as np
from pandas import DataFrame

from benchmarks.data import evaluations as E
from benchmarks.data import umass
from benchmarks.data.corpora import resume_rules
from benchmarks.report import COLORS, Cells, Report, fixed, groups, signed
from benchmarks.studies.neural.draws import CORPORA, PARTS, SOFTMAX, Logits, Tagger, draw_of, made_up, read
from benchmarks.study import Cell, Row, Sources, Study, grid
from formulations import LabelSet, RuleSet, join, load_rules
from formulations import constraints as C
from formulations.constraints.formulas import Linear
from ilpinfer.evaluation.significance import Difference, compare
from ilpinfer.learning import WeightLearner, fit_temperature
from ilpinfer.learning.training_set import is_learnt

LIMIT = 5.0
NONE, SCHEME = "no rules", "labels keep their scheme"
GIVEN, LEARNT = "rules, given penalties", "rules, learnt penalties"
BIASES = "rules, learnt penalties, biases of labels"
EQUAL, WORDS = "equal words of a document, 1 nat", "equal words of a document, learnt penalty"
AS_THEY_ARE, SCALED = "as they are", "by temperature"
WAYS: Sequence[tuple[str, str]] = (
    (NONE, "–"),
    (SCHEME, "–"),
    (GIVEN, AS_THEY_ARE),
    (GIVEN, SCALED),
    (LEARNT, AS_THEY_ARE),
    (LEARNT, SCALED),
    (BIASES, SCALED),
    (EQUAL, SCALED),
    (WORDS, SCALED),
)
SMALL = 0.01
"""Nats that a bias is given before it is learnt."""
GAINS = ("tokens", "F1", "whole")
DRAWS = ("first draw", "second draw")
NAMES = {"cora": "Cora", "umass": "UMass", "resume": "Résumés", "names": "Spanish names"}
NAMES |= {part: f"{NAMES[part.removesuffix(SOFTMAX)]}, softmax" for part in PARTS if part not in NAMES}
TAGGERS = ("CRF layer", "softmax")
Gains = Mapping[tuple[str, str], Sequence[Difference]]


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """A draw, with all ways to label it."""
    draw_of(sources.folder, part, 0)  # Missing where the corpus is not there
    return grid(part, draw=range(sources(smoke=1, sample=2)))


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    logits = (made_up if sources.scale == "smoke" else read)(sources.folder, cell.part, cell.draw)
    scales = {"–": 1.0, AS_THEY_ARE: 1.0, SCALED: temperature_of(logits.held_out, logits.labels)}
    given = given_rules(sources.folder, cell.part.removesuffix(SOFTMAX), cell.draw)
    corpus = cell.part.removesuffix(SOFTMAX)
    for way, scale in WAYS:
        if (way in (EQUAL, WORDS) and corpus != "names") or (way == BIASES and corpus == "umass"):
            continue
        rules = made_rules(way, given, logits, scales[scale], cell.draw)
        own = evaluated(logits, scales[scale], rules, joined=way in (EQUAL, WORDS))
        number = sum(map(is_learnt, rules))
        yield {"rules": way, "scale": scale, "temperature": scales[SCALED], "kept": number, **own}


def temperature_of(tagger: Tagger, labels: LabelSet) -> float:
    """Of a tagger on what it has not seen; sentences with labels that it lacks are left out."""
    known = [(rows, gold) for (_, gold), rows in tagger.sentences() if {*gold} <= {*labels.names}]
    rows, gold = zip(*known, strict=True)
    return fit_temperature(rows, gold, labels, **tagger.layer)


def given_rules(folder: Path, corpus: str, draw: int) -> RuleSet:
    """The rules of a corpus with their penalties; labels keep their scheme beside them."""
    if corpus == "umass":
        training = draw_of(folder, corpus, draw).training
        rules = umass.MINERS[umass.ALL].fit([*chain.from_iterable(training)]).rules
    elif corpus == "resume":
        rules = resume_rules(hard=False)
        easy = (rule for rule in rules.rules if not isinstance(rule.statement, Linear))
        rules = replace(rules, items=tuple(easy))
    else:
        rules = load_rules({"cora": "citations", "names": "entities"}[corpus])
    return replace(rules, items=(C.valid_scheme(), *rules.items))


def made_rules(way: str, given: RuleSet, logits: Logits, temperature: float, seed: int) -> RuleSet:
    """The rules of a way to label; what is learnt is learnt on the part of training that is held out."""
    scheme = replace(given, items=given.items[:1])
    equal = replace(scheme, items=(*scheme.items, C.consistent(token_class="capitalised", penalty=1.0)))
    stated = {NONE: RuleSet(()), SCHEME: scheme, GIVEN: given, EQUAL: equal}
    if way in stated:
        return stated[way]
    examples = list(logits.held_out.examples(logits.labels, temperature, joined=way == WORDS))
    if way == WORDS:
        given = equal
    elif way == BIASES:
        used = sorted({name for example in examples for name in example.gold or ()})
        more = (C.feature(label=name, weight=SMALL, name=f"bias of {name}") for name in used)
        given = replace(given, items=(*given.items, *more))
    return WeightLearner(seed=seed).fit(examples, given).rules


def evaluated(logits: Logits, temperature: float, rules: RuleSet, joined: bool) -> Row:
    """The documents that are evaluated, labelled under rules."""
    tagger = logits.evaluated
    trellises = tagger.trellises(logits.labels, temperature)
    groups_of = trellises if joined else [[one] for some in trellises for one in some]
    units = [join(some, "\n" if joined else None) for some in groups_of]
    solutions = E.rechecked([unit.trellis for unit in units], rules, LIMIT)
    labellings = [
        labels
        for unit, solution in zip(units, solutions, strict=True)
        for labels in (
            unit.split(solution.labels) if solution.has_labelling else [None] * len(unit.sequences)
        )
    ]
    places = [place for place, document in enumerate(tagger.documents) for _ in document]
    pairs = [pair for pair, _ in tagger.sentences()]
    result = E.row_of(E.beside_gold(pairs, labellings, scheme=logits.labels.notation), places)
    return {**result, "decoded": len(units), **E.statuses(solutions, "optimal")}


def report(frame: DataFrame, report: Report) -> None:
    gains = {names: _gains(some) for names, some in groups(frame, "part", "draw")}
    report.heading("What helps")
    low, high = frame.temperature.min(), frame.temperature.max()
    report.text(
        "Gains in span F1: of the scheme over no rules, and of rules beside the scheme over the scheme alone. Higher and lower: corpora and draws in "
        "which the 95 % interval of the paired bootstrap leaves out 0. Logits by temperature are divided by "
        f"{fixed(low, 2)} to {fixed(high, 2)}."
    )
    lines = []
    for tagger, way in product(TAGGERS, WAYS[1:]):
        spans = [own[way][1] for (part, _), own in gains.items() if way in own and tagger == _tagger(part)]
        if spans:
            higher, lower = sum(each.low > 0 for each in spans), sum(each.high < 0 for each in spans)
            mean = signed(float(np.mean([100 * each.gain for each in spans])), 2)
            lines.append([tagger, *way, f"{higher} of {len(spans)}", f"{lower} of {len(spans)}", mean])
    report.table(("tagger", "rules", "logits", "higher", "lower", "points, mean"), lines, 3)
    _picture(gains, report)
    for (part, draw), some in groups(frame, "part", "draw"):
        own = gains[part, draw]
        report.heading(f"{NAMES[part]}, {DRAWS[draw]}")
        report.text(
            f"{len(set(some.places.iloc[0]))} documents of {sum(some.tokens.iloc[0])} tokens. "
            f"Temperature of the logits: {fixed(some.temperature.iloc[0], 2)}."
        )
        cells: Cells = {
            "weights": lambda x: x.kept.iloc[0],
            E.MEASURES: lambda x: E.measures(E.evaluation_of(x)),
            **{f"{name}, points": partial(_shown, gains=own, which=n) for n, name in enumerate(GAINS)},
            "proved": lambda x: f"{x.optimal.sum()} of {x.decoded.sum()}",
        }
        report.pivot(some, {"rules": "rules", "logits": "scale"}, cells)


def _tagger(part: str) -> str:
    return TAGGERS[part.endswith(SOFTMAX)]


def _gains(some: DataFrame) -> Gains:
    """Gains of the scheme over no rules, and of each other way over the scheme."""
    made = {names: E.evaluation_of(own) for names, own in groups(some, "rules", "scale")}
    bases = dict.fromkeys(made, made[SCHEME, "–"]) | {(SCHEME, "–"): made[NONE, "–"]}
    return {way: compare(own, bases[way], resamples=1999) for way, own in made.items() if way[0] != NONE}


def _shown(some: DataFrame, gains: Gains, which: int) -> str:
    way = some.rules.iloc[0], some.scale.iloc[0]
    return E.interval(gains[way][which]) if way in gains else "–"


def _picture(gains: Mapping[tuple[str, int], Gains], report: Report) -> None:
    parts = list(dict.fromkeys(part for part, _ in gains))
    caption = "Gains in span F1 of the scheme over no rules, and of others over the scheme, with 95 % intervals; the second draw is below the first"
    with report.picture(
        "gains", caption, (1.9 * len(parts) + 2.6, 3.2), ncols=len(parts), sharey=True
    ) as axes:
        for axis, part in zip(np.atleast_1d(axes), parts, strict=True):
            axis.axvline(0, color="0.6", linewidth=0.8)
            for draw in range(len(DRAWS)):
                own = gains.get((part, draw), {})
                for way, (_, spans, _) in own.items():
                    at, ends = WAYS.index(way) + 0.2 * draw, [100 * spans.low, 100 * spans.high]
                    axis.plot(ends, [at, at], color=COLORS[draw], linewidth=1)
                    axis.plot(100 * spans.gain, at, marker="o", markersize=3, color=COLORS[draw])
            axis.set(title=NAMES[part].replace(", ", ",\n"), xlabel="points", ylim=(len(WAYS) - 0.5, 0.5))
            axis.set_yticks(
                range(1, len(WAYS)),
                [name if scale == "–" else f"{name}, {scale}" for name, scale in WAYS[1:]],
            )


STUDY = Study(
    title="Rules on top of neural taggers",
    source="Lample et al. 2016 for the tagger; Guo et al. 2017 for the temperature; Stokman 2011, section 7.1, for learning penalties",
    corpus="Cora and UMass references, experience sections of résumés, and Spanish reports of CoNLL-2002 with their sentences. Training and evaluation: "
    + "; ".join(f"{NAMES[name]} {sizes.training} and {sizes.evaluated}" for name, sizes in CORPORA.items())
    + " documents. Penalties, biases and temperatures are learnt on training documents that another tagger labels, which is trained without them: "
    + "; ".join(
        f"{NAMES[name]} {sizes.kept}, one of {sizes.folds} folds left out" for name, sizes in CORPORA.items()
    ),
    model="a bidirectional LSTM with a CRF layer, or for Cora and names also without one (softmax), over hashed words, affixes and shapes, trained from scratch by `benchmarks/studies/neural/train.py`, which needs torch. "
    "Its logits are part of the repository, in eighths of a nat, so that this study is made again without it; labellings that tie may then be ordered "
    "otherwise at another scale (smoke: made-up logits)",
    rules="`citations` for Cora, mined rules for UMass (as in the study umass-rules, of the training part), soft rules on each section for résumés (those of the study engine without differences of counts, as learning has no time limit), "
    "`entities` for names; labels keep their scheme beside them, hard. Biases are features of labels, not tried for the 136 labels of UMass, which take too long. Equal capitalised words of a report "
    "have the same kind of name, with a penalty of 1 nat, chosen on folds of the training part for a CRF, or a learnt one",
    methods="`auto`. Temperatures by `fit_temperature`, weights by `WeightLearner`, with all that it chooses on folds of its own. "
    "All weights together (`WeightLearner.fit_model`) are left out: it corrects HMMs, CRFs and chains of features, and cannot take logits",
    limits=f"{LIMIT:g} s a sequence; one without a labelling counts as wrong",
    seeds="the number of the draw, for training, folds, learner; bootstrap 0. Nothing was chosen on the second draw, which mixes the parts of a corpus",
    measures="in per cent: right tokens, precision, recall and F1 of exact spans, whole sequences. Gains in points with 95 % intervals of the paired "
    "bootstrap over documents (1999 resamples). `weights` is the number of penalties and biases that are not 0. Every optimum is rechecked",
    stand_ins="Networks that were trained on other text first, which are stronger, are not here",
    parts=PARTS,
)
