"""Rules mined from data, soft, in one phase and in two (Fersini et al. 2014, section 3)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchmarks.studies.fersini import measuring, totals
from benchmarks.studies.fersini.report import report
from benchmarks.studies.fersini.settings import (
    BLOCK,
    CONFIDENCE,
    FOLDERS,
    MOST,
    Pairing,
    blocks,
    categories,
    pairings,
    setting,
)
from benchmarks.study import Design, Row, Sources, Study

RULES = "rules"
METHODS = (*measuring.SINGLE, *measuring.TAUS, measuring.FRONTIER)


@dataclass(frozen=True)
class Cell:
    """A method on a block of the sequences of a model under rules."""

    part: str
    model: str
    rules: str
    method: str
    block: int


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    numbers = blocks(sources, part)
    for model, rules in pairings(sources, part):
        yield Cell(part, model, rules, RULES, 0)
        yield from (Cell(part, model, rules, method, n) for n in numbers for method in METHODS)


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    pairing = Pairing(cell.model, cell.rules)
    if cell.method == RULES:
        return categories(sources.folder, cell.part, pairing)
    return measuring.measured(setting(sources, cell.part, pairing, cell.block), cell.method)


STUDY = Study(
    title="Soft rules mined from data, in one phase and in two",
    summary="Two-phase inference on rules mined in five categories, beside Viterbi, constrained Viterbi and one phase.",
    design=Design(
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
        "proved labellings; a point of a frontier in bare compiled Viterbi passes over the scores without rules. The cost of each two-phase "
        "labelling has to be that of the frontier at its floor",
        stand_ins="The paper's corpora and its DNF rule learner are not public, and its section 4 is not at hand, so that none of its "
        "figures stand here; public corpora and the miner take their place. The CRF's scores are not normalised; eq. 23 depends on "
        "where their zero is, and both readings are shown. A negative tau only occurs with log P, which is near 0 where the model is sure",
    ),
    parts=tuple(FOLDERS),
    cells=cells,
    measure=measure,
    report=report,
    check=totals.check,
    timed=True,
)
