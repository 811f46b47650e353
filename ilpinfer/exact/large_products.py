"""Large products: as many machines as fit in memory are multiplied with the lattice, and label setting follows the others.

The first product has machines in the context of the hard rules, where they are smaller. Rules on the presence or the order of the same fields
share joint states there: there are few more than sets of fields. The second one comes after the linear relaxation of sums: sums with
multipliers are inside, where they are exact. Both apply where kernels and beams leave a problem open that has no lists of equal
tokens. A product that fails does not change machines and multipliers.
"""

from dataclasses import replace

from formulations.grid import is_forbidden
from formulations.messages import counted
from ilpinfer.exact import limits
from ilpinfer.exact.kernel_stage import work_of
from ilpinfer.exact.relaxation import Bounds, Prefixes, Relaxation, cells_within
from ilpinfer.exact.stage import Stage
from ilpinfer.exact.state import State


def in_contexts(state: State) -> State:
    """By a product of machines in contexts."""
    after = by_product(replace(state, problem=state.problem.in_contexts))
    return replace(after, problem=state.problem)


def of_sums(state: State) -> State:
    """By a product of sums with multipliers; else by the bound of the relaxation, where it is already tight."""
    state = by_product(state, limits.SUMS_INSIDE)
    if not state.closed and state.path is not None and state.bound <= state.value:
        return state.closed_by("the linear relaxation of sums", state.path)
    return state


def by_product(state: State, most: int | None = None) -> State:
    """By a product of all machines that fit in; with `most`, of at most this many joint states of sums with multipliers."""
    problem, one = state.problem, state.problem.instance
    first = list(problem.contexts) if most is None else _largest_sums(state, most)
    exact = {one.components[m] for m in first}
    multipliers = {c: price for c, price in state.multipliers.items() if c not in exact}
    relaxation = Relaxation(one, problem.tokens, multipliers)
    relaxation.prune(state.value)
    T, S = problem.tokens.emission.shape
    cells = cells_within(limits.LARGEST_PRODUCT, S, problem.deadline)
    steps = S * one.scores.labels
    checked = min(limits.STEPS_OF_TOKEN // steps, limits.STEPS_OF_CHECK // (T * steps))
    others = sorted(set(range(len(one.sources))) - {*first}, key=lambda m: m not in state.active)
    bounds = relaxation.multiply([*first, *others], min(checked, most or checked), cells, steps=most is None)
    mostly_sums = 2 * int(one.sums[list(state.active)].sum()) >= len(state.active)
    if most is None and mostly_sums and bounds.total >= state.bound:
        return state
    inner = replace(state, inside=frozenset(bounds.within), multipliers=multipliers)
    inner = _search(inner, relaxation, bounds, 1 if most is None else limits.PARTS)
    if inner.closed:
        return inner
    return replace(inner, active=state.active, inside=state.inside, multipliers=state.multipliers)


def _largest_sums(state: State, most: int) -> list[int]:
    """The sums with multipliers, most states first, while their product has at most this many joint states."""
    chosen, joint, one = list[int](), 1, state.problem.instance
    priced = [m for m, component in enumerate(one.components) if state.multipliers.get(component)]
    for m in sorted(priced, key=lambda m: -one.states[m]):
        if one.sources[m].symbols.shape[1] == 1 and joint * one.states[m] <= most:
            chosen.append(m)
            joint *= one.states[m]
    return chosen


def _search(state: State, relaxation: Relaxation, bounds: Bounds, parts: int) -> State:
    """By label setting over the machines that are not in the product.

    The first floor is a fraction of the gap below the bound, if that is less than `FIRST_STEP`.
    """
    problem, deadline = state.problem, state.problem.deadline
    bound, followed, growth = bounds.total, list[int](), limits.GROWTH
    for _ in range(limits.BEAMS):
        beam = relaxation.prefixes(followed, deadline, floor=state.value, width=limits.BEAM, bounds=bounds)
        state = state.with_labellings(beam.paths[:1])
        new = _missed(state, beam, [*followed, *bounds.within])
        followed += new
        if not new:
            break
    state = replace(state, active=tuple(sorted(bounds.within)))
    state = state.proved(bound, state.leaf())
    first = step = min(limits.FIRST_STEP, max(1, (bound - state.value) // parts))
    for _ in range(limits.MOST_SEARCHES):
        if bound < state.value or is_forbidden(bound):
            break
        floor = max(bound - step, state.value)
        most = 2 * limits.LARGEST_SEARCH // (1 + relaxation.words(followed))
        found = relaxation.prefixes(followed, deadline, floor=floor, most=most, bounds=bounds)
        if not found.complete or _too_large(found, len(followed)):
            if step < first or deadline.passed:
                break
            step, growth = step // (2 * limits.GROWTH), 1
            continue
        bound, step = (found.values or [found.left_out])[0], step * growth
        state = replace(state, active=tuple(sorted([*followed, *bounds.within])))
        if not is_forbidden(bound):
            state = state.proved(bound, state.leaf())
        for path in found.paths[:1]:
            state = replace(state.with_labelling(path), relaxed=path)
            if problem.evaluate(path).value == bound:
                inside = len(state.inside)
                return state.closed_by(
                    f"a product of {counted(inside, 'machine')}, " * bool(inside) + work_of(state), path
                )
            new = _missed(state, found, state.active)
            if not new:
                return state
            followed += new
    return state.impossible() if is_forbidden(bound) else state


def _missed(state: State, found: Prefixes, done: "list[int] | tuple[int, ...]") -> list[int]:
    """The machines that the first labelling breaks and that are not followed; if none, sums with multipliers."""
    one, known = state.problem.instance, set(done)
    priced = (m for m, c in enumerate(one.components) if state.multipliers.get(c) and one.sums[m])
    return state.problem.broken(found.paths[:1], known) or [m for m in priced if m not in known]


def _too_large(found: Prefixes, machines: int) -> bool:
    """Whether a search has more distinct prefixes than the checker of certificates accepts."""
    size, left = machines + 2, found.left
    return size * max(left) > limits.KEYS_OF_TOKEN or size * sum(left) > limits.KEYS_OF_CHECK


def _applies(state: State) -> bool:
    return state.by_machines and not state.problem.lists


PRODUCT_IN_CONTEXTS = Stage("products", _applies, in_contexts)
PRODUCT_OF_SUMS = Stage("products", lambda state: _applies(state) and state.problem.has_sums, of_sums)
