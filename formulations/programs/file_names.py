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
SIGNS = {s: f"_{c}" for s, c in zip(" _-\"/.+|>!*@,()\\#'&:;=<", "_umqfdpotnwaclrbhskjyeg", strict=True)}
SHORTENED = ".."
"""No other name has it, as no item is empty."""
_ITEMS = re.compile(r'((?:"(?:[^"\\]|\\.)*"|[^,"])*)(?:,|$)')


def escape(name: str) -> str:
    """The name in files, not shortened: `rule["one title",high]` is `rule._qone__title_q.high`."""
    word, bracket, items = name.partition("[")
    if not bracket:
        return f"{_escape(word)}_"
    return ".".join([_escape(word), *map(_escape, _split(items.removesuffix("]")))])


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
    return "".join(s if s.isascii() and s.isalnum() else SIGNS.get(s, f"_x{ord(s):x}_") for s in text)
