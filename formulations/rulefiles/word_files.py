"""Lists of words in files of their own, which rule files name: `words = { file = "words.txt" }`."""

from pathlib import Path
from typing import Any

from formulations.files import Unreadable, read_text
from formulations.messages import brief
from formulations.parameters import WORDS, KeyPath, ParameterError, Words, kinds
from formulations.parameters import words as check_words
from formulations.rulefiles.declarations import DocumentError
from formulations.tokens.token_pattern import TokenPattern

MOST_WORDS = 64 * 2**20  # bytes of a file


def with_word_files(value: Any, name: str, path: KeyPath, folder: Path, words: bool) -> Any:
    """The value of a parameter with the words from files in the folder, also inside token patterns."""
    if words:
        return _words(value, name, path, folder)
    if isinstance(value, list):
        return [with_word_files(v, name, (*path, i), folder, False) for i, v in enumerate(value)]
    if not isinstance(value, dict):
        return value
    own = kinds(TokenPattern)
    return {k: with_word_files(v, k, (*path, k), folder, own.get(k) is WORDS) for k, v in value.items()}


def _words(value: Any, name: str, path: KeyPath, folder: Path) -> Any:
    """A list of words, or those in the file of `{ file = "words.txt" }`; the file is not read where words stand beside it."""
    if not isinstance(value, dict):
        return value
    if not {"file"} <= value.keys() <= {"file", "words"} or not isinstance(value["file"], str):
        raise DocumentError(f'{name}: expected a list of words, or {{ file = "words.txt" }}', *path)
    if "words" in value:
        try:
            words = Words(check_words(value["words"], name))
        except ParameterError as error:
            raise DocumentError(str(error), *path, "words", *error.path) from None
        words.source = value["file"]
        return words
    try:
        return read_words(folder, value["file"])
    except Unreadable as error:
        shown = brief(value["file"], quoted=False)
        raise DocumentError(f"{name}: {shown} cannot be read: {error}", *path, "file") from None


def read_words(folder: Path, name: str) -> Words:
    """Words of a file, one a line; empty lines and those that begin with # are left out. Unreadable for a file that cannot be read."""
    try:
        text = read_text(folder / name, MOST_WORDS)
    except FileNotFoundError as error:
        raise Unreadable(error.strerror) from None
    lines = (line.strip() for line in text.splitlines())
    words = Words(line for line in lines if line and not line.startswith("#"))
    words.source = name
    return words
