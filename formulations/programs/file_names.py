"""Names in LP and MPS files: letters, digits, `_` and `.` only, as every reader takes them.

`x[3,title,author]` is written `x.3.title.author`, and `sigma["one title"]` is `sigma._qone__title_q`. `[`, `]` and the commas
between items become dots; a space is `__`, and `_` with a letter stands for any other sign, or with a code point in
hexadecimal digits, `_x20ac_`. A name without items ends in `_`, so that none is a keyword such as `end`.
"""

import re
from collections.abc import Sequence
from hashlib import sha256

LONGEST = 100
"""Characters of a name: CBC's reader of LP files takes no more, others 255."""
SIGNS = dict(zip(" _-\"/.+|>!*@,()\\#'&:;=<", "_umqfdpotnwaclrbhskjyeg", strict=True))
LETTERS = {letter: sign for sign, letter in SIGNS.items()}
SHORTENED = ".."
"""No other name has it, as no item is empty."""
_ITEMS = re.compile(r'((?:"(?:[^"\\]|\\.)*"|[^,"])*)(?:,|$)')


def escape(name: str) -> str:
    """The name in files; not shortened.

    Examples
    --------
    >>> escape('rule["one title",high]')
    'rule._qone__title_q.high'
    >>> unescape('rule._qone__title_q.high')
    'rule["one title",high]'
    """
    word, bracket, items = name.partition("[")
    if not bracket:
        return f"{_escape(word)}_"
    return ".".join([_escape(word), *map(_escape, _split(items.removesuffix("]")))])


def unescape(text: str) -> str:
    """The name that `escape` wrote as text.

    Raises
    ------
    ValueError
        For a text that `escape` does not write, and for one that was shortened.
    """
    if SHORTENED in text:
        raise ValueError(f"{text!r} is a name that was shortened: look it up among the program's names")
    word, *items = text.split(".")
    if not items:
        if not word.endswith("_"):
            raise ValueError(f"{text!r} is no name of a column or row in a file of a program")
        return _unescape(word[:-1], text)
    return f"{_unescape(word, text)}[{','.join(_unescape(item, text) for item in items)}]"


def file_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names in files, none longer than `LONGEST`: the end of a longer one is a digest of the whole name."""
    return tuple(_shortened(escape(name)) for name in names)


def _shortened(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    mark = SHORTENED + sha256(text.encode()).hexdigest()[:24]
    return text[: LONGEST - len(mark)] + mark


def _split(items: str) -> list[str]:
    """Items at the commas that stand in no JSON string."""
    found = [match[1] for match in _ITEMS.finditer(items)]
    return found[:-1] if len(found) > 1 and not found[-1] and not items.endswith(",") else found


def _escape(text: str) -> str:
    return "".join(map(_sign, text))


def _sign(sign: str) -> str:
    if sign.isascii() and sign.isalnum():
        return sign
    return f"_{SIGNS[sign]}" if sign in SIGNS else f"_x{ord(sign):x}_"


_ESCAPES = re.compile(r"_(?:x([0-9a-f]{1,6})_|(.?))", re.DOTALL)


def _unescape(item: str, text: str) -> str:
    def sign(match: re.Match[str]) -> str:
        code, letter = match.groups()
        if code is not None and int(code, 16) <= 0x10FFFF:
            return chr(int(code, 16))
        if letter not in LETTERS:
            raise ValueError(f"{text!r} is no name of a column or row in a file of a program")
        return LETTERS[letter]

    return _ESCAPES.sub(sign, item)
