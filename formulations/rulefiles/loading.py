"""Reading of rule sets by path or catalogue name, and writing."""

import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from formulations import entry_points
from formulations.arguments import instance, items, iterable
from formulations.arguments import path as check_path
from formulations.arguments import text as check_text
from formulations.constraints.feature import Feature
from formulations.constraints.rule import Rule
from formulations.constraints.rule_set import RuleError, RuleSet, join_rules
from formulations.errors import RuleNotice, stack_level
from formulations.files import Unreadable, read_text
from formulations.messages import brief, suggestion
from formulations.rulefiles.reader import read

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

CATALOGUE = Path(__file__).parents[1] / "catalogue"
GROUP = "ilpinfer.rules"
"""The group of entry points for rule sets of other packages."""
LARGEST = 4 * 2**20  # bytes of a rule file; long word lists belong into separate files


def catalogue() -> list[str]:
    """Names of the rule sets in the package.

    Returns
    -------
    list of str
        Names that `load_rules` accepts, sorted.

    Examples
    --------
    >>> "citations" in catalogue()
    True
    """
    return sorted(path.stem for path in CATALOGUE.glob("*.toml"))


def load_rules(source: str | Path, *more: str | Path) -> RuleSet:
    """Read a rule file or a catalogue entry; several are joined to one rule set.

    Parameters
    ----------
    source : str or Path
        A path, a name of the catalogue, or the name of an entry point of the group `ilpinfer.rules`.
    *more : str or Path
        Further paths or names; the rule sets are joined by `join_rules`.

    Returns
    -------
    RuleSet
        Rules, features and declared fields of all files.

    Raises
    ------
    RuleError
        For a missing file, invalid TOML, an unknown template, parameter or field, and for different definitions of a name.

    Warns
    -----
    RuleNotice
        If the files have no rule and no feature.

    Examples
    --------
    >>> rules = load_rules("citations")
    >>> rules
    RuleSet('citations': 11 rules, 0 features, 13 fields)
    >>> rules.rules[0].title
    'each field at most once'
    >>> load_rules("citations", "bio")
    RuleSet('citations + bio': 12 rules, 0 features, 13 fields)
    """
    rules = join_rules(_load(each) for each in (source, *more))
    if not rules.items:
        warnings.warn(f"{rules.name}: no rule and no feature", RuleNotice, stacklevel=stack_level())
    return rules


def _load(source: str | Path) -> RuleSet:
    path = check_path(source, "the rule file")
    if str(source) in catalogue():
        return parse_rules((CATALOGUE / f"{source}.toml").read_text("utf-8"), str(source))
    try:
        instead = ': put long lists of words into files of their own, words = { file = "words.txt" }'
        return parse_rules(read_text(path, LARGEST, instead), str(source), path.parent)
    except FileNotFoundError:
        if (point := entry_points.named(GROUP, str(source))) is not None:
            return _of_package(point)
        hint = suggestion(str(source), catalogue() + [each.name for each in entry_points.offered(GROUP)])
        raise RuleError(f"{source}: no such rule file, and no catalogue entry of that name{hint}") from None
    except Unreadable as error:
        raise RuleError(f"{source}: cannot be read: {error}") from None


def _of_package(point: "EntryPoint") -> RuleSet:
    """The rule set of an entry point, a rule set or the path of a rule file."""
    what = f'rules "{point.name}"'
    try:
        offered = entry_points.load(point, what)
    except ValueError as error:
        raise RuleError(str(error)) from error
    if isinstance(offered, RuleSet):
        return offered
    if not isinstance(offered, str | Path) or not Path(offered).is_file():
        raise RuleError(
            f"{what}: {point.value} is {brief(offered)}; expected a rule set or the path of a rule file"
        )
    return replace(_load(offered), name=point.name)


def parse_rules(text: str, source: str = "rules", folder: Path | None = None) -> RuleSet:
    """Read rules from TOML text.

    Parameters
    ----------
    text : str
        A rule file.
    source : str, default "rules"
        Name of the text in messages.
    folder : Path, optional
        Folder of word files; the current folder by default.

    Returns
    -------
    RuleSet
        The rules, features and declared fields.

    Raises
    ------
    RuleError
        For invalid TOML, and an unknown template, parameter or field.

    Examples
    --------
    >>> text = '''
    ... fields = ["title"]
    ... [[rule]]
    ... template = "at_most_runs"
    ... field = "title"
    ... penalty = 1.5
    ... '''
    >>> list(parse_rules(text))
    [Rule('at_most_runs(title, 1)', penalty=1.5)]
    """
    source = instance(source, str, "source", "a text")
    return read(check_text(text, "text"), source, Path() if folder is None else check_path(folder, "folder"))


def rule_set(rules: Any) -> RuleSet:
    """The rule set of rules in any form: a set, rules and features, the path or name of a rule file, or TOML text of several lines.

    ValueError for anything else.
    """
    if isinstance(rules, RuleSet):
        return rules
    if isinstance(rules, str) and "\n" in rules:
        return parse_rules(rules)
    if isinstance(rules, str | Path):
        return load_rules(rules)
    if isinstance(rules, Rule | Feature):
        raise ValueError(f"rules is {rules!r}; expected a list of rules: [{rules!r}]")
    expected = "a list of rules ([] for none), a rule set, or the path or name of a rule file"
    return RuleSet(tuple(items(iterable(rules, "rules", expected), "rules", "rules")))


def dump_rules(rules: RuleSet | Iterable[Rule | Feature] | str | Path) -> str:
    """Rules as TOML text; `parse_rules` restores equal rules.

    Parameters
    ----------
    rules : RuleSet, iterable of Rule or Feature, str or Path
        Rules and features, the path or name of a rule file, or TOML text.

    Returns
    -------
    str
        TOML text.

    Raises
    ------
    ValueError
        For different groups or templates of the same name, and for a formula with arguments.

    Examples
    --------
    >>> from ilpinfer import constraints as C
    >>> print(dump_rules([C.at_most_runs("title", 1, penalty=1.5)]))
    fields = ["title"]
    <BLANKLINE>
    [[rule]]
    template = "at_most_runs"
    field = "title"
    penalty = 1.5
    <BLANKLINE>
    """
    from formulations.rulefiles.writer import write

    return write(rule_set(rules))
