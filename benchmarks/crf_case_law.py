"""Section titles in court decisions (Trompper 2016): `python -m benchmarks.crf_case_law ALL.tsv`.

Five folds by document, three shuffles; a token is a whole text element, and F1 is that of the tokens of a label. Line
breaks are tokens, or are taken out and put back. Beside the labelling of highest probability stands one where each title
is rewarded, which balances precision and recall.
"""

import sys
from collections.abc import Iterable, Sequence

from benchmarks.cross_validation import Pair, held_out_labellings
from benchmarks.machine import header
from benchmarks.spans import Counts
from formulations import Feature
from formulations import constraints as C
from ilpinfer.corpus.sequences import labelled, read

PARAMETERS = {"c2": 1.0, "max_iterations": 200}
LABELS = ("NR", "SECTION_TITLE", "TEXT_BLOCK", "NEWLINE")
CONDITIONS = {"line breaks kept": "", "line breaks taken out": "NEWLINE"}
REWARD = 1.2
"""Nats for each title."""
RULES: dict[str, list[Feature]] = {
    "as it is": [],
    "titles rewarded": [C.feature(to="SECTION_TITLE", weight=REWARD)],
}


def rows(pairs: Sequence[Pair], seeds: Sequence[int] = (0, 1, 2)) -> Iterable[tuple[str, str, str, Counts]]:
    """(condition, rules, label, counts of tokens over all shuffles)."""
    for condition, line_break in CONDITIONS.items():
        result = [
            one
            for seed in seeds
            for one in held_out_labellings(
                pairs, "case-law", PARAMETERS, RULES, seed=seed, line_break=line_break
            )
        ]
        for name in RULES:
            for label in LABELS:
                yield (
                    condition,
                    name,
                    label,
                    _counts([(g, p) for rules, g, p in result if rules == name], label),
                )


def _counts(result: Sequence[tuple[Sequence[str], Sequence[str]]], label: str) -> Counts:
    pairs = [(one, other) for gold, predicted in result for one, other in zip(gold, predicted, strict=True)]
    right = sum(one == other == label for one, other in pairs)
    return Counts(right, sum(other == label for _, other in pairs), sum(one == label for one, _ in pairs))


def main(source: str) -> None:
    """Print the table."""
    print(header())
    print(f"{'':22} {'':16} {'label':14} {'P':>6} {'R':>6} {'F1':>6} {'F0.5':>6}")
    for condition, rules, label, c in rows(labelled(read(source))):
        half = 1.25 * c.precision * c.recall / (0.25 * c.precision + c.recall)
        print(
            f"{condition:22} {rules:16} {label:14} {c.precision:6.2f} {c.recall:6.2f} {c.f1:6.2f} {half:6.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1])
