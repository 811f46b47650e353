"""The certificate of a complete search."""

from formulations.problem.problem import Problem
from ilpinfer.core.certificate import Certificate, Leaf, proof


def complete_search(
    problem: Problem, source: str, *, feasible: bool, excluded: tuple[tuple[int, ...], ...] = ()
) -> Certificate:
    """A leaf in which every machine follows. Where a rule has no machine, there is no proof.

    Parameters
    ----------
    problem : Problem
        As it was given, before folding.
    source : str
        The argument in words.
    feasible : bool
        Whether there is a labelling; where there is none, the hard rules alone show it.
    excluded : tuple of tuple of int, optional
        Label ids (T,) of the labellings before.
    """
    rules = [(r, rule) for r, rule in enumerate(problem.rules) if not rule.folds]
    if any(rule.machineless for _, rule in rules):
        return Certificate("none", source)
    named = ((r, rule) for r, rule in rules if feasible or rule.hard)
    machines = tuple((r, m) for r, rule in named for m in range(len(rule.machines)))
    return proof(source, Leaf(stages=(machines,) if machines else ()), excluded)
