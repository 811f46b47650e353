"""`ilpinfer demo`: the thesis's model on generated résumé items."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from formulations import Trellis, load_rules
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import value_option
from ilpinfer.cli.command import command
from ilpinfer.cli.progress import progress
from ilpinfer.cli.screen import console, print_json
from ilpinfer.cli.show import show_comparison
from ilpinfer.core.solution import Solution
from ilpinfer.corpus import NEWLINE, resumes

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ilpinfer.models.hmm import HMM

METHODS = ("auto", "highs", "beam", "viterbi")
TRAINING = 200
EXAMPLES = 3
COLOURS = {
    "job title": "bold cyan",
    "date": "green",
    "organization": "magenta",
    "description": "yellow",
    "ignore": "dim",
}


@command("ilpinfer demo --items 20")
def demo(
    seed: Annotated[int, value_option("NUMBER", "Seed of the generated items.")] = 0,
    items: Annotated[int, value_option("NUMBER", "Number of items to decode.", min=1)] = 100,
    as_json: arguments.AsJson = False,
) -> None:
    """Run an embedded example: train an HMM on generated résumé items, and compare exact and heuristic decoding."""
    from ilpinfer.comparison.comparison import record_of
    from ilpinfer.comparison.running import compare
    from ilpinfer.decoding.decode import decode_many
    from ilpinfer.models.hmm import HMM

    screen, count = console(), items
    training = [(item.tokens, item.labels) for item in resumes.items(TRAINING, seed)]
    generated = resumes.items(count, seed + 1)
    model, rules = HMM.train(training), load_rules("resume")
    if not as_json:
        _show_task(screen, generated)
    trellises = [model.trellis(item.tokens) for item in generated]
    with progress("decoding", count * len(METHODS)) as advance:
        comparison = compare(
            trellises,
            rules,
            METHODS,
            gold=[item.labels for item in generated],
            watch=lambda row, case: advance(),
        )
    ignoring, proved = (decode_many(trellises, rules, method=method) for method in ("viterbi", "auto"))
    pairs = list(zip(generated, ignoring, proved, strict=True))
    if as_json:
        changed = sum(before.labels != after.labels for _, before, after in pairs)
        methods = record_of(comparison, comparison.lines())["methods"]
        print_json({"items": count, "training_items": TRAINING, "changed": changed, "methods": methods})
        return
    _show_items(screen, pairs, model)
    show_comparison(comparison.summary())
    screen.print(
        "\nEvery optimum is proved; auto and highs agree on the score grid of 2^-20 nats on every item."
    )


def _show_task(screen: "Console", items: Sequence[resumes.Item]) -> None:
    lengths = [len(item.tokens) for item in items]
    screen.print(
        f"{len(items)} résumé items of {min(lengths)} to {max(lengths)} tokens, "
        f"an HMM trained on {TRAINING} others, and the model of Stokman 2011, section 5.3: at most one run of "
        "description (penalty 1.3 nats for each further run) with three features.\n"
    )


def _show_items(
    screen: "Console", pairs: Sequence[tuple[resumes.Item, Solution, Solution]], model: "HMM"
) -> None:
    """The shortest items in which the optimum differs from Viterbi's labelling, side by side."""
    from rich.text import Text

    changed = [pair for pair in pairs if pair[1].labels != pair[2].labels]
    changed.sort(key=lambda pair: len(pair[0].tokens))
    shortest = " The shortest:" if changed else ""
    screen.print(f"The rule changed {len(changed)} of {len(pairs)} labellings.{shortest}\n")
    for item, before, after in changed[:EXAMPLES]:
        width = max(20, (screen.width - 4) // 2)
        left, right = (_lines(item.tokens, s.labels, width) for s in (before, after))
        blank = Text()
        screen.print(_pad(Text("Viterbi", "bold"), width) + Text("    ") + Text("proved optimum", "bold"))
        for row in range(max(len(left), len(right))):
            one = left[row] if row < len(left) else blank
            two = right[row] if row < len(right) else blank
            screen.print(_pad(one, width) + Text("    ") + two)
        screen.print(_change(item, before, after, model.trellis(item.tokens)), "\n", sep="")
    if not changed:
        return
    legend = Text("colours: ").append_text(Text("  ").join(Text(n, style) for n, style in COLOURS.items()))
    screen.print(legend, "\n")


def _change(item: resumes.Item, before: Solution, after: Solution, trellis: Trellis) -> "Text":
    from rich.text import Text

    names = ", ".join(
        f"{name}: {before.violations[name]} → {after.violations[name]} violations"
        for name in after.violations
    )
    moved = sum(a != b for a, b in zip(before.labels, after.labels, strict=True))
    right = [sum(a == b for a, b in zip(s.labels, item.labels, strict=True)) for s in (before, after)]
    return Text(names, "bold").append(
        f"; {moved} of {len(trellis)} tokens relabelled, {right[0]} → {right[1]} of them right; "
        f"score {before.score:.3f} → {after.score:.3f} nats",
        "not bold",
    )


def _lines(tokens: Sequence[str], labels: Sequence[str], width: int) -> "list[Text]":
    """Tokens in the colour of their label, with the label before each run, broken into lines."""
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
