"""The stages of the engine for one problem: kernels first, then beams. Each goes on from what is known."""

import numpy as np

from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN, is_forbidden
from formulations.messages import counted
from ilpinfer.exact import limits
from ilpinfer.exact.calls import words_of_work, work_within
from ilpinfer.exact.known import Known, SearchResult
from ilpinfer.exact.relaxation import Bounds, Prefixes, Relaxation, cells_within
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.tables import BOUND, CODE, DEAD, INSIDE, NO_LABELLING, NO_PATH, PROVED, VALUE


def solve(known: Known) -> SearchResult:
    """The best labelling by kernels; where they leave it open, a better one by beams."""
    shares = limits.WATCHED_SHARES if known.watch else (1.0,)
    tried, known.tried = known.tried, False
    for share in () if tried else shares:
        with known.stage("kernels"):
            result = by_kernels(known, share)
        if result is not None:
            return result
    with known.stage("beams"):
        return by_beams(known)


def by_kernels(known: Known, share: float = 1.0) -> SearchResult | None:
    """Viterbi, label setting, multipliers and products in one call; None where it takes more than a share of the limits of work."""
    one, incumbent = known.ground, None if known.fixed else known.path
    (T, S), labels = one.emission.shape, one.scores.labels
    path = np.zeros(T, np.int64) if incumbent is None else one.lattice.states_of(incumbent).astype(np.int64)
    result, marks = np.zeros(7, np.int64), np.zeros((2, len(one.plain)), np.int64)
    result[VALUE] = FORBIDDEN if incumbent is None else known.value
    token = int(share * limits.PASSES * S * (labels + -labels % 8))
    work = work_within((token, int(share * limits.LEAST_STEPS), limits.DIRECT), T, known.deadline.remaining)
    tables, sequence = one.tables, one.sequence
    if known.multipliers:
        relaxation = Relaxation(known)
        tables, sequence = relaxation.tables, relaxation.sequence
    kernels.solve(tables, *sequence, work, path, result, marks)
    known.active = np.flatnonzero(marks[0]).tolist()
    known.inside = frozenset(np.flatnonzero(marks[0] == INSIDE).tolist())
    known.multipliers |= {one.components[m]: marks.item(1, m) for m in np.flatnonzero(marks[1]).tolist()}
    return _result(known, path, result.tolist())


def _result(known: Known, states: np.ndarray, result: list[int]) -> SearchResult | None:
    """The result of a call of the kernel."""
    code, leaf = result[CODE], known.leaf(known.active)
    if code == NO_PATH or (code == NO_LABELLING and is_forbidden(result[VALUE])):
        known.prove(FORBIDDEN, known.impossible(known.active))
        return SearchResult([], "no labelling is possible", True, known.tree)
    if code == NO_LABELLING:
        known.prove(known.value - 1, leaf)
        return SearchResult([], "nothing better is possible", True, leaf)
    known.prove(result[BOUND], leaf)
    if result[VALUE] < DEAD:
        return None
    path = known.ground.lattice.labels_of(states)
    evaluation = known.evaluate(path)
    known.relaxed = path
    if code != PROVED:
        return None
    if evaluation.machineless:
        names = ", ".join(sorted(evaluation.machineless))
        return SearchResult([], f"no machine for {names}; ", False, machineless=evaluation.machineless)
    return SearchResult([path], how(known), True, leaf)


def how(known: Known) -> str:
    """The work of the kernels in words."""
    return words_of_work(len(known.active), sum(map(bool, known.multipliers.values())))


