"""The columns of all tables, and the formatting of their values."""

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

ALL, SOLVED, COMMON = "all", "solved", "common"
"""Groups of columns: over all sequences with a known optimum, those that the method solves, and those that every method solves."""
UNITS = {
    "percent": "%",
    "points": "% points",
    "loss": "% points",
    "nats": "nats",
    "small": "nats a token",
    "relative": "%",
    "ms": "ms",
}
"""By form of a number; see `shown`."""
SHARES = ("percent", "points", "loss", "relative")
"""Forms of shares that are shown times 100."""
LONGEST = 80
"""Largest number of characters of a name or token."""
JOINERS = "\u200c\u200d"
"""Unprintable characters that some scripts and emoji need."""
MISSING = "–"
"""Text for unknown values."""
INTERVAL = "[95 %]"
DECIMALS = {"percent": 1, "points": 1, "loss": 1, "relative": 4, "nats": 4, "small": 5, "ms": 2, "times": 1}
"""By form of a number; see `shown`."""


@dataclass(frozen=True)
class Column:
    """A column of a table. Only `printed` columns are in Markdown and LaTeX, where cells of `interval` columns include the interval."""

    field: str
    title: str
    form: str
    group: str
    help: str
    printed: bool = True
    interval: bool = False

    @property
    def unit(self) -> str:
        """Such as "nats"; empty for counts and texts."""
        return UNITS.get(self.form, "")

    @property
    def heading(self) -> str:
        return f"{self.title}{f', {self.group}' if self.group else ''}"

    @property
    def measure(self) -> str:
        """The unit in parentheses, and the level of an interval."""
        parts = (f"({self.unit})" if self.unit else "", INTERVAL if self.interval else "")
        return " ".join(filter(None, parts))

    @property
    def name(self) -> str:
        return f"{self.heading} {self.measure}".strip()

    def values(self, lines: "pd.DataFrame", end: str = "") -> "pd.Series":
        """The values in their unit; with `end`, "_low" or "_high", an end of their intervals."""
        values = lines[self.field + end]
        return 100 * values if self.form in SHARES else values

    def texts(self, lines: "pd.DataFrame", digits: int | None = None) -> list[str]:
        """The formatted values, with intervals if there are any."""
        value, *ends = (
            [shown(each, self.form, digits) for each in self.values(lines, end)]
            for end in ("", "_low", "_high")[: 3 if self.interval else 1]
        )
        if not ends:
            return value
        return [
            one if one == MISSING or low == MISSING else f"{one} [{low}, {high}]"
            for one, low, high in zip(value, *ends, strict=True)
        ]


def readable(text: str, longest: int = LONGEST) -> str:
    """One line of text of limited length; unprintable characters and characters that change the text direction are escaped."""
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return "".join(_sign(character) for character in cut)


def _sign(character: str) -> str:
    if character.isprintable() or character in JOINERS or unicodedata.category(character) == "Zs":
        return character
    return character.encode("unicode_escape").decode("ascii")


