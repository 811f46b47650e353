"""Tables as files: CSV and Parquet with all figures, Markdown and LaTeX with formatted values."""

import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from formulations.arguments import whole
from ilpinfer.comparison.columns import COLUMNS, OF_METHODS, Column, readable, with_values
from ilpinfer.system.extras import require
from ilpinfer.system.files import write_files

if TYPE_CHECKING:
    import pandas as pd

FORMULA = re.compile(r"^['=+\-@＝＋－＠]")
"""Texts that begin so are prefixed by an apostrophe in CSV, as programs would read a formula; an apostrophe is doubled, so that the prefix can be removed."""
MARKDOWN = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>|#~$&{}@^!"})
"""Characters to escape in Markdown and its dialects."""
LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "|": r"\textbar{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        '"': r"\char34{}",
        "±": r"$\pm$",
    }
)
SUFFIXES = {"csv": ".csv", "markdown": ".md", "latex": ".tex", "parquet": ".parquet"}
"""By format."""
LIBRARIES = {
    "markdown": ("compare", "tabulate"),
    "latex": ("compare", "jinja2"),
    "parquet": ("parquet", "pyarrow"),
}
"""Extra and library of each format, arguments of `require`."""
TEXT_FORMATS = ("markdown", "latex")
"""Formats with formatted values, without empty columns and lines."""
FORMATS_OF = {
    "caption": TEXT_FORMATS,
    "preset": TEXT_FORMATS,
    "label": ("latex",),
    "position": ("latex",),
}
"""The formats that support a setting of `Layout`."""
DIGITS = {"nats": 2, "relative": 2}
"""Decimals in text formats, where these differ from the page."""
PRESETS = {
    "paper": {
        "method": "Method",
        "solved": "Solved",
        "reaches": "Opt.",
        "f1": "F1",
        "f1_loss": "F1 loss",
        "mean_gap": "Gap",
        "median_ms": "Time",
    },
    "gaps": {
        "method": "Method",
        "mean_gap": "Gap",
        "search_errors": "Search errors",
        "model_errors": "Model errors",
        "reaches": "Opt.",
        "median_ms": "Time",
    },
}
"""Columns and heads of the presets."""
OF_GOLD, WITHOUT_GOLD = ("f1", "f1_loss"), ("solved", "reaches")
"""Columns of the preset `paper` that need gold, and columns in their place without gold."""
BRACKETS = "Brackets: 95 per cent intervals by the bootstrap over sequences"
CAPTIONS = {
    "f1": f"F1 of fields, its loss against the reference, mean gap to the proved optimum, and median time of a sequence. {BRACKETS}, paired.",
    "solved": f"Sequences solved, and solved to the proved optimum, mean gap to the optimum, and median time of a sequence. {BRACKETS}.",
    "search_errors": "Mean gap to the proved optimum; sequences on which gold scores higher than the labelling (search errors) and lower "
    f"(model errors); sequences solved to the optimum; median time of a sequence. {BRACKETS}.",
    "mean_gap": f"Mean gap to the proved optimum, sequences solved to the optimum, and median time of a sequence. {BRACKETS}.",
}
"""Captions by the first column that is present."""
SMALL = r"{\footnotesize\setlength{\tabcolsep}{2.5pt}%"
FIT = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
"""Scales down a table that is wider than the page or the column."""


