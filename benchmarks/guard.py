"""Three figures that changes of the engine must not make worse: `python -m benchmarks.guard [--data FOLDER]`.

Microseconds of processor time a sequence, words known, the least of some rounds: Cora references under the citation rules with an HMM of 20,
UMass references under 240 mined rules (the median), and Viterbi without rules on UMass, K = 136.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import ilpinfer
from benchmarks.data import prepared
from benchmarks.data.prepared import Prepared
from benchmarks.timing import one_core

ROUNDS, UMASS_STEP = 5, 4
Mean = Callable[[Sequence[float]], float]


def microseconds(decoder: ilpinfer.Decoder, some: Prepared, mean: Mean) -> float:
    """Of a call with tokens, by the best of several rounds of each sequence."""
    tokens = [each.tokens for each in some.trellises]
    for each in tokens:
        decoder.decode_tokens(each)
    best = [float("inf")] * len(tokens)
    for _ in range(ROUNDS):
        for n, each in enumerate(tokens):
            began = time.process_time()
            decoder.decode_tokens(each)
            best[n] = min(best[n], time.process_time() - began)
    return 1e6 * mean(best)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the corpora")
    folder = parser.parse_args().data
    cora, umass = prepared.cora(folder, 20), prepared.umass(folder).every(UMASS_STEP)
    bare = ilpinfer.Decoder([], model=umass.decoder.model)
    with one_core():
        print(f"Cora, HMM of 20        {microseconds(cora.decoder, cora, statistics.fmean):8.1f}")
        print(f"UMass, 240 rules       {microseconds(umass.decoder, umass, statistics.median):8.1f}")
        print(f"K = 136, without rules {microseconds(bare, umass, statistics.fmean):8.1f}")


if __name__ == "__main__":
    main()
