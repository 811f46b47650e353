"""Section titles in court decisions (Trompper 2016): `python -m benchmarks.crf_case_law ALL.tsv`.

Five folds by document, three shuffles; a token is a whole text element, and F1 is that of the tokens of a label. Line
breaks are tokens, or are taken out and put back.
"""

import sys
from collections.abc import Iterable, Sequence

from benchmarks.cross_validation import Pair, held_out_labellings
from benchmarks.machine import header
from benchmarks.spans import Counts
from ilpinfer.corpus.sequences import labelled, read

PARAMETERS = {"c1": 0.0, "c2": 0.3, "max_iterations": 200}
LABELS = ("NR", "SECTION_TITLE", "TEXT_BLOCK", "NEWLINE")
CONDITIONS = {"line breaks kept": "", "line breaks taken out": "NEWLINE"}


def rows(pairs: Sequence[Pair], seeds: Sequence[int] = (0, 1, 2)) -> Iterable[tuple[str, int, str, Counts]]:
    """(condition, seed, label, counts of tokens)."""
    for condition, line_break in CONDITIONS.items():
        for seed in seeds:
            found = list(held_out_labellings(pairs, "case-law", PARAMETERS, seed=seed, line_break=line_break))
            for label in LABELS:
                yield condition, seed, label, _counts(found, label)


def _counts(found: Sequence[tuple[Sequence[str], Sequence[str]]], label: str) -> Counts:
    pairs = [(one, other) for gold, predicted in found for one, other in zip(gold, predicted, strict=True)]
    right = sum(one == other == label for one, other in pairs)
    return Counts(right, sum(other == label for _, other in pairs), sum(one == label for one, _ in pairs))


def main(source: str) -> None:
    """Print the table."""
    print(header())
    print(f"{'':22} {'shuffle':>7} {'label':14} {'P':>6} {'R':>6} {'F1':>6} {'F0.5':>6}")
    totals: dict[str, Counts] = {}
    for condition, seed, label, c in rows(labelled(read(source))):
        half = 1.25 * c.precision * c.recall / (0.25 * c.precision + c.recall)
        print(
            f"{condition:22} {seed:7} {label:14} {c.precision:6.2f} {c.recall:6.2f} {c.f1:6.2f} {half:6.2f}"
        )
        if label == "SECTION_TITLE":
            totals[condition] = totals.get(condition, Counts()) + c
    for condition, c in totals.items():
        print(
            f"{condition:22} {'all':>7} {'SECTION_TITLE':14} {c.precision:6.2f} {c.recall:6.2f} {c.f1:6.2f}"
        )


if __name__ == "__main__":
    main(sys.argv[1])
