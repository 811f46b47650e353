"""F1 of spans on UMass references under rules mined from training references, by where their penalties come from."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf

from pandas import DataFrame

from benchmarks.data import evaluations as E
from benchmarks.data import umass
from benchmarks.data.corpora import with_factor
from benchmarks.data.sets import Labelled
from benchmarks.report import Cells, Report, groups
from benchmarks.study import Cell, Row, Sources, Study, grid
from formulations import RuleSet
from ilpinfer.learning import ScoredExample, held_out_examples
from ilpinfer.learning.minimum_risk import MinimumRisk
from ilpinfer.learning.rules_to_learn import LEAST, MOST, run_lengths
from ilpinfer.learning.training_set import TrainingSet
from ilpinfer.learning.updates import Update
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.pipelines.cross_validation import make_folds

FOLDS = 4
HARD_SECONDS, MANY_SECONDS = 0.1, 1.0
LEARNER = Update("perceptron")
"""From penalties of 0, as `WeightLearner("perceptron", prune=False)` in the end."""
RISK = MinimumRisk(strength=0.01, top=10, within=8.0, least=0.1, rounds=1)
PENALTIES, TRAINING = ("penalties", "training")
SCHEME = "labels keep their scheme"
COUNTED = "as counted"
LEARNT, TRAIN = "learnt on the other half", "learnt on the other half and on training references"
TRAINING_ONLY = "of least expected errors on training references"
HARD = "all hard"
WHOLE = -1
"""Stands for the whole development part."""
PUBLISHED = {
    SCHEME: "94.44 (CRF)",
    TRAINING_ONLY: "95.39 (soft, learnt on training references)",
    HARD: "94.60 (the same, all hard)",
}
"""F1 of Anzaroot et al. 2014."""


TRIED: Mapping[str, tuple[Sequence[int], Sequence[tuple[str, str]]]] = {
    TRAINING: ([WHOLE], [("", SCHEME), (umass.MANY, TRAINING_ONLY)]),
    PENALTIES: (range(2), [("", SCHEME), *((umass.ALL, way) for way in (COUNTED, LEARNT, TRAIN))]),
}
"""Halves of the development part; rules and their penalties."""


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    """Halves under rules of so many references, 0 for all."""
    umass.part(sources, "dev")
    sizes = (400, 0) if part == TRAINING else (400,)
    halves, tried = TRIED[part]
    for training in sources(smoke=(0,), sample=sizes, full=(400, 0)):
        for rules, penalties in tried:
            yield from grid(part, training=[training], half=halves, rules=[rules], penalties=[penalties])


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    train = umass.training_part(sources, cell.training)
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
        hard = with_factor(rules, inf)
        yield outcome(model, dev, halves[cell.half], hard, HARD_SECONDS) | about | {"penalties": HARD}


def statements(sources: Sources, cell: Cell) -> tuple[RuleSet, dict[str, int]]:
    """The rules with the penalties that the miner counts, and how many there are of each family."""
    if not cell.rules:
        return umass.with_valid([]), {}
    miner = umass.ALL if cell.part == PENALTIES else umass.MANY
    mined = umass.mined_rules(sources.folder, sources.scale, cell.training, miner)
    families, rules = Counter(one.family for one in mined.entries), [one.rule for one in mined.entries]
    if cell.part == TRAINING:
        lengths = run_lengths(umass.training_part(sources, cell.training), 20)
        families, rules = families + Counter({"lengths of runs": len(lengths)}), [*rules, *lengths]
    return umass.with_valid(rules, mined.rules.fields), dict(sorted(families.items()))


def scored(model: SequenceModel, pairs: Sequence[Labelled], places: Iterable[int]) -> list[ScoredExample]:
    return [ScoredExample(model.trellis(pairs[place][0]), pairs[place][1]) for place in places]


def learnt(examples: Sequence[ScoredExample], rules: RuleSet, learner: Update | MinimumRisk) -> RuleSet:
    """The rules whose penalty is not 0 after learning."""
    data = TrainingSet(examples, rules)
    if not data.items:
        return rules
    places = range(len(data))
    if isinstance(learner, Update):
        return data.with_weights(learner.fit(data, places).weights)
    return data.with_weights(learner.fit(data, 0 * data.given, places))


def outcome(
    model: SequenceModel,
    dev: Sequence[Labelled],
    places: Sequence[int],
    rules: RuleSet,
    limit: float | None = None,
) -> Row:
    """The references at some places labelled under rules."""
    some = [dev[place] for place in places]
    solutions = E.rechecked([model.trellis(tokens) for tokens, _ in some], rules, limit)
    return {
        **E.row_of(E.beside_gold(some, map(E.labels_of, solutions), scheme="paths"), places),
        **E.statuses(solutions, "optimal", "infeasible"),
    }


def report(frame: DataFrame, report: Report) -> None:
    for (alone, training), own in groups(frame.assign(alone=frame.part == TRAINING), "alone", "training"):
        which = "All that is learnt is" if alone else "CRF and rules are"
        report.heading(f"{which} of {training or 'all'} training references")
        _table(own, report)
        for rules in (umass.ALL, umass.MANY):
            for families in own.families[own.rules == rules][:1]:
                counts = ", ".join(f"{number} {family}" for family, number in families.items())
                report.text(f"{rules[0].upper()}{rules[1:]}: {counts}.")


def _table(own: DataFrame, report: Report) -> None:
    base = own[own.penalties == SCHEME]
    cells: Cells = {
        "number": lambda x: x.mined.iloc[0],
        "kept": lambda x: f"{x.kept.mean():.1f}",
        E.MEASURES: lambda x: E.measures(E.evaluation_of(x)),
        "F1, points over the first line": E.gain_over(lambda x: base),
        ("proved", "no labelling", "proved to have none"): lambda x: x[
            ["optimal", "missing", "infeasible"]
        ].sum(),
        "published F1 %": lambda x: PUBLISHED.get(x.penalties.iloc[0], "–"),
    }
    names = {"what": own.rules.replace("", SCHEME), "way": own.penalties.where(own.rules != "", "–")}
    report.pivot(own.assign(**names), {"rules": "what", "penalties": "way"}, cells)


STUDY = Study(
    title="Mined rules with learnt penalties",
    source="Anzaroot, Passos, Belanger and McCallum 2014: soft constraints whose penalties are learnt, beside the same as hard ones",
    corpus="UMass references, the 660 of the development part: whole, with what training references alone have taught, or in two halves, each "
    "labelled with what the other has taught. CRF and rules are made from 400 evenly spaced training references, where training references alone "
    "teach also from all 1457 (full: everywhere; smoke: 12 references of each part)",
    model="linear-chain CRF with the template `citations`; L-BFGS with c1 = 0.05, c2 = 0.3, 120 iterations. Training references are scored by "
    f"CRFs of the other {FOLDS - 1} of {FOLDS} folds",
    rules="labels keep their scheme; beside it the rules of `RuleMiner(confidence=0.75, gain=0.0, support=20)` without the family conjunctions. Where training references alone teach: six families with a confidence of 0.6 and 20 trials "
    f"at least, and the lengths of runs of each field, at least {LEAST} and at most {MOST} tokens",
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
    parts=(TRAINING, PENALTIES),
)
