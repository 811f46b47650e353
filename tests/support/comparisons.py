"""Small comparisons for figures, pages and tables."""

import numpy as np
from support.trellises import random_trellis

from formulations import Trellis
from formulations import constraints as C
from ilpinfer.comparison.comparison import Comparison
from ilpinfer.comparison.running import compare

LABELS = ["B-x", "I-x", "O"]
RULES = [C.at_most_runs("x", 1, penalty=1.25, name="one x"), C.ends_with("O", name="ends outside")]
TRELLISES = [random_trellis(seed, 2 + seed % 4, LABELS) for seed in range(12)]
GOLD = [np.random.default_rng(seed).choice(LABELS, len(each)).tolist() for seed, each in enumerate(TRELLISES)]
TIMES = ["median_ms", "p90_ms", "bare_passes"]
"""Columns of a summary that differ from run to run."""
ODD = 'a<b>&"$_\\%{|}*[x]'
SCRIPT = "</script><script>alert(1)</script>"
TOKENS = ["&amp;", "$x^2$", "\x00\x07\n", "שלום", "\u202eflip", "w" * 300, "<i>", "'\"", "", "e\u0301"]


def trellises(count=4, labels=("a", "b", "c"), tokens=TOKENS):
    """Trellises that mostly prefer `labels[0]`, and sometimes another label."""
    result = []
    for number in range(count):
        rows = [
            [0.0, -0.5 - 0.1 * ((t + number) % 4), -0.25 * ((t * number) % 5) - 0.1]
            for t in range(len(tokens))
        ]
        result.append(Trellis.from_emissions(rows, [[0.0, -0.125, -0.25]] * 3, labels=labels, tokens=tokens))
    return result


def poor(trellis, rules, *, time_limit, seed):
    """All O: always allowed, seldom good."""
    return ["O"] * len(trellis)


def lines_of(table):
    """The lines of a table as records with attributes, without that of the bare Viterbi pass."""
    lines = table.itertuples(index=False)
    return [line for line in lines if getattr(line, "kind", "") != "bare"]


def ordinary(count=4, **options) -> Comparison:
    """Methods of every kind under a soft and a hard rule, with gold."""
    labels = ("a", "b", "c")

    def failing(trellis, rules, *, time_limit, seed):
        raise RuntimeError("no")

    rules = [C.requires_present("a", "b", penalty=0.75), C.at_least_tokens("c", 2)]
    given = trellises(count, labels)
    options = {
        "gold": [["a", "b", "c", "c", "a", "a", "b", "a", "a", "a"]] * count,
        "predictions": {"given": [["c"] * 10, *[["a", "b", "c", "c", *"aaaaaa"]] * (count - 1)]},
        "seeds": 2,
        "on_error": "record",
        **options,
    }
    methods = ["auto", "viterbi", "beam:width=1", "evolutionary:time_limit=0.005", failing]
    return compare(given, rules, options.pop("methods", methods), **options)


def odd() -> Comparison:
    """Labels, fields, rules, tokens and methods with special characters of HTML, LaTeX, Markdown and pictures."""
    labels = (ODD, SCRIPT, "c\x01")
    given = trellises(2, labels)
    predictions = {ODD: [[SCRIPT] * 10, None], SCRIPT: [[ODD] * 5 + [SCRIPT] * 5] * 2}
    rules = [C.requires_present(labels[0], labels[2], penalty=0.75, name=f"rule {SCRIPT}")]
    gold = [[ODD] * 5 + [SCRIPT] * 5] * 2
    return compare(given, rules, ["auto", "viterbi"], gold=gold, predictions=predictions)
