"""`ilpinfer demo`: the thesis's model on generated résumé items."""

from collections.abc import Hashable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any

from formulations import Feature, RuleSet, load_rules
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import value_option
from ilpinfer.cli.command import command
from ilpinfer.cli.progress import progress
from ilpinfer.cli.screen import add_row, console, print_json, table
from ilpinfer.corpus import NEWLINE, resumes
from ilpinfer.corpus.examples import Example
from ilpinfer.evaluation.counts import f_measure
from ilpinfer.system.posix import missing_posix

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.text import Text

METHODS = ("auto", *(() if missing_posix() else ("highs",)), "beam", "viterbi")
TRAINING = 200
EXAMPLES = 2
SPANS = ["predicted_fields", "gold_fields", "matching_fields"]
COLOURS = {
    "job title": "bold cyan",
    "date": "green",
    "organization": "magenta",
    "description": "yellow",
    "ignore": "dim",
}


NEXT = (
    "Next: ilpinfer train --help    a model from your labelled sequences",
    "      ilpinfer decode --help   your sequences under rules, such as --rules citations",
    "      ilpinfer compare --help  methods, or decoders of your own, against the optimum",
    "      docs/get-started.md      the same in Python",
)


@command("ilpinfer demo --items 20")
def demo(
    seed: Annotated[int, value_option("NUMBER", "Seed of the generated items.")] = 0,
    items: Annotated[int, value_option("NUMBER", "Number of items to decode.", min=1)] = 100,
    as_json: arguments.AsJson = False,
) -> None:
    """Run a built-in example: train an HMM on generated résumé items, and compare exact and heuristic decoding."""
    from ilpinfer.comparison.comparison import record_of
    from ilpinfer.comparison.running import compare
    from ilpinfer.models.hmm import HMM

    screen, count = console(), items
    training = [(item.tokens, item.gold) for item in resumes.items(TRAINING, seed)]
    generated = resumes.items(count, seed + 1)
    model, rules = HMM.train(training), load_rules("resume")
    if not as_json:
        _show_task(screen, count, rules)
    trellises = [model.trellis(item.tokens) for item in generated]
    with progress("decoding", count * len(METHODS)) as advance:
        comparison = compare(
            trellises,
            rules,
            METHODS,
            gold=[item.gold for item in generated],
            watch=lambda row, case: advance(),
        )
    by_method = dict(iter(comparison.frame.groupby("method", sort=False)))
    ignoring, proved = (by_method[method].itertuples() for method in ("viterbi", "auto"))
    pairs = list(zip(generated, ignoring, proved, strict=True))
    if as_json:
        changed = sum(before.labels != after.labels for _, before, after in pairs)
        methods = record_of(comparison, comparison.lines())["methods"]
        print_json({"items": count, "training_items": TRAINING, "changed": changed, "methods": methods})
        return
    _show_items(screen, pairs)
    _show_methods(screen, by_method)
    screen.print()
    for line in NEXT:
        screen.print(line, highlight=False)


def _show_task(screen: "Console", count: int, rules: RuleSet) -> None:
    labels = ", ".join(COLOURS)
    screen.print(
        f"{count} items of résumés. A hidden Markov model, trained on {TRAINING} others, scores the labels {labels}. "
        f"The rules of Stokman 2011, section 5.3, add to its scores:"
    )
    for rule in rules.rules:
        screen.print(f"  {rule.title}: {rule.penalty:g} nats less for each further run", highlight=False)
    for feature in (each for each in rules.items if isinstance(each, Feature)):
        screen.print(f"  {feature.name}: {feature.weight:+g} nats for each step", highlight=False)


def _show_items(screen: "Console", pairs: Sequence[tuple[Example, Any, Any]]) -> None:
    """Print short items in which the optimum differs from the Viterbi labelling, first items with a right optimum."""
    from rich.text import Text

    changed = [pair for pair in pairs if pair[1].labels != pair[2].labels]
    changed.sort(key=lambda pair: (pair[2].labels != list(pair[0].gold), len(pair[0].tokens)))
    shown = changed[:EXAMPLES]
    screen.print(f"\nThe rules change {len(changed)} of {len(pairs)} labellings{':' if shown else '.'}\n")
    for item, before, after in shown:
        width = max(20, (screen.width - 4) // 2)
        left, right = (_lines(item.tokens, s.labels, width) for s in (before, after))
        screen.print(
            _pad(Text("without rules", "bold"), width) + Text("    ") + Text("proved optimum", "bold")
        )
        for one, two in zip_longest(left, right, fillvalue=Text()):
            screen.print(_pad(one, width) + Text("    ") + two)
        screen.print(_change(item, before, after), "\n", sep="")


def _show_methods(screen: "Console", by_method: "dict[Hashable, pd.DataFrame]") -> None:
    """Print one line of results per method."""
    shown = table(
        "method", "proved optimal", "nats below the optimum", "violations", "field F1", "median time"
    )
    for column in shown.columns[1:]:
        column.justify = "right"
    for method, lines in by_method.items():
        add_row(
            shown,
            str(method),
            f"{(lines.status == 'optimal').mean():.0%}",
            f"{lines.gap.mean():.3f}",
            f"{lines.violated.sum()}",
            f"{f_measure(lines[SPANS].sum().to_numpy()):.1%}",
            f"{1000 * lines.seconds.median():.2f} ms",
        )
    screen.print(shown)


def _change(item: Example, before: Any, after: Any) -> "Text":
    from rich.text import Text

    names = ", ".join(
        f"{name}: {before.violations[name]} → {after.violations[name]} violations"
        for name in after.violations
    )
    count = len(item.tokens)
    right = [sum(a == b for a, b in zip(s.labels, item.gold, strict=True)) for s in (before, after)]
    wrong = "" if right[1] == count else ": the optimum is not right"
    return Text(names, "bold").append(f"; {right[0]} → {right[1]} of {count} tokens right{wrong}", "not bold")


def _lines(tokens: Sequence[str], labels: Sequence[str], width: int) -> "list[Text]":
    """Lines of tokens in the colour of their label, with the label before each run."""
    from rich.text import Text

    lines = [Text()]
    for t, (token, label) in enumerate(zip(tokens, labels, strict=True)):
        begins = t == 0 or labels[t - 1] != label
        head = f"{label}: " if begins else ""
        word = "↵" if token == NEWLINE else token
        if len(lines[-1]) + len(head) + len(word) + 1 > width:
            lines.append(Text())
        lines[-1].append(head, f"reverse {COLOURS[label]}").append(word, COLOURS[label]).append(" ")
    return lines


def _pad(text: "Text", width: int) -> "Text":
    padded = text.copy()
    padded.pad_right(max(0, width - len(text)))
    return padded
