"""The usual choice among spans that overlap: the heaviest first, whatever the rules."""

from collections.abc import Iterator, Sequence

import numpy as np

from formulations.grid import is_forbidden
from formulations.problem.problem import Problem
from ilpinfer.core.certificate import VITERBI_BOUND
from ilpinfer.core.result import Result, Task
from ilpinfer.exact.viterbi import viterbi

Weighted = tuple[int, int, float]
"""First token, the one after the last, and weight."""


def choose_greedily(spans: Sequence[Weighted], *, nested: bool = False) -> list[int]:
    """Numbers of the chosen spans: the heaviest of positive weight, then repeatedly the heaviest that overlaps no chosen one.

    With `nested`, a span may lie inside a chosen one or around it, as in GLiNER with `flat_ner=False`.
    """
    positive = (n for n in range(len(spans)) if spans[n][2] > 0)
    taken, chosen = bytearray(max((end for _, end, _ in spans), default=0)), list[int]()
    for n in sorted(positive, key=lambda n: (-spans[n][2], *spans[n][:2], n)):
        start, end, _ = spans[n]
        if not any(taken[start:end]) or (nested and all(_nests(spans[n], spans[m]) for m in chosen)):
            taken[start:end] = b"\1" * (end - start)
            chosen.append(n)
    return sorted(chosen)


def _nests(one: Weighted, other: Weighted) -> bool:
    """Whether two spans do not overlap, or one of them is longer and contains the other."""
    (start, end, _), (begin, last, _) = one, other
    within, around = begin <= start and end <= last, start <= begin and last <= end
    return end <= begin or last <= start or within != around


def greedy_spans(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """Spans of labels of scheme `spans`; a span's weight is the sum of the scores of its tokens."""
    labels, lattice = problem.labels, problem.lattice
    if labels.scheme != "spans" or lattice.order > 1 or len(lattice.pool) > 1:
        raise ValueError(
            f"{name} needs candidate spans: emissions and transitions of scheme spans; these labels are of scheme {labels.scheme}"
        )
    bound, _ = viterbi(lattice)
    node, number = lattice.node, {label: k for k, label in enumerate(labels.names)}
    possible = ~is_forbidden(node)
    spans, paths = list[Weighted](), list[list[int]]()
    for t, k in np.argwhere(possible).tolist():
        label = labels.names[k]
        if label[0] not in "BS":
            continue
        path = [k]
        if label[0] == "B":
            inner, last = number[f"I{label[1:]}"], number[f"E{label[1:]}"]
            while t + len(path) < len(node) and possible[t + len(path), inner]:
                path.append(inner)
            path.append(last)
            if t + len(path) > len(node) or not possible[t + len(path) - 1, last]:
                continue
        spans.append((t, t + len(path), float(node[range(t, t + len(path)), path].sum())))
        paths.append(path)
    ids = np.full(len(node), number["O"])
    chosen = choose_greedily(spans)
    for n in chosen:
        ids[spans[n][0] : spans[n][1]] = paths[n]
    yield Result(ids, bound, f"{name}: {len(chosen)} of {len(spans)} spans", VITERBI_BOUND)
