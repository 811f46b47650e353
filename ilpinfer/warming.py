"""Compiling and loading kernels the first time, so that this is neither timed nor limited."""

import gc
import time

import numpy as np

from formulations import Trellis
from formulations import constraints as C
from ilpinfer import compilation

_warm: set[str] = set()
busy = False
"""Whether kernels are being compiled or loaded, where Python swallows a KeyboardInterrupt."""


def warm(stage: str) -> float:
    """Compile or load the kernels of a stage, one of STAGES; seconds it took, 0 the second time.

    A first compilation takes seconds to minutes, and is announced by the logger `ilpinfer`.
    """
    global busy
    if stage in _warm:
        return 0.0
    began = time.perf_counter()
    compilation.purpose = STAGES[stage]
    busy, collecting = True, gc.isenabled()
    gc.disable()  # a compiler's many objects stay alive, and looking through them takes a tenth of the time
    try:
        _RUNS[stage]()
    finally:
        busy = False
        if collecting:
            gc.enable()
    _warm.add(stage)
    return time.perf_counter() - began


def warm_up() -> float:
    """Compile or load every kernel now rather than in the first call; seconds it took."""
    return sum(warm(stage) for stage in STAGES)


def _compiled() -> None:
    from formulations.compiled.rules import compile_rules
    from ilpinfer.exact.compiled import Tables

    trellis = _example()
    Tables(compile_rules([C.at_most_runs("0", 1)], trellis.labels)).decode_one(trellis)


def _batches() -> None:
    from formulations.compiled.rules import compile_rules
    from ilpinfer.exact.compiled import Tables
    from ilpinfer.kernels.work import Work, finished

    trellis = _example()
    tables = Tables(compile_rules([C.at_most_runs("0", 1)], trellis.labels))
    finished(tables.decode([trellis]))
    Work(tables.decode_one, (), 0).settled(None, 0)


def _viterbi() -> None:
    from ilpinfer.exact.viterbi import viterbi

    viterbi(_example().lattice)
    viterbi(Trellis.second_order(np.zeros(1), np.zeros((1, 1)), []).lattice)


def _lists() -> None:
    from ilpinfer.exact.viterbi import best_paths

    best_paths(_example().lattice, 2)


def _beam() -> None:
    from formulations.compiled.rules import compile_problem
    from ilpinfer.deadline import Deadline
    from ilpinfer.search.beam import search

    search(compile_problem(_example(), [C.at_most_runs("0", 1)]), 2, Deadline())


def _engine() -> None:
    from formulations.compiled.rules import compile_problem
    from ilpinfer.deadline import Deadline
    from ilpinfer.exact.follow import follow
    from ilpinfer.exact.guide import Guide, everything, survivors
    from ilpinfer.exact.parts import priced

    problem = compile_problem(_example(), [C.at_most_runs("0", 1), C.at_least_runs("1", 1, penalty=1.0)])
    inside, charged = (priced(rule, place)[0] for place, rule in enumerate(problem.rules))
    guide, prices = Guide(problem.lattice, inside, charged), np.array([-1])
    survivors(problem.lattice, everything(problem.lattice), np.zeros((3, 2), np.int64), 0)
    relaxed = guide.solve(prices, Deadline())
    if relaxed is not None:
        follow(guide, prices, relaxed, [*inside, *charged], Deadline(), width=64)


def _agreement() -> None:
    from formulations.compiled.rules import compile_problem
    from ilpinfer.deadline import Deadline
    from ilpinfer.exact.agreement_lists import lists_of
    from ilpinfer.exact.agreements import Decomposition
    from ilpinfer.exact.progress import Progress

    trellis = Trellis([1.0, 0.0], [[[0.0, 0.0], [0.0, 2.0]]], labels=["a", "b"], tokens=["x", "x"])
    progress = Progress.of(compile_problem(trellis, [C.consistent()]), Deadline())
    Decomposition(progress, lists_of(progress)).run()


def _relaxation() -> None:
    from formulations.compiled.rules import compile_problem
    from ilpinfer.deadline import Deadline
    from ilpinfer.exact.mixtures import Pool, relax, sums_of

    warm("viterbi")
    problem = compile_problem(_example(), [C.exactly_tokens("0", 1, penalty=1), C.at_least_runs("1", 1)])
    relax(problem.lattice, [part for _, part in sums_of(problem)], 1.0, Pool(), Deadline())


