"""Memory after many label sets, through `decode` and through the service: `python -m stress.label_sets --sets 10000`.

Each set has names of its own. The program fails if the resident memory grows by more than `--most` MB after the first 100 sets.
"""

import argparse
import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from support.service import service_of, talk

from formulations import Rule, Trellis
from formulations import constraints as C
from ilpinfer import Decoder, decode, verify

FIRST, MOST = 100, 100.0
"""Label sets before the memory is noted, and MB that it may grow by afterwards."""


def rules() -> list[Rule]:
    """Formulas, patterns of tokens, counts, sums, expressions over labels and scopes."""
    return [
        C.logic('forall t: "O"(t) or not "O"(t)', name="formula", penalty=0.5),
        C.tag_at("O", pattern="(x|y)+", penalty=1.0, name="pattern"),
        C.at_most_runs("each field", 1, penalty=1.0, name="counts"),
        C.linear("tokens(O) - runs(O) <= 2", penalty=0.3, name="sum"),
        C.matches("O* .*", penalty=0.2, name="expression"),
        C.exactly_tokens("O", 1, penalty=0.1, distance="hamming", name="distance"),
    ]


def resident(process: int | str = "self") -> float:
    """Resident memory of a process in MB."""
    gc.collect()
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def problem(number: int, labels: int) -> dict[str, Any]:
    """Scores of three tokens as of a request, with label names and tokens that no other set has."""
    random = np.random.default_rng(number)
    return {
        "label_names": [*(f"n{number}x{k}" for k in range(labels - 1)), "O"],
        "tokens": ["xy", "b", f"c{number}"],
        "emissions": random.normal(size=(3, labels)).round(3).tolist(),
        "transitions": random.normal(size=(labels, labels)).round(3).tolist(),
    }


def by_function(sets: range, labels: int) -> None:
    """Decode and verify with rules of which every second list is new."""
    kept = rules()
    for number in sets:
        given = problem(number, labels)
        trellis = Trellis.from_emissions(
            given["emissions"], given["transitions"], labels=given["label_names"], tokens=given["tokens"]
        )
        stated = kept if number % 2 else rules()
        assert verify(trellis, stated, decode(trellis, stated)).ok


def through_service(sets: range, labels: int) -> None:
    """Decode through services without a model that share a decoder."""

    async def conversation(client: Any) -> None:
        for number in sets:
            response = await client.post("/decode", json=problem(number, labels))
            assert response.status_code == 200, response.text

    talk(service_of(DECODER, workers=2), conversation)


DECODER = Decoder(rules())
WAYS: dict[str, Callable[[range, int], None]] = {"decode": by_function, "service": through_service}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--way", choices=WAYS, default="decode")
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--most", type=float, default=MOST)
    options = parser.parse_args(arguments)
    way = WAYS[options.way]
    way(range(FIRST), options.labels)
    first = resident()
    way(range(FIRST, options.sets), options.labels)
    grown = resident() - first
    sets = f"{options.way}: {options.sets} sets of {options.labels} labels"
    print(f"{sets}: {first:.0f} MB, then {grown:+.1f} MB")
    return int(grown > options.most)


if __name__ == "__main__":
    sys.exit(main())
