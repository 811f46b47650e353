"""The report: tables and sentences from rows alone."""

from pandas import DataFrame

from benchmarks.methods import PLAIN
from benchmarks.report import Cells, Report, groups, number

NAMES = {
    "toulbar2": "toulbar2, without preprocessing",
    "toulbar2, defaults": "toulbar2, with preprocessing",
    "conin": "conin, integer program",
    "conin a-star": "conin, A*",
    "cpmpy": "CPMpy",
    "pulp": "PuLP, rule by rule",
}
TITLES = {
    "cora 20": "Cora references, citation rules",
    "cora 20 once": "Cora references, each field once, hard",
    "cora 20 implications": "Cora references, ten implications more",
    "resume soft": "résumé sections, soft rules",
    "resume hard": "résumé sections, hard rules",
    "umass": "UMass references, 240 mined rules",
}
DONE = ("optimal", "infeasible")


PROGRAM = {"program": "program", "instances": "title"}


def report(decoded: DataFrame, report: Report) -> None:
    auto = decoded[decoded.method == "auto"]
    _times(beside(decoded), int(auto.proved.sum()), len(auto), report)
    _cannot(beside(decoded), report)


def title(name: str) -> str:
    if name.startswith("generator "):
        T, K = name.split()[1:]
        return f"documents, T = {T}, K = {K}"
    return TITLES[name]


def beside(frame: DataFrame) -> DataFrame:
    """Rows of peers, with the seconds of `auto` and of a bare pass on the same sequence in the same part."""
    place = ["part", "data", "item"]
    for method, name in (("auto", "auto"), (PLAIN, "bare")):
        own = frame[frame.method == method].set_index(place).seconds.rename(name)
        frame = frame.join(own, on=place)
    frame = frame[frame.method.isin(list(NAMES))]
    return frame.assign(program=frame.method.map(NAMES), title=frame.data.map(title))


def _times(frame: DataFrame, proved: int, count: int, report: Report) -> None:
    ran = frame[frame.seconds.notna()] if "seconds" in frame else frame[:0]
    report.heading("The same instances")
    cells: Cells = {
        "optimal": lambda x: f"{x.status.isin(DONE).sum()} of {len(x)}",
        "median ms": lambda x: number(1000 * x.seconds.median()),
        "time / `auto`": lambda x: number((x.seconds / x.auto).median()),
        "bare Viterbi passes": lambda x: number((x.seconds / x.bare).median()),
    }
    report.pivot(ran, PROGRAM, cells)
    report.text(
        f"The other programs end with an optimum on {ran.status.isin(DONE).sum()} of the {len(ran)} instances that they can state, and each equals "
        f"that of `auto`, which proves {proved} of {count}; proofs of `auto` are rechecked. "
        "Times include building the model. The last two columns are medians of a sequence's time divided by the time of `auto`, and of "
        "a bare compiled Viterbi pass without rules, on the same sequence in the same run. "
        "Where fewer are optimal than were tried, multiples are lower bounds."
    )


def _cannot(frame: DataFrame, report: Report) -> None:
    without = frame[frame.status.isin(["cannot state", "failed"])]
    if not len(without):
        return
    counts = frame.groupby(["program", "title"]).size()
    without = without.assign(kind=without.status + without.note.str.replace(r"\d+", "", regex=True))
    lines = (
        (*names[:2], f"{own.status.iloc[0]}: {own.note.iloc[0]}", f"{len(own)} of {counts[names[:2]]}")
        for names, own in groups(without, "program", "title", "kind")
    )
    report.heading("What they cannot state")
    report.table((*PROGRAM, "reason", "sequences"), lines, left=3)
