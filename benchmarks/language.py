"""What each kind of rule costs: rows, columns and milliseconds to compile and to write as a program.

`python -m benchmarks.language` : every catalogue entry and one rule of each kind, on made-up sequences of 25 to 400
tokens with 30 labels; medians of several runs.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks.machine import header
from formulations import LabelSet, RuleSet, Trellis, catalogue, load_rules
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from formulations.programs.formulation import formulate

LENGTHS = (25, 50, 100, 200, 400)
LABELS = 30
REPEATS = 5
WORDS = ("Smith", ",", "1999", "pp", "the", ".", "of", "Journal", "Inc", "2.")

KINDS = {
    "local: changes only after": C.changes_only_after(penalty=1.0),
    "local: a word's field": C.tag_at("f1", words=["pp"], penalty=1.0),
    "sum: each field at most once": C.at_most_runs(C.EACH_FIELD, 1, penalty=1.0),
    "sum: at most 3 in a window of 10": C.at_most_in_window("f1", 3, 10, penalty=1.0),
    "linear": C.linear("runs(f1) - 2*runs(f2) + tokens(f3) <= 9", penalty=1.0),
    "machine: one before another": C.requires_before("f1", "f2", penalty=1.0),
    "machine: one after another": C.precedence("f1", "f2", penalty=1.0),
    "machine: at least 3 tokens, each field": C.min_run_length(C.EACH_FIELD, 3, penalty=1.0),
    "machine: regular expression": C.matches("f1* (f2 | f3)* O*", penalty=1.0),
    "formula: one token": C.logic("forall t: token(t) is year -> f1(t)", penalty=1.0),
    "formula: for all, for some": C.logic("forall t: f1(t) -> exists s < t: f2(s)", penalty=1.0),
    "formula: for all pairs": C.logic("forall s, t > s: f1(s) -> not f2(t)", penalty=1.0),
    "formula: same label": C.logic(
        "forall t > 0: token(t) = token(t-1) -> label(t) = label(t-1)", penalty=1.0
    ),
    "hamming: one run": C.at_most_runs("f1", 1, penalty=1.0, distance="hamming"),
}


def trellis(length: int, fields: tuple[str, ...]) -> Trellis:
    """Random scores over BIO labels: the fields given, and others up to 30 labels."""
    names = [*fields, *(f"f{i}" for i in range(1, LABELS))][: LABELS // 2]
    labels = LabelSet((*[f"{p}-{name}" for name in names for p in "BI"][: LABELS - 1], "O"), "bio")
    random = np.random.default_rng(length)
    scores = random.normal(size=(length, LABELS)), random.normal(size=(LABELS, LABELS))
    tokens = [WORDS[i] for i in random.integers(len(WORDS), size=length)]
    return Trellis.from_emissions(*scores, labels=labels, tokens=tokens)


def median_ms(work: Callable[[], object]) -> float:
    """Median of several runs, the first one left out."""
    work()
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return 1000 * statistics.median(seconds)


def measure(name: str, length: int, rules: RuleSet) -> None:
    """One line: milliseconds to compile and for the whole program, and what the rules add to it."""
    fields = tuple(f for f in rules.fields if f != "O") if rules.fields else ()
    sequence = trellis(length, fields)
    problem = compile_problem(sequence, rules)
    path = formulate(replace(problem, rules=())).program
    program = formulate(problem).program
    compiled = median_ms(lambda: compile_problem(sequence, rules))
    whole = median_ms(lambda: formulate(compile_problem(sequence, rules)))
    rows, columns = program.n_rows - path.n_rows, program.n_columns - path.n_columns
    entries = len(program.data) - len(path.data)
    print(f"{name:42} {length:4} {rows:8} {columns:8} {entries:9} {compiled:9.2f} {whole:9.1f}")


def main() -> None:
    """Print the tables."""
    import warnings

    warnings.simplefilter("ignore")
    print(header())
    print(
        f"{LABELS} labels; rows, columns and coefficients beside the path's; milliseconds are medians of {REPEATS}\n"
    )
    columns = f"{'rows':>8} {'columns':>8} {'entries':>9} {'compile':>9} {'program':>9}"
    print(f"{'rules':42} {'T':>4} {columns}")
    for entry in catalogue():
        for length in LENGTHS:
            measure(f"catalogue: {entry}", length, load_rules(entry))
    for name, rule in KINDS.items():
        for length in LENGTHS:
            measure(name, length, RuleSet((rule,)))


if __name__ == "__main__":
    main()
