"""Checks of sequences, features, labels and rules; messages name the place."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from formulations import Feature, Rule, RuleSet, load_rules
from formulations.errors import InferenceError
from formulations.messages import brief, counted
from formulations.rulefiles.loading import rule_set
from ilpinfer.models.crf.items import check_item

Item = Any
"""The features of a token for python-crfsuite: a dict, or a list of names."""
Tokens = tuple[str, ...]
Token = str | Callable[[Item], str] | None
"""How to get the text of a token from its features: the name of a feature, or a function."""


class SequenceError(InferenceError, ValueError):
    """Invalid sequences or labels; the message names the place, such as `X[3][0]`.

    Examples
    --------
    >>> from ilpinfer.adapters.sklearn import ConstrainedTagger
    >>> try:
    ...     ConstrainedTagger(model="hmm").fit([["Ada", "1815"]], [["name"]])
    ... except SequenceError as error:
    ...     print(error)
    y[0] has 1 label, but X[0] has 2 tokens
    """


def rows(values: Any, what: str, kind: str) -> list[Any]:
    """The elements of a list, an array or a series."""
    if isinstance(values, str | bytes):
        raise SequenceError(f"{what} is the text {brief(values)}; expected a list of {kind}")
    if isinstance(values, Mapping) or not isinstance(values, Iterable):
        raise SequenceError(f"{what} is {brief(values)}; expected a list of {kind}")
    return list(values)


def token_lists(X: Any) -> list[Tokens]:
    result = []
    for i, x in enumerate(rows(X, "X", "sequences")):
        tokens = rows(x, f"X[{i}]", "tokens")
        for t, token in enumerate(tokens):
            if not isinstance(token, str):
                raise SequenceError(f"X[{i}][{t}] is {brief(token)}; expected a text")
        result.append(tuple(tokens))
    return result


def feature_lists(X: Any) -> list[list[Item]]:
    result = []
    for i, x in enumerate(rows(X, "X", "sequences of features")):
        own = x.items() if type(x).__name__ == "ItemSequence" else x
        items = rows(own, f"X[{i}]", "dicts of features, one for each token")
        for t, item in enumerate(items):
            check_item(item, f"X[{i}][{t}]", SequenceError)
        result.append(items)
    return result


def label_lists(y: Any, X: Sequence[Sequence[Any]]) -> list[tuple[str, ...]]:
    if y is None:
        raise SequenceError("the estimator requires y to be passed, but the target y is None")
    given = rows(y, "y", "sequences of labels")
    if len(given) != len(X):
        raise SequenceError(
            f"X has {counted(len(X), 'sequence')} and y has {len(given)}; expected as many of each"
        )
    result = []
    for i, (labels, x) in enumerate(zip(given, X, strict=True)):
        names = rows(labels, f"y[{i}]", "labels")
        for t, name in enumerate(names):
            if not isinstance(name, str) or not name:
                raise SequenceError(f"y[{i}][{t}] is {brief(name)}; expected the name of a label")
        if len(names) != len(x):
            raise SequenceError(
                f"y[{i}] has {counted(len(names), 'label')}, but X[{i}] has {counted(len(x), 'token')}"
            )
        result.append(tuple(map(str, names)))
    return result


def tokens_of(items: Sequence[Item], token: Token, number: int) -> Tokens | None:
    if token is None:
        return None
    return tuple(_token(item, token, f"X[{number}][{t}]") for t, item in enumerate(items))


def _token(item: Item, token: str | Callable[[Item], str], where: str) -> str:
    if callable(token):
        text: Any = token(item)
    elif isinstance(item, dict):
        text = item.get(token)
    else:
        text = next((name[len(token) + 1 :] for name in item if name.startswith(f"{token}=")), None)
    if not isinstance(text, str):
        what = "the function token gives" if callable(token) else f"the feature {token!r} is"
        raise SequenceError(f"{where}: {what} {brief(text)}; expected the text of the token")
    return text


def rules_of(rules: Any) -> RuleSet:
    """The rule set of rules in any form: None, one rule, or several paths or names, too; ValueError for anything else."""
    if rules is None or isinstance(rules, Rule | Feature):
        return RuleSet(() if rules is None else (rules,))
    several = (
        isinstance(rules, list | tuple) and rules and all(isinstance(each, str | Path) for each in rules)
    )
    return load_rules(*rules) if several else rule_set(rules)
