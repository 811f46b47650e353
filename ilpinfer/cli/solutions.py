"""Check of solutions of other solvers: `ilpinfer export --check`."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from formulations import Program, RuleSet, Trellis
from formulations.dtypes import LabelIds
from formulations.files import plain_name
from formulations.grid import UNITS_PER_NAT
from formulations.messages import counted
from formulations.programs.program import UNITS
from ilpinfer.cli.inputs import prepare
from ilpinfer.cli.outputs import check_streams
from ilpinfer.cli.program_options import ExportOptions, check_texts, known_trellis, numbers
from ilpinfer.cli.progress import progress
from ilpinfer.cli.screen import add_row, console, print_json, table
from ilpinfer.core.solution import Solution, finite
from ilpinfer.corpus.examples import InputError
from ilpinfer.errors import describe
from ilpinfer.pipelines.trellises import ScoredExample
from ilpinfer.solvers.solution_files import SolutionFile, read_solution_file, values_of_variables

ENDS = (".sol", ".txt")
AGREES = 1e-6
"""Largest difference between a claimed objective and the exact one, relative or in nats."""


@dataclass(frozen=True)
class CheckedSolution:
    """A checked solution of a solver with its score; objectives in nats."""

    file: str
    claim: SolutionFile
    worth: (
        Solution  # the labelling's value under the rules by which the program counts, with the engine's bound
    )
    objective: float  # of the solver's vector
    best: float  # a proved upper bound on the objective
    agrees: bool | None  # whether claimed and exact objective agree; None without a claim

    def row(self, number: int, item: ScoredExample) -> dict[str, Any]:
        return {
            "sequence": number,
            "file": self.file,
            "solver": self.claim.solver,
            "solver_status": self.claim.status,
            "tokens": list(item.tokens),
            **self.worth.to_dict(),
            "objective": self.objective,
            "claimed_objective": None if self.claim.objective is None else finite(self.claim.objective),
            "claim_agrees": self.agrees,
            "best_objective": finite(self.best),
            "objective_gap": finite(self.best - self.objective),
        }


def check_solutions(options: ExportOptions) -> None:
    """Print labellings, scores, and gaps to the proved optimum of the solutions of --check."""
    check_streams(options.as_json, [], options.input.files)
    scored, rules, _ = prepare(options.input, options.first)
    places = _places(options.check, len(scored))
    done = []
    with progress("reading", len(places)) as advance:
        for number, file in places:
            try:
                done.append((number, _read(file, scored[number], rules, options)))
            except ValueError as error:
                text = describe(error)
                raise InputError(text if text.startswith(str(file)) else f"{file}: {text}") from None
            advance()
    if options.as_json:
        print_json([each.row(number, scored[number]) for number, each in done])
    else:
        _show(done)


def _places(solutions: Sequence[str], count: int) -> list[tuple[int, Path]]:
    """The sequence number, from 0, and the path of each file, in order."""
    files = [file for name in solutions for file in _files(Path(name))]
    result: dict[int, Path] = {}
    for file in files:
        match = re.match(r"(\d+)(?!\d)", file.name)
        if match is None and len(files) == count == 1:
            number = 0
        elif match is None:
            raise InputError(
                f"{file}: the name does not say which sequence it belongs to; name it after its program, such as {numbers(count)[0]}.sol"
            )
        else:
            number = int(match[1]) - 1
        if not 0 <= number < count:
            raise InputError(
                f"{file}: there is no program {number + 1}; the input has {counted(count, 'sequence')}"
            )
        if number in result:
            raise InputError(f"{file}: {result[number]} belongs to the same sequence; give one of them")
        result[number] = file
    return sorted(result.items())


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(
        file for file in path.iterdir() if plain_name(file).lower().endswith(ENDS) and file.is_file()
    )
    if not files:
        raise InputError(f"{path}: contains no solution file; expected files such as 0001.sol")
    return files


def _read(file: Path, item: ScoredExample, rules: RuleSet, options: ExportOptions) -> CheckedSolution:
    trellis, rules = known_trellis(item), rules.of(item.example.notes)
    program = options.program.formulate(trellis, rules)
    about = _map(file, program)
    format_ = options.format or about.get("format", "lp")
    if format_ == "wcsp":
        return _of_network(file, program, trellis, rules, options)
    claim = read_solution_file(file)
    x = program.read(claim.of_columns(program))
    objective = program.integer.value(x) / UNITS_PER_NAT
    units = options.units or about.get("units", "nats")
    sense = 1 if format_ == "lp" else -1
    worth, best = _worth(trellis, program.integer.labelling(x), rules, options)
    return CheckedSolution(
        str(file), claim, worth, objective, best, _agrees(claim.objective, sense * objective, units)
    )


def _of_network(
    file: Path, program: Program, trellis: Trellis, rules: RuleSet, options: ExportOptions
) -> CheckedSolution:
    """A solution of toulbar2: the last line has the value of each variable."""
    network = program.network
    values = values_of_variables(file, network.sizes)
    cost = network.cost(values)
    if cost is None:
        raise InputError("the values are forbidden: it is a solution of another program, or of other options")
    worth, best = _worth(trellis, np.array(values[: network.tokens], np.int64), rules, options)
    names = (variable.name for variable in network.meanings())
    claim = SolutionFile("toulbar2", "", None, dict(zip(names, map(float, values), strict=True)), True)
    objective = (network.best - cost) / UNITS_PER_NAT
    return CheckedSolution(str(file), claim, worth, objective, best, None)


def _agrees(claimed: float | None, objective: float, units: str) -> bool | None:
    if claimed is None:
        return None
    nats = claimed * UNITS[units] / UNITS_PER_NAT
    return abs(nats - objective) <= AGREES * max(1.0, abs(objective))


def _map(file: Path, program: Program) -> dict[str, str]:
    """The table of columns next to a solution, {} if there is none; ValueError if it belongs to another program."""
    match = re.match(r"\d+", file.name)
    place = file.with_name(f"{match[0] if match else file.stem}.columns.json")
    if not place.is_file():
        return {}
    try:
        about = json.loads(place.read_text("utf-8"))
        digest, known = about["digest"], {name: str(about[name]) for name in ("format", "units")}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(
            f"{place}: is not a table of columns from `ilpinfer export`; remove it, or export again"
        ) from None
    if digest != program.digest:
        raise InputError(
            f"{place}: the digest {str(digest)[:16]}… belongs to another program than this input, model and rules give "
            f"({program.digest[:16]}…); use the input, model and rules of `ilpinfer export`"
        )
    check_texts(known["format"], known["units"])
    return known


def _worth(trellis: Trellis, ids: LabelIds, rules: RuleSet, options: ExportOptions) -> tuple[Solution, float]:
    """The score of the labelling and a bound on the program objective, both proved by the engine."""
    from ilpinfer.decoding.decode import decode
    from ilpinfer.decoding.evaluation import evaluate_labelling

    own = options.program.rules(trellis, rules)
    best = decode(trellis, own, time_limit=options.time_limit)
    bound = best.bound
    if options.program.program == "two-phase":
        bound = -options.program.two_phase(trellis, rules).cost_bound
    worth = evaluate_labelling(trellis, own, ids, bound=best.bound)
    return replace(worth, certificate=best.certificate), bound


def _show(done: list[tuple[int, CheckedSolution]]) -> None:
    figures = "score", "model", "features", "penalty", "gap", "objective"
    shown = table("file", "solver", "status", numbers=figures)
    shown.add_column("claim agrees")
    shown.add_column("broken rules")
    for _, each in done:
        worth = each.worth
        parts = (
            worth.score,
            worth.model_score,
            worth.feature_score,
            worth.penalty,
            each.best - each.objective,
            each.objective,
        )
        agrees = "-" if each.agrees is None else "yes" if each.agrees else f"no: {each.claim.objective:.9g}"
        broken = ", ".join(f"{name} {count}" for name, count in worth.violations.items() if count) or "-"
        cells = (
            Path(each.file).name,
            each.claim.solver,
            str(worth.status),
            *(f"{part:.6f}" for part in parts),
        )
        add_row(shown, *cells, agrees, broken)
    screen = console()
    screen.print(shown)
    screen.print("scores in nats; gap: nats below the engine's bound on the program's objective")
