"""Machines as chains of states that read one label per token, for programs without columns for steps."""

from dataclasses import dataclass

import numpy as np

from formulations import time_limits
from formulations.automata.machine import Automaton, Machine
from formulations.dtypes import Integers


@dataclass(frozen=True, eq=False)
class LabelChain:
    """A machine whose S states include what is needed of the previous label. Equivalent labels form C classes."""

    label_class: Integers  # (K,)
    next_state: Integers  # (P, S, C)
    emits: Integers  # (P, S, C) violations on reading a label of a class
    final: Integers  # (S,) violations after the last token
    index: Integers  # (T,) which of the P tables token t uses
    start: int

    @property
    def states(self) -> int:
        return len(self.final)

    @property
    def classes(self) -> int:
        return int(self.next_state.shape[2])

    @classmethod
    def of(cls, machine: Machine, labels: int) -> "LabelChain":
        """The chain of a machine on K labels, with equivalent states merged."""
        values = machine.steps.values
        if values.shape[1] == 1:
            values = np.broadcast_to(values, (len(values), labels + 1, labels))
        read = values.transpose(2, 0, 1).reshape(labels, -1)
        left = values[:, 1:].transpose(1, 0, 2).reshape(labels, -1)
        signature = np.concatenate([read, left], axis=1)
        _, first, label_class = np.unique(signature, axis=0, return_index=True, return_inverse=True)
        before = np.concatenate([[0], first + 1])
        symbols = values[:, before][:, :, first]
        B = len(before)
        state = np.arange(machine.states * B)
        symbol = symbols[:, state % B]
        after = machine.next_state[(state // B)[None, :, None], symbol]
        emits = machine.emits[(state // B)[None, :, None], symbol]
        to = after * B + np.arange(1, B)[None, None, :]
        merged = _merged(to, emits, machine.final[state // B])
        order = np.unique(merged, return_index=True)[1]
        return cls(
            label_class.reshape(-1),
            merged[to[:, order]],
            emits[:, order],
            machine.final[state // B][order],
            machine.steps.index,
            int(merged[0]),
        )


def _merged(to: Integers, emits: Integers, final: Integers) -> Integers:
    """(S,) the class of each state; states of a class are equivalent."""
    block = np.unique(final, return_inverse=True)[1].reshape(-1)
    while True:
        time_limits.check()
        parts = [np.concatenate([emits[p].T, block[to[p]].T]) for p in range(len(to))]
        signature = np.concatenate([block[None, :], *parts])
        finer = np.unique(signature, axis=1, return_inverse=True)[1].reshape(-1)
        if finer.max() == block.max():
            return finer
        block = finer


def flagged(machine: Machine) -> Machine:
    """A machine that emits one violation at the end if this machine emits any."""
    once = machine.automaton.once
    final = once.final.copy()
    final[-1] = 1  # the state after a violation
    return Machine(machine.steps, Automaton(once.next_state, np.zeros_like(once.emits), final))
