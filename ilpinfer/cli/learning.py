"""`ilpinfer learn`."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from formulations import RuleSet, dump_rules
from formulations.errors import RuleNotice
from ilpinfer.cli.inputs import about, check_streams, checked_scheme, comments, files_read, read_rules
from ilpinfer.cli.learning_options import LearnOptions
from ilpinfer.cli.progress import status
from ilpinfer.cli.screen import add_row, console_beside, numbers, print_json, table
from ilpinfer.cli.streams import notice, remark
from ilpinfer.cli.training_scores import cross_fitted, open_checkpoint, read_training
from ilpinfer.corpus.sequences import InputError
from ilpinfer.learning.penalties import LearntPenalties, PenaltyLearner
from ilpinfer.learning.perceptron import LARGEST
from ilpinfer.learning.training_set import ScoredExample
from ilpinfer.system.files import reserve, write_atomically
from ilpinfer.system.output_paths import output_path

SHOWN = 40
"""Rules of the table on screen."""


def run_learn(options: LearnOptions) -> None:
    """Learn penalties, show the penalty of each rule, and write the rules."""
    source, scheme = options.source, checked_scheme(options.scheme)
    try:
        learner = PenaltyLearner(folds=options.folds, **options.settings)
    except ValueError as error:
        raise InputError(str(error)) from None
    inputs = files_read(source, options.model, toml=options.rules)
    check_streams(options.as_json, [options.output], inputs)
    place = output_path(options.output, inputs)
    rules = read_rules(options.rules)
    warnings.simplefilter("ignore", RuleNotice)
    with about(source):
        data = read_training(options, scheme)

        def learnt(examples: Sequence[ScoredExample]) -> tuple[LearntPenalties, str]:
            try:
                with _count(len(examples)) as advance:
                    result = learner.fit(examples, rules, advance=advance)
            except ValueError as error:
                raise InputError(f"{', '.join(options.rules)}: {error}") from None
            return result, _text(result, learner, f"{data.digest}, {data.scores}")

        if data.record is None or place.direct:
            with reserve(place):
                result, text = learnt(data.examples or cross_fitted(data, learner))
                write_atomically(options.output, text)
        else:
            with open_checkpoint(options.output, data, learner, inputs) as checkpoint:
                examples = cross_fitted(data, learner, checkpoint)
                try:
                    result, text = learnt(examples)
                except InputError:
                    notice(f"{checkpoint.place.part}: the models are kept for the next run")
                    raise
                checkpoint.replace_by(text.encode("utf-8", "backslashreplace"))
    _show(options, result)


@contextmanager
def _count(number: int) -> Iterator[Any]:
    """Show the number of passes over the sequences."""
    done = 0
    with status("learning") as update:

        def advance() -> None:
            nonlocal done
            done += 1
            if update is not None and done % max(1, number) == 0:
                update(f"learning: {done // number} passes over {number} sequences")

        yield advance


def _text(result: LearntPenalties, learner: PenaltyLearner, data: str) -> str:
    """The rule file with its origin, and with the removed rules as comments."""
    settings = ", ".join(f"{name} {value}" for name, value in asdict(learner).items())
    made = (
        f"penalties learnt by ilpinfer {version('ilpinfer')}: {result.algorithm}, from {result.sequences} sequences "
        f"({data}); {settings}"
    )
    rules: RuleSet = result.rules
    source = f"{rules.source}; {made}" if rules.source else made
    text = dump_rules(
        RuleSet(rules.items, rules.fields, "", rules.groups, rules.templates, rules.title, source)
    )
    left = [verdict for verdict in result.verdicts if not verdict.learnt]
    return text + comments(f"left out: {verdict.name} ({verdict.reason})" for verdict in left)


def _show(options: LearnOptions, result: LearntPenalties) -> None:
    if options.as_json:
        print_json(result.to_dict())
    else:
        screen = console_beside(options.output)
        if result.candidates:
            shown = table("on held-out parts")
            numbers(shown, "token accuracy", "span F1", "whole sequences")
            for candidate in result.candidates:
                name = candidate.algorithm + (", taken" if candidate.algorithm == result.algorithm else "")
                figures = (f"{100 * share:.2f}" for share in candidate.measures)
                add_row(shown, name, *figures)
            screen.print(shown)
        shown = table("rule")
        numbers(shown, "given", "learnt")
        shown.add_column("why", overflow="fold")
        for verdict in sorted(result.verdicts, key=lambda v: -abs(v.learnt))[:SHOWN]:
            add_row(shown, verdict.name, f"{verdict.given:.2f}", f"{verdict.learnt:.2f}", verdict.reason)
        screen.print(shown)
        if len(result.verdicts) > SHOWN:
            screen.print(f"… and {len(result.verdicts) - SHOWN} more; --json shows all", highlight=False)
    if result.capped:
        notice(
            f"penalties that reached the cap of {LARGEST:.0f} nats, because predictions break the rule at any penalty: "
            f"{', '.join(result.capped[:3])}{f' and {more} more' if (more := len(result.capped) - 3) > 0 else ''}"
        )
    if result.unlabelled:
        notice(f"{result.unlabelled} of {result.sequences} sequences have no labelling under the hard rules")
    for candidate in result.candidates:
        if candidate.algorithm == result.algorithm and candidate.refused:
            notice(f"{result.algorithm}: {candidate.refused}, before rules were left out")
    kept = sum(verdict.learnt != 0 for verdict in result.verdicts)
    remark(
        f"{options.output}: {kept} of {len(result.verdicts)} rules and features kept, by {result.algorithm}"
    )
