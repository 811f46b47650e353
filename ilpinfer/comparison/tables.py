"""Tables as data frames with titles, and as files: CSV, Markdown, LaTeX, Parquet."""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from formulations.arguments import whole
from ilpinfer.comparison.columns import COLUMNS, OF_METHODS, Column, readable
from ilpinfer.system.extras import require
from ilpinfer.system.files import write_files

if TYPE_CHECKING:
    import pandas as pd

FORMULA = re.compile(r"^['=+\-@＝＋－＠]")
"""How texts begin that are written with an apostrophe before them in CSV; one more before an apostrophe, so that the first one
can be taken away again."""
MARKDOWN = "\\`*_[]<>|#~$&{}@^!"
"""Characters with a meaning in Markdown or its dialects."""
SUFFIXES = {"csv": ".csv", "markdown": ".md", "latex": ".tex", "parquet": ".parquet"}
"""By format."""
LIBRARIES = {
    "markdown": ("compare", "tabulate"),
    "latex": ("compare", "jinja2"),
    "parquet": ("parquet", "pyarrow"),
}
"""Extra and library of a format, as `require` takes them."""
TEXT_FORMATS = ("markdown", "latex")
"""Formats with values as people read them, in which columns without any value are left out."""
PAPER = {
    True: {"method": "Method", "f1": "F1", "f1_loss": "F1 loss [95 %]", "mean_gap": "Gap", "median_ms": "ms"},
    False: {
        "method": "Method",
        "solved": "Solved",
        "reaches": "Opt.",
        "mean_gap": "Gap [95 %]",
        "median_ms": "ms",
    },
}
"""Columns of the preset with their heads, with gold and without; those whose heads end in a bracket have intervals."""
PAPER_DIGITS = {"nats": 2}
CAPTIONS = {
    True: "F1 of fields (per cent), its loss against the reference (points), mean gap to the proved optimum (nats), and median time "
    "of a sequence. Brackets: 95 per cent intervals by the paired bootstrap over sequences.",
    False: "Sequences solved, and solved to the proved optimum (per cent), mean gap to the optimum (nats), and median time of a "
    "sequence. Brackets: 95 per cent intervals by the bootstrap over sequences.",
}
SMALL_TYPE = "\\footnotesize\n\\setlength{\\tabcolsep}{3pt}\n"


@dataclass(frozen=True)
class Layout:
    """How tables are written: chosen columns of methods in one table, decimals, a caption, and whether it is to fit a column of a paper."""

    columns: Sequence[str] | None = None
    digits: int | None = None
    caption: str = ""
    preset: str = ""

    def check(self, kind: str) -> None:
        """Raise ValueError for an unknown format, column or preset, and MissingLibrary for a format whose library is not installed."""
        if kind not in SUFFIXES:
            raise ValueError(f"format is {kind!r}; expected one of {', '.join(SUFFIXES)}")
        if self.preset not in ("", "paper"):
            raise ValueError(f"preset is {self.preset!r}; expected 'paper'")
        if kind not in TEXT_FORMATS and (self.caption or self.preset):
            raise ValueError(
                f"format {kind} has no {'preset' if self.preset else 'caption'}; choose latex or markdown"
            )
        if self.digits is not None:
            whole(self.digits, "digits", 0, 15)
        known = columns_of_methods()
        for field in self.columns or ():
            if field not in known:
                raise ValueError(f"columns: no column {field!r}; expected some of {', '.join(known)}")
        if self.columns is not None and not self.columns:
            raise ValueError(f"columns is empty; expected some of {', '.join(known)}")
        if kind in LIBRARIES:
            require(f"format {kind}", *LIBRARIES[kind])

    @property
    def names(self) -> list[str]:
        return list(COLUMNS) if self.columns is None and not self.preset else ["summary"]

    def tables(self, lines: Mapping[str, "pd.DataFrame"]) -> dict[str, list[Column]]:
        known = columns_of_methods()
        if self.columns is not None:
            return {"summary": [known[field] for field in self.columns]}
        if not self.preset:
            return COLUMNS
        heads = PAPER[_golden(lines["summary"])]
        return {"summary": [replace(known[field], title=title, group="") for field, title in heads.items()]}


def _golden(summary: "pd.DataFrame") -> bool:
    return bool(summary.f1.notna().any())


def columns_of_methods() -> dict[str, Column]:
    """The columns of all tables with a line for each method, by field."""
    return {column.field: column for table in OF_METHODS for column in COLUMNS[table]}


