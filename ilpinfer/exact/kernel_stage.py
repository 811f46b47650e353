"""Kernels: Viterbi, label setting over the machines of broken rules, multipliers and products, in one call.

It applies to all problems except problems with only lists of equal tokens, which have no machines. It precedes all other stages for
rules with machines, since it proves most problems within milliseconds; a work limit ends it. A sequence that was called with
compiled rules has already passed it.
"""

from dataclasses import replace

import numpy as np

from formulations.dtypes import Integers
from formulations.grid import is_forbidden
from ilpinfer.exact import limits
from ilpinfer.exact.calls import words_of_work
from ilpinfer.exact.instance import work_within
from ilpinfer.exact.relaxation import Relaxation
from ilpinfer.exact.stage import Stage
from ilpinfer.exact.state import KERNELS, State
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.tables import BOUND, CODE, DEAD, NO_LABELLING, NO_PATH, PROVED, VALUE


def call_kernels(state: State) -> State:
    """One call, or with a callback several calls with growing work limits."""
    for share in limits.WATCHED_SHARES if state.progress.watch else (1.0,):
        state = by_kernels(state, share)
        if state.closed or state.machineless:
            break
    return state


def by_kernels(state: State, share: float = 1.0) -> State:
    """The state after one call with at most a share of the work limits."""
    problem, one, tokens = state.problem, state.problem.instance, state.problem.tokens
    T, (token, least, slots) = len(tokens.emission), one.work
    path = np.zeros(T, np.int64) if state.path is None else one.states_of(state.path).astype(np.int64)
    result, marks = np.zeros(7, np.int64), np.zeros((2, len(one.sources)), np.int64)
    result[VALUE] = state.value
    work = work_within((int(share * token), int(share * least), slots), T, problem.deadline.remaining)
    if state.multipliers:
        relaxation = Relaxation(one, tokens, state.multipliers)
        one, tokens = relaxation.instance, relaxation.tokens
    kernels.solve(one.tables, tokens, work, path, result, marks)
    return _after(state.following(marks), path, result.tolist())


def _after(state: State, states: Integers, result: list[int]) -> State:
    """The state after a call with such a result."""
    code = result[CODE]
    if code == NO_PATH or (code == NO_LABELLING and is_forbidden(result[VALUE])):
        return state.impossible()
    if code == NO_LABELLING:
        return state.proved(state.value - 1, state.leaf()).closed_by("nothing better is possible")
    state = state.proved(result[BOUND], state.leaf())
    if result[VALUE] < DEAD:
        return state
    path = state.problem.instance.labels_of(states)
    state = replace(state.with_labelling(path), relaxed=path)
    if code != PROVED:
        return state
    machineless = state.problem.evaluate(path).machineless
    if machineless:
        words = f"no machine for {', '.join(sorted(machineless))}"
        return replace(state.left_open(words), machineless=machineless)
    return state.closed_by(work_of(state), path)


def work_of(state: State) -> str:
    """The work of the kernels in words."""
    return words_of_work(len(state.active), sum(map(bool, state.multipliers.values())))


KERNEL_CALL = Stage(KERNELS, lambda state: state.by_machines, call_kernels)
