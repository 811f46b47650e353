"""Rules of requests as TOML texts."""

import math
import re

from formulations.constraints.rule import SCOPES
from formulations.constraints.rule_set import RuleError, RuleSet
from formulations.labels.selectors import EACH_FIELD, names_in
from formulations.rulefiles.loading import catalogue, load_rules
from formulations.rulefiles.reader import read
from ilpinfer.corpus.examples import InputError, input_at
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.serving.requests import LimitError

MOST_STATEMENTS, MOST_STEPS = 1000, 2**23
"""Statements of a text, one for each field where a rule is about each, and steps between labels of all of them: their automata take
less than a second and 200 MB."""
DOTTED = re.compile(r"""(?<![\w-])(?:([\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){16}""")
"""Keys of more parts, which take the reader of TOML time that grows with the square of their number."""


def with_rules(decoder: Decoder, text: str, labels: int, longest: int) -> Decoder:
    """A decoder with the rules of a text, which names no files, or of an entry of the catalogue, for scores with this many labels."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if not longest:
        raise InputError("rules: this service takes no rules; leave them out")
    if size > longest:
        raise LimitError(f"rules: {size} bytes; at most {longest} are accepted")
    if found := DOTTED.search(text):
        raise InputError(f"rules: {found[0][:40]}…: more than 16 names joined by dots")
    with input_at("rules"):
        try:
            rules = load_rules(text) if text in catalogue() else read(text, "rules", None)
            fields = labels
            if (known := decoder.labels) is not None:
                fields, labels = len(known.field_names), len(known)
            _check_statements(rules, fields, labels)
            return decoder.with_rules(rules)
        except RuleError as error:
            raise InputError(error.message) from None


def _check_statements(rules: RuleSet, fields: int, labels: int) -> None:
    count = 0
    for rule in rules.rules:
        each = EACH_FIELD in names_in(rule.statement.selectors)
        count += math.perm(fields, len(SCOPES[rule.scope])) * (fields if each else 1)
    most = min(MOST_STATEMENTS, MOST_STEPS // max(labels, 1) ** 2)
    if count > most:
        what = f"{count} statements, where a rule about each field counts once for each field"
        raise LimitError(f"rules: {what}; at most {most} are accepted for {labels} labels")
