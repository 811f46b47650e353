"""Names of columns and rows, created at first access, their escaped forms in files, and sizes of programs."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import product

import numpy as np

from formulations.dtypes import Booleans, Integers
from formulations.labels.label_set import LabelSet

START, END = "START", "END"  # names of the states before the first token and after the last token
PLAIN = re.compile(r"[\w.+/@-]+")


@dataclass(frozen=True)
class Meaning:
    """Meaning of a column or row; its name is unique in the program."""

    name: str
    kind: str  # such as "path", "indicator", "state", "sigma" for columns, "flow", "link", "rule" for rows
    rule: str = ""  # its rule; empty for none, or for several rules
    token: int | None = None
    labels: tuple[str, ...] = ()  # from and to, for a path column, including `START` and `END`

    def under(self, word: str) -> str:
        """A name with this name as its items: `link[begin,title,3]` for `begin[title,3]`."""
        own, bracket, items = self.name.partition("[")
        return bracketed(word, own, *([items.removesuffix("]")] if bracket else []))


Namer = Callable[[], Iterable[Meaning]]  # the meanings of a block of columns or rows
Block = tuple[int, Namer]  # size of a block, and its meanings


def meanings(blocks: Iterable[Block]) -> tuple[Meaning, ...]:
    """The meanings of consecutive blocks; repeated names are numbered."""
    result, times = list[Meaning](), Counter[str]()
    for count, namer in blocks:
        block = list(namer())
        if len(block) != count:
            raise ArithmeticError(f"{len(block)} names for a block of {count}")
        for meaning in block:
            times[meaning.name] += 1
            if (again := times[meaning.name]) > 1:
                meaning = replace(meaning, name=f"{meaning.name[:-1]},#{again}]")
            result.append(meaning)
    return tuple(result)


def bracketed(word: str, *items: str | int) -> str:
    """`word[item,item]`."""
    return f"{word}[{','.join(map(str, items))}]"


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def plain(label: str) -> str:
    """A label or field; a JSON string unless it is a simple word."""
    return label if PLAIN.fullmatch(label) and label not in (START, END) else quoted(label)


@dataclass(frozen=True)
class Owner:
    """A rule, with the numbers of a component and of its part, if there are several."""

    rule: str
    at: tuple[int, ...] = ()

    def part(self, number: int, of: int) -> "Owner":
        return self if of == 1 else Owner(self.rule, (*self.at, number))

    def means(self, kind: str, word: str, *items: str | int, token: int | None = None) -> Meaning:
        """A column or row of the rule: `word["rule",numbers,items]`."""
        return Meaning(bracketed(word, quoted(self.rule), *self.at, *items), kind, self.rule, token)

    def each(self, kind: str, word: str, *numbers: Iterable[int]) -> Namer:
        """A namer for a column or row by each combination of numbers; the first number is the token."""
        return lambda: (self.means(kind, word, *key, token=key[0]) for key in product(*numbers))

    def one(self, kind: str, word: str, *items: str | int, token: int | None = None) -> Namer:
        return lambda: [self.means(kind, word, *items, token=token)]


@dataclass(frozen=True)
class LabelNames:
    """Labels, pairs of labels and sets of steps in names."""

    labels: LabelSet
    states: int  # S, of the lattice; if S > K, states are pairs of labels

    @cached_property
    def label(self) -> list[str]:
        return [plain(name) for name in self.labels.names]

    @cached_property
    def state(self) -> list[str]:
        """S states: labels, or pairs `previous>label`."""
        if self.states == len(self.labels):
            return self.label
        return [f"{before}>{label}" for before in (START, *self.label) for label in self.label]

    @cached_property
    def _fields(self) -> list[tuple[str, Booleans]]:
        return [(plain(name), field.member) for name, field in self.labels.fields.items()]

    @cached_property
    def _odd_tables(self) -> dict[bytes, int]:
        return {}

    def several(self, member: Booleans) -> str:
        """A set of labels (K,): `*`, fields and labels joined by `|`, or `!` and the labels outside the set."""
        if member.all():
            return "*"
        inside, outside = self._joined(member), self._joined(~member)
        if len(outside) < len(inside):
            return f"!{outside[0]}" if len(outside) == 1 else f"!({'|'.join(outside)})"
        return "|".join(inside)

    def _joined(self, member: Booleans) -> list[str]:
        left, result = member.copy(), list[str]()
        for name, of_field in self._fields:
            if of_field.any() and (of_field <= member).all() and (of_field & left).any():
                result.append(name)
                left &= ~of_field
        return result + [self.label[k] for k in np.flatnonzero(left)]

    def steps(self, token: int, table: Booleans) -> Meaning:
        """The steps of a table (K+1, K), (K, K) or (1, K) into a token: `in`, `begin` or `step`."""
        K = len(self.labels)
        full = len(table) == K + 1
        into: Booleans = np.any(table, axis=0)
        later = table[1:] if full else table
        if len(table) == 1 or (table == into).all():
            return self._indicator(token, "in", self.several(into))
        if full and (begun := self._beginning(table, into)):
            return self._indicator(token, "begin", begun)
        before: Booleans = np.any(later, axis=1)
        if np.array_equal(later, before[:, None] & into[None, :]) and len(later) == K:
            return self._indicator(token, "step", self.several(before), self.several(into))
        number = self._odd_tables.setdefault(table.tobytes(), len(self._odd_tables) + 1)
        return self._indicator(token, "step", f"#{number}")

    def _beginning(self, table: Booleans, into: Booleans) -> str:
        """The field, or group of fields and labels, whose runs begin at the steps of a table; empty for none."""
        for name, known in self.labels.fields.items():
            if np.array_equal(known.begins, table):
                return plain(name)
        fields = [n for n, known in self.labels.fields.items() if (known.member <= into).all()]
        whole = tuple(self.labels.names[k] for k in np.flatnonzero(into))
        for members in (tuple(fields), whole):
            if members and np.array_equal(self.labels.field(members).begins, table):
                return self.several(into)
        return ""

    @staticmethod
    def _indicator(token: int, word: str, *items: str) -> Meaning:
        return Meaning(bracketed(word, *items, token), "indicator", token=token)


LONGEST = 100  # characters: limit of CBC's LP reader; other readers accept 255
SIGNS = {s: f"_{c}" for s, c in zip(" _-\"/.+|>!*@,()\\#'&:;=<", "_umqfdpotnwaclrbhskjyeg", strict=True)}
SHORTENED = ".."  # does not occur in other names, since no item is empty
_ITEMS = re.compile(r'((?:"(?:[^"\\]|\\.)*"|[^,"])*)(?:,|$)')


def escape(name: str) -> str:
    """The full name in files: `rule["one title",high]` is `rule._qone__title_q.high`, `start` is `start_`."""
    word, bracket, items = name.partition("[")
    if not bracket:
        return f"{_escape(word)}_"
    return ".".join([_escape(word), *map(_escape, _split(items.removesuffix("]")))])


def file_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names in files; names longer than `LONGEST` are cut and end with a digest of the full name."""
    return tuple(_shortened(escape(name)) for name in names)


