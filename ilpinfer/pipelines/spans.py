"""The best set of candidate spans under rules, flat or nested, and the greedy choice for comparison."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from formulations.arguments import flag
from formulations.grid import nats
from formulations.messages import brief, counted
from ilpinfer.core.printing import short
from ilpinfer.core.rule_compiler import Rules
from ilpinfer.core.solution import Solution
from ilpinfer.corpus.candidates import Candidate, CandidateSet, Prior, read_candidates
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.decoding.evaluation import evaluate_labelling
from ilpinfer.pipelines.nested_spans import greedy_choice, nested_problem, solve_nested, worth
from ilpinfer.pipelines.span_rules import NestedSpans
from ilpinfer.search.greedy_spans import choose_greedily


@dataclass(frozen=True)
class SpanSelection:
    """The best set of candidate spans, and the loss of the greedy choice.

    Parameters
    ----------
    spans : tuple of Candidate
        The chosen candidates in the order of the text, with the given offsets.
    greedy : tuple of Candidate
        The greedy choice: candidates with positive log odds are taken by decreasing probability, unless they overlap (nested
        spans: cross) a chosen span.
    loss : float
        Score of the best set minus the score of the greedy choice under the same rules, nats; infinite if the greedy choice breaks
        a hard rule; NaN without a best set.
    solution : Solution
        The labelling of the tokens, with bound, violations and certificate. Labels of nested spans are paths, such as
        `I-ORG/B-PER`; their bound comes from the recursion or a solver, without a proof to recheck.
    duplicates, below : int
        Numbers of candidates that repeat a place and label, and of candidates below the threshold.

    Examples
    --------
    >>> found = select_spans("Ada Byron King", [(0, 9, "name", 0.9), (4, 14, "name", 0.8), (0, 3, "name", 0.7)])
    >>> [(each.start, each.end) for each in found.spans], [(each.start, each.end) for each in found.greedy]
    ([(0, 3), (4, 14)], [(0, 9)])
    >>> round(found.loss, 4), found.solution.certificate.kind
    (0.0364, 'exact')
    """

    spans: tuple[Candidate, ...]
    greedy: tuple[Candidate, ...]
    loss: float
    solution: Solution
    duplicates: int = 0
    below: int = 0

    def __repr__(self) -> str:
        return f"SpanSelection({counted(len(self.spans), 'span')}, {self.solution.status}, loss={self.loss:.10g})"

    def __str__(self) -> str:
        said = f"{counted(len(self.spans), 'span')}, {self.solution.status}"
        first = f"{said}, score {self.solution.score:.6g} nats; the greedy choice loses {self.loss:.6g} nats"
        spans = [f"{each.label} {each.start}-{each.end}, score {each.score:.6g}" for each in self.spans]
        return "\n".join((first, *([short(spans, "span")] * bool(spans))))


def select_spans(
    text: str | Sequence[str],
    candidates: Iterable[Any],
    rules: Rules = (),
    *,
    offsets: str = "",
    threshold: float = 0.0,
    prior: Prior = 0.5,
    fields: Iterable[str] = (),
    method: str = "auto",
    time_limit: float | None = None,
    nested: bool = False,
    depth: int | None = None,
) -> SpanSelection:
    """Choose the best set of candidate spans that do not overlap, or that do not cross, under rules.

    The score of a set is the sum of log p/(1-p), minus the log odds of the prior, minus penalties of rules. Candidates of any detector
    are read: dictionaries with `start`, `end`, `score` and `label` (or `entity_group`, `entity`, `entity_type`), tuples of start,
    end, label and score, results of Presidio, spans of spaCy with a `score`, and span groups with `attrs["scores"]`. A field that
    rules name and no candidate has counts as absent.

    Parameters
    ----------
    text : str or sequence of str
        A text, or T tokens; also a document of spaCy.
    candidates : iterable
        Spans that may overlap, with probabilities.
    rules : Rules, str or Path, optional
        Rules on the labels of candidates as fields, a rule set, the name of a catalogue entry, the path of a rule file, or TOML text.
    offsets : {"characters", "tokens"}, optional
        Unit of starts and ends; by default characters for a text, tokens for a list of tokens. Character offsets for a list of tokens
        refer to the tokens joined by single spaces.
    threshold : float, default 0
        Candidates with a lower probability are left out.
    prior : float or mapping of str to float, default 0.5
        Probability at which a span adds 0 to the score, for all labels or by label; a lower prior selects more spans.
    fields : iterable of str, optional
        Further fields for "each field", even if no candidate has them.
    method, time_limit : str and float, optional
        As for `ilpinfer.decode`. With `nested`, "auto" is a recursion over intervals; it calls a solver if rules are not
        about counts or need too many states. Other methods are "greedy-spans" and the solvers.
    nested : bool, default False
        Whether chosen spans may contain other chosen spans. At most one span is chosen at each place, as in GLiNER with
        `multi_label=False`. Each span is a run; `x/y` in rules means spans y inside spans x.
    depth : int, optional
        With `nested`, the largest number of chosen spans around a token; unlimited by default.

    Returns
    -------
    SpanSelection
        The chosen spans, the greedy choice and its loss.

    Raises
    ------
    ValueError
        For a candidate that cannot be read, whose number the message names, for an empty text, and as `ilpinfer.decode`; with
        `nested`, for rules that are not for nested spans.

    Examples
    --------
    >>> from ilpinfer import constraints as C
    >>> spans = [{"start": 0, "end": 3, "label": "PER", "score": 0.9}, {"start": 8, "end": 11, "label": "PER", "score": 0.8}]
    >>> [each.start for each in select_spans("Ada met Bob", spans, [C.at_most_runs("PER", 1)]).spans]
    [0]
    >>> spans = [(0, 10, "ORG", 0.9), (0, 4, "LOC", 0.8)]
    >>> select_spans("Bonn Times", spans, nested=True).solution.labels
    ['B-ORG/B-LOC', 'I-ORG']
    >>> [each.label for each in select_spans("Bonn Times", spans, [C.at_most_runs("ORG/LOC", 0)], nested=True).spans]
    ['ORG']
    """
    group, below = read_candidates(
        text, candidates, offsets=offsets, threshold=threshold, prior=prior, fields=fields
    )
    if flag(nested, "nested"):
        return _nested(group, below, nested_problem(group, rules, depth), method, time_limit)
    if depth is not None:
        raise ValueError(f"depth is {brief(depth)}, and spans are flat; add nested=True, or leave depth out")
    trellis = group.scores.trellis(group.names, group.tokens)
    solution = Decoder(rules, method=method, time_limit=time_limit).decode(trellis)
    weights = [(each.start, each.end, each.log_odds(prior)) for each in group.candidates]
    greedy = [group.candidates[n] for n in choose_greedily(weights)]
    worth = evaluate_labelling(trellis, rules, group.labelling(greedy)).score
    spans = group.original(solution.labels) if solution.has_labelling else ()
    loss = solution.score - worth if math.isfinite(solution.score) else math.nan
    first = group.original(group.labelling(greedy))
    return SpanSelection(spans, first, loss, solution, group.duplicates, below)


def _nested(
    group: CandidateSet, below: int, problem: NestedSpans, method: str, time_limit: float | None
) -> SpanSelection:
    solution, chosen = solve_nested(problem, len(group.tokens), method=method, time_limit=time_limit)
    greedy = greedy_choice(problem)
    model, penalty, _ = worth(problem, greedy)
    score = nats(model - penalty)
    loss = solution.score - score if math.isfinite(solution.score) else math.nan
    spans, first = (tuple(group.given[n] for n in each) for each in (chosen, greedy))
    return SpanSelection(spans, first, loss, solution, group.duplicates, below)
