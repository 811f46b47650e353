"""Label setting: every prefix that could still reach a floor, with the states of the machines that it has met.

Prefixes that agree in label and machine states have the same future, and the worse one is dropped (dominance); the
completions of a guide bound what can follow (resource-constrained shortest paths by label setting).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from formulations.grid import FORBIDDEN
from ilpinfer.deadline import Deadline
from ilpinfer.exact.guide import Guide, Relaxed, joint_symbols
from ilpinfer.exact.parts import Priced, pack_parts
from ilpinfer.kernels import follow as kernels

Integers = NDArray[np.int64]
Path = NDArray[np.int64]

_WORK_PER_CALL = 200_000
_LARGEST_MEMO = 4_000_000
"""Entries of what is kept about joint states and symbols, beyond which label setting gives up."""


@dataclass(frozen=True)
class Followed:
    """What label setting has found.

    Parameters
    ----------
    paths : labellings that reach the floor, best first, or cheapest first; equal ones by label ids
    values : what they are worth in the relaxation that knows the machines followed, grid units
    left_out : the best that a prefix left out for want of width could have reached; `FORBIDDEN` for none
    whole : whether it went to the last token
    spent : what their violations cost, where account of it was taken; 0 where not
    """

    paths: list[Path]
    values: list[int]
    left_out: int
    whole: bool = True
    spent: Sequence[int] = ()

    @property
    def exact(self) -> bool:
        """Whether the first labelling is the best one that reaches the floor, or there is none."""
        return self.whole and (self.left_out < self.values[0] if self.paths else self.left_out <= FORBIDDEN)


def follow(
    guide: Guide,
    prices: Integers,
    relaxed: Relaxed,
    parts: Sequence[Priced],
    deadline: Deadline,
    *,
    floor: int = FORBIDDEN,
    width: int,
    beam: bool = False,
    copies: int = 1,
    purse: int = -1,
) -> Followed:
    """The best labellings under the machines of `parts`.

    Parameters
    ----------
    guide, prices, relaxed : whose completions bound what can follow; the parts inside it and those charged come
        first among `parts`
    floor : grid units; prefixes that cannot reach it are dropped
    width : how many prefixes a token may have; more end the search, or, with `beam`, only the best are kept
    copies : how many prefixes with the same future are kept
    purse : grid units; the most that violations may cost in all, where labellings are wanted that cost the least, of
        those the best; -1 where the best are wanted
    """
    lattice = guide.lattice
    T, B = lattice.shape
    packed, flags = pack_parts(list(parts), lattice)
    bounds, symbols = _bounds(guide, prices, relaxed, parts), joint_symbols(lattice, parts)
    room = width * B if beam else min(width, 512)
    front, fresh = _prefixes(width if beam else room), _extensions(room)
    for array in front:
        array[0] = 0
    memo = memo_of(64, len(parts) + 1 + int(flags.max(initial=-1)), symbols[2].shape[1])
    back = _empty(4096 + len(front[0])), _empty(4096 + len(front[0])), np.zeros(T + 1, np.int64)
    counts = np.array([0, 1, FORBIDDEN, 1])
    scores = lattice.node, lattice.pool, lattice.step, guide.base
    alive = guide.alive.states, guide.alive.begins
    while counts[0] < T:
        if deadline.passed:
            return Followed([], [], relaxed.bound, whole=False)
        now = len(front[0])
        arrays = bounds, (packed, flags, symbols, memo), front, fresh, back, counts
        code = kernels.advance(scores, alive, *arrays, floor, purse, (now, copies, _WORK_PER_CALL))
        if code == 1:
            back = _doubled(back[0]), _doubled(back[1]), back[2]
        elif code == 2 and now < width:
            wider = _prefixes(min(width, 4 * now))
            for old, new in zip(front, wider, strict=True):
                new[:now] = old
            front, fresh = wider, _extensions(len(wider[0]))
        elif code == 2:
            if copies == 1 or len(fresh[0]) >= width * B:
                return Followed([], [], relaxed.bound, whole=False)
            fresh = _extensions(4 * len(fresh[0]))
        elif code == 3:
            if memo[1].size > _LARGEST_MEMO:
                return Followed([], [], relaxed.bound, whole=False)
            memo = grown_memo(memo)
    if counts[2] > FORBIDDEN and not beam:
        return Followed([], [], relaxed.bound, whole=False)
    size = int(counts[1])
    kernels.finish(packed, flags, memo, front, purse, size)
    values, spent = front[0][:size], front[4][:size]
    order = [h for h in np.lexsort((-values, spent)).tolist() if values[h] >= max(floor, FORBIDDEN // 2)]
    paths = [lattice.labels_of(_backtrack(back, h)) for h in order]
    return Followed(paths, values[order].tolist(), int(counts[2]), spent=spent[order].tolist())


def _bounds(guide: Guide, prices: Integers, relaxed: Relaxed, parts: Sequence[Priced]) -> tuple:
    """The most that can follow a state (T, S), and what the kernel adds up to bound a prefix."""
    inside = len(guide.inside)
    ahead = guide.futures(dict(zip((p.key for p in guide.charged), prices.tolist(), strict=True)))
    radix = np.zeros(len(parts), np.int64)
    radix[:inside] = guide.radix
    completion, room = relaxed.completion, sum(ahead.most.get(part.key, 0) for part in parts)
    ceiling = (completion[:, :, 0] if guide.states == 1 else completion.max(axis=2)) + room
    return ceiling, completion, radix, *ahead.of(parts)


def _prefixes(n: int) -> tuple:
    """Value, bound, label, joint state, and what is spent."""
    return np.empty(n, np.int64), np.empty(n, np.int64), _empty(n), _empty(n), np.empty(n, np.int64)


def _extensions(n: int) -> tuple:
    """Prefixes with their parents, the first of those that agree, and a hash table."""
    return *_prefixes(n), _empty(n), _empty(n), _empty(1 << (2 * n - 1).bit_length())


def memo_of(n: int, width: int, symbols: int) -> tuple:
    """Room for n joint states, of which the first is that of all machines at their start."""
    vectors, after = np.zeros((n, width), np.int32), np.full((n, max(1, symbols)), kernels.UNKNOWN, np.int32)
    slots = np.full(1 << (4 * n).bit_length(), -1, np.int32)
    kernels.enter(vectors, slots, 1)
    return vectors, after, np.zeros(after.shape, np.int64), slots


def grown_memo(memo: tuple) -> tuple:
    """Four times the room."""
    vectors, after, cost, _ = memo
    n = len(vectors)
    wider = memo_of(4 * n, vectors.shape[1], after.shape[1])
    for old, new in zip((vectors, after, cost), wider[:3], strict=True):
        new[:n] = old
    wider[3][:] = -1
    kernels.enter(wider[0], wider[3], n)
    return wider


def _empty(n: int) -> NDArray[np.int32]:
    return np.empty(n, np.int32)


def _backtrack(back: tuple, h: int) -> Path:
    labels, parents, begins = back
    path = np.empty(len(begins) - 1, np.int64)
    for t in range(len(path) - 1, -1, -1):
        at = begins[t] + h
        path[t], h = labels[at], parents[at]
    return path


def _doubled(array: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.concatenate([array, np.empty_like(array)])
