"""Feature templates in TOML; errors name the line and the nearest known name."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from formulations import RuleError, RuleSet, dump_rules, load_rules, parse_rules
from formulations.errors import InferenceError
from formulations.files import Unreadable, read_text
from formulations.labels.schemes import OUTSIDE
from formulations.messages import brief, cut, suggestion
from formulations.parameters import ParameterError
from formulations.rulefiles.declarations import check_keys, read_words
from formulations.rulefiles.loading import LARGEST
from formulations.rulefiles.toml_text import NotToml, loads, locate
from formulations.tokens.regular_expressions import Expression
from ilpinfer.core.rule_compiler import Rules
from ilpinfer.models import plain_values
from ilpinfer.models.crf.attributes import NUMBERED_ATTRIBUTES, WORD_ATTRIBUTES, WordAttribute
from ilpinfer.models.crf.contexts import CONTEXT_ATTRIBUTES, PLACES, Column
from ilpinfer.models.crf.features import (
    Conjunction,
    ContextAttribute,
    FeatureTemplate,
    ShiftedAttribute,
    around,
    in_column,
    in_phrases,
    in_words,
)
from ilpinfer.models.crf.token_rules import is_token_rule

TOP = ("title", "source", "features", "words", "patterns", "phrases", "columns", "around", "rules")
FARTHEST = 20
"""The largest offset of a window, in tokens."""
LONGEST = 100
"""The largest length of a prefix or suffix, in characters."""
MOST = 10_000
"""Largest number of features that one text expands to."""

_ATOM = re.compile(r"([\w-]+)(?::(\d+)(?:\.\.(\d+))?)?(?:\[(-?\d+)(?:\.\.(-?\d+))?\])?")


class TemplateError(InferenceError, ValueError): ...


def template_names() -> list[str]:
    folder = files("ilpinfer.models") / "templates"
    return sorted(
        entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")
    )


def load_template(source: str | Path | Mapping[str, Any]) -> FeatureTemplate:
    """Read a feature template by name, from a TOML file, or from plain values.

    A file has `features`, a list of attributes with places such as `lower[-1..1]` or `prefix:1..4`; `&` joins attributes to a
    conjunction. It may define attributes of its own: word lists (`[words]`), regular expressions (`[patterns]`), lists
    of phrases (`[phrases]`), further columns of files (`[columns]`), and attributes of surrounding tokens, such as
    tokens of the same line (`[around]`).

    Parameters
    ----------
    source : str, Path or mapping of str to object
        A name such as "citations", a path, or the values of a file.

    Returns
    -------
    Template
        The template.

    Raises
    ------
    TemplateError
        For a source that cannot be read, unknown names and malformed features.

    Examples
    --------
    >>> load_template("general").features(["Ada", "1815"])[0][:2]
    ['word[0]=Ada', 'lower[0]=ada']
    """
    if isinstance(source, Mapping):
        return _build(source, Path(), "template", "")
    path = Path(source)
    if str(source) in template_names():
        text = (files("ilpinfer.models") / "templates" / f"{source}.toml").read_text("utf-8")
        return _parse(text, Path(), f"template {source}")
    try:
        text = read_text(path, LARGEST)
    except FileNotFoundError as error:
        hint = "" if path.suffix else suggestion(str(source), template_names())
        raise TemplateError(f"{source}: the template cannot be read: {error.strerror}{hint}") from None
    except Unreadable as error:
        raise TemplateError(f"{source}: the template cannot be read: {error}") from None
    return _parse(text, path.parent, str(source))


def template_source(template: FeatureTemplate) -> dict[str, Any]:
    """A template as plain values, for model files; ValueError if it was not read by `load_template`."""
    if not template.source:
        raise ValueError("this template cannot be saved: it was not read by load_template")
    return dict(template.source)


def read_template(source: Any) -> FeatureTemplate:
    """The template of a model file. It includes its word lists; it may not refer to other files."""
    plain_values.table(source, source if isinstance(source, dict) else (), "the template")
    for section in ("words", "phrases", "rules"):
        lists = source.get(section)
        some = lists.values() if isinstance(lists, dict) and section != "rules" else [lists]
        if any(isinstance(each, dict) for each in some):
            raise ValueError(f"the template's {section} are in another file")
    return load_template(source)


def with_rules(
    template: str | Path | Mapping[str, Any] | FeatureTemplate, rules: Rules, window: str = "[-1..1]"
) -> FeatureTemplate:
    """A template with additional features: the rules that apply to a token (Liao et al. 2009, section 2).

    Training learns weights of the rules, as of other features. The model may break the rules, unless
    decoding also has them as hard rules. Model files include the rules.

    Parameters
    ----------
    template : str, Path, mapping of str to object or Template
        A template, or what `load_template` reads.
    rules : Rules
        Rules on single tokens, such as `tag_at`, `tag_phrases` and `tag_sequence`; their penalties are ignored.
    window : str, default "[-1..1]"
        Offsets of the tokens whose rules are features of a token, as in `features`; "" for the token itself.

    Returns
    -------
    Template
        The template, for `train("crf", pairs, template=…)`.

    Raises
    ------
    TemplateError
        For rules that are not about single tokens, a template that has rules already, and a malformed window.

    Examples
    --------
    >>> from ilpinfer import constraints as C
    >>> months = C.tag_at("date", words=["May", "June"], name="month")
    >>> with_rules({"features": ["lower"]}, [months]).features(["May", "1815"])
    [['lower[0]=may', 'rule[0]=month'], ['lower[0]=1815', 'rule[-1]=month']]
    """
    source = template_source(template if isinstance(template, FeatureTemplate) else load_template(template))
    if "rules" in source:
        raise TemplateError("the template has rules already; give all of them at once")
    features = [*source["features"], f"rule{window}"]
    return load_template({**source, "rules": dump_rules(rules), "features": features})


def _parse(text: str, folder: Path, name: str) -> FeatureTemplate:
    try:
        document = loads(text)
    except NotToml as error:
        raise TemplateError(f"{name}: {error}") from None
    return _build(document, folder, name, text)


def _build(document: Mapping[str, Any], folder: Path, name: str, text: str) -> FeatureTemplate:
    try:
        return _template(document, folder)
    except ParameterError as error:
        place = locate(text, error.path, error.offset) if error.path else None
        where = f" (line {place.line})" if place else ""
        raise TemplateError(f"{name}: {error.message}{where}") from None


def _template(document: Mapping[str, Any], folder: Path) -> FeatureTemplate:
    check_keys(document, TOP)
    plain: dict[str, Any] = dict(document)
    words: dict[str, WordAttribute] = {}
    contexts: dict[str, ContextAttribute] = {}
    reserved: set[str] = {*WORD_ATTRIBUTES, *NUMBERED_ATTRIBUTES, *CONTEXT_ATTRIBUTES}
    for section in ("words", "phrases"):
        plain[section] = {}
        for name, value, path in _entries(document, section, reserved):
            texts = plain[section][name] = _words(value, name, folder, path)
            if section == "words":
                words[name] = in_words(frozenset(word.lower() for word in texts))
            else:
                contexts[name] = in_phrases(texts)
    if "rules" in document:
        rules = _rules(document["rules"], folder)
        plain["rules"], contexts["rule"] = dump_rules(rules), _titles(rules)
        reserved.add("rule")
    for name, value, path in _entries(document, "patterns", reserved):
        words[name] = _pattern(value, name, path)
    for name, value, path in _entries(document, "columns", reserved):
        contexts[name] = in_column(_column(value, name, path))
    template = FeatureTemplate((), words, contexts, plain)
    for name, value, path in _entries(document, "around", reserved):
        contexts[name] = _around(value, name, template, path)
    feature_texts = document.get("features")
    if not isinstance(feature_texts, list) or not feature_texts:
        raise ParameterError('no features: expected features = ["word[-1..1]", …]', "features")
    known = {*WORD_ATTRIBUTES, *CONTEXT_ATTRIBUTES, *words, *contexts}
    conjunctions = [c for i, text in enumerate(feature_texts) for c in _conjunctions(text, known, i)]
    return FeatureTemplate(tuple(dict.fromkeys(conjunctions)), words, contexts, plain)


def _entries(
    document: Mapping[str, Any], section: str, reserved: set[str]
) -> Iterator[tuple[str, Any, tuple[str, ...]]]:
    table = document.get(section, {})
    if not isinstance(table, dict):
        raise ParameterError(f"{section} is {table!r}; expected a table of attributes", section)
    for name, value in table.items():
        if name in reserved:
            raise ParameterError(f"attribute {name!r} exists already: give it another name", section, name)
        if not re.fullmatch(r"[\w-]+", name):
            raise ParameterError(f"attribute {name!r}: a name has letters, digits and hyphens", section, name)
        reserved.add(name)
        yield name, value, (section, name)


def _words(value: Any, name: str, folder: Path, path: tuple[str, ...]) -> list[str]:
    """A list of texts, or `{ file = "words.txt" }` with one text on each line; lines that begin with # are ignored."""
    if isinstance(value, dict) and value.keys() == {"file"} and isinstance(value["file"], str):
        try:
            value = list(read_words(folder, value["file"]))
        except Unreadable as error:
            raise ParameterError(f"{name}: {value['file']} cannot be read: {error}", *path) from None
    if not isinstance(value, list) or not all(isinstance(word, str) and word.strip() for word in value):
        raise ParameterError(f'{name}: expected a list of words, or {{ file = "words.txt" }}', *path)
    if not value:
        raise ParameterError(f"{name}: an empty list", *path)
    return list(value)


