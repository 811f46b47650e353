"""What Viterbi and beam search lose on tagged references: `python -m benchmarks.citations TRAIN.tsv TEST.tsv`.

HMMs of the first 5, 20 and all training references decode the test references under the catalogue's citation
rules (Chang et al. 2007, Table 1), with gold labels for accuracy. Add method names to compare others.
"""

import sys
import warnings

from rich.console import Console

import ilpinfer
from benchmarks.machine import header
from formulations import load_rules
from formulations.problem.problem import RuleNotice
from ilpinfer.cli.show import show_comparison
from ilpinfer.corpus.sequences import read, require_labels
from ilpinfer.models.hmm import HMM

SIZES = (5, 20, None)


def main(train: str, test: str, methods: list[str]) -> None:
    """A table for each size of training data."""
    warnings.simplefilter("ignore", RuleNotice)
    console, rules = Console(width=140), load_rules("citations")
    console.print(header())
    training, references = require_labels(read(train)), require_labels(read(test))
    for method in methods:
        ilpinfer.decode(HMM.train(training[:5]).trellis(references[0][0]), rules, method=method)
    for size in SIZES:
        hmm = HMM.train(training[:size])
        trellises = [hmm.trellis(tokens) for tokens, _ in references]
        comparison = ilpinfer.compare(trellises, rules, methods, gold=[gold for _, gold in references])
        summary = comparison.summary()
        broken = next((line.breaking for line in summary if line.method == "viterbi"), 0)
        console.print(
            f"\nHMM of {size or len(training)} references: {broken:g} of {len(references)} Viterbi labellings break a rule"
        )
        show_comparison(summary)
        first = summary[0]
        for line in summary[1:]:
            ratio = line.median_ms / first.median_ms
            console.print(
                f"{line.method} takes {ratio:.2f} times the median of {first.method}; it misses {line.missed:g} optima"
            )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:] or ["auto", "viterbi", "beam"])