def by_products(known: Known, most: int | None = None) -> SearchResult | None:
    """The best labelling by a large product of machines, and label setting over the others; None where that leaves it open.

    Rules on the presence or the order of the same fields share joint states: there are few more than sets of fields. With `most`,
    the product has at most so many joint states, of sums with multipliers, which are exact there.
    """
    before, one = (known.active, known.inside, known.multipliers), known.ground
    first = list(known.contexts) if most is None else _largest_sums(known, most)
    exact = {one.components[m] for m in first}
    known.multipliers = {c: price for c, price in known.multipliers.items() if c not in exact}
    relaxation = Relaxation(known)
    relaxation.prune(known.value)
    T, S = relaxation.emission.shape
    cells = cells_within(limits.LARGEST_PRODUCT, S, known.deadline)
    steps = S * one.scores.labels
    checked = min(limits.STEPS_OF_TOKEN // steps, limits.STEPS_OF_CHECK // (T * steps))
    others = sorted(set(range(len(one.plain))) - {*first}, key=lambda m: m not in before[0])
    bounds = relaxation.multiply([*first, *others], min(checked, most or checked), cells, steps=most is None)
    if most is not None or bounds.total < known.bound or not known.mostly_sums:
        known.inside = frozenset(bounds.within)
        path = _search(known, relaxation, bounds, 1 if most is None else limits.PARTS)
        if path is not None:
            words = f"a product of {counted(len(known.inside), 'machine')}, " * bool(known.inside) + how(
                known
            )
            return SearchResult([path], words, True, known.tree)
        if is_forbidden(known.bound):
            return SearchResult([], "no labelling is possible", True, known.tree)
    known.active, known.inside, known.multipliers = before
    return None


def _largest_sums(known: Known, most: int) -> list[int]:
    """The sums with multipliers, those of most states first, as far as their product has at most so many joint states."""
    chosen, joint, one = list[int](), 1, known.ground
    priced = [m for m, component in enumerate(one.components) if known.multipliers.get(component)]
    for m in sorted(priced, key=lambda m: -one.plain[m].automaton.states):
        states = one.plain[m].automaton.states
        if one.plain[m].symbols.shape[1] == 1 and joint * states <= most:
            chosen.append(m)
            joint *= states
    return chosen


def _search(known: Known, relaxation: Relaxation, bounds: Bounds, parts: int) -> LabelIds | None:
    """The best labelling by label setting over the machines that are not in a product; None where it stays open.

    The first floor is a part of the gap below the bound, where that is less than `FIRST_STEP`.
    """
    bound, followed, growth = bounds.total, list[int](), limits.GROWTH
    for _ in range(limits.BEAMS):
        beam = relaxation.prefixes(
            followed, known.deadline, floor=known.value, width=limits.BEAM, bounds=bounds
        )
        done = [*followed, *bounds.within]
        new = known.broken(beam.paths[:1], done) or known.priced(done)
        followed += new
        if not new:
            break
    known.active = sorted(bounds.within)
    known.prove(bound, known.leaf(known.active))
    first = step = min(limits.FIRST_STEP, max(1, (bound - known.value) // parts))
    for _ in range(limits.MOST_SEARCHES):
        if bound < known.value or is_forbidden(bound):
            break
        floor = max(bound - step, known.value)
        most = 2 * limits.LARGEST_SEARCH // (1 + relaxation.words(followed))
        found = relaxation.prefixes(followed, known.deadline, floor=floor, most=most, bounds=bounds)
        if not found.complete or _too_large(found, len(followed)):
            if step < first or known.deadline.passed:
                break
            step, growth = step // (2 * limits.GROWTH), 1
            continue
        bound, step = (found.values or [found.left_out])[0], step * growth
        known.active = sorted([*followed, *bounds.within])
        if not is_forbidden(bound):
            known.prove(bound, known.leaf(known.active))
        for path in found.paths[:1]:
            known.relaxed, evaluation = path, known.evaluate(path)
            if evaluation.value == bound:
                return path
            new = known.broken([path], known.active) or known.priced(known.active)
            if not new:
                return None
            followed += new
    if is_forbidden(bound):
        known.prove(FORBIDDEN, known.impossible(known.active))
    return None


def _too_large(found: Prefixes, machines: int) -> bool:
    """Whether a search tells more apart than the checker of certificates does."""
    size = machines + 2
    return size * max(found.left) > limits.KEYS_OF_TOKEN or size * sum(found.left) > limits.KEYS_OF_CHECK


def by_beams(known: Known) -> SearchResult:
    """No result, but better labellings by narrow beams, with the machines of more and more rules."""
    relaxation, known.inside, machines = Relaxation(known), frozenset(), list(known.active)
    for _ in range(limits.BEAMS):
        floor = known.value
        relaxation.prune(floor)
        known.relaxed = relaxation.path
        beam = relaxation.prefixes(
            machines, known.deadline, floor=floor, width=limits.BEAM, inside=kernels.MOST_JOINT
        )
        for path in beam.paths:
            known.evaluate(path)
        if known.deadline.passed:
            return SearchResult([], "no time left", False)
        new = known.broken(beam.paths[:1], machines)
        if not new:
            break
        machines += new
    known.active = machines
    return SearchResult([], "too many steps", False)


def best_few(known: Known, top: int, lowest: int = FORBIDDEN) -> SearchResult:
    """At most `top` labellings, none of them worth less than `lowest`, best first and equal ones by label ids."""
    with known.stage("kernels"):
        return _best_few(known, top, lowest)


def _best_few(known: Known, top: int, lowest: int) -> SearchResult:
    one, T = known.ground, len(known.ground.emission)
    paths, values = np.empty((top, T), np.int64), np.empty(top, np.int64)
    marks = np.zeros((2, len(one.plain)), np.int64)
    S, labels = one.emission.shape[1], one.scores.labels
    steps = max(limits.LIST_PASSES * S * (labels + -labels % 8) * T, limits.LIST_STEPS)
    _, most, _ = work_within((0, steps, limits.DIRECT), T, known.deadline.remaining)
    work = most // limits.FIRST_SHARE, most, max(lowest, DEAD)
    code, number = kernels.list_best(one.tables, *one.sequence, *work, paths, values, marks)
    known.active = np.flatnonzero(marks[0]).tolist()
    known.inside = frozenset(np.flatnonzero(marks[0] == INSIDE).tolist())
    known.multipliers = {one.components[m]: marks.item(1, m) for m in np.flatnonzero(marks[1]).tolist()}
    leaf = known.leaf(known.active)
    if code in (NO_PATH, NO_LABELLING):
        leaf = known.impossible(known.active)
        known.prove(FORBIDDEN, leaf)
        return SearchResult([], "no labelling is possible", True, leaf)
    if code != PROVED:
        return SearchResult([], "too many labellings", False)
    kept = np.flatnonzero(values[:number] >= lowest).tolist()
    found = [one.lattice.labels_of(paths[k]) for k in kept]
    known.prove(int(values[0]), leaf)
    missed = {name for path in found for name in known.evaluate(path).machineless}
    if missed:
        return SearchResult([], f"no machine for {', '.join(sorted(missed))}; ", False, None, tuple(missed))
    return SearchResult(found, how(known), True, leaf)
