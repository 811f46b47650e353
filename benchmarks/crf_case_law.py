"""Section titles in court decisions (Trompper 2016): `python -m benchmarks.crf_case_law ALL.tsv`.

Five folds by document, three shuffles; a token is a whole text element, and F1 is that of the tokens of a label. Line
breaks are tokens, or are taken out and put back. Beside the labelling of highest probability stands one where each title
is rewarded, which balances precision and recall.
"""

import sys
from collections.abc import Iterable, Sequence

from benchmarks.cross_validation import Pair, evaluate, held_out_labellings, percentages
from benchmarks.machine import header
from formulations import Feature
from formulations import constraints as C
from ilpinfer.corpus.sequences import read, require_labels
from ilpinfer.evaluation.counts import Counts, f_measure

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
            tokens = evaluate(((gold, labels) for rules, gold, labels in result if rules == name), "plain")
            for label in LABELS:
                yield condition, name, label, tokens.of_field(label, "tokens")


def main(source: str) -> None:
    """Print the table."""
    print(header())
    print(f"{'':22} {'':16} {'label':14} {'P':>6} {'R':>6} {'F1':>6} {'F0.5':>6}")
    for condition, rules, label, c in rows(require_labels(read(source))):
        half = 100 * float(f_measure(c, 0.5))
        print(
            f"{condition:22} {rules:16} {label:14} {percentages(c)} {half:6.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1])
