"""Plain text: a sequence a line, split into tokens."""

from collections.abc import Callable, Mapping
from pathlib import Path

from formulations.messages import suggestion
from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.corpus.passages import WORDS
from ilpinfer.corpus.sequences import text_of

SPLITS: Mapping[str, Callable[[str], list[str]]] = {"spaces": str.split, "punctuation": WORDS.findall}
"""How a line is split: at white space; or there, and before and after punctuation that does not stand within a word."""


def read_plain_text(source: str | Path, split: str = "spaces") -> list[Example]:
    """The lines of a file, or of standard input where the source is `-`, as sequences without labels; empty lines are left out."""
    if split not in SPLITS:
        raise InputError(f'no split "{split}"{suggestion(split, SPLITS)}')
    name = "standard input" if str(source) == "-" else str(source)
    lines = enumerate(text_of(source).splitlines(), 1)
    texts = [(number, tuple(SPLITS[split](line))) for number, line in lines]
    result = [Example(tokens, None, f"{name}, line {number}") for number, tokens in texts if tokens]
    if not result:
        raise InputError(f"{name}: no text; expected a sequence a line")
    return result