@dataclass(frozen=True)
class Layout:
    """Options of tables: columns or a preset, for a single table; decimals; caption, label and position in LaTeX."""

    columns: Sequence[str] | None = None
    digits: int | None = None
    caption: str = ""
    preset: str = ""
    label: str = ""
    position: str = ""

    def check(self, *kinds: str) -> None:
        """Raise ValueError for an unknown format, column or preset, and MissingLibrary for a format whose library is not installed.

        At least one of the formats must support a given caption, label or position; all formats must support a preset.
        """
        for kind in kinds:
            if kind not in SUFFIXES:
                raise ValueError(f"format is {kind!r}; expected one of {', '.join(SUFFIXES)}")
        if self.preset and self.preset not in PRESETS:
            raise ValueError(f"preset is {self.preset!r}; expected one of {', '.join(PRESETS)}")
        for name, allowed in FORMATS_OF.items():
            odd = [kind for kind in kinds if kind not in allowed]
            if getattr(self, name) and odd and (name == "preset" or odd == list(kinds)):
                raise ValueError(f"format {odd[0]} has no {name}; choose {' or '.join(allowed[::-1])}")
        if self.label and not self.single:
            raise ValueError("label is for one table; give columns or a preset")
        if self.digits is not None:
            whole(self.digits, "digits", 0, 15)
        known = columns_of_methods()
        for field in self.columns or ():
            if field not in known:
                raise ValueError(f"columns: no column {field!r}; expected some of {', '.join(known)}")
        if self.columns is not None and not self.columns:
            raise ValueError(f"columns is empty; expected some of {', '.join(known)}")
        for kind in kinds:
            if kind in LIBRARIES:
                require(f"format {kind}", *LIBRARIES[kind])

    def of(self, kind: str) -> "Layout":
        """The layout without options that the format does not support."""
        without: dict[str, Any] = {name: "" for name, allowed in FORMATS_OF.items() if kind not in allowed}
        return replace(self, **without)

    @property
    def single(self) -> bool:
        """Whether to write a single table, of methods."""
        return self.columns is not None or bool(self.preset)

    @property
    def names(self) -> list[str]:
        return [self.preset or "summary"] if self.single else list(COLUMNS)

    def tables(self, lines: Mapping[str, "pd.DataFrame"]) -> dict[str, tuple["pd.DataFrame", list[Column]]]:
        """Lines and columns of each table, by name."""
        known, summary = columns_of_methods(), lines["summary"]
        if self.columns is not None:
            return {self.names[0]: (summary, [known[field] for field in self.columns])}
        if not self.preset:
            return {name: (lines[name], columns) for name, columns in COLUMNS.items()}
        heads, with_gold = PRESETS[self.preset], bool(summary.f1.notna().any())
        left_out = () if self.preset != "paper" else WITHOUT_GOLD if with_gold else OF_GOLD
        interval = "f1_loss" if "f1_loss" in heads and with_gold else "mean_gap"
        columns = [
            replace(known[field], title=title, group="", interval=field == interval)
            for field, title in heads.items()
            if field not in left_out
        ]
        return {self.preset: (summary, columns)}


def columns_of_methods() -> dict[str, Column]:
    """Columns of all tables with a line for each method, by field."""
    return {column.field: column for table in OF_METHODS for column in COLUMNS[table]}


def write_tables(
    lines: Mapping[str, "pd.DataFrame"],
    folder: str | Path,
    kind: str,
    layout: Layout,
    inputs: Iterable[str | Path | None] = (),
) -> list[Path]:
    """Write tables into a folder; inputs are not overwritten."""
    layout.check(kind)
    writers: dict[str, Callable[..., str | bytes]] = {
        "csv": _csv,
        "parquet": _parquet,
        "markdown": _markdown,
        "latex": _latex,
    }
    tables = layout.tables(lines).items()
    contents = {name + SUFFIXES[kind]: writers[kind](*table, layout, name) for name, table in tables}
    return write_files(folder, contents, inputs)


def _figures(lines: "pd.DataFrame", columns: Sequence[Column], layout: Layout) -> "pd.DataFrame":
    """A table with names and units as columns, shares in percent and times in milliseconds."""
    frame = type(lines)({column.name: column.values(lines) for column in columns})
    return frame if layout.digits is None else frame.round(layout.digits)


def _csv(lines: "pd.DataFrame", columns: Sequence[Column], layout: Layout, name: str) -> str:
    frame = _figures(lines, columns, layout)
    texts = {each.name: frame[each.name].map(_without_formula) for each in columns if each.form == "text"}
    return str(frame.assign(**texts).to_csv(index=False, lineterminator="\n"))


