"""Regular expressions with the syntax of `re` on tokens; the engine `regex` can stop a match in any thread."""

import math
import re
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from formulations import time_limits
from formulations.caches import LONGEST_TEXT, remembered
from formulations.errors import InferenceError
from formulations.messages import brief

TIME_LIMIT = 1.0  # seconds of processor time for one token
FIRST_ATTEMPT, LEAST_ATTEMPT = 0.02, 0.005
"""Seconds of processor time for a first match, which tells the pace of the processor, and for any, where a time limit is set. The
engine knows processor time alone, of which a busy machine grants little and several threads use much."""
LONGEST = 200_000  # characters of an expression
DEEPEST = 200  # nested groups
LARGEST = 100_000
"""Largest number of parts of an expression with repetitions expanded to their least count."""

MOST_QUICK = 4
"""Repetitions and alternatives, one of them at least with an end, of an expression that needs no limit of time on a token of `LONGEST_TEXT` characters."""

_PART = re.compile(
    r"""(?P<quantifier> [*+?] | \{ (?P<low> \d* ) (?: , \d* )? \} ) (?P<manner> [?+]? )
      | (?P<class> \[ \^? \]? (?: \\. | [^\]\\] )*+ \] ) | (?P<brace> \{ )
      | (?P<open> \( (?: \? (?: P?<[^>=!)]*> | P=\w* | [^)<:=!>]*[:=!>] | <[=!] )? )? ) | (?P<close> \) )
      | (?P<atom> \\. | . )""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(r"#[^\n]*")


class TooSlow(InferenceError, ValueError):
    """A regular expression that takes too long on a token."""


@dataclass(frozen=True)
class Expression:
    """A regular expression that must match a whole token; ValueError for invalid and too large expressions."""

    pattern: str
    ignore_case: bool = False

    def __post_init__(self) -> None:
        _check_syntax(self.pattern)

    @cached_property
    def _engine(self) -> Any:
        import regex  # type: ignore[import-untyped]

        # braces that begin no repetition are escaped, since `regex` interprets some of them
        literal = _PART.sub(lambda part: "\\{" if part["brace"] else part[0], self.pattern)
        return regex.compile(literal, regex.IGNORECASE if self.ignore_case else 0)

    @cached_property
    def _is_quick(self) -> bool:
        """Whether every short token takes little time: few choices, none inside a repetition, no references, no lookbehind."""
        total, inside = 0, [0]  # choices so far, in total and in each open group
        before = endless = 0  # choices in the operand of a quantifier; unbounded repetitions
        for part in _PART.finditer(self.pattern):
            if part["quantifier"]:
                if before:
                    return False
                endless += part["quantifier"] in "*+" or part["quantifier"].endswith(",}")
                total, inside[-1] = total + 1, inside[-1] + 1
            elif part["open"]:
                if part["open"] not in ("(", "(?:", "(?=", "(?!"):
                    return False
                inside.append(0)
            elif part["close"]:
                before = inside.pop()
                inside[-1] += before
                continue
            elif part["atom"] == "|" and len(inside) > 1:
                total, inside[-1] = total + 1, inside[-1] + 1
            elif (part["atom"] or "")[1:].isdigit():
                return False
            before = 0
        return total <= MOST_QUICK and endless < MOST_QUICK

    @cached_property
    def quick_match(self) -> Callable[[str], Any] | None:
        """A function that matches tokens of up to `LONGEST_TEXT` characters, if no time limit is needed."""
        return self._engine.fullmatch if self._is_quick else None

    def matches(self, token: str) -> bool:
        """Whether the whole token matches; TooSlow after `TIME_LIMIT` seconds of processor time, OutOfTime if a time limit passes."""
        if self.quick_match is not None and len(token) <= LONGEST_TEXT:
            return self.quick_match(token) is not None
        time_limits.check()
        left = time_limits.seconds_left()
        seconds, pace, most = 0.0, 1.0, TIME_LIMIT if math.isinf(left) else FIRST_ATTEMPT
        while seconds < TIME_LIMIT:
            if seconds:
                left = time_limits.seconds_left()
            timeout = min(TIME_LIMIT - seconds, most, max(left / (2 * pace), LEAST_ATTEMPT))
            began = time.perf_counter()
            try:
                return self._engine.fullmatch(token, timeout=timeout) is not None
            except TimeoutError:
                time_limits.check()
                pace = (time.perf_counter() - began) / timeout
                seconds, most = seconds + timeout, TIME_LIMIT
            except MemoryError:
                break
        raise TooSlow(
            f"pattern {brief(self.pattern)} takes more than {TIME_LIMIT:g} s on the token {brief(token)}: write it so that "
            "what is repeated can match in one way only"
        )


@remembered
def _check_syntax(pattern: str) -> None:
    """Raise ValueError for a syntax error, and for an expression that is too large to compile."""
    if len(pattern) > LONGEST:
        raise ValueError(
            f"pattern {brief(pattern)} has {len(pattern)} characters; at most {LONGEST} are allowed"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            warnings.simplefilter("error", DeprecationWarning)
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError, FutureWarning, DeprecationWarning) as error:
        what = "too deep" if isinstance(error, RecursionError) else brief(str(error), quoted=False)
        raise ValueError(f"pattern {brief(pattern)} is not a regular expression: {what}") from None
    without = _COMMENT.sub("", pattern) if "x" in pattern else pattern
    (parts, depth), (parts_without, _) = _extent(pattern), _extent(without)
    if depth > DEEPEST:
        raise ValueError(f"pattern {brief(pattern)} is not a regular expression: too deep")
    if max(parts, parts_without) > LARGEST + len(pattern):
        size = f"its repetitions, written out, have more than {LARGEST} parts"
        raise ValueError(f"pattern {brief(pattern)} is too large: {size}")


def _extent(pattern: str) -> tuple[int, int]:
    """The number of parts of an expression with repetitions expanded to their least count, and the depth of groups."""
    groups, last, depth = [1], 0, 0  # parts of each open group; parts of the operand of a quantifier
    for part in _PART.finditer(pattern):
        if part["quantifier"]:
            low = int(part["low"]) if part["low"] else int(part["quantifier"] == "+")
            groups[-1] += last * low
            last *= low + 1
        elif part["open"]:
            groups.append(1)
            depth = max(depth, len(groups) - 1)
        elif part["close"]:
            last = groups.pop() if len(groups) > 1 else 1
            groups[-1] += last
        else:
            groups[-1] += 1
            last = 1
        if groups[-1] > LARGEST + len(pattern):
            break
    return sum(groups), depth
