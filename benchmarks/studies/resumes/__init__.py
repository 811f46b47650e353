"""Job titles, companies, places and dates in résumés: rewards for the beginnings of spans, and the order of fields."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks.data.corpora import read_labelled
from benchmarks.data.evaluations import rechecked, row_of
from benchmarks.data.models import trained
from benchmarks.data.sets import Labelled
from benchmarks.studies.resumes.order import Weights, fields_and_log_odds, rules_of
from benchmarks.studies.resumes.report import report
from benchmarks.study import Design, Row, Sources, Study
from formulations import RuleSet
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.learning import PenaltyLearner, held_out_examples
from ilpinfer.models.sequence_model import SequenceModel, restored
from ilpinfer.pipelines.cross_validation import make_folds

PARAMETERS = {"template": "resume", "c1": 0.05, "c2": 0.1, "max_iterations": 50}
FOLDS, INNER_FOLDS = 5, 2
REWARDS = (0.0, 1.0, 1.5, 2.0)
"""Nats for the beginning of each span."""
REWARD = 1.0
"""The best of them without line breaks taken out."""
KEPT, TAKEN_OUT = "line breaks kept", "line breaks taken out"
REWARDED, ORDER, LEARNT = "rewards", "order", "learnt"
LEARNERS = {
    name: PenaltyLearner(name, measure="spans", folds=2, prune=False)
    for name in ("perceptron-given", "conservative-given")
}


@dataclass(frozen=True)
class Cell:
    """One fold of one shuffle, labelled under all rule sets of a variant by a CRF of the other folds."""

    part: str
    variant: str
    shuffle: int
    fold: int


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    _sections(sources)
    variants = {REWARDED: (KEPT, TAKEN_OUT), ORDER: (KEPT,), LEARNT: (*LEARNERS,)}[part]
    shuffles = sources(smoke=1, sample=1, full=3 if part == ORDER else 1)
    folds = sources(smoke=2, sample=FOLDS, full=FOLDS)
    return (
        Cell(part, variant, shuffle, fold)
        for variant in variants
        for shuffle in range(shuffles)
        for fold in range(folds)
    )


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    pairs = _sections(sources)
    folds = make_folds(range(len(pairs)), sources(smoke=2, sample=FOLDS, full=FOLDS), cell.shuffle)
    left_out = set(folds[cell.fold])
    training = [pair for place, pair in enumerate(pairs) if place not in left_out]
    train = partial(crf, without_line_breaks=cell.variant == TAKEN_OUT)
    model, rule_sets = train(training), rules(cell, training)
    if cell.part == LEARNT:
        examples = held_out_examples(training, train, folds=INNER_FOLDS)
        learner = LEARNERS[cell.variant]
        rule_sets = {name: learner.fit(examples, given).rules for name, given in rule_sets.items()}
    for name, own in rule_sets.items():
        about = {"log_odds": log_odds(training)} if name == "log-odds" else {}
        yield {"rules": name, **about, **outcome(model, pairs, folds[cell.fold], own)}


def crf(examples: Sequence[Labelled], *, without_line_breaks: bool = False) -> SequenceModel:
    return trained("crf", examples, **PARAMETERS, without_line_breaks=without_line_breaks)


def rules(cell: Cell, training: Sequence[Labelled]) -> Mapping[str, RuleSet]:
    fields, weights = fields_and_log_odds(training)
    if cell.part == REWARDED:
        return {f"{reward:g}": rules_of(fields, reward, {}) for reward in REWARDS}
    result: dict[str, tuple[float, Weights]] = {"reward": (REWARD, {}), "reward, log-odds": (REWARD, weights)}
    if cell.part == ORDER:
        result = {"nothing": (0.0, {}), "log-odds": (0.0, weights), **result}
    return {name: rules_of(fields, *terms) for name, terms in result.items()}


def log_odds(training: Sequence[Labelled]) -> list[tuple[str, str, float]]:
    return [(*names, nats) for names, nats in fields_and_log_odds(training)[1].items()]


def outcome(model: SequenceModel, pairs: Sequence[Labelled], places: Sequence[int], rules: RuleSet) -> Row:
    """The sections at some places labelled under rules; line breaks that the model does not see are O."""
    trellises = [model.trellis(pairs[place][0]) for place in places]
    solutions = rechecked(trellises, rules, list(Decoder(rules).decode_many(trellises)))
    sections = [
        Pair(pairs[place][0], tuple(restored(model, pairs[place][0], one.labels)), pairs[place][1])
        for place, one in zip(places, solutions, strict=True)
    ]
    evaluation = evaluate(sections, scheme="bio")
    return row_of(evaluation, places, evaluation.fields)


def _sections(sources: Sources) -> list[Labelled]:
    result = read_labelled(sources.folder / "resume" / "experience_train.tsv")
    return result[: sources(smoke=8, sample=len(result), full=len(result))]


STUDY = Study(
    title="Spans in résumés",
    summary="F1 of job titles, companies, places and dates: rewards for the beginnings of spans, and log-odds of consecutive fields.",
    design=Design(
        source="Stokman 2011, section 5.3 (rewards as features, order of fields as constraints); section 7.1 (weights learnt)",
        corpus=f"221 experience sections of résumés, {FOLDS} folds by section (smoke: 8 made-up sections, 2 folds). One shuffle; full: three for the "
        "order of fields",
        model="linear-chain CRF with the template `resume`, trained on the other folds; L-BFGS with c1 = 0.05, c2 = 0.1, 50 iterations. "
        "Line breaks are tokens, or are taken out and put back as O",
        rules=f"labels keep their scheme. Rewards of {', '.join(f'{one:g}' for one in REWARDS)} nats for the beginning of each span, since "
        "annotators have left out much. Log-odds of consecutive fields, ln p(B after A) - ln p(B after any), counted on the training folds with 1 "
        "added to each pair, as soft rules `next_field`, alone and beside the reward of 1 nat",
        methods="`auto`. Weights as they are, or learnt on two inner folds from them by the perceptron towards gold (`perceptron-given`) and towards "
        "the best labelling that rules can reach (`conservative-given`)",
        seeds="shuffles 0 to 2; inner folds 0; bootstrap 0",
        measures="in per cent: right tokens, precision, recall and F1 of exact spans, whole sections. Gains in points with 95 % intervals of the paired "
        "bootstrap over sections (1999 resamples), shuffles of a section taken together. Every optimum is rechecked",
        stand_ins="The résumés of the thesis are not public, and theirs have descriptions as a label: these sections take their place",
    ),
    parts=(REWARDED, ORDER, LEARNT),
    cells=cells,
    measure=measure,
    report=report,
)
