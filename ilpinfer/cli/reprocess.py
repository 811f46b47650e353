"""`ilpinfer reprocess`."""

import contextlib
import hashlib
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from formulations.errors import RuleNotice
from formulations.messages import counted
from formulations.problem.digest import digest
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OptionGroup, argument, output_folder
from ilpinfer.cli.command import command
from ilpinfer.cli.failure import Failure, about
from ilpinfer.cli.inputs import DecodeScoring, Job, job_of, parameters
from ilpinfer.cli.outputs import check_streams
from ilpinfer.cli.progress import duration, rate_progress
from ilpinfer.cli.screen import print_json
from ilpinfer.cli.signals import ContinuedBy
from ilpinfer.cli.streams import notice, show_line, summary
from ilpinfer.system.extras import require
from ilpinfer.system.storage import file_size, open_bytes

if TYPE_CHECKING:
    from ilpinfer.corpus.streams import ExampleStream
    from ilpinfer.reprocessing.executors import Executor
    from ilpinfer.reprocessing.manifest import Manifest
    from ilpinfer.reprocessing.run import RunResult
    from ilpinfer.reprocessing.shards import Shard, Work
    from ilpinfer.reprocessing.tables import ShardEntry

RUN = OptionGroup("Run")


@dataclass(frozen=True)
class ReprocessOptions:
    sources: Annotated[
        list[str],
        argument(
            "INPUT",
            "Files, folders, patterns or fsspec URLs of token<TAB>label columns, JSON lines, Parquet or Arrow; - for standard input.",
        ),
    ]
    input: DecodeScoring
    output: Annotated[
        str,
        output_folder(
            "Folder or fsspec URL for the results: part-00000.parquet and so on, and manifest.json."
        ),
    ]
    method: arguments.MethodName = "auto"
    time_limit: arguments.Limit = None
    budget: float | None = RUN.option(
        None, "SECONDS: Seconds of decoding after which the run stops; --resume continues it."
    )
    shard_size: int = RUN.option(1000, "NUMBER: Number of sequences in each output file.", min=1)
    explain: bool = RUN.option(
        False,
        "Add the labels that differ from Viterbi's, and the rules that cause each difference, as JSON. Each difference "
        "takes a few more decodings.",
    )
    longest: int = RUN.option(
        100_000, "TOKENS: Largest number of tokens in a sequence; longer sequences are rejected.", min=1
    )
    jobs: int = RUN.option(0, "NUMBER: Number of processes; 0 for one per core.", min=0)
    threads: int = RUN.option(1, "NUMBER: Number of threads of each process.", min=1)
    part: str = RUN.option(
        "", "PART: Take only a part of the records: 3/20 takes record 3 and every 20th record after it."
    )
    resume: bool = RUN.option(False, "Continue the run in the output folder.")
    only_unproved: bool = RUN.option(
        False,
        "Decode again only the unproved sequences of a finished run, for example with a longer time limit.",
    )
    dry_run: bool = RUN.option(
        False, "Decode a few sequences, estimate the time of the run, and write nothing."
    )
    scheduler: str = RUN.option(
        "", "ADDRESS: Decode on the workers of a Dask scheduler, such as tcp://10.0.0.1:8786."
    )
    option: arguments.MethodOption = ()
    as_json: arguments.AsJson = False


@command(
    "ilpinfer reprocess corpus/*.jsonl --rules rules.toml --output labelled",
    "ilpinfer reprocess corpus --model hmm.json --rules citations --output labelled --resume",
)
def reprocess(options: ReprocessOptions) -> None:
    """Label a corpus of any size into Parquet files. An interrupted run can be resumed.

    Invalid records are listed and left out. They, and sequences that cannot be decoded, are reported at the end.
    """
    from ilpinfer.corpus.streams import ExampleStream
    from ilpinfer.corpus.text_formats import CorpusForm
    from ilpinfer.decoding.decoder import Decoder
    from ilpinfer.reprocessing.shards import Work

    _check(options)
    part, parts = _part(options)
    check_streams(False, [], [*options.sources, *options.input.rules])
    warnings.simplefilter("ignore", RuleNotice)
    files = _files(options.sources)
    job = job_of(options.input)
    manifest = _manifest(options, files, job)
    with about(", ".join(options.input.rules) or None):
        decoder = Decoder(
            job.rules,
            model=job.model,
            method=options.method,
            time_limit=options.time_limit,
            **parameters(options.option),
        )
    decoder.decode_many((), threads=options.threads)  # raises an error for methods without threads
    work = Work(decoder, job.model, job.scheme, manifest.run, options.threads, options.explain)
    form = CorpusForm(options.input.reading, options.input.column, longest=options.longest, slices=True)
    with ExampleStream(files, form, notice) as stream:
        if options.dry_run:
            _say_estimate(options, stream, work)
            return
        _work(options, stream, (part, parts), work, manifest)


