"""Rule sets and their files: TOML, by path or by the name of a catalogue entry."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from formulations.constraints.feature import Feature
from formulations.constraints.rule import Rule
from formulations.files import Unreadable, read_text
from formulations.labels import Group, LabelSet, suggestion
from formulations.language.syntax import NamedFormula
from formulations.shown import cut

CATALOGUE = Path(__file__).parent / "catalogue"
LARGEST = 4 * 2**20
"""Bytes of a rule file; long lists of words go into files of their own."""


LONGEST_MESSAGE = 2000
"""Characters of a message about a rule file."""


class RuleError(ValueError):
    """A rule file that cannot be used.

    Parameters
    ----------
    message : one line that names file, rule, value and way out
    excerpt : the line of the file, and a caret below the place; empty where there is none
    """

    def __init__(self, message: str, excerpt: str = "") -> None:
        super().__init__(message)
        self.message, self.excerpt = cut(" ".join(message.split()), LONGEST_MESSAGE), excerpt

    def __str__(self) -> str:
        return f"{self.message}\n{self.excerpt}" if self.excerpt else self.message


@dataclass(frozen=True)
class RuleSet:
    """Rules and features, with the fields that they may name.

    Parameters
    ----------
    items : rules and features
    fields : declared fields; one that a model lacks counts as absent
    name : of the file or catalogue entry
    groups : groups that rules name
    templates : (formula, "logic" or "linear") of each template that the file defines
    title, source : what the rules are about, and where they come from
    """

    items: tuple[Rule | Feature, ...]
    fields: tuple[str, ...] = ()
    name: str = ""
    groups: tuple[Group, ...] = ()
    templates: tuple[tuple[NamedFormula, str], ...] = ()
    title: str = ""
    source: str = ""

    def __iter__(self) -> Iterator[Rule | Feature]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def absent(self, labels: LabelSet) -> list[str]:
        """Declared fields that no label carries."""
        return [f for f in self.fields if f not in labels.fields and f not in labels.names]

    @property
    def rules(self) -> list[Rule]:
        """The items without the features."""
        return [item for item in self.items if isinstance(item, Rule)]


def catalogue() -> list[str]:
    """Names of the rule sets that come with the package."""
    return sorted(path.stem for path in CATALOGUE.glob("*.toml"))


def load_rules(source: str | Path) -> RuleSet:
    """Read a rule file, or the catalogue entry of that name.

    Raises
    ------
    RuleError
        where the file is missing, is not TOML, or names an unknown template, parameter or field.
    """
    if str(source) in catalogue():
        return parse_rules((CATALOGUE / f"{source}.toml").read_text("utf-8"), str(source))
    path = Path(source)
    try:
        if not str(source):
            raise FileNotFoundError
        instead = ': put long lists of words into files of their own, words = { file = "words.txt" }'
        return parse_rules(read_text(path, LARGEST, instead), str(source), path.parent)
    except FileNotFoundError:
        hint = suggestion(str(source), catalogue())
        raise RuleError(f"{source}: no such rule file, and no catalogue entry of that name{hint}") from None
    except Unreadable as error:
        raise RuleError(f"{source}: cannot be read: {error}") from None


def parse_rules(text: str, source: str = "rules", folder: Path | None = None) -> RuleSet:
    """Read rules from TOML text; `source` names them in messages, files of words are looked for in `folder`.

    Raises
    ------
    RuleError
        where the text is not TOML, or names an unknown template, parameter or field.
    """
    from formulations.language.files import read

    return read(text, source, folder or Path())


def dump_rules(rules: RuleSet | Iterable[Rule | Feature]) -> str:
    """Rules as TOML text: what `parse_rules` reads as equal rules."""
    from formulations.language.written import write

    return write(rules if isinstance(rules, RuleSet) else RuleSet(tuple(rules)))
