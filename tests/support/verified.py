"""Every solution that the engine makes during a test is verified when the test ends."""

import warnings
from collections.abc import Iterator

import pytest

import ilpinfer
from formulations.errors import RuleNotice
from ilpinfer.core.certificate import Phases
from ilpinfer.core.solution import Solution, Status
from ilpinfer.decoding import single


@pytest.fixture(autouse=True)
def verified(monkeypatch) -> Iterator[list[Solution]]:
    """The solutions so far, of which a test removes those that it makes wrong."""
    made: list[Solution] = []
    lazy, run_task = Solution.lazy.__func__, single.run_task

    def recorded_lazy(cls, *given):
        made.append(lazy(cls, *given))
        return made[-1]

    def recorded_run(*given):
        solutions = run_task(*given)
        made.extend(solutions if len(solutions) == 1 else [each for each in solutions if each.has_labelling])
        return solutions

    with monkeypatch.context() as patch:
        patch.setattr(Solution, "lazy", classmethod(recorded_lazy))
        patch.setattr(single, "run_task", recorded_run)
        yield made
    for solution in made:
        certificate, context = solution.certificate, solution.context
        if context is None or certificate.kind != "exact" or isinstance(certificate.tree, Phases):
            continue
        with warnings.catch_warnings(action="ignore", category=RuleNotice):
            verdict = ilpinfer.verify(context.trellis, context.rules, solution)
        certain = solution.status in (Status.OPTIMAL, Status.INFEASIBLE)
        assert verdict.proved if certain else verdict.ok, (verdict.reasons, context.rules.rules, solution)
