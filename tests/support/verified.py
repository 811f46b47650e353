"""Every solution that the engine makes during a test is verified when the test ends."""

import warnings
from collections.abc import Iterator

import pytest

import ilpinfer
from formulations.errors import RuleNotice
from ilpinfer.core.certificate import Phases
from ilpinfer.core.solution import Solution
from ilpinfer.core.status import Status
from ilpinfer.decoding import reporting
from ilpinfer.decoding.call_results import CallResult


@pytest.fixture(autouse=True)
def verified(monkeypatch) -> Iterator[list[Solution]]:
    """The solutions so far, of which a test removes those that it makes wrong."""
    made: list[Solution] = []
    solutions_of, run_task = CallResult.solutions, reporting.run_task

    def recorded_call(*given):
        solutions = solutions_of(*given)
        made.extend(solutions)
        return solutions

    def recorded_run(*given):
        solutions = run_task(*given)
        made.extend(solutions if len(solutions) == 1 else [each for each in solutions if each.has_labelling])
        return solutions

    with monkeypatch.context() as patch:
        patch.setattr(CallResult, "solutions", recorded_call)
        patch.setattr(reporting, "run_task", recorded_run)
        yield made
    for solution in made:
        certificate, context = solution.certificate, solution.context
        if context is None or certificate.kind != "exact" or isinstance(certificate.tree, Phases):
            continue
        with warnings.catch_warnings(action="ignore", category=RuleNotice):
            verdict = ilpinfer.verify(context.trellis, context.rules, solution)
        certain = solution.status in (Status.OPTIMAL, Status.INFEASIBLE)
        assert verdict.proved if certain else verdict.ok, (verdict.reasons, context.rules.rules, solution)