def _pattern(value: Any, name: str, path: tuple[str, ...]) -> WordAttribute:
    if not isinstance(value, str):
        raise ParameterError(f"{name} is {value!r}; expected a regular expression for a whole token", *path)
    try:
        expression = Expression(value)
    except ValueError as error:
        raise ParameterError(f"{name}: {error}", *path) from None
    return lambda word: ("",) if expression.matches(word) else ()


def _column(value: Any, name: str, path: tuple[str, ...]) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise ParameterError(
            f'{name} is {value!r}; expected the name of a column, such as "pos", or its number', *path
        )
    return str(value)


def _rules(value: Any, folder: Path) -> RuleSet:
    """Rules on single tokens, from TOML text or a file."""
    try:
        if isinstance(value, dict) and value.keys() == {"file"} and isinstance(value["file"], str):
            rules = load_rules(folder / value["file"])
        elif isinstance(value, str):
            rules = parse_rules(value, "rules of the template", folder)
        else:
            expected = 'expected the text of a rule file, or { file = "rules.toml" }'
            raise ParameterError(f"rules is {value!r}; {expected}", "rules")
    except RuleError as error:
        raise ParameterError(error.message, "rules") from None
    silent = [rule.title for rule in rules.rules if not is_token_rule(rule)]
    if silent:
        raise ParameterError(
            f"rule {silent[0]!r} is not about single tokens; use rules such as tag_at", "rules"
        )
    return rules


