"""The tables of a comparison: columns and their units."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ilpinfer.comparison.record import Record

if TYPE_CHECKING:
    import pandas as pd

ALL, SOLVED, COMMON = "all", "solved", "common"
"""Groups of columns: over all sequences with a known optimum, and over those of them that the method solves, or that every
method solves."""
UNITS = {
    "percent": "%",
    "points": "% points",
    "nats": "nats",
    "small": "nats a token",
    "relative": "%",
    "ms": "ms",
}
"""By form of a number; see `ilpinfer.comparison.text.shown`."""


@dataclass(frozen=True)
class Column:
    """A column.

    Parameters
    ----------
    title : str
        Short; with group and unit it is unique in its table.
    field : str
        Field of the record that a line is made from.
    form : str, default "text"
        Form of its values; see `ilpinfer.comparison.text.shown`.
    group : str, optional
        "", or which sequences it is a mean over.
    help : str, optional
        One sentence.
    """

    title: str
    field: str
    form: str = "text"
    group: str = ""
    help: str = ""

    @property
    def unit(self) -> str:
        """Such as "nats"; empty for counts and texts."""
        return UNITS.get(self.form, "")

    @property
    def name(self) -> str:
        """Title, group and unit."""
        unit = f" ({self.unit})" if self.unit else ""
        return f"{self.title}{f', {self.group}' if self.group else ''}{unit}"

    def value(self, line: object) -> Any:
        """Its value in a line, in its unit."""
        value = getattr(line, self.field)
        shares = self.form in ("percent", "points", "relative")
        return 100 * value if shares and value is not None else value


METHOD = Column("method", "method")
SEEDS = Column("seeds", "seeds", "count")
FAILED = Column(
    "failed",
    "failed",
    "count",
    "",
    "sequences on which the method raised an error; other figures leave them out",
)
GAP = Column(
    "mean gap", "mean_gap", "nats", ALL, "below the proved optimum; the cap stands for a missing labelling"
)
SOLVED_GAP = Column("mean gap", "solved_gap", "nats", SOLVED, "over the sequences that it solves; no cap")
LOW = Column("95 % from", "gap_low", "nats", ALL, "interval of the mean gap by the bootstrap over sequences")
HIGH = Column("95 % to", "gap_high", "nats", ALL, LOW.help)
SPREAD = Column("± seeds", "gap_spread", "nats", ALL, "standard deviation of the mean gap between seeds")
MISSED = Column(
    "missed", "missed", "count", ALL, "sequences on which the score is not the proved optimum, or missing"
)
BREAKING = Column("sequences with violations", "breaking", "count")
KNOWN = Column(
    "sequences", "optimum_known", "count", ALL, "those with a proved optimum on which the method did not fail"
)
CAP = Column("cap", "cap", "nats", ALL, "stands for a missing labelling, and for nothing else")
SHARED = Column(
    "sequences", "common", "count", COMMON, "those of them that every method solves with every seed"
)
COMMON_GAP = Column("mean gap", "common_gap", "nats", COMMON, "nothing is missing here")
LARGEST = Column("largest gap", "largest_gap", "nats", "", "of a labelling that keeps the hard rules")

COLUMNS: Mapping[str, Sequence[Column]] = {
    "summary": (
        METHOD,
        Column("rank", "rank", "count", "", "by the share solved, then the mean gap, then the time"),
        Column("kind", "kind"),
        SEEDS,
        Column("solved", "solved", "percent", "", "sequences with a labelling that keeps the hard rules"),
        Column("proved", "proved", "percent", "", "proved optimal, or proved to have no labelling"),
        FAILED,
        KNOWN,
        Column(
            "reaches optimum", "reaches", "percent", ALL, "share on which the score is the proved optimum"
        ),
        MISSED,
        GAP,
        LOW,
        HIGH,
        SPREAD,
        SOLVED_GAP,
        SHARED,
        COMMON_GAP,
        LARGEST,
        Column("violations", "violations", "count", "", "sum over rules and sequences"),
        BREAKING,
        Column(
            "accuracy",
            "accuracy",
            "percent",
            "",
            "of the fields of tokens with gold, prefixes left out; missing labellings are wrong",
        ),
        Column("F1", "f1", "percent", "", "of whole fields with gold; missing labellings are wrong"),
        Column("median", "median_ms", "ms", "", "time of a sequence"),
        Column("90th percentile", "p90_ms", "ms", "", "time of a sequence"),
        Column(
            "bare Viterbi passes",
            "bare_passes",
            "times",
            "",
            "median time as a multiple of a bare compiled Viterbi pass over the same scores without rules",
        ),
    ),
    "gaps": (
        METHOD,
        FAILED,
        KNOWN,
        CAP,
        GAP,
        LOW,
        HIGH,
        SPREAD,
        Column(
            "relative gap", "relative_gap", "relative", ALL, "divided by the absolute value of the optimum"
        ),
        Column("gap per token", "gap_per_token", "small", ALL, "divided by the tokens of the sequence"),
        SOLVED_GAP,
        SHARED,
        COMMON_GAP,
        Column("relative gap", "common_relative_gap", "relative", COMMON, "nothing is missing here"),
        Column("gap per token", "common_gap_per_token", "small", COMMON, "nothing is missing here"),
        LARGEST,
    ),
    "errors": (
        METHOD,
        FAILED,
        Column(
            "search", "search_errors", "count", "sequences", "gold scores higher: the method has missed it"
        ),
        Column(
            "model", "model_errors", "count", "sequences", "gold scores lower: the scores prefer another one"
        ),
        Column("rule", "rule_errors", "count", "sequences", "gold breaks a hard rule: no method can find it"),
        Column("tie", "ties", "count", "sequences", "gold and the labelling score the same"),
        Column(
            "accuracy", "label_accuracy", "percent", "labels", "of labels as they are, with their prefixes"
        ),
        Column("search", "search_error_tokens", "count", "tokens", "wrong labels of these sequences"),
        Column("model", "model_error_tokens", "count", "tokens", "wrong labels of these sequences"),
        Column("rule", "rule_error_tokens", "count", "tokens", "wrong labels of these sequences"),
        Column("tie", "tie_tokens", "count", "tokens", "wrong labels of these sequences"),
    ),
    "matches": (
        METHOD,
        Column("other", "other"),
        Column("wins", "wins", "count", "", "sequences on which the first method is better"),
        Column("ties", "ties", "count"),
        Column("losses", "losses", "count", "", "sequences on which the other one is better"),
        Column("failed", "failed", "count", "", "sequences left out, on which one of the two failed"),
        Column("p", "p", "p", "", "two-sided sign test; not corrected for the number of pairs"),
    ),
    "fields": (
        METHOD,
        Column("field", "field"),
        FAILED,
        Column("gold fields", "gold", "count"),
        Column("precision", "precision", "percent"),
        Column("recall", "recall", "percent"),
        Column("F1", "f1", "percent"),
        Column("precision gain", "precision_gain", "points", "", "over Viterbi without rules"),
        Column("recall gain", "recall_gain", "points", "", "over Viterbi without rules"),
        Column("F1 gain", "f1_gain", "points", "", "over Viterbi without rules"),
    ),
}
"""Of each table, by its name."""


def lines_of(record: Record, name: str) -> Sequence[object]:
    """The records that the lines of a table are made from.

    Raises
    ------
    ValueError
        For the name of no table.
    """
    if name not in COLUMNS:
        raise ValueError(f"table is {name!r}; expected one of {', '.join(COLUMNS)}")
    if name == "matches":
        return record.matches()
    return record.field_gains() if name == "fields" else record.summary()


def table_of(record: Record, name: str, lines: Sequence[object] | None = None) -> "pd.DataFrame":
    """A table of a comparison, with names and units in its columns.

    Parameters
    ----------
    record : Record
        A comparison.
    name : str
        "summary", "gaps", "errors", "matches" or "fields".
    lines : sequence of object, optional
        As `lines_of` returns them, where they are known.

    Returns
    -------
    pandas.DataFrame
        Shares in percent, times in milliseconds, NaN for unknown values.

    Raises
    ------
    ValueError
        For another name.
    """
    import pandas as pd

    lines = lines_of(record, name) if lines is None else lines
    values = {column.name: [column.value(line) for line in lines] for column in COLUMNS[name]}
    frame = pd.DataFrame(values)
    texts = [column.name for column in COLUMNS[name] if column.form == "text"]
    return frame.astype({key: "float64" for key in frame if key not in texts and frame[key].dtype == object})