def _check(options: ReprocessOptions) -> None:
    from ilpinfer.core.request import deadline_for

    deadline_for(options.time_limit)
    if options.budget is not None and not options.budget > 0:
        raise ValueError(f"--budget {options.budget:g}: expected seconds above 0")
    if options.resume and options.only_unproved:
        raise ValueError(
            "--resume and --only-unproved: give one of them; the first continues a run, the second repeats unproved sequences of a finished run"
        )
    if options.scheduler and options.jobs:
        raise ValueError("--jobs and --scheduler: give one of them; --jobs counts processes of this machine")
    require("reprocess", "parquet", "pyarrow")


def _part(options: ReprocessOptions) -> tuple[int, int]:
    """The number of the part, from 1, and the number of parts."""
    words = (options.part or "1/1").split("/")
    number, count = map(int, words) if len(words) == 2 and all(map(str.isdecimal, words)) else (0, 0)
    if not 1 <= number <= count:
        raise ValueError(
            f"--part {options.part}: expected PART/PARTS, such as 3/20 for the third of 20 parts"
        )
    if options.part and options.dry_run:
        raise ValueError("--part and --dry-run: give one of them; an estimate is of the whole input")
    return number, count


def _files(sources: Sequence[str]) -> list[str]:
    from ilpinfer.corpus.input_files import files_of

    files = [file for source in sources for file in files_of(source)]
    for file in files:
        with about(file):
            if file != "-":
                open_bytes(file).close()
    twice = next((file for file, count in Counter(files).items() if count > 1), None)
    if twice is not None:
        raise ValueError(f"{twice}: is given twice; give it once")
    return files


def _manifest(options: ReprocessOptions, files: Sequence[str], job: Job) -> "Manifest":
    from ilpinfer.reprocessing.manifest import Manifest

    own = options.input
    model = "" if own.model is None else _sha256(own.model)
    kept = {
        "method": options.method,
        "option": list(options.option),
        "scheme": job.scheme,
        "column": own.column,
        "pool": own.pool,
        "logits": own.logits,
        "label_names": None if own.label_names is None else _sha256(own.label_names),
        "rules_first": own.rules_first,
        "shard_size": options.shard_size,
        "longest": options.longest,
        "explain": options.explain,
        "part": options.part or None,
    }
    inputs = [{"file": file, "bytes": None if file == "-" else file_size(file)} for file in files]
    return Manifest(inputs, model, digest(job.rules), kept, options.time_limit)


def _sha256(path: str) -> str:
    with open_bytes(path) as stream:
        return hashlib.sha256(stream.read()).hexdigest()


def _work(
    options: ReprocessOptions,
    stream: "ExampleStream",
    part: tuple[int, int],
    work: "Work",
    manifest: "Manifest",
) -> None:
    from ilpinfer.reprocessing.folder import Folder
    from ilpinfer.reprocessing.run import Run

    folder = Folder(options.output)
    with folder.locked():
        retry = options.only_unproved
        begun = folder.reopen(manifest) if retry else folder.begin(manifest, options.resume)
        again = ContinuedBy("" if retry else "--resume")
        with again, _executor(options, work) as executor, _progress(stream) as watch:
            look = partial(_tell_of_rules, work)
            run = Run(folder, begun, executor, options.shard_size, options.budget, watch, look, retry, *part)
            outcome = run.over(stream)
    _report(options, outcome)


def _tell_of_rules(work: "Work", shard: "Shard") -> None:
    """Notices about rules that have nothing to check in the first file, as in `decode`."""
    from ilpinfer.pipelines.scored_stream import Absent, RuleCheck
    from ilpinfer.reprocessing.shards import scored

    check, absent = RuleCheck(work.decoder.rules), Absent(work.decoder.rules)
    check.add(scored(shard.examples[0], work))
    for example in shard.examples:
        absent.add(example)
    for text in (*check.remarks, *(f"in the first file, {each}" for each in absent.notices)):
        notice(text)


