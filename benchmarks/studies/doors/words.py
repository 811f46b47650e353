"""References whose words are new to the rules."""

from collections.abc import Sequence

import numpy as np

from formulations import Trellis

LETTERS = 4
"""Words of so many letters become new ones."""


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
