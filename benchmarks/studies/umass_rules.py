"""Mined rules with learnt penalties on UMass references."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pandas import DataFrame

from benchmarks.data import umass
from benchmarks.data.evaluations import (
    MEASURES,
    beside_gold,
    evaluation_of,
    gains,
    labels_of,
    measures,
    rechecked,
    row_of,
)
from benchmarks.data.sets import Labelled
from benchmarks.report import Report, groups
from benchmarks.study import Design, Row, Sources, Study
from formulations import Rule, RuleSet
from ilpinfer.learning import ScoredExample, held_out_examples
from ilpinfer.learning.minimum_risk import MinimumRisk
from ilpinfer.learning.perceptron import Perceptron
from ilpinfer.learning.training_set import TrainingSet
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.pipelines.cross_validation import make_folds

FOLDS = 4
HARD_SECONDS, MANY_SECONDS = 0.1, 1.0
LEARNER = Perceptron()
"""From penalties of 0, as `PenaltyLearner("perceptron", prune=False)` in the end."""
RISK = MinimumRisk(strength=0.01, top=10, within=8.0, least=0.1, rounds=1)
MODELS, PENALTIES, FAMILIES, TRAINING = "models", "penalties", "families", "training"
SCHEME = "labels keep their scheme"
COUNTED = "as counted"
LEARNT, TRAIN = "learnt on the other half", "learnt on the other half and on training references"
TRAINING_ONLY = "of least expected errors on training references"
HARD = "all hard"
WHOLE = -1
"""Stands for the whole development part."""
EVERY = "+".join(umass.FAMILIES)
PUBLISHED = {
    SCHEME: "94.44 (CRF)",
    TRAINING_ONLY: "95.39 (soft, learnt on training references)",
    HARD: "94.60 (the same, all hard)",
}
"""F1 of Anzaroot et al. 2014."""


@dataclass(frozen=True)
class Cell:
    """A half of the development part, or the whole, under rules of so many references (0: all); of models the fold left out, -1 for none."""

    part: str
    training: int
    half: int
    rules: str = ""
    penalties: str = ""


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    umass.part(sources, "dev")
    whole = part in (MODELS, TRAINING)
    for training in sources(smoke=(0,), sample=(400, 0) if whole else (400,), full=(400, 0)):
        if part == MODELS:
            yield from (Cell(part, training, fold) for fold in range(-1, FOLDS))
            continue
        if part == TRAINING:
            yield from (
                Cell(part, training, WHOLE, *names) for names in (("", SCHEME), (umass.MANY, TRAINING_ONLY))
            )
            continue
        families = [*umass.FAMILIES] if part == FAMILIES else []
        some = [("+".join(families[:n]), LEARNT) for n in range(1, len(families) + 1)]
        if part == PENALTIES:
            some = [("", SCHEME), *((umass.ALL, way) for way in (COUNTED, LEARNT, TRAIN))]
        yield from (Cell(part, training, half, *names) for names in some for half in range(2))


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    train = umass.training_part(sources, cell.training)
    if cell.part == MODELS:
        left = set(make_folds(range(len(train)), FOLDS, 0)[cell.half]) if cell.half >= 0 else set()
        model = umass.crf([pair for place, pair in enumerate(train) if place not in left])
        yield {"sequences": len(train) - len(left), "labels": len(model.labels)}
        return
    dev = umass.part(sources, "dev")
    halves = [*make_folds(range(len(dev)), 2, 0), [*range(len(dev))]]
    rules, families = statements(sources, cell)
    model = umass.crf(train)
    if cell.penalties in (LEARNT, TRAIN):
        examples = scored(model, dev, halves[1 - cell.half])
        if cell.penalties == TRAIN:
            examples = [*held_out_examples(train, umass.crf, folds=FOLDS), *examples]
        rules = learnt(examples, rules, LEARNER)
    if cell.penalties == TRAINING_ONLY:
        rules = learnt(held_out_examples(train, umass.crf, folds=FOLDS), rules, RISK)
    kept = sum(not rule.hard for rule in rules.rules)
    about = {"mined": sum(families.values()), "families": families, "kept": kept}
    limit = MANY_SECONDS if cell.part == TRAINING else None
    yield outcome(model, dev, halves[cell.half], rules, limit) | about
    if cell.penalties == TRAIN:
        hard = replace(rules, items=tuple(_hard(item) for item in rules))
        yield outcome(model, dev, halves[cell.half], hard, HARD_SECONDS) | about | {"penalties": HARD}


def statements(sources: Sources, cell: Cell) -> tuple[RuleSet, dict[str, int]]:
    """The rules with the penalties that the miner counts, and how many there are of each family."""
    if not cell.rules:
        return umass.with_valid([]), {}
    miner = {PENALTIES: umass.ALL, FAMILIES: umass.FOUR, TRAINING: umass.MANY}[cell.part]
    mined = umass.mined_rules(sources.folder, sources.scale, cell.training, miner)
    chosen = [one for one in mined.rules if cell.part != FAMILIES or one.family in cell.rules.split("+")]
    families, rules = Counter(one.family for one in chosen), [one.rule for one in chosen]
    if cell.part == TRAINING:
        lengths = umass.run_lengths(umass.training_part(sources, cell.training))
        families, rules = families + Counter({"lengths of runs": len(lengths)}), [*rules, *lengths]
    return umass.with_valid(rules, mined.rule_set.fields), dict(sorted(families.items()))


def scored(model: SequenceModel, pairs: Sequence[Labelled], places: Iterable[int]) -> list[ScoredExample]:
    return [ScoredExample(model.trellis(pairs[place][0]), pairs[place][1]) for place in places]


def learnt(examples: Sequence[ScoredExample], rules: RuleSet, learner: Perceptron | MinimumRisk) -> RuleSet:
    """The rules whose penalty is not 0 after learning."""
    data = TrainingSet(examples, rules)
    if not data.items:
        return rules
    return data.with_weights(learner.fit(data, 0 * data.given, range(len(data))).weights)


def outcome(
    model: SequenceModel,
    dev: Sequence[Labelled],
    places: Sequence[int],
    rules: RuleSet,
    limit: float | None = None,
) -> Row:
    """The references at some places labelled under rules."""
    some = [dev[place] for place in places]
    solutions = rechecked([model.trellis(tokens) for tokens, _ in some], rules, limit)
    return {
        **row_of(beside_gold(some, map(labels_of, solutions), scheme="paths"), places),
        "optimal": sum(one.status == "optimal" for one in solutions),
        "infeasible": sum(one.status == "infeasible" for one in solutions),
    }


def _hard(item: Any) -> Any:
    return replace(item, penalty=float("inf")) if isinstance(item, Rule) else item


def report(rows: Sequence[Row], report: Report) -> None:
    lines = [row for row in rows if row["part"] != MODELS]
    for (part, training), own in groups(
        DataFrame(lines).assign(part=lambda f: f.part.where(f.part == TRAINING, "")), "part", "training"
    ):
        which = "all that is learnt is" if part == TRAINING else "CRF and rules are"
        report.heading(f"{which[0].upper()}{which[1:]} of {training or 'all'} training references")
        some = {names: half.to_dict("records") for names, half in groups(own, "rules", "penalties")}
        _table(some, report)
        for title, rules in ((umass.ALL, umass.ALL), (umass.FOUR, EVERY), (umass.MANY, umass.MANY)):
            if found := next((half for names, half in some.items() if names[0] == rules), None):
                counts = ", ".join(f"{number} {family}" for family, number in found[0]["families"].items())
                report.text(f"{title[0].upper()}{title[1:]}: {counts}.")


def _table(some: Mapping[tuple[str, str], Sequence[Row]], report: Report) -> None:
    whole = {names: evaluation_of(rows) for names, rows in some.items()}
    base = whole.get(("", SCHEME))

    def line(names: tuple[str, str], rows: Sequence[Row]) -> tuple[Any, ...]:
        gain = gains(whole[names], base)[1] if base is not None and names[0] else "–"
        kept, proved, none = (sum(row[name] for row in rows) for name in ("kept", "optimal", "infeasible"))
        figures = rows[0]["mined"], f"{kept / len(rows):.1f}", *measures(whole[names]), gain, proved
        return *figures, whole[names].missing, none, PUBLISHED.get(names[1], "–")

    more = (
        "F1, points over the first line",
        "proved",
        "no labelling",
        "proved to have none",
        "published F1 %",
    )
    report.table(
        ("rules", "penalties", "number", "kept", *MEASURES, *more),
        (
            (names[0] or SCHEME, names[1] if names[0] else "–", *line(names, rows))
            for names, rows in some.items()
        ),
        left=2,
    )


STUDY = Study(
    title="Mined rules with learnt penalties",
    summary="F1 of spans on UMass references under rules mined from training references, by where their penalties come from.",
    design=Design(
        source="Anzaroot, Passos, Belanger and McCallum 2014: soft constraints whose penalties are learnt, beside the same as hard ones",
        corpus="UMass references, the 660 of the development part: whole, with what training references alone have taught, or in two halves, each "
        "labelled with what the other has taught. CRF and rules are made from 400 evenly spaced training references, where training references alone "
        "teach also from all 1457 (full: everywhere; smoke: 12 references of each part)",
        model="linear-chain CRF with the template `citations`; L-BFGS with c1 = 0.05, c2 = 0.3, 120 iterations. Training references are scored by "
        f"CRFs of the other {FOLDS - 1} of {FOLDS} folds",
        rules="labels keep their scheme; beside it the rules of `RuleMiner(confidence=0.75, gain=0.0, support=20)` without the family conjunctions, or all of four families with "
        "a gain of 2 nats at least, switched on one by one. Where training references alone teach: six families with a confidence of 0.6 and 20 trials "
        f"at least, and the lengths of runs of each field, at least {umass.LEAST} and at most {umass.MOST} tokens",
        methods="`auto`. Penalties as the miner counts them; learnt from 0 by the averaged perceptron; and the rules that learning has left, all hard. Where "
        f"training references alone teach: least expected number of wrong spans over the best {RISK.top} labellings within {RISK.within:g} nats, with a prior of "
        f"strength {RISK.strength:g}; penalties below {RISK.least:g} nats are left out. Rules, lists and strength were chosen on folds of the training part alone",
        limits=f"none; {HARD_SECONDS:g} s a reference where all rules are hard, {MANY_SECONDS:g} s where training references alone teach. A reference without a labelling counts as wrong",
        seeds="halves and folds 0; perceptron 0; bootstrap 0",
        measures="in per cent: right tokens, precision, recall and F1 of exact spans at all levels, whole references. Gains in points with 95 % "
        "intervals of the paired bootstrap over references (1999 resamples). `kept` is the mean number of rules with a penalty. "
        "Every optimum is rechecked",
        stand_ins="The test part of UMass is not here: the development part takes its place. Anzaroot et al. mine rules and learn penalties on "
        "training references; here they are also learnt on half of the development part, as the tables say",
    ),
    parts=(MODELS, TRAINING, PENALTIES, FAMILIES),
    cells=cells,
    measure=measure,
    report=report,
)