def _titles(rules: RuleSet) -> ContextAttribute:
    """Titles of the rules that apply to a token."""
    fields = tuple(field for field in rules.fields if field != OUTSIDE)
    statements = [(rule.title, statement) for rule in rules.rules for statement in rule.statements(fields)]

    def column(tokens: Sequence[str]) -> Column:
        result: Column = [()] * len(tokens)
        for title, statement in statements:
            for t in statement.required_fields(tokens):
                result[t] = (*result[t], title)
        return result

    return column


def _around(value: Any, name: str, own: FeatureTemplate, path: tuple[str, ...]) -> ContextAttribute:
    if not isinstance(value, dict) or value.keys() != {"attribute", "in"}:
        raise ParameterError(f'{name}: expected {{ attribute = "year", in = "line" }}', *path)
    if value["in"] not in PLACES:
        raise ParameterError(f'{name}: no place "{value["in"]}"{suggestion(str(value["in"]), PLACES)}', *path)
    known = {*WORD_ATTRIBUTES, *CONTEXT_ATTRIBUTES, *own.words, *own.contexts}
    attribute = str(value["attribute"])
    root, colon, length = attribute.partition(":")
    if root not in known | set(NUMBERED_ATTRIBUTES):
        raise ParameterError(
            f'{name}: no attribute "{cut(attribute, 100)}"{suggestion(attribute, known)}', *path
        )
    if bool(colon) != (root in NUMBERED_ATTRIBUTES) or (colon and not re.fullmatch(r"\d+", length)):
        expected = "a length, as in prefix:3" if root in NUMBERED_ATTRIBUTES else "no length"
        raise ParameterError(f'{name}: "{attribute}": "{root}" takes {expected}', *path)
    return around(attribute, value["in"], own)


def _conjunctions(text: Any, known: set[str], number: int) -> Iterator[Conjunction]:
    """Expand a feature text: one conjunction for each offset and length in its ranges."""
    if not isinstance(text, str):
        raise ParameterError(
            f'feature {number + 1} is {brief(text)}; expected a text such as "lower[-1..1]"',
            "features",
            number,
        )
    where = f'feature {number + 1} ("{cut(text, 100)}")'

    def place_error(message: str) -> ParameterError:
        return ParameterError(f"{where}: {message}", "features", number)

    alternatives = [_atoms(part.strip(), known, place_error) for part in text.split("&")]
    if prod(map(len, alternatives)) > MOST:
        raise place_error(f"expands to {prod(map(len, alternatives))} features; expected at most {MOST}")
    yield from product(*alternatives)


def _atoms(
    text: str, known: set[str], place_error: Callable[[str], ParameterError]
) -> list[ShiftedAttribute]:
    match = _ATOM.fullmatch(text)
    if match is None:
        raise place_error(
            f'"{cut(text, 100)}" is no attribute with a place; expected "lower[-1..1]" or "prefix:3"'
        )
    name, shortest, longest, first, last = match.groups()
    if name not in known | set(NUMBERED_ATTRIBUTES):
        raise place_error(
            f'no attribute "{cut(name, 100)}"{suggestion(name, known | set(NUMBERED_ATTRIBUTES))}'
        )
    if (shortest is None) == (name in NUMBERED_ATTRIBUTES):
        raise place_error(f'"{name}" takes {"a length, as in prefix:3" if shortest is None else "no length"}')
    offsets = _range(first or "0", last)
    lengths = _range(shortest or "0", longest)
    if not offsets or not lengths:
        raise place_error(f'"{text}": a range goes from the smaller number to the larger one')
    if max(-offsets[0], offsets[-1]) > FARTHEST:
        raise place_error(f'"{text}" reaches farther than {FARTHEST} tokens')
    if lengths[-1] > LONGEST:
        raise place_error(f'"{text}" is longer than {LONGEST} characters')
    ends = [""] if shortest is None else [f":{n}" for n in lengths]
    return [ShiftedAttribute(name + end, offset) for end in ends for offset in offsets]


def _range(first: str, last: str | None) -> range:
    return range(int(first), int(last or first) + 1)