def _without_formula(text: str) -> str:
    """A name that cannot be read as a formula or as a line break."""
    return FORMULA.sub(r"'\g<0>", readable(text, len(text)))


def _parquet(lines: "pd.DataFrame", columns: Sequence[Column], layout: Layout, name: str) -> bytes:
    stream = io.BytesIO()
    _figures(lines, columns, layout).to_parquet(stream, engine="pyarrow", index=False)
    return stream.getvalue()


def _texts(
    lines: "pd.DataFrame", columns: Sequence[Column], layout: Layout
) -> tuple["pd.DataFrame", list[Column]]:
    """Formatted cells and columns of a table, without empty columns and lines."""
    kept = [column for column in columns if layout.columns is not None or column.printed]
    lines, kept = with_values(lines, kept)
    if not layout.preset:
        apart = [column.field for column in kept]
        kept = [replace(each, interval=_low(each) in lines and _low(each) not in apart) for each in kept]
    texts = {}
    for column in kept:
        digits = DIGITS.get(column.form) if layout.digits is None else layout.digits
        texts[column.name] = column.texts(lines, digits)
    return type(lines)(texts, dtype="object"), kept


def _low(column: Column) -> str:
    return f"{column.field}_low"


def _markdown(lines: "pd.DataFrame", columns: Sequence[Column], layout: Layout, name: str) -> str:
    texts, kept = _texts(lines, columns, layout)
    align = ["left" if column.form == "text" else "right" for column in kept]
    rounded = texts.map(lambda text: text.translate(MARKDOWN))
    text = str(rounded.to_markdown(index=False, disable_numparse=True, colalign=align)) + "\n"
    return f"{text}\n: {layout.caption}\n" if layout.caption else text


def _latex(lines: "pd.DataFrame", columns: Sequence[Column], layout: Layout, name: str) -> str:
    """A table of booktabs. It floats if it has a caption (LaTeX text), a label or a position."""
    texts, kept = _texts(lines, columns, layout)
    for head, column in zip(texts.columns, kept, strict=True):
        if column.form != "text":
            texts[head] = texts[head].str.replace(r"-(?=\d)", "−", regex=True)
    texts.columns = type(texts.columns)([_two_lines(column) for column in kept], tupleize_cols=True)
    fields = [column.field for column in kept]
    default = next((text for field, text in CAPTIONS.items() if field in fields), "") if layout.preset else ""
    caption = layout.caption or default
    floats = bool(caption or layout.label or layout.position)
    sides = "".join("l" if column.form == "text" else "r" for column in kept)
    style = texts.style.hide(axis="index").format(_escaped).format_index(_escaped, axis="columns")
    text = style.to_latex(
        column_format=f"@{{}}{sides}@{{}}",
        hrules=True,
        sparse_columns=False,
        caption=caption or None,
        label=(layout.label or f"tab:{name}") if floats else None,
        position=(layout.position or "t") if floats else None,
        position_float="centering" if floats else None,
        environment="table" if floats else None,
    )
    text = text.replace(r"\begin{tabular}", f"{SMALL}\n{FIT}\n\\begin{{tabular}}")
    text = text.replace("\\end{tabular}\n", "\\end{tabular}}}\n")
    return f"% \\usepackage{{booktabs,graphicx}} in the preamble\n{text}"


def _two_lines(column: Column) -> tuple[str, str]:
    """A head above its unit, or split into two lines of about the same length."""
    if column.measure:
        return column.heading, column.measure
    words = column.heading.split()
    middle = min(
        range(1, len(words) + 1),
        key=lambda place: abs(len(" ".join(words[:place])) * 2 - len(column.heading)),
    )
    return " ".join(words[:middle]), " ".join(words[middle:])


def _escaped(text: str) -> str:
    """Escape text for LaTeX, also at line ends, without ligatures of hyphens."""
    plain = re.sub(r"-(?=-)", "-{}", readable(text, len(text)).translate(LATEX))
    plain = plain.replace("–", "--").replace("−", "$-$")
    return f"{{{plain[0]}}}{plain[1:]}" if plain.startswith(("[", "*")) else plain
