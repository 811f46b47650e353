"""References changed at random: `python -m stress.references 5000`, in tests/. Nothing false may be accepted."""

import sys
from collections import Counter
from random import Random

import numpy as np
from support.reference_mutations import falsehood, mutated

from formulations import Trellis
from formulations import constraints as C
from ilpinfer import checker
from ilpinfer.references.making import make

RULES = (
    C.at_most_runs("each field", 1, penalty=2**-19, distance="binary"),
    C.at_most_runs("a", 1, penalty=3 * 2**-20),
    C.requires_before("a", "b", penalty=2**-20),
    C.requires_present("b", "a"),
    C.at_least_tokens("b", 2),
)


def instance(random: Random) -> dict:
    """A reference of a small problem with near ties."""
    rng = np.random.default_rng(random.randrange(2**32))
    T, K = random.randint(1, 4), random.randint(2, 3)
    start, edges = rng.integers(-3, 4, K) / 2**20, rng.integers(-3, 4, (T - 1, K, K)) / 2**20
    trellis = Trellis(start, edges, labels=["a", "b", "c"][:K])
    return make(
        trellis, random.sample(RULES, random.randint(0, 3)), ties=4, top=random.choice((None, 4))
    ).to_dict()


def main(count: int, seed: int = 0) -> int:
    """Print how many changed references were accepted; 1 where one of them is false."""
    random, outcomes = Random(seed), Counter()
    for _ in range(count // 10):
        record = instance(random)
        for _ in range(10):
            changed = mutated(record, random)
            try:
                checker.check(changed, 10**7)
            except checker.CheckError:
                outcomes["refused"] += 1
                continue
            fault = falsehood(changed)
            outcomes["false and accepted" if fault else "true and accepted"] += 1
            if fault:
                print(fault, changed)
    print(dict(outcomes))
    return int(outcomes["false and accepted"] > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5000))
