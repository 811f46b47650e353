"""References whose words the rules know, and the same with words that are new to them."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

import ilpinfer
from benchmarks.data import prepared
from benchmarks.data.corpora import RIVALS_SIZE
from benchmarks.studies.doors.calls import each_call
from benchmarks.study import Cell, Row, Sources
from benchmarks.timing import Work
from formulations import Trellis
from ilpinfer.core.solution import Solution

KNOWN, NEW = "words known to the rules", "words new to the rules"
CORA, UMASS = "cora", "umass"
BLOCKS, LETTERS = 16, 4
"""Of UMass references; words of so many letters become new ones."""


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    """Calls with trellises of the same scores, which the decoder meets with the words that it knows, or with others each time."""
    if cell.part == CORA:
        some = prepared.cora(sources.folder, RIVALS_SIZE)
    else:
        some = prepared.umass(sources.folder).every(BLOCKS, cell.number)
    some = some.every(sources(smoke=len(some.trellises), sample=1))
    rounds = sources(smoke=1, sample=7)
    rng = np.random.default_rng(cell.number)
    for trellis in some.trellises:
        some.decoder.decode(with_words(trellis, trellis.tokens))
    words = {
        name: [[change(one, rng) for _ in range(rounds + 1)] for one in some.trellises]
        for name, change in ((KNOWN, lambda one, rng: one.tokens), (NEW, shuffled_tokens))
    }
    works: dict[str, list[Work]] = {
        name: [
            partial(_next, some.decoder, iter([with_words(one, tokens) for tokens in each]))
            for one, each in zip(some.trellises, of_all, strict=True)
        ]
        for name, of_all in words.items()
    }
    met = {token for one in some.trellises for token in one.tokens}
    new = [sum(token not in met for token in each[0]) for each in words[NEW]]
    about = {"new": float(np.mean(new)), "tokens": float(np.mean([len(one) for one in some.trellises]))}
    for row in each_call(some.trellises, some.rules, works, rounds):
        yield row | about


def _next(decoder: ilpinfer.Decoder, trellises: Iterator[Trellis]) -> Solution:
    return decoder.decode(next(trellises))


def with_words(trellis: Trellis, tokens: Sequence[str]) -> Trellis:
    """A fresh trellis with the same scores, so that nothing that was kept with it is used."""
    return Trellis._of(lattice=trellis.lattice, labels=trellis.labels, tokens=tuple(tokens))


def shuffled_tokens(trellis: Trellis, rng: np.random.Generator) -> list[str]:
    return [shuffled(token, rng) for token in trellis.tokens]


def shuffled(word: str, rng: np.random.Generator) -> str:
    """A word of four or more letters with these in another order; capitals, digits and signs stay at their places."""
    places = [at for at, character in enumerate(word) if character.isalpha()]
    if len(places) < LETTERS:
        return word
    result, letters = list(word), [word[at] for at in rng.permutation(places)]
    for at, letter in zip(places, letters, strict=True):
        result[at] = letter.upper() if word[at].isupper() else letter.lower()
    return "".join(result)