def with_titles(lines: "pd.DataFrame", columns: Sequence[Column]) -> "pd.DataFrame":
    """A table with names and units in its columns, shares in percent and times in milliseconds."""
    import pandas as pd

    return pd.DataFrame({column.name: column.values(lines) for column in columns})


def write_tables(
    lines: Mapping[str, "pd.DataFrame"],
    folder: str | Path,
    kind: str,
    layout: Layout,
    inputs: Iterable[str | Path | None] = (),
) -> list[Path]:
    """Write tables of the lines of each into a folder, but over none of the inputs."""
    layout.check(kind)
    contents = {
        name + SUFFIXES[kind]: content(lines[name], columns, kind, layout, name)
        for name, columns in layout.tables(lines).items()
    }
    return write_files(folder, contents, inputs)


def content(
    lines: "pd.DataFrame", columns: Sequence[Column], kind: str, layout: Layout, name: str
) -> str | bytes:
    """A table as a file holds it: CSV and Parquet have numbers as they are, Markdown and LaTeX texts."""
    if kind in TEXT_FORMATS:
        kept = [column for column in columns if lines[column.field].notna().any() or not len(lines)]
        return (_markdown if kind == "markdown" else _latex)(lines, kept, layout, name)
    frame = with_titles(lines, columns)
    if layout.digits is not None:
        frame = frame.round(layout.digits)
    if kind == "csv":
        texts = {key: [_without_formula(text) for text in frame[key]] for key in _texts(columns)}
        return str(frame.assign(**texts).to_csv(index=False, lineterminator="\n"))
    stream = io.BytesIO()
    frame.to_parquet(stream, engine="pyarrow", index=False)
    return stream.getvalue()


def _texts(columns: Sequence[Column]) -> list[str]:
    return [column.name for column in columns if column.form == "text"]


def _without_formula(text: str) -> str:
    """A name that no program takes for a formula or for the end of a line."""
    return FORMULA.sub(r"'\g<0>", readable(text, len(text)))


def _texts_of_columns(lines: "pd.DataFrame", columns: Sequence[Column], layout: Layout) -> "pd.DataFrame":
    texts = {}
    for column in columns:
        digits = layout.digits
        if layout.preset and digits is None:
            digits = PAPER_DIGITS.get(column.form)
        head = column.title if layout.preset else column.name
        texts[readable(head)] = column.texts(lines, digits, interval=head.endswith("]"))
    return type(lines)(texts, dtype="object")


def _markdown(lines: "pd.DataFrame", columns: Sequence[Column], layout: Layout, name: str) -> str:
    rounded = _texts_of_columns(lines, columns, layout).map(_escaped_markdown)
    align = ["left" if column.form == "text" else "right" for column in columns]
    text = str(rounded.to_markdown(index=False, disable_numparse=True, colalign=align)) + "\n"
    return f"{text}\n: {layout.caption}\n" if layout.caption else text


def _escaped_markdown(text: str) -> str:
    """Without a meaning in Markdown."""
    return "".join("\\" + each if each in MARKDOWN else each for each in text)


def _latex(lines: "pd.DataFrame", columns: Sequence[Column], layout: Layout, name: str) -> str:
    """A table of booktabs; with a caption, which is LaTeX itself, it floats and has a label."""
    caption = layout.caption or (CAPTIONS[_golden(lines)] if layout.preset else "")
    sides = "".join("l" if column.form == "text" else "r" for column in columns)
    texts = _texts_of_columns(lines, columns, layout)
    for head, column in zip(texts.columns, columns, strict=True):
        if column.form != "text":
            texts[head] = texts[head].str.replace(r"-(?=\d)", "−", regex=True)
    style = texts.style.hide(axis="index").format(escape="latex")
    text = style.format_index(escape="latex", axis="columns").to_latex(
        column_format=f"@{{}}{sides}@{{}}" if layout.preset else sides, hrules=True
    )
    text = re.sub(r"^([\[*])", r"{\1}", text, flags=re.M)  # behind \\ both would be its arguments
    text = re.sub(r"-(?=-)", "-{}", text)  # two would be a dash
    text = (
        text.replace("–", "--")
        .replace("−", "$-$")
        .replace("|", r"\textbar{}")
        .replace("<", r"\textless{}")
        .replace(">", r"\textgreater{}")
        .replace("±", r"$\pm$")
        .replace('"', r"\char34{}")
    )
    if caption:
        small = SMALL_TYPE if layout.preset else ""
        begin = f"\\begin{{table}}[t]\n\\centering\n{small}\\caption{{{caption}}}\n\\label{{tab:{name}}}\n"
        text = f"{begin}{text}\\end{{table}}\n"
    return f"% \\usepackage{{booktabs}} in the preamble\n{text}"
