"""References tagged by a conditional random field: `python -m benchmarks.crf_citations TRAIN.tsv DEV.tsv [MODEL.json]`.

F1 of exact spans, micro-averaged over all levels of path labels such as `I-venue/B-publisher`, with and without the
rule that labels keep their scheme. A model file that exists is read instead of training, or written.
"""

import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import ilpinfer
from benchmarks.cross_validation import Pair, evaluate, percentages
from benchmarks.machine import header
from formulations import Rule
from formulations import constraints as C
from ilpinfer.corpus.sequences import read, require_labels
from ilpinfer.evaluation.counts import Counts
from ilpinfer.models.crf import CRF
from ilpinfer.models.files import load_model

PARAMETERS = {"c1": 0.05, "c2": 0.3, "max_iterations": 120}
RULES: dict[str, list[Rule]] = {"no rules": [], "labels keep their scheme": [C.valid_scheme()]}


def rows(model: CRF, pairs: Sequence[Pair]) -> Iterable[tuple[str, str, Counts, float]]:
    """(rules, top field or "all", counts of spans, seconds)."""
    scheme = model.labels.scheme
    for name, rules in RULES.items():
        began = time.process_time()
        result = [ilpinfer.decode(model.trellis(tokens), rules).labels for tokens, _ in pairs]
        seconds = time.process_time() - began
        spans = evaluate(zip((gold for _, gold in pairs), result, strict=True), scheme)
        yield name, "all", spans.of_all(), seconds
        fields = sorted({label.split("/")[0][2:] for _, labels in pairs for label in labels if label != "O"})
        for field in fields:
            yield name, field, spans.of_field(field), seconds


def main(train: str, test: str, path: str | None) -> None:
    """Print the table."""
    print(header())
    if path and Path(path).exists():
        model = load_model(path)
        assert isinstance(model, CRF)
    else:
        began = time.process_time()
        model = CRF.train(require_labels(read(train)), "citations", parameters=PARAMETERS)
        print(f"trained in {time.process_time() - began:.0f} s of processor time")
        if path:
            model.save(path)
    print(f"{'rules':26} {'field':14} {'P':>6} {'R':>6} {'F1':>6} {'spans':>6}")
    for rules, field, c, seconds in rows(model, require_labels(read(test))):
        shown = f"{rules:26} {field:14} {percentages(c)} {c[1]:6}"
        print(shown + (f"  {seconds:.1f} s" if field == "all" else ""))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
