"""Columns named by a user or a header, and their roles."""

from collections.abc import Sequence
from dataclasses import dataclass

from formulations.messages import suggestion
from ilpinfer.corpus.column_contents import Cells
from ilpinfer.corpus.examples import InputError

TOKEN_NAMES = ("token", "tokens", "word", "words", "form")
LABEL_NAMES = ("label", "labels", "tag", "tags", "ner", "ner_tag", "ner_tags", "gold")
SEQUENCE_NAMES = ("sentence", "sentence #", "sentence_id", "sent_id", "sequence", "sequence_id")
GIVEN_NAMES, UNKNOWN = ("given",), ("", "_")
END_NAMES = ("eos", "sentence_end", "end_of_sentence")
ROLES = {
    "token": TOKEN_NAMES,
    "label": LABEL_NAMES,
    "sequence": SEQUENCE_NAMES,
    "given": GIVEN_NAMES,
    "end": END_NAMES,
}
"""Roles of columns, with their lower-case names in headers. A sequence begins where the cell of a sequence column changes, and ends where a column `end` has a mark; `UNKNOWN` are the cells of tokens without a known label."""
NO_LABEL = "_"
"""The label of a token whose label is not known; JSON has null."""
NO_ENDS = frozenset(["", "_", "-", "0", "o", "false", "no"])
"""Lower-case cells that do not mark the end of a sequence."""


@dataclass(frozen=True)
class ColumnNames:
    """Columns that a user names, each by its number from 1 or by its name in the header."""

    label: str = ""
    """One column, or the levels of nested labels from the outermost one, joined by `+`."""
    token: str = ""
    unlabelled: bool = False
    beside: bool = False
    """Whether these names belong to a main file that this file accompanies: if it has only tokens and labels, these are read."""
    sequence: str = ""
    given: str = ""
    end: str = ""
    """A column, or `COLUMN=MARK` where only this cell marks the end of a sequence."""

    @classmethod
    def read(cls, text: str, beside: bool = False) -> "ColumnNames":
        """From `LABEL`, `TOKEN,LABEL`, `TOKEN,` (no labels), or columns by role, `token=1,label=3+4`."""
        texts = [part.strip() for part in text.split(",")]
        parts = [each.partition("=") for each in texts]
        if any(role in ROLES and equals for role, equals, _ in parts):
            return cls._of_roles(text, parts, beside)
        if len(texts) > 2 or (len(texts) == 2 and not texts[0]) or (text and not texts[0]):
            raise InputError(
                f"--column {text}: expected LABEL, or TOKEN,LABEL, or TOKEN, for no labels, or ROLE=COLUMN for each, such as "
                "token=1,label=3"
            )
        label, token = (texts[0], "") if len(texts) == 1 else (texts[1], texts[0])
        return cls(label, token, len(texts) == 2 and not label, beside)

    @classmethod
    def _of_roles(cls, text: str, parts: Sequence[tuple[str, str, str]], beside: bool) -> "ColumnNames":
        columns = {role: column for role, _, column in parts}
        for role, equals, column in parts:
            if role not in ROLES:
                raise InputError(f'--column {text}: no role "{role}"{suggestion(role, ROLES)}')
            if not equals or not (column or role == "label"):
                raise InputError(f"--column {text}: {role} has no column; write {role}=COLUMN")
        if len(columns) < len(parts):
            raise InputError(f"--column {text}: a role is given twice; give each once")
        return cls(unlabelled=columns.get("label") == "", beside=beside, **columns)

    def __bool__(self) -> bool:
        return bool(self.label or self.token or self.unlabelled or self.roles)

    @property
    def roles(self) -> str:
        """The first given role that only column files support; empty if there is none."""
        return next((role for role in ("sequence", "given", "end") if getattr(self, role)), "")

    def check_no_roles(self, name: str) -> None:
        """Raise InputError for a role that only column files support; `name` is the name of the file."""
        if self.roles and not self.beside:
            raise InputError(
                f"{name}: --column {self.roles}={getattr(self, self.roles)}: only files of columns have this role; leave it out"
            )

    def levels(self, header: Cells) -> list[str]:
        """The columns of the label, one for each level."""
        whole = self.label.lower() in [cell.strip().lower() for cell in header]
        levels = [self.label] if whole else [part.strip() for part in self.label.split("+")]
        if len(levels) > 1 and not all(levels):
            raise InputError(f"--column label={self.label}: a level has no column; write label=OUTER+INNER")
        return levels

    def fitting(self, cells: Cells) -> "ColumnNames":
        """No names for an accompanying file of tokens and labels that lacks a named column; else these names."""
        low = [cell.strip().lower() for cell in cells]
        known = (*low, *map(str, range(1, len(cells) + 1)))
        named = (self.token, *self.levels(cells), self.sequence, self.given, self.end.partition("=")[0])
        lacking = any(name and name.lower() not in known for name in named)
        return ColumnNames() if self.beside and len(cells) == 2 and lacking else self

    def occur_in(self, cells: Cells) -> bool:
        low = [cell.strip().lower() for cell in cells]
        own = [name for name in (self.token, *self.levels(cells)) if name and not name.isdecimal()]
        if own:
            return any(name.lower() in low for name in own)
        token, label = (any(cell in known for cell in low) for known in (TOKEN_NAMES, LABEL_NAMES))
        return token and (label or self.unlabelled or any(cell in GIVEN_NAMES for cell in low))
