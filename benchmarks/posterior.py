"""Minimum-risk decoding beside the most probable labelling: `python -m benchmarks.posterior DATA [CRF.json]`.

Right tokens, F1 of exact spans and whole sequences, in per cent, at most a second a sequence. Where sums over all labellings
take too many joint states, the best 20 labellings stand for them, or those of a beam where time is short; so they do for spans. The CRF is that of `python -m benchmarks.crf_citations`.
"""

import sys
import warnings
from pathlib import Path

import ilpinfer
from benchmarks.held_out import HEAD, Setting, cora, line_of, umass
from benchmarks.machine import header
from formulations import RuleSet, load_rules
from formulations.problem.problem import RuleNotice

METHODS = {
    "Viterbi": "viterbi",
    "constrained Viterbi": "constrained-viterbi",
    "most probable under the rules": "auto",
    "posterior, tokens": "posterior:top_k=20",
    "posterior, spans": "posterior:risk=spans:top_k=20",
}
LIMIT = 1.0
"""Seconds a sequence."""


def rows(setting: Setting) -> None:
    """Print the lines of a setting."""
    print(
        f"\n{setting.name}: {len(setting.trellises)} sequences, {len(setting.rules)} rules ({setting.rules.name})"
    )
    print(HEAD)
    for name, method in METHODS.items():
        decoder = ilpinfer.Decoder(setting.rules, method=method, time_limit=LIMIT)
        print(line_of(name, setting, decoder.decode), flush=True)


def main(folder: str, crf: str | None, number: int = 40) -> None:
    """Print the tables."""
    warnings.simplefilter("ignore", RuleNotice)
    print(header())
    nothing = RuleSet((), (), "none")
    for rules, count in ((nothing, 100), (load_rules("citations"), number)):
        for setting in cora(Path(folder), (20, 300), count, rules):
            rows(setting)
    if crf:
        for most in (0, 5):
            for setting in umass(Path(folder), crf, number if most else 2 * number, most):
                rows(setting)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
