"""Token accuracy of HMMs on tagged references, with and without rules: `python -m benchmarks.citations_hmm FILES.tsv …`.

Each draw takes 20 or 300 references at random to count, and 100 others to decode, exactly, under the catalogue's
citation rules (Chang et al. 2007, Table 1 and Table 2). Accuracy is that of plain labels: prefixes are stripped before
they are compared. Models with an end state keep to their scheme with and without rules.
"""

import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import ilpinfer
from benchmarks.machine import header
from formulations import RuleSet, load_rules
from formulations import constraints as C
from formulations.problem.problem import RuleNotice
from ilpinfer.corpus.conversion import iobes, strip
from ilpinfer.corpus.sequences import read, require_labels
from ilpinfer.models.hmm import HMM
from ilpinfer.models.hmm.vocabulary import Vocabulary

SIZES = (20, 300)
TEST = 100
DRAWS = 20

Labelled = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Kind:
    """A kind of HMM.

    Parameters
    ----------
    name : what is shown
    states : from BIO labels to those that are counted
    options : of `HMM.train`
    """

    name: str
    states: Callable[[Sequence[str]], Sequence[str]]
    options: dict[str, Any] = field(default_factory=dict)


def plain(labels: Sequence[str]) -> Sequence[str]:
    """A state for each field."""
    return strip([labels])[0]


LOWER, ALIKE = Vocabulary("uniform", lower_case=True), Vocabulary(alike=True)
KINDS = (
    Kind("plain, lower case, additive", plain, {"vocabulary": LOWER, "emissions": "additive"}),
    Kind("plain, lower case, Witten-Bell", plain, {"vocabulary": LOWER}),
    Kind("begin and inside, lower case", tuple, {"vocabulary": LOWER}),
    Kind("begin and inside, token classes", tuple),
    Kind("… shapes, on singletons", tuple, {"vocabulary": Vocabulary("shapes", singletons=True)}),
    Kind("… numbers, initials, months alike", tuple, {"vocabulary": ALIKE}),
    Kind("begin, inside and end, alike", iobes, {"vocabulary": ALIKE}),
)


def rows(
    references: Sequence[Labelled], kinds: Iterable[Kind] = KINDS, draws: int = DRAWS
) -> list[dict[str, Any]]:
    """Accuracy in percent of each kind, size and draw: `kind`, `size`, `draw`, `without`, `with_rules`, `changed`."""
    rules = load_rules("citations")
    result = []
    for kind in kinds:
        for size in SIZES:
            for draw in range(draws):
                order = np.random.default_rng(draw).permutation(len(references))
                training, test = ([references[i] for i in part] for part in np.split(order, [size])[:2])
                accuracy = measure(kind, training, test[:TEST], rules)
                result.append({"kind": kind.name, "size": size, "draw": draw, **accuracy})
    return result


def measure(
    kind: Kind, training: Iterable[Labelled], test: Iterable[Labelled], rules: RuleSet
) -> dict[str, float]:
    """Accuracy in percent without and with rules, and the share of labellings that the rules change."""
    hmm = HMM.train([(tokens, kind.states(labels)) for tokens, labels in training], **kind.options)
    own = (C.valid_scheme(),) if hmm.labels.scheme == "iobes" else ()
    pairs = []
    for tokens, gold in test:
        trellis = hmm.trellis(tokens)
        both = (ilpinfer.decode(trellis, r) for r in (own, replace(rules, items=(*rules, *own))))
        pairs.append([plain(labels) for labels in (*(solution.labels for solution in both), gold)])
    tokens_in_all = sum(len(gold) for *_, gold in pairs)
    right = [sum(a == b for p in pairs for a, b in zip(p[i], p[2], strict=True)) for i in (0, 1)]
    changed = sum(before != after for before, after, _ in pairs)
    return {
        "without": 100 * right[0] / tokens_in_all,
        "with_rules": 100 * right[1] / tokens_in_all,
        "changed": 100 * changed / len(pairs),
    }


def table(result: Sequence[dict[str, Any]]) -> Table:
    """Mean and standard deviation over draws."""
    shown = Table("HMM", "labelled", "without rules", "with rules", "gain", "references changed")
    for kind, size in dict.fromkeys((row["kind"], row["size"]) for row in result):
        some = [row for row in result if (row["kind"], row["size"]) == (kind, size)]
        columns = {
            name: np.array([row[name] for row in some]) for name in ("without", "with_rules", "changed")
        }
        gain = (columns["with_rules"] - columns["without"]).mean()
        accuracies = [
            f"{columns[name].mean():.1f} ± {columns[name].std():.1f}" for name in ("without", "with_rules")
        ]
        shown.add_row(kind, str(size), *accuracies, f"{gain:+.1f}", f"{columns['changed'].mean():.0f} %")
    return shown


def main(files: Sequence[str]) -> None:
    """The table of all kinds."""
    warnings.simplefilter("ignore", RuleNotice)
    references = [pair for name in files for pair in require_labels(read(name))]
    console = Console(width=140)
    console.print(header())
    console.print(
        f"token accuracy of plain labels in percent, {TEST} references, mean ± deviation of {DRAWS} draws"
    )
    console.print(table(rows(references)))


if __name__ == "__main__":
    main(sys.argv[1:])