def missing(value: Any) -> bool:
    """Whether a value is None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def shown(value: Any, form: str = "text", digits: int | None = None) -> str:
    """Format a value as "text", "count" (with a decimal for means over seeds), "p", or with the decimals of `DECIMALS` or `digits`."""
    if missing(value):
        return MISSING
    if form == "text":
        return readable(str(value))
    if form == "count":
        return str(int(value)) if float(value).is_integer() else f"{value:.1f}"
    if form == "p":
        return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}" if value >= 1e-99 else "<1e-99"
    if form == "ms" and digits is None and 0 < value < 0.1:
        return f"{value:.2g}"
    text = f"{value:.{DECIMALS[form] if digits is None else digits}f}"
    text = text.removeprefix("-") if float(text) == 0 else text
    return f"+{text}" if form == "points" and float(text) > 0 else text


TABLE = """
field                | tables                                               | title                     | form     | group     | help
method               | summary gaps gold errors matches fields stages rules | method                    | text     |           |
kind                 | summary-                                             | kind                      | text     |           |
seeds                | summary-                                             | seeds                     | count    |           |
solved               | summary                                              | solved                    | percent  |           | sequences with a labelling that keeps the hard rules
proved               | summary-                                             | proved                    | percent  |           | proved optimal, or proved to have no labelling
failed               | summary gaps gold errors                             | failed                    | count    |           | sequences on which the method raised an error; other figures leave them out
optimum_known        | summary- gaps                                        | sequences                 | count    | all       | sequences with a proved optimum on which the method did not fail
cap                  | gaps-                                                | cap                       | nats     | all       | gap of a missing labelling; other gaps are not capped
reaches              | summary                                              | reaches optimum           | percent  | all       | share on which the score is the proved optimum
missed               | summary-                                             | missed                    | count    | all       | sequences on which the score is not the proved optimum, or missing
mean_gap             | summary gaps                                         | mean gap                  | nats     | all       | below the proved optimum; the cap stands for a missing labelling
mean_gap_low         | summary- gaps-                                       | 95 % from                 | nats     | all       | interval of the mean gap by the bootstrap over sequences
mean_gap_high        | summary- gaps-                                       | 95 % to                   | nats     | all       | interval of the mean gap by the bootstrap over sequences
gap_spread           | summary- gaps                                        | ± seeds                   | nats     | all       | standard deviation of the mean gap between seeds
relative_gap         | gaps                                                 | relative gap              | relative | all       | divided by the absolute value of the optimum
gap_per_token        | gaps                                                 | gap per token             | small    | all       | divided by the tokens of the sequence
solved_gap           | summary- gaps                                        | mean gap                  | nats     | solved    | over the sequences that it solves; no cap
common               | summary- gaps-                                       | sequences                 | count    | common    | sequences with a proved optimum that every method solves with every seed
common_gap           | summary- gaps-                                       | mean gap                  | nats     | common    | nothing is missing here
common_relative_gap  | gaps-                                                | relative gap              | relative | common    | nothing is missing here
common_gap_per_token | gaps-                                                | gap per token             | small    | common    | nothing is missing here
largest_gap          | summary- gaps                                        | largest gap               | nats     |           | of a labelling that keeps the hard rules
violations           | summary-                                             | violations                | count    |           | sum over rules and sequences
breaking             | summary-                                             | sequences with violations | count    |           |
accuracy             | summary- gold                                        | accuracy                  | percent  |           | of the fields of tokens with gold, prefixes left out; missing labellings are wrong
accuracy_low         | gold-                                                | accuracy from             | percent  |           | 95 % interval by the bootstrap over sequences
accuracy_high        | gold-                                                | accuracy to               | percent  |           | 95 % interval by the bootstrap over sequences
f1                   | summary gold                                         | F1                        | percent  |           | of whole fields with gold; missing labellings are wrong
f1_low               | gold-                                                | F1 from                   | percent  |           | 95 % interval by the bootstrap over sequences
f1_high              | gold-                                                | F1 to                     | percent  |           | 95 % interval by the bootstrap over sequences
accuracy_loss        | gold                                                 | loss of accuracy          | loss     |           | of the reference, the first exact method, less that of the method, on the sequences on which neither fails
accuracy_loss_low    | gold-                                                | loss of accuracy from     | loss     |           | 95 % interval by the paired bootstrap over sequences
accuracy_loss_high   | gold-                                                | loss of accuracy to       | loss     |           | 95 % interval by the paired bootstrap over sequences
f1_loss              | summary gold                                         | loss of F1                | loss     |           | of the reference, the first exact method, less that of the method, on the sequences on which neither fails
f1_loss_low          | summary- gold-                                       | loss of F1 from           | loss     |           | 95 % interval by the paired bootstrap over sequences
f1_loss_high         | summary- gold-                                       | loss of F1 to             | loss     |           | 95 % interval by the paired bootstrap over sequences
search_errors        | errors                                               | search errors             | count    | sequences | gold scores higher: the method missed it
model_errors         | errors                                               | model errors              | count    | sequences | gold scores lower: the model prefers another labelling
rule_errors          | errors                                               | rule errors               | count    | sequences | gold breaks a hard rule: no method can find it
tie_errors           | errors                                               | tie errors                | count    | sequences | gold and the labelling score the same
label_accuracy       | errors-                                              | accuracy                  | percent  | labels    | of labels as they are, with their prefixes
search_error_tokens  | errors                                               | search errors             | count    | tokens    | wrong labels of these sequences
model_error_tokens   | errors                                               | model errors              | count    | tokens    | wrong labels of these sequences
rule_error_tokens    | errors                                               | rule errors               | count    | tokens    | wrong labels of these sequences
tie_error_tokens     | errors                                               | tie errors                | count    | tokens    | wrong labels of these sequences
median_ms            | summary                                              | median time               | ms       |           | time of a sequence
p90_ms               | summary-                                             | 90th percentile           | ms       |           | time of a sequence
bare_passes          | summary                                              | bare Viterbi passes       | times    |           | median time as a multiple of a bare compiled Viterbi pass over the same scores without rules
other                | matches                                              | other                     | text     |           |
wins                 | matches                                              | wins                      | count    |           | sequences on which the first method is better
ties                 | matches                                              | ties                      | count    |           |
losses               | matches                                              | losses                    | count    |           | sequences on which the other one is better
failed               | matches                                              | failed                    | count    |           | sequences left out, on which one of the two failed
p                    | matches                                              | p                         | p        |           | two-sided sign test; not corrected for the number of pairs
holm                 | matches                                              | p by Holm                 | p        |           | corrected for the number of pairs by Holm's method
field                | fields                                               | field                     | text     |           |
failed               | fields                                               | failed                    | count    |           | sequences on which the method raised an error; other figures leave them out
gold                 | fields                                               | gold fields               | count    |           |
precision            | fields                                               | precision                 | percent  |           |
recall               | fields                                               | recall                    | percent  |           |
f1                   | fields                                               | F1                        | percent  |           |
precision_gain       | fields-                                              | precision gain            | points   |           | over Viterbi without rules
recall_gain          | fields-                                              | recall gain               | points   |           | over Viterbi without rules
f1_gain              | fields                                               | F1 gain                   | points   |           | over Viterbi without rules
stage                | stages                                               | stage                     | text     |           |
ran                  | stages                                               | sequences                 | count    |           | on which it ran, with every seed
ended                | stages                                               | ended                     | count    |           | sequences whose search it ended, by a proof or at a limit
share                | stages                                               | share of the time         | percent  |           |
rule                 | rules                                                | rule                      | text     |           |
sequences            | rules                                                | sequences                 | count    |           | whose labelling breaks the rule
violations           | rules                                                | violations                | count    |           | in all of them, with every seed
"""
"""The tables of each column, and the form of its values. `-` after a table: only in CSV, Parquet and the page. `field` is a column of
`Comparison.summary`, `matches`, `field_gains`, `stages` or `rules_broken`."""


def _read(text: str) -> dict[str, list[Column]]:
    result: dict[str, list[Column]] = {}
    for line in text.strip().splitlines()[1:]:
        field, tables, title, form, group, words = (cell.strip() for cell in line.split("|"))
        for table in tables.split():
            column = Column(field, title, form, group, words, printed=not table.endswith("-"))
            result.setdefault(table.removesuffix("-"), []).append(column)
    return result


COLUMNS = _read(TABLE)


def with_values(lines: "pd.DataFrame", columns: Sequence[Column]) -> tuple["pd.DataFrame", list[Column]]:
    """A table without empty columns, without zero failures, and without the bare pass if it has no value."""
    kept = [column for column in columns if lines[column.field].notna().any() or not len(lines)]
    if "failed" in lines and not lines.failed.any():
        kept = [column for column in kept if column.field != "failed"]
    if "kind" in lines:
        numbers = lines[[column.field for column in kept if column.form != "text"]]
        lines = lines[(lines.kind != "bare") | numbers.notna().any(axis=1)]
    return lines, kept


OF_METHODS = ("summary", "gaps", "gold", "errors")
"""Tables with a line for each method."""
