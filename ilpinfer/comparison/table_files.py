"""Tables as files: CSV, Markdown, LaTeX, Parquet."""

import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ilpinfer.comparison.columns import COLUMNS
from ilpinfer.comparison.results import Results, tables_of
from ilpinfer.comparison.text import readable, shown
from ilpinfer.system.extras import require
from ilpinfer.system.files import write_atomically
from ilpinfer.system.output_paths import check_folder, output_path

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


def write_tables(
    results: Results,
    folder: str | Path,
    format: str = "csv",  # noqa: A002
    inputs: Iterable[str | Path | None] = (),
) -> list[Path]:
    """Write every table of a comparison into a folder, but over none of the inputs.

    CSV and Parquet hold numbers as they are; Markdown and LaTeX are rounded, and leave out columns without any value.
    """
    check_format(format)
    check_folder(folder)
    contents = {
        name + SUFFIXES[format]: content(table, name, format) for name, table in tables_of(results).items()
    }
    inputs, places = list(inputs), [Path(folder, name) for name in contents]
    for place in places:
        output_path(place, inputs)
    for place, data in zip(places, contents.values(), strict=True):
        write_atomically(place, data, inputs)
    return places


def check_format(kind: str) -> None:
    """Raise ValueError for an unknown format, and MissingLibrary for one whose library is not installed."""
    if kind not in SUFFIXES:
        raise ValueError(f"format is {kind!r}; expected one of {', '.join(SUFFIXES)}")
    if kind in LIBRARIES:
        require(f"format {kind}", *LIBRARIES[kind])


def content(frame: "pd.DataFrame", name: str, kind: str) -> str | bytes:
    """A table as a file holds it."""
    if kind == "csv":
        return str(_guarded(frame, name).to_csv(index=False, lineterminator="\n"))
    if kind == "parquet":
        stream = io.BytesIO()
        frame.to_parquet(stream, engine="pyarrow", index=False)
        return stream.getvalue()
    return _markdown(frame, name) if kind == "markdown" else _latex(frame, name)


def _guarded(frame: "pd.DataFrame", name: str) -> "pd.DataFrame":
    """The table with names that no program takes for a formula or for the end of a line."""
    names = [column.name for column in COLUMNS[name] if column.form == "text"]
    return frame.assign(**{key: [_guarded_text(text) for text in frame[key]] for key in names})


def _guarded_text(text: str) -> str:
    return FORMULA.sub(r"'\g<0>", readable(text, len(text)))


def _markdown(frame: "pd.DataFrame", name: str) -> str:
    rounded = _rounded(frame, name).map(_unmarked)
    align = ["left" if side == "l" else "right" for side in _sides(frame, rounded, name)]
    return str(rounded.to_markdown(index=False, disable_numparse=True, colalign=align)) + "\n"


def _unmarked(text: str) -> str:
    """Without a meaning in Markdown."""
    return "".join("\\" + each if each in MARKDOWN else each for each in text)


def _latex(frame: "pd.DataFrame", name: str) -> str:
    rounded = _rounded(frame, name)
    sides = _sides(frame, rounded, name)
    text = rounded.to_latex(index=False, escape=True, column_format=sides)
    text = re.sub(r"^([\[*])", r"{\1}", text, flags=re.M)  # behind \\ both would be its arguments
    text = re.sub(r"-(?=-)", "-{}", text)  # two would be a dash
    text = (
        text.replace("–", "--")
        .replace("|", r"\textbar{}")
        .replace("<", r"\textless{}")
        .replace(">", r"\textgreater{}")
        .replace("±", r"$\pm$")
        .replace('"', r"\char34{}")
    )
    return f"% \\usepackage{{booktabs}} in the preamble\n{text}"


def _rounded(frame: "pd.DataFrame", name: str) -> "pd.DataFrame":
    """Texts of the columns that have values, or of all where the table is empty."""
    shared = {}
    for column in COLUMNS[name]:
        values = frame[column.name]
        if values.notna().any() or not len(frame):
            shared[readable(column.name)] = [shown(value, column.form) for value in values]
    return type(frame)(shared, dtype="object")


def _sides(frame: "pd.DataFrame", rounded: "pd.DataFrame", name: str) -> str:
    """l for texts, r for numbers."""
    texts = {column.name for column in COLUMNS[name] if column.form == "text"}
    return "".join("l" if key in texts else "r" for key in rounded)
