"""Rules that look at the whole sequence and are machines there: by compiled rules, against brute force."""

import numpy as np
import pytest
from support.checks import ranking
from support.trellises import valued

import ilpinfer
from formulations import LabelSet, Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.decoding.runner import handovers
from ilpinfer.exact import limits

LABELS = LabelSet(("n", "m", "O"))
TOKENS = ["1", "2.", "1.1", "1.2", "ii", "(i)", "b", "of"]
SOFT = [
    C.numbers_continue("n", penalty=1.5),
    C.at_most_runs("n", 1, penalty=0.25),
    C.numbers_continue(["n", "m"], penalty=0.75),
    C.requires_before("m", "n", penalty=0.5),
    C.tag_at("O", words=["of"], following=C.tokens(["1", "b"]), penalty=0.5),
]
HARD_ONE = [*SOFT[1:], C.numbers_continue("n")]


def documents(number: int, longest: int = 5) -> list[Trellis]:
    rng = np.random.default_rng(7)
    made = []
    for n in range(number):
        tokens = rng.choice(TOKENS, rng.integers(1, longest + 1)).tolist()
        scores = rng.normal((1.0, 0.5, 0.0), size=(len(tokens), 3))
        edges = np.random.default_rng(n % 2).normal(size=(3, 3)) / 4
        made.append(Trellis.from_emissions(scores, edges, labels=LABELS, tokens=tokens))
    return made


@pytest.mark.parametrize("rules", [SOFT, HARD_ONE], ids=["soft", "hard"])
def test_the_best_labellings_are_those_of_brute_force_and_proved(rules):
    decoder, trellises, handed = ilpinfer.Decoder(rules), documents(24), handovers.total()
    together = decoder.decode_many(trellises)
    lists = decoder.decode_many(trellises, top=3)
    broken = 0
    for trellis, one, few in zip(trellises, together, lists, strict=True):
        expected = valued(compile_problem(trellis, rules))[:3]
        assert ranking(few) == expected
        for solution in (one, decoder.decode(trellis)):
            assert ranking([solution]) == expected[:1]
            verdict = ilpinfer.verify(trellis, decoder.rules, solution)
            assert verdict.proved, verdict.reasons
        counts = (rule.violations(one.labels, tokens=trellis.tokens) for rule in rules)
        assert list(one.violations.values()) == list(counts)
        broken += any(one.violations.values())
    assert broken > 4
    assert handovers.total() == handed


def test_what_the_second_call_leaves_open_goes_on_with_its_machines(monkeypatch):
    for limit in ("PASSES", "LEAST_STEPS"):
        monkeypatch.setattr(limits, limit, 0)
    decoder, trellises = ilpinfer.Decoder(SOFT), documents(20)
    for trellis in trellises:
        solution = decoder.decode(trellis)
        assert ranking([solution]) == valued(compile_problem(trellis, SOFT))[:1]
        assert ilpinfer.verify(trellis, decoder.rules, solution).proved


def test_penalties_too_large_for_sums_go_to_the_method():
    trellis = Trellis.from_emissions(
        [[9.0, 0, 0]] * 3, np.zeros((3, 3)), labels=LABELS, tokens=["1", "3", "5"]
    )
    rules = [C.numbers_continue("n", penalty=2.0**20)]
    solution = ilpinfer.decode(trellis, rules)
    assert sorted(solution.labels) == ["O", "O", "n"] or solution.labels.count("n") == 1
    with pytest.raises(ValueError, match="pass 2\\^31 nats"):
        ilpinfer.decode(trellis, [C.numbers_continue("n", penalty=2.0**31 - 1)])