def _shortened(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    mark = SHORTENED + sha256(text.encode()).hexdigest()[:24]
    return text[: LONGEST - len(mark)] + mark


def _split(items: str) -> list[str]:
    """Split at commas outside JSON strings."""
    found = [match[1] for match in _ITEMS.finditer(items)]
    return found[:-1] if len(found) > 1 and not found[-1] and not items.endswith(",") else found


def _escape(text: str) -> str:
    return "".join(s if s.isascii() and s.isalnum() else SIGNS.get(s, f"_x{ord(s):x}_") for s in text)


@dataclass(frozen=True)
class Part:
    """The columns and rows of a rule and kind, and the coefficients in these rows."""

    rule: str  # empty for columns and rows of no rule, or of several rules
    kind: str  # as in `Meaning`
    columns: int
    rows: int
    entries: int


@dataclass(frozen=True)
class Description:
    """The parts of a program, the path first; prints as a table with totals in the last line."""

    parts: tuple[Part, ...]
    columns: int
    rows: int
    entries: int

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __str__(self) -> str:
        total = Part("total", "", self.columns, self.rows, self.entries)
        parts = ((p.rule or "-", p.kind, p.columns, p.rows, p.entries) for p in (*self.parts, total))
        lines = [("rule", "kind", "columns", "rows", "entries"), *(tuple(map(str, part)) for part in parts)]
        rule, kind, *numbers = (max(map(len, column)) for column in zip(*lines, strict=True))
        widths = (f"<{rule}", f"<{kind}", *(f">{width}" for width in numbers))
        return "\n".join("  ".join(map(format, line, widths)) for line in lines)


def describe(columns: Iterable[Meaning], rows: Iterable[Meaning], row_lengths: Integers) -> Description:
    """The parts of columns and rows, given the number of entries of each row."""
    n_columns = Counter((m.rule, m.kind) for m in columns)
    n_rows, entries = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for row, length in zip(rows, row_lengths.tolist(), strict=True):
        n_rows[row.rule, row.kind] += 1
        entries[row.rule, row.kind] += length
    keys = sorted(dict.fromkeys([*n_columns, *n_rows]), key=lambda key: key[0] != "")
    parts = tuple(Part(*key, n_columns[key], n_rows[key], entries[key]) for key in keys)
    return Description(parts, n_columns.total(), n_rows.total(), entries.total())
