"""Rules within, after and before a conditional random field: spans, and time by part."""

import pickle
from collections.abc import Iterable

from benchmarks.data.corpora import split
from benchmarks.data.evaluations import beside_gold
from benchmarks.data.models import trained
from benchmarks.report import fixed, signed
from benchmarks.studies.liao.report import report
from benchmarks.studies.liao.rules import COMPANY, entity_rules
from benchmarks.studies.liao.ways import Way, check_best, fastest
from benchmarks.study import RESPLIT, Cell, Row, SecondDraw, Sources, Study, grid
from ilpinfer.evaluation import evaluation
from ilpinfer.evaluation.significance import compare
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.templates import template_source, with_rules
from ilpinfer.models.crf.token_rules import TokenRules

TABLE = "table"
PARAMETERS = {"c1": 0.1, "c2": 0.05, "max_iterations": 100}
SIZES = (1500, 4000, 8323)
"""Sentences that a field is trained on, and that rules are mined from."""
REPEATS = 5
CHECKED = 40
"""Sentences whose labelling by rules first is compared with the engine's."""
TIMES, PRECISION = 3, 0.95
"""Of the words of rule 2."""


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """A size of training data, all ways measured in turns."""
    split(sources, "names")
    sizes = SIZES[: sources(smoke=1, sample=1, full=len(SIZES))]
    return grid(part, size=sizes)


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    train, test = split(sources, "names")
    train = train[: cell.size]
    mined = entity_rules(train, companies=TIMES, precision=PRECISION)
    rules = tuple(rule for some in mined.values() for rule in some)
    parameters = PARAMETERS | {"max_iterations": sources(smoke=15, sample=100)}
    model = trained("crf", train, template="entities", scheme="bio", **parameters)
    assert isinstance(model, CRF)
    labels = model.labels
    source = template_source(with_rules("entities", rules))
    weighed = trained("crf", train, template=source, scheme="bio", **parameters)
    assert isinstance(weighed, CRF)
    first = Way(model, TokenRules(labels, rules))
    ways = {
        "baseline": Way(model, TokenRules(labels, ())),
        "rules as features": Way(weighed, TokenRules(weighed.labels, ())),
        "post-correction": Way(model, TokenRules(labels, ()), TokenRules(labels, rules)),
        "rules first": first,
    }
    sequences, runs = [tokens for tokens, _ in test], range(sources(smoke=1, sample=REPEATS))
    unused = {name: pickle.dumps(way) for name, way in ways.items()}
    loaded = fastest(({name: pickle.loads(way) for name, way in unused.items()} for _ in runs), sequences)
    times = fastest((ways for _ in runs), sequences)
    evaluations = {}
    for name, way in ways.items():
        predictions, _, open_share = way.run(sequences)
        if way is first:
            for tokens, own in list(zip(sequences, predictions, strict=True))[:CHECKED]:
                check_best(way, tokens, own)
        evaluations[name] = beside_gold(test, predictions, scheme="bio")
        predicted, gold, both = evaluations[name].of_all().tolist()
        counts = {"way": name, "predicted": predicted, "gold": gold, "both": both}
        spent = {"seconds": times[name].tolist(), "loaded": loaded[name].tolist(), "open": open_share}
        yield counts | spent | _difference(evaluations[name], evaluations["baseline"])


def _difference(one: evaluation.Evaluation, other: evaluation.Evaluation) -> Row:
    """The gain in F1 of spans with the limits of its 95 % interval, and the p-value."""
    result = next(each for each in compare(one, other, resamples=999) if each.measure.startswith("F1"))
    return {"gain": result.gain, "low": result.low, "high": result.high, "p": result.p}


STUDY = Study(
    title="High-precision rules and a tagger of names",
    source="Liao, Light and Veeramachaneni 2009, Table 1 and section 3.1",
    corpus="CoNLL-2002 Spanish names: the first sentences of the training part, all 1915 of the development part. Sentences to train "
    "on: smoke and sample 1500; full 1500, 4000, 8323",
    model="CRF, template `entities`, L1 0.1, L2 0.05, 100 iterations (smoke: 15)",
    rules="the paper's five, with all lists mined from the sentences that the field is trained on, in order of priority: 1, words that "
    f"are always one name; 2, capitalised words beside words of companies ({COMPANY}), those within a company at least {TIMES} times and in "
    f"{100 * PRECISION:g} % of cases; 3, names of more than three words; 4, words without a capital; 5, capitalised words that are never in a "
    "name",
    methods="baseline: the field alone; rules as features: a field whose features also name the rules that apply to a token and its "
    "neighbours, which the paper describes and does not measure; post-correction: rules written over its labels; rules first: constrained Viterbi, no features "
    "for decided tokens",
    seeds="0 for the bootstrap and randomisation, 999 resamples",
    measures="precision, recall and F1 of exact spans in per cent, with the 95 % interval of the gain over the baseline; processor time "
    f"by part, of the fastest of {REPEATS} runs in which the ways take turns, as shares of the baseline's: each with a model and rules that are newly "
    "loaded, whose caches are empty, then all with the same, whose caches are full",
    stand_ins="CoNLL 2003 English, MUC and TF are not public as a whole; Spanish names take their place. Lists of companies and words "
    "of time are mined instead of hand-made. In Spanish words of companies often come first, so that rule 2 has both. A sentence has "
    "no word before its first, so that rule 5 asks for the following word only. `scores` (features times weights) is part of Viterbi "
    f"in the paper. The labellings of rules first of {CHECKED} sentences a cell are compared with the engine's",
    parts=(TABLE,),
    report=report,
    second=SecondDraw(
        RESPLIT,
        ("size", "way"),
        {
            "points of F1": lambda x: signed(100 * x.gain.iloc[0], 2),
            "seconds": lambda x: fixed(sum(x.seconds.iloc[0]), 2),
        },
    ),
)