def _refinement() -> None:
    from formulations.compiled.rules import compile_problem
    from ilpinfer.deadline import Deadline
    from ilpinfer.exact.diagram import Room, unfolded
    from ilpinfer.exact.guide import Guide, everything
    from ilpinfer.exact.parts import priced

    problem = compile_problem(_example(), [C.at_most_runs("0", 1, penalty=1)])
    parts, limits = priced(problem.rules[0], 0)[0], (Deadline(), Room())
    lattice, prices = problem.lattice, np.ones(1, np.int64)
    guide = Guide(lattice, [], parts)
    diagram = unfolded(guide, prices, everything(lattice), *limits, floor=-4, most=1)
    if diagram is not None:
        followed = diagram.multiplied(parts, {parts[0].key: 1}, *limits, floor=-4, most=1)
        assert followed is not None
        assert followed.path.size


def _discrepancy() -> None:
    from formulations.compiled.rules import compile_problem
    from ilpinfer.deadline import Deadline
    from ilpinfer.found import Task
    from ilpinfer.search.discrepancy import Search
    from ilpinfer.search.parameters import Discrepancy

    problem = compile_problem(_example(), [C.at_most_runs("0", 1, penalty=1)])
    Search(problem, Task(Deadline()), Discrepancy()).run()


def _evolution() -> None:
    from formulations.compiled.rules import compile_problem
    from ilpinfer.deadline import Deadline
    from ilpinfer.found import Task
    from ilpinfer.search.parameters import Evolution
    from ilpinfer.search.population import Population

    problem = compile_problem(_example(), [C.at_most_runs("0", 1, penalty=1)])
    population = Population(problem, Task(Deadline()), Evolution(iterations=1), np.zeros(3, np.int64), 0)
    population.run()
    population.make_room()


def _annealing() -> None:
    from formulations.compiled.rules import compile_problem
    from ilpinfer.deadline import Deadline
    from ilpinfer.found import Task
    from ilpinfer.search.annealing import cool
    from ilpinfer.search.parameters import Annealing, Evolution
    from ilpinfer.search.population import Population

    problem = compile_problem(_example(), [C.at_most_runs("0", 1, penalty=1)])
    single = Evolution(population=1, offspring=1)
    population = Population(problem, Task(Deadline()), single, np.zeros(3, np.int64), 0)
    population.begin()
    cool(population, Annealing(iterations=1))


def _tabu() -> None:
    from formulations.compiled.rules import compile_problem
    from ilpinfer.deadline import Deadline
    from ilpinfer.found import Task
    from ilpinfer.search.parameters import Evolution, Tabu
    from ilpinfer.search.population import Population
    from ilpinfer.search.tabu import move

    problem = compile_problem(_example(), [C.at_most_runs("0", 1, penalty=1)])
    four = Evolution(population=2, offspring=2, start_mutations=0)
    population = Population(problem, Task(Deadline()), four, np.zeros(3, np.int64), 0)
    population.begin()
    move(population, Tabu(iterations=1))


def _repair() -> None:
    from formulations.compiled.rules import compile_problem
    from ilpinfer.deadline import Deadline
    from ilpinfer.found import Task
    from ilpinfer.search.parameters import Evolution
    from ilpinfer.search.population import Population
    from ilpinfer.search.repairing import mend

    problem = compile_problem(_example(), [C.at_most_runs("0", 1, penalty=1)])
    single = Evolution(population=1, offspring=1)
    population = Population(problem, Task(Deadline()), single, np.zeros(3, np.int64), 0)
    population.begin()
    mend(population)


def _marginals() -> None:
    from formulations.compiled.rules import compile_problem
    from ilpinfer.exact.product import product_of

    product = product_of(compile_problem(_example(), [C.at_most_runs("0", 1, penalty=1)]), 1000)
    product.probabilities(edges=True)
    product.draw(np.zeros((1, 3)))


def _example() -> Trellis:
    return Trellis(np.zeros(2), np.zeros((2, 2, 2)))


STAGES = {
    "compiled": "decoding by compiled rules",
    "batches": "decoding many sequences in one call",
    "viterbi": "the best labelling of a trellis",
    "lists": "several best labellings of a trellis",
    "engine": "prices and label setting",
    "agreement": "tokens that agree",
    "relaxation": "the linear relaxation of sums",
    "refinement": "decision diagrams",
    "beam": "beam search",
    "discrepancy": "limited discrepancy search",
    "evolution": "the evolutionary algorithm",
    "annealing": "simulated annealing",
    "tabu": "tabu search",
    "repair": "repair of labellings",
    "marginals": "sums over labellings",
}
"""Names of the stages, and what each is for."""
_RUNS = {
    "compiled": _compiled,
    "batches": _batches,
    "viterbi": _viterbi,
    "lists": _lists,
    "engine": _engine,
    "agreement": _agreement,
    "relaxation": _relaxation,
    "refinement": _refinement,
    "beam": _beam,
    "discrepancy": _discrepancy,
    "evolution": _evolution,
    "annealing": _annealing,
    "tabu": _tabu,
    "repair": _repair,
    "marginals": _marginals,
}
