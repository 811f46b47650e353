"""The pictures of the pages on the engine and on models, drawn from small problems: `python docs/pictures/engine.py [FOLDER]`."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from ilpinfer.core.trees import Split

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#767676"
STYLE = {
    "font.family": "sans-serif",
    "font.size": 12,
    "svg.fonttype": "none",  # text stays text, so that it can be read out and searched
    "svg.hashsalt": "ilpinfer",
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def titles() -> tuple[Trellis, list[Any]]:
    """Four tokens, and at most one title."""
    emissions = [[2, 0, 0], [0, 0, 1], [0, 2, 0], [1.2, 0, 1]]
    labels, tokens = ["title", "author", "O"], ["Trees", "by", "Knuth", "Graphs"]
    trellis = Trellis.from_emissions(emissions, [[0.0] * 3] * 3, labels=labels, tokens=tokens)
    return trellis, [C.at_most_runs("title", 1, name="one title")]


def budgets() -> tuple[Trellis, list[Any]]:
    """Fourteen tokens, and counts that compete with each other."""
    quarters = [
        [2, 5, 10, 1],
        [8, 1, 11, 1],
        [12, 4, 10, 0],
        [11, 10, 5, 7],
        [11, 7, 11, 1],
        [12, 9, 10, 1],
        [5, 6, 11, 0],
        [2, 6, 9, 12],
        [11, 11, 5, 12],
        [6, 12, 12, 3],
        [2, 9, 6, 2],
        [0, 1, 12, 1],
        [7, 9, 12, 8],
        [6, 12, 12, 10],
    ]
    steps = [[1, -3, -4, -4], [-2, 1, -1, -2], [-2, -1, 2, 2], [2, 0, -1, 0]]
    emissions, transitions = ([[x / 4 for x in row] for row in table] for table in (quarters, steps))
    trellis = Trellis.from_emissions(emissions, transitions, labels=["author", "title", "note", "O"])
    return trellis, [
        *(C.at_most_runs(field, 1, penalty=0.5) for field in ("author", "title", "note")),
        C.linear("3*tokens(author) + 2*tokens(title) + 4*tokens(note) <= 21", name="budget"),
        C.linear("tokens(title) - tokens(author) >= 2", name="more titles"),
    ]


def names() -> tuple[Trellis, list[Any]]:
    """Equal names, which should have equal fields."""
    emissions = [
        [1.75, 1.25, 0.0],
        [0.0, 0.0, 1.0],
        [1.5, 0.25, 0.0],
        [0.0, 0.0, 1.0],
        [0.5, 1.25, 0.0],
        [0.0, 0.0, 1.0],
        [0.0, 1.5, 0.0],
        [0.0, 0.0, 1.0],
        [0.5, 0.75, 0.0],
    ]
    transitions = [[-0.5, -0.25, 0.25], [0.25, 0.25, 0.25], [0.25, 0.0, -0.5]]
    tokens = ["Paris", "met", "Florence", "in", "Paris", "and", "Florence", "left", "Paris"]
    trellis = Trellis.from_emissions(emissions, transitions, labels=["person", "place", "O"], tokens=tokens)
    return trellis, [C.consistent(penalty=1.0, name="same name, same field")]


def draw_lattice(axes: Any) -> None:
    """The lattice with two paths through it."""
    trellis, rules = titles()
    rows = {label: -row for row, label in enumerate(trellis.labels.names)}
    T = len(trellis)
    for t in range(1, T):
        for before in rows.values():
            for after in rows.values():
                axes.plot([t - 1, t], [before, after], color="#dddddd", linewidth=1, zorder=1)
    paths = (("viterbi", "Viterbi", ORANGE, "--", 5), ("auto", "best under the rule", BLUE, "-", 2.5))
    for method, name, colour, dash, width in paths:
        labels = ilpinfer.decode(trellis, rules, method=method).labels
        axes.plot(
            range(T), [rows[x] for x in labels], dash, color=colour, linewidth=width, label=name, zorder=2
        )
    for t, scores in enumerate(trellis.lattice.node.tolist()):
        for row, score in zip(rows.values(), scores, strict=True):
            axes.text(
                t,
                row,
                f"{score / 2**20:g}",
                ha="center",
                va="center",
                zorder=3,
                bbox={"boxstyle": "circle,pad=0.35", "facecolor": "white", "edgecolor": GREY},
            )
    axes.set(xlim=(-0.4, T - 0.6), ylim=(-2.45, 0.45))
    axes.set_xticks(range(T), trellis.tokens)
    axes.set_yticks(list(rows.values()), list(rows))
    axes.tick_params(length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, frameon=False)


def draw_bound(axes: Any) -> None:
    """Bound and best labelling, at each moment at which one of them changed."""
    trellis, rules = budgets()
    moments: list[tuple[float, float]] = []
    ilpinfer.decode(trellis, rules, callback=lambda seconds, score, bound: moments.append((score, bound)))
    moments = list(dict.fromkeys(moments))
    scores, bounds = ([moment[side] for moment in moments] for side in (0, 1))
    steps = range(len(moments))
    known = [step for step in steps if scores[step] > float("-inf")]
    axes.fill_between(known, scores[known[0] :], bounds[known[0] :], step="post", color="#f0f0f0")
    axes.step(steps, bounds, where="post", color=BLUE, linewidth=2.5)
    axes.step(known, scores[known[0] :], where="post", color=ORANGE, linewidth=2.5, linestyle="--")
    axes.plot(steps, bounds, "o", color=BLUE)
    axes.plot(known, scores[known[0] :], "s", color=ORANGE)
    axes.text(2.1, bounds[2] + 1, "proved bound", color=BLUE)
    axes.text(2.1, scores[2] + 0.8, "best labelling\nso far", color=ORANGE)
    axes.annotate(
        f"{scores[-1]:g}: proved",
        (steps[-1], scores[-1]),
        (steps[-1], scores[-1] + 5),
        ha="right",
        arrowprops={"arrowstyle": "->", "color": GREY},
    )
    axes.set(xlabel="change of bound or labelling", ylabel="score in nats", xticks=list(steps))


def draw_tree(axes: Any) -> None:
    """A split and its two leaves."""
    trellis, rules = names()
    solution = ilpinfer.decode(trellis, rules)
    tree = solution.certificate.tree
    assert isinstance(tree, Split)
    (token,), (label,) = tree.tokens, tree.labels
    field = trellis.labels.names[label]
    cases = (C.should_be_tagged(token, C.other_than(field)), C.should_be_tagged(token, field))
    best = [ilpinfer.decode(trellis, [*rules, case]).score for case in cases]
    box = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": GREY}
    root = f'Is token {token}, "{trellis.tokens[token]}",\na {field}?'
    axes.text(0.5, 0.85, root, ha="center", va="center", bbox=box)
    for x, answer, score, leaf in ((0.22, "no", best[0], tree.below), (0.78, "yes", best[1], tree.above)):
        axes.annotate("", (x, 0.42), (0.5, 0.69), arrowprops={"arrowstyle": "->", "color": GREY})
        axes.text((x + 0.5) / 2, 0.56, answer, ha="center", bbox={"facecolor": "white", "edgecolor": "none"})
        text = f"bound {solution.bound:g}\nbest labelling {score:g}\n{leaf.passes} passes to check"
        axes.text(x, 0.22, text, ha="center", va="center", bbox={**box, "edgecolor": BLUE})
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.axis("off")


WORDS = {"rib": ("1", 3), "rob": ("2", 2)}
"""Words, each with the label of all its letters and its frequency (Stokman 2011, section 3.1.4)."""


def factors(word: str) -> Any:
    """(T, 2) how often each letter has each label, plus 0.1."""
    pairs = [(letter, label, times) for known, (label, times) in WORDS.items() for letter in known]
    return np.array(
        [[0.1 + sum(n for x, y, n in pairs if (x, y) == (letter, k)) for k in "12"] for letter in word]
    )


def normalised(word: str, *, locally: bool) -> tuple[Trellis, Any, Any]:
    """The trellis of a chain whose label does not change, and the factors of its first token (2,) and of its steps (T-1, 2, 2)."""
    table = factors(word)
    first, steps = table[0], np.eye(2) * table[1:, None]
    if locally:
        first, steps = first / first.sum(), steps / steps.sum(axis=2, keepdims=True)
    with np.errstate(divide="ignore"):
        trellis = Trellis(np.log(first), np.log(steps), labels=["1", "2"], tokens=list(word))
    return trellis, first, steps


def draw_label_bias(axes: Any) -> None:
    """The same factors of rob, normalised at each step and over all labellings."""
    word, shift = "rob", 4.0
    for panel, title in enumerate(("normalised at each step", "normalised over all labellings")):
        trellis, first, steps = normalised(word, locally=not panel)
        best, chances = ilpinfer.decode(trellis).labels[0], ilpinfer.marginals(trellis)
        left = panel * shift
        axes.text(left + 1, 0.75, title, ha="center", fontsize=11)
        for row, label in enumerate(trellis.labels.names):
            y, strong = -row, label == best
            line = {"color": BLUE if strong else "#bbbbbb", "linewidth": 3 if strong else 1.2, "zorder": 1}
            axes.plot([left - 0.55, left + 2], [y, y], **line)
            values = [first[row], *steps[:, row, row]]
            for t, value in enumerate(values):
                text = f"{value:.2g}"
                axes.text(left + t - 0.5 + 0.05 * (t == 0), y + 0.14, text, ha="center", fontsize=10)
                box = {"boxstyle": "circle,pad=0.3", "facecolor": "white", "edgecolor": GREY}
                axes.text(left + t, y, label, ha="center", va="center", zorder=3, bbox=box)
            share = chances.probability([label] * len(word))
            axes.text(left + 2.3, y, f"{share:.2f}", va="center", color=BLUE if strong else GREY)
        for t, letter in enumerate(word):
            axes.text(left + t, -1.75, letter, ha="center")
    axes.set(xlim=(-0.9, 2 * shift - 0.9), ylim=(-1.9, 1.1))
    axes.axis("off")


PICTURES: dict[str, tuple[Callable[[Any], None], float]] = {
    "lattice": (draw_lattice, 3.4),
    "bound": (draw_bound, 3.2),
    "proof-tree": (draw_tree, 2.8),
    "label-bias": (draw_label_bias, 2.3),
}
"""For each picture how it is drawn, and its height in inches."""


def write(folder: Path) -> None:
    """Write every picture as SVG, on white so that it can be read on any page."""
    with matplotlib.rc_context(STYLE):
        for name, (draw, height) in PICTURES.items():
            figure = Figure(figsize=(5, height), layout="constrained", facecolor="white")
            draw(figure.subplots())
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
