"""Two-phase inference on rules mined in five categories, beside Viterbi, constrained Viterbi and one phase."""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from benchmarks.data.corpora import FOLDERS, split
from benchmarks.data.models import trained
from benchmarks.report import percent
from benchmarks.studies.fersini import measuring
from benchmarks.studies.fersini.report import headline, report
from benchmarks.study import RESPLIT, Cell, Row, SecondDraw, Sources, Study
from formulations import Rule, RuleSet, load_rules
from formulations import constraints as C
from ilpinfer.learning import MinedRules, RuleMiner

FAMILIES = ("adjacency", "precedence", "state-change", "begin-end", "presence-precedence")
"""The paper's five categories, eq. 17-21, as the miner names them."""
CONFIDENCE = {"cora": 0.9, "umass": 0.9, "names": 0.5}
"""Least share of occasions at which a mined rule holds; names have no rule above 0.65."""
MOST = 60
"""Rules of a set, the ones with the largest gain in likelihood."""
BLOCK = 50
"""Sequences of a cell."""
OPTIONS: dict[str, dict[str, Any]] = {
    "cora": {"template": "citations", "c1": 0.05, "c2": 0.3, "max_iterations": 100},
    "umass": {"template": "citations", "c1": 0.05, "c2": 0.3, "max_iterations": 60},
    "names": {"template": "entities", "scheme": "bio", "c1": 0.1, "c2": 0.05, "max_iterations": 100},
}
"""Of conditional random fields."""


class Pairing(NamedTuple):
    """A model and the rules that it is decoded under."""

    model: str
    rules: str = "mined"

    @property
    def size(self) -> int:
        return int(self.model.split()[-1])

    @property
    def rule_size(self) -> int:
        return int(self.rules.split()[-1]) if self.rules.startswith("mined from") else self.size


CORA = (
    Pairing("CRF of 300"),
    Pairing("HMM of 300"),
    Pairing("HMM of 20"),
    Pairing("HMM of 20", "mined from 300"),
)
UMASS = (Pairing("CRF of 400"), Pairing("CRF of 1457"))
NAMES = (
    Pairing("CRF of 1500"),
    Pairing("CRF of 1500", "catalogue"),
    Pairing("CRF of 8323"),
    Pairing("CRF of 8323", "catalogue"),
)


def pairings(sources: Sources, part: str) -> tuple[Pairing, ...]:
    some = {"cora": CORA, "umass": UMASS, "names": NAMES}[part]
    number = {
        "cora": sources(smoke=1, sample=4),
        "umass": sources(smoke=1, sample=1, full=2),
        "names": sources(smoke=1, sample=2, full=4),
    }
    return some[: number[part]]


def blocks(sources: Sources, part: str) -> range:
    number = len(split(sources, part)[1])
    most = {"cora": 2, "umass": 2, "names": 4}[part]
    return range(sources(smoke=1, sample=min(most, -(-number // BLOCK)), full=-(-number // BLOCK)))


def setting(sources: Sources, part: str, pairing: Pairing, block: int) -> measuring.Setting:
    """A block of the development part under the rules; labels keep their scheme."""
    length = sources(smoke=3, sample=BLOCK)
    train, dev = split(sources, part)
    some, train = dev[block * length : (block + 1) * length], train[: pairing.size]
    kind = pairing.model.split()[0].lower()
    model = trained(kind, train, **(OPTIONS[part] if kind == "crf" else {}))
    rules = soft_rules(sources, part, pairing)
    return measuring.setting_of(model, some, RuleSet((*rules, C.valid_scheme())))


def soft_rules(sources: Sources, part: str, pairing: Pairing) -> tuple[Rule, ...]:
    if pairing.rules == "catalogue":
        return tuple(load_rules("entities").rules)
    return tuple(one.rule for one in mined(sources, part, pairing.rule_size).entries)


@cache
def mined(sources: Sources, part: str, size: int) -> MinedRules:
    """Rules of the five categories, each with the cost of eq. 30."""
    miner = RuleMiner(FAMILIES, confidence=CONFIDENCE[part], pruning="none", most=MOST)
    return miner.fit(split(sources, part)[0][:size])


METHODS = (*measuring.SINGLE, *measuring.TAUS, measuring.FRONTIER)


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    """A method on a block of the sequences of a model under rules."""
    for model, rules in pairings(sources, part):
        for block, method in product(blocks(sources, part), METHODS):
            yield Cell(part=part, model=model, rules=rules, method=method, block=block)


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    pairing = Pairing(cell.model, cell.rules)
    return measuring.measured(setting(sources, cell.part, pairing, cell.block), cell.method)


STUDY = Study(
    title="Soft rules mined from data, in one phase and in two",
    source="Fersini, Messina, Felici and Roth 2014, section 3: eq. 10, 12-30. Published figures beside ours are those of "
    "others on the same corpora: Peng and McCallum 2004 (Cora), Anzaroot et al. 2014 (UMass)",
    corpus=f"Cora and UMass references, Spanish names (CoNLL-2002): the first sequences of the development parts, in blocks of "
    f"{BLOCK} (3 at smoke scale). Blocks of Cora, UMass, names: smoke 1, 1, 1; sample 2, 2, 4; full all",
    model="CRFs of 300 Cora references, 400 UMass references, 1500 sentences with names (full: also 1457 and 8323); HMMs "
    "of 20 and 300 Cora references. L1 and L2 regularisation, 60 to 100 iterations",
    rules=f"mined by `RuleMiner` from the sequences that the model is trained on, in the paper's five categories, no pruning, at most "
    f"{MOST}; least confidence {CONFIDENCE['cora']} for references and {CONFIDENCE['names']} for names; costs of eq. 30, "
    "-log((broken + 1) / (held + broken + 2)). Twice other rules: those of 300 references for the HMM of 20, and the catalogue's `entities` "
    "for names. Hard in all methods but Viterbi: labels keep their scheme",
    methods="Viterbi; constrained Viterbi (eq. 10: scheme and costs of rules on neighbours in the scores); one phase, score less costs, "
    "and with a weight on all costs; two phases (eq. 22-29), where the floor is Z* - (1 - tau)·|Z*| (relative), the same with log Z "
    "subtracted from Z* (relative, log P), or Z* + log tau (odds). Weight and tau are also chosen on one half of the sequences for "
    "the other half, by right tokens",
    limits=f"{measuring.LIMIT:g} s a sequence and tau, {2 * measuring.LIMIT:g} s a frontier",
    seeds="0 for the folds of the miner; halves are even and odd places",
    measures="right tokens, F1 of exact spans, whole sequences in per cent; mean cost of violations and mean loss of score, nats; "
    "proved labellings",
    stand_ins="The paper's corpora and its DNF rule learner are not public, and its section 4 is not at hand, so that none of its "
    "figures stand here; public corpora and the miner take their place. The CRF's scores are not normalised; eq. 23 depends on "
    "where their zero is, and both readings are shown. A negative tau only occurs with log P, which is near 0 where the model is sure",
    parts=tuple(FOLDERS),
    report=report,
    second=SecondDraw(
        RESPLIT,
        ("part", "model", "rules", "method"),
        {"tokens %": lambda x: percent(headline(x).accuracy), "span F1 %": lambda x: percent(headline(x).f1)},
        lambda cell: cell.method in ("Viterbi", "one phase", "relative"),
    ),
)
