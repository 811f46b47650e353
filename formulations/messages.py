"""Parts of messages: shortened values and suggestions of similar names."""

import difflib
import re
from collections.abc import Iterable
from typing import Any

LONGEST = 60  # characters of a value in a message


def brief(value: Any, longest: int = LONGEST, *, quoted: bool = True) -> str:
    """The `repr` of a value in one line, shortened if it is long."""
    if isinstance(value, str):
        text = cut(value, longest)
        return repr(text) if quoted else text
    if isinstance(value, list | tuple | set | frozenset) and len(value) > 6:
        some = ", ".join(brief(item, 20) for item in list(value)[:3])
        return f"[{some}, … ({len(value)} in all)]"
    if isinstance(value, dict) and len(value) > 6:
        return f"a table of {len(value)} keys"
    if isinstance(value, list | tuple):
        inner = ", ".join(brief(item, longest // 2) for item in value)
        return cut(f"[{inner}]" if isinstance(value, list) else f"({inner})", 2 * longest)
    if isinstance(value, dict):
        sign = " =" if all(isinstance(key, str) for key in value) else ":"
        pairs = (f"{brief(k, 20, quoted=False)}{sign} {brief(v, longest // 2)}" for k, v in value.items())
        return cut("{" + ", ".join(pairs) + "}", 2 * longest)
    if isinstance(value, int) and value.bit_length() > 200:
        return f"a number of {value.bit_length()} bits"
    return cut(re.sub(r"\s*\n\s*", " ", repr(value)), 2 * longest)


def counted(number: int, noun: str) -> str:
    """A number and its noun: `1 token`, `2 tokens`."""
    return f"{number} {noun if number == 1 else noun + 's'}"


def distinct(texts: Iterable[str]) -> list[str]:
    """Remove repeated and empty texts, and texts that another text contains."""
    known = [text for text in dict.fromkeys(texts) if text]
    return [text for text in known if not any(text in other for other in known if other is not text)]


def cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def near_name(name: str, options: Iterable[str]) -> str:
    """The option most similar to a name, ignoring case; empty if none is similar."""
    # upper bound on the similarity, by length
    fitting = [each for each in options if 2 * min(len(each), len(name)) >= 0.8 * (len(each) + len(name))]
    return next(iter(difflib.get_close_matches(name.lower(), fitting, n=1, cutoff=0.8)), "")


def misspelt(name: str, options: Iterable[str]) -> str:
    """The option within edit distance two of a name, one for options of fewer than five letters; empty if there is none.

    Case and punctuation are ignored. Edits are insertion, deletion, replacement, and the swap of two letters.
    """
    plain = _plain(name)
    distances = [(_letters(plain, _plain(each)), each) for each in options]
    return next((each for count, each in sorted(distances) if count <= (2 if len(each) > 4 else 1)), "")


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name[:LONGEST].lower()))


def _letters(one: str, other: str) -> int:
    """The edit distance of two names (optimal string alignment); 3 may stand for any larger distance."""
    if abs(len(one) - len(other)) > 2:
        return 3
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        rows, row = (before, row), [i]
        for j, b in enumerate(other, 1):
            row.append(min(rows[1][j] + 1, row[j - 1] + 1, rows[1][j - 1] + (a != b)))
            if i > 1 and j > 1 and (a, one[i - 2]) == (other[j - 2], b):
                row[j] = min(row[j], rows[0][j - 2] + 1)
        before = rows[1]
    return row[-1]


def suggestion(name: str, options: Iterable[str]) -> str:
    """A hint for an unknown name: `; did you mean "title"?`, the options, or an empty text."""
    options = sorted(set(options))
    near = difflib.get_close_matches(name, options, n=1, cutoff=0.6)
    if near:
        return f'; did you mean "{near[0]}"?'
    return f"; choose from {', '.join(options[:12])}{', …' if len(options) > 12 else ''}" if options else ""