def _executor(options: ReprocessOptions, work: "Work") -> "Executor":
    from ilpinfer.reprocessing.executors import LocalExecutor, Processes

    if options.scheduler:
        from ilpinfer.reprocessing.dask_cluster import DaskCluster

        return DaskCluster(options.scheduler, work)
    jobs = options.jobs or os.cpu_count() or 1
    return LocalExecutor(work) if jobs == 1 else Processes(work, jobs)


@contextlib.contextmanager
def _progress(stream: "ExampleStream") -> Iterator[Callable[["ShardEntry", int | None], None]]:
    """A callback for finished shards, which shows progress over input bytes, the rate and the proved share."""
    with rate_progress("reprocessing", stream.total) as show:
        rows = proved = 0

        def watch(entry: "ShardEntry", size: int | None) -> None:
            nonlocal rows, proved
            rows += entry.rows
            proved += entry.proved
            if size is not None:
                show(size, rows, proved)

        yield watch


def _say_estimate(options: ReprocessOptions, stream: "ExampleStream", work: "Work") -> None:
    from ilpinfer.reprocessing.estimates import estimate

    result = estimate(stream, work)
    if not result.sequences:
        raise Failure("no sequence could be read, so there is no estimate", 2)
    jobs = options.jobs or os.cpu_count() or 1
    seconds = result.seconds(jobs)
    if options.as_json:
        tried = {"sequences": result.sequences, "proved": result.proved, "rejected": result.rejected}
        whole = {"rate": result.rate, "total": result.total, "processes": jobs, "seconds": seconds}
        print_json({**tried, **whole})
        return
    show_line(
        f"the first {counted(result.sequences, 'sequence')}: {result.proved} proved, {result.rate:.0f} a second in one process, "
        f"{counted(result.rejected, 'record')} rejected"
    )
    if seconds is None or result.total is None:
        show_line("the number of sequences is not known before the input is read")
    else:
        show_line(
            f"about {result.total:.0f} sequences, {duration(seconds)} with {jobs} process{'es' * (jobs != 1)}"
        )


def _show(record: Mapping[str, Any]) -> None:
    sequences, files = counted(record["sequences"], "sequence"), counted(record["files"], "file")
    checks = f"; earlier files checked: {record['checked']} of {record['found']}; files decoded now: {record['decoded']}"
    show_line(
        f"{record['output']}: {sequences} in {files}, {record['proved']} proved, {record['unproved']} unproved, "
        f"{counted(record['rejected'], 'record')} rejected{checks if record['found'] else ''}"
    )


def _report(options: ReprocessOptions, outcome: "RunResult") -> None:
    """Print a summary; Failure if sequences are left out or not finished."""
    rows, unproved, failed = map(outcome.count, ("rows", "unproved", "failed"))
    rejected = outcome.manifest.rejected
    record = {
        "output": options.output,
        "finished": outcome.manifest.finished,
        "files": len(outcome.manifest.shards),
        "sequences": rows,
        "proved": outcome.count("proved"),
        "unproved": unproved,
        "failed": failed,
        "rejected": rejected,
        "found": outcome.found,
        "checked": outcome.checked,
        "decoded": outcome.decoded,
    }
    summary.update(record)
    if options.as_json:
        print_json(record)
    else:
        _show(record)
    faults = []
    if not outcome.manifest.finished:
        how = "--only-unproved" if options.only_unproved else "--resume"
        short = outcome.decoded or options.only_unproved
        more = "" if short else " and more time, since no file was finished"
        faults.append(f"--budget {options.budget:g} s are over; continue with {how}{more}")
    if outcome.first_rejection:
        faults.append(
            f"{counted(rejected, 'record')} rejected, see rejected.jsonl: first {outcome.first_rejection}"
        )
    if failed:
        faults.append(f"{counted(failed, 'sequence')} could not be decoded: first {outcome.first_failure}")
    if faults:
        raise Failure("; ".join(faults), 1)
    if not rows and not options.only_unproved and not options.part:
        raise Failure("no sequence in the input", 2)
    if unproved:
        notice(
            f"{unproved} unproved, see unproved.jsonl; decode them again with --only-unproved and a longer --time-limit"
        )
