"""Each rule of the catalogue alone, and all rules but it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchmarks import optimum
from benchmarks.studies.rules_alone.report import ALL, report
from benchmarks.studies.rules_alone.settings import MODELS, Problems, pairs_of, problems, rules_of
from benchmarks.study import Design, Row, Sources, Study
from formulations import RuleSet
from formulations.problem.compiled_rules import unique_names
from ilpinfer.core.solution import Solution
from ilpinfer.evaluation.significance import compare


@dataclass(frozen=True)
class Cell:
    """One rule, alone or left out, or all rules together."""

    part: str
    model: str
    rule: str
    without: bool


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    pairs_of(part, sources)
    names = tuple(unique_names(rules_of(part, sources)))
    for model in MODELS[part]:
        yield Cell(part, model, ALL, False)
        for rule in names[: sources(smoke=1, sample=len(names), full=len(names))]:
            yield Cell(part, model, rule, False)
            yield Cell(part, model, rule, True)


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    own = problems(cell.part, cell.model, sources)
    bare = own.baseline
    if cell.rule == ALL:
        rules, (result, spent), against = own.rules, own.complete, bare
    else:
        rules = own.chosen(cell.rule, cell.without)
        result, spent = own.decoded(rules)
        against = own.complete[0] if cell.without else bare
    row = _gains(own, result, against, sources(smoke=19, sample=999, full=9999))
    _recheck(own, rules, result)
    if cell.rule != ALL and not cell.without:
        row |= {"gold": own.broken(cell.rule, [gold for _, gold in own.pairs])}
        row |= {"viterbi": own.broken(cell.rule, [solution.labels for solution in bare])}
    yield row | {
        "microseconds": spent,
        "unit": own.unit,
        "open": sum(solution.status not in ("optimal", "infeasible") for solution in result),
        "impossible": sum(solution.status == "infeasible" for solution in result),
        "sequences": len(result),
    }


def _gains(own: Problems, result: list[Solution], against: list[Solution], resamples: int) -> Row:
    one, other = (
        own.evaluated([solution.labels if solution.has_labelling else None for solution in some])
        for some in (result, against)
    )
    names = ("tokens", "spans", "whole")
    differences = dict(zip(names, compare(one, other, resamples=resamples), strict=True))
    return {
        name: [100 * one.value, 100 * one.gain, 100 * one.low, 100 * one.high]
        for name, one in differences.items()
    }


def _recheck(own: Problems, rules: RuleSet, result: list[Solution]) -> None:
    for trellis, solution in zip(own.trellises, result, strict=True):
        optimum.recheck(trellis, rules, solution)


STUDY = Study(
    title="Each rule alone",
    summary="What each rule of the catalogue gains and costs by itself, and what is lost without it.",
    design=Design(
        corpus="the 100 development references of Cora; generated résumé items and the items of the odd-numbered public "
        "résumés; the odd-numbered documents of Dutch case law; development sentences of CoNLL-2002 Spanish. Scales: 3 "
        "sequences and one rule each; at most 200 sequences; all sequences (and 3120 generated items)",
        model="HMMs of 20 and 300 references and a CRF of 300; HMMs of 300 generated items and of the items of 56 résumés; CRFs of "
        "25 documents of case law and of 400 sentences",
        rules="`citations` with `citations-order` and `bio`; the rules and features of `resume` and its variants, without those "
        "about descriptions on public résumés, which do not label them; `case-law`; `entities` with `bio`. The "
        "lists of `newswire` are examples and are left out. Penalties are those of the catalogue",
        methods="`auto` with one rule, with all, and with all but one; Viterbi without rules",
        limits="1 s a sequence",
        seeds="0 for resampling",
        measures="differences in points of right tokens, F1 of exact spans and whole sequences, the 95 % interval of F1 by the paired "
        "bootstrap; processor time as a ratio to a bare compiled Viterbi pass without rules, which is the unit; sequences "
        "not proved; sequences in which gold and Viterbi's labelling break the rule",
        stand_ins="generated items stand for résumés with labelled descriptions",
    ),
    parts=tuple(MODELS),
    cells=cells,
    measure=measure,
    report=report,
    timed=True,
)
