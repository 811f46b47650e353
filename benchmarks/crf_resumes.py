"""Job titles, companies, places and dates in résumés: `python -m benchmarks.crf_resumes EXPERIENCE.tsv`.

Five folds; F1 of exact spans, BIO kept by the decoder; line breaks are tokens, or are taken out and put back.
"""

import sys
from collections.abc import Iterable, Sequence

from benchmarks.cross_validation import Pair, held_out_labellings
from benchmarks.machine import header
from benchmarks.spans import Counts, counts
from ilpinfer.corpus.sequences import labelled, read

PARAMETERS = {"c1": 0.05, "c2": 0.1, "max_iterations": 60}
CONDITIONS = {"line breaks kept": "", "line breaks taken out": "O"}


def rows(pairs: Sequence[Pair], seed: int = 0) -> Iterable[tuple[str, str, Counts]]:
    """(condition, field, counts of spans); the field "all" is every one."""
    fields = sorted({label[2:] for _, labels in pairs for label in labels if label != "O"})
    for condition, line_break in CONDITIONS.items():
        found = list(held_out_labellings(pairs, "resume", PARAMETERS, seed=seed, line_break=line_break))
        for field in ("", *fields):
            yield condition, field or "all", counts(found, only=field)


def main(source: str) -> None:
    """Print the table."""
    print(header())
    print(f"{'':22} {'field':22} {'P':>6} {'R':>6} {'F1':>6}")
    for condition, field, c in rows(labelled(read(source))):
        print(f"{condition:22} {field:22} {c.precision:6.2f} {c.recall:6.2f} {c.f1:6.2f}")


if __name__ == "__main__":
    main(sys.argv[1])
