"""Job titles, companies, places and dates in résumés: `python -m benchmarks.crf_resumes EXPERIENCE.tsv`.

Five folds; F1 of exact spans, labels keep their scheme; line breaks are tokens, or are taken out and put back. Annotators
have left out much, so that the labelling of highest probability finds too little: beside it stand ones where the
beginning of each span is rewarded.
"""

import sys
from collections.abc import Iterable, Sequence

from benchmarks.cross_validation import Pair, evaluate, held_out_labellings, percentages
from benchmarks.machine import header
from formulations import Feature, Rule
from formulations import constraints as C
from ilpinfer.corpus.sequences import read, require_labels
from ilpinfer.evaluation.counts import Counts

PARAMETERS = {"c1": 0.05, "c2": 0.1, "max_iterations": 50}
CONDITIONS = {"line breaks kept": "", "line breaks taken out": "O"}
REWARDS = (0.0, 1.0, 1.5, 2.0)
"""Nats for the beginning of each span."""


def rows(
    pairs: Sequence[Pair], conditions: Sequence[str] = tuple(CONDITIONS), seed: int = 0
) -> Iterable[tuple[str, str, str, Counts]]:
    """(condition, reward, field, counts of spans); the field "all" is every one."""
    labels = sorted({label for _, labels in pairs for label in labels})
    beginnings = C.group("beginning", [label for label in labels if label.startswith("B-")])
    rules: dict[str, list[Rule | Feature]] = {
        f"{reward:g}": [C.valid_scheme(), *([C.feature(to=beginnings, weight=reward)] if reward else [])]
        for reward in REWARDS
    }
    for condition in conditions:
        line_break = CONDITIONS[condition]
        result = list(
            held_out_labellings(pairs, "resume", PARAMETERS, rules, seed=seed, line_break=line_break)
        )
        for name in rules:
            spans = evaluate(((gold, labels) for which, gold, labels in result if which == name), "bio")
            yield condition, name, "all", spans.of_all()
            for field in (label[2:] for label in labels if label.startswith("B-")):
                yield condition, name, field, spans.of_field(field)


def main(source: str, conditions: Sequence[str]) -> None:
    """Print the table."""
    print(header())
    print(f"{'':22} {'reward':>6} {'field':22} {'P':>6} {'R':>6} {'F1':>6}")
    for condition, reward, field, c in rows(require_labels(read(source)), conditions or tuple(CONDITIONS)):
        print(
            f"{condition:22} {reward:>6} {field:22} {percentages(c)}",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
