"""`ilpinfer learn --weights all`: a model and the penalties of rules, learnt together."""

from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from formulations import RuleSet, dump_rules
from formulations.messages import counted
from ilpinfer.cli.command import common
from ilpinfer.cli.outputs import Outputs
from ilpinfer.cli.progress import progress
from ilpinfer.cli.rule_files import with_source
from ilpinfer.cli.screen import add_row, table
from ilpinfer.cli.streams import notice, remark
from ilpinfer.corpus.examples import InputError
from ilpinfer.models.corrected import Base
from ilpinfer.models.files import TrainingRecord, record_of, text_of
from ilpinfer.models.sequences import Labelled
from ilpinfer.models.training import KINDS
from ilpinfer.system.files import write_atomically

if TYPE_CHECKING:
    from rich.console import Console

    from ilpinfer.learning.joint_search import JointChoice, JointSearch
    from ilpinfer.learning.verdicts import Candidate


def searcher(options: Any) -> "JointSearch":
    """The search of the options; InputError for options of the other way to learn."""
    from ilpinfer.learning.joint_search import JointSearch

    if not options.output_model:
        raise InputError("--weights all: the model is learnt, too; add --output-model FILE")
    if options.algorithm != "cross-validated" or not options.prune:
        raise InputError("--algorithm and --no-prune are for --weights rules")
    return JointSearch(**common(options, JointSearch))


def learn_all(
    search: "JointSearch",
    pairs: Sequence[Labelled],
    record: TrainingRecord | None,
    rules: RuleSet,
    options: Any,
    outputs: Outputs,
) -> None:
    if record is None or record.kind not in ("hmm", "crf"):
        raise InputError(
            "--weights all: the model has to be trained on the same sequences; add --kind hmm or crf"
        )

    def train(pairs: Sequence[Labelled]) -> Base:
        model = KINDS[record.kind].make(pairs, record.scheme, [], None, record.options)
        assert isinstance(model, Base)
        return model

    made = {
        "by": "learn",
        "settings": asdict(search),
        "scores": "held-out",
        "kind": record.kind,
        "data": record.data,
    }
    with outputs.reserved():
        with progress("models and folds", 2 * min(search.folds, len(pairs))) as advance:
            result = search.fit(pairs, train, rules, advance=advance)
        write_atomically(
            options.output_model, text_of({**record_of(result.model), "made": made}), outputs.inputs
        )
        write_atomically(options.output, _text(result, search, len(pairs), record.data))
    outputs.show(
        _record(options, result), lambda screen: show_candidates(result.candidates, result.chosen, screen)
    )
    if result.unproved:
        notice(f"left out {counted(result.unproved, 'time')}: a sequence without a proved optimum")
    if result.unscored:
        notice(
            f"{result.unscored} of {len(pairs)} sequences have labels that the models of the other folds lack, and were left out"
        )
    remark(f"{options.output_model}: {record.kind} with {result.model.size}, learnt {_how(result)}")


def _how(result: "JointChoice") -> str:
    return result.chosen if result.chosen == "apart" else f"with the rules ({result.chosen})"


def _text(result: "JointChoice", search: "JointSearch", number: int, data: str) -> str:
    settings = ", ".join(f"{name} {value}" for name, value in asdict(search).items())
    made = (
        f"learnt {_how(result)} by ilpinfer {version('ilpinfer')} from {counted(number, 'sequence')} ({data}); "
        f"{settings}"
    )
    return dump_rules(with_source(result.rules, made))


def _record(options: Any, result: "JointChoice") -> dict[str, Any]:
    candidates = [{"algorithm": each.algorithm, **each.measures._asdict()} for each in result.candidates]
    return {
        "output": options.output,
        "output_model": options.output_model,
        "algorithm": result.chosen,
        "candidates": candidates,
        "unproved": result.unproved,
        "unscored": result.unscored,
    }


def show_candidates(candidates: "Sequence[Candidate]", chosen: str, screen: "Console") -> None:
    """A line for each algorithm that was tried on held-out parts."""
    shown = table("on held-out parts", numbers=("token accuracy", "span F1", "whole sequences"))
    for each in candidates:
        name = each.algorithm + (", taken" if each.algorithm == chosen else "")
        add_row(shown, name, *(f"{100 * share:.2f}" for share in each.measures))
    screen.print(shown)
