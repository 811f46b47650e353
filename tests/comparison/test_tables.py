"""Tables of a comparison, as data frames and as files."""

import csv
import io
import math
import re
import shutil
import subprocess
from collections import Counter

import pandas as pd
import pytest
from support.comparisons import ODD, lines_of, odd, ordinary

from ilpinfer.comparison.columns import COLUMNS, readable, shown
from ilpinfer.comparison.rows import FIRST_STAGE
from ilpinfer.comparison.statistics import stage_costs
from ilpinfer.comparison.tables import SUFFIXES, Layout, write_tables
from ilpinfer.system.extras import MissingLibrary


@pytest.fixture(scope="module")
def comparison():
    return ordinary()


def test_tables_hold_the_figures_of_the_summary_in_their_units(comparison):
    table, lines = comparison.table("summary"), lines_of(comparison.summary())
    assert list(table["method"]) == [line.method for line in lines]
    assert list(table["solved (%)"]) == [100 * line.solved for line in lines]
    assert table["failed"].tolist() == [line.failed for line in lines] == [0, 0, 0, 0, 4, 0]
    known = [line for line in lines if not line.failed]
    assert table["mean gap, all (nats)"].dropna().tolist() == [line.mean_gap for line in known]
    gaps = [line.solved_gap for line in known if not math.isnan(line.solved_gap)]
    assert table["mean gap, solved (nats)"].dropna().tolist() == gaps
    passes = [line.bare_passes for line in known if line.kind != "predictions"]
    assert table["bare Viterbi passes"].dropna().tolist() == passes
    unknown = table["median (ms)"].isna()
    assert unknown.tolist() == [line.kind == "predictions" or line.failed == 4 for line in lines]
    errors = comparison.table("errors")
    assert errors["search, sequences"].dropna().tolist() == [line.search_errors for line in known]
    assert errors["failed"].tolist() == [line.failed for line in lines]
    assert len(comparison.table("matches")) == len(lines) * (len(lines) - 1) // 2
    fields = comparison.table("fields")
    assert fields["F1 gain (% points)"].tolist() == (100 * comparison.field_gains().f1_gain).tolist()


def test_each_sequence_of_auto_is_ended_by_one_stage(comparison):
    stages, rows = lines_of(comparison.stages()), list(comparison.rows())
    engine = [row for row in rows if row["stages"]]
    assert {row["method"] for row in engine} == {stage.method for stage in stages} == {"auto"}
    assert stages[0].stage == FIRST_STAGE and stages[0].ran == len(engine) == sum(
        stage.ended for stage in stages
    )
    assert sum(stage.share for stage in stages) == pytest.approx(1.0)
    assert comparison.table("stages")["share of the time (%)"].sum() == pytest.approx(100.0)


def test_costs_of_stages_are_sums_over_sequences():
    taken = [
        [(FIRST_STAGE, 1.0)],
        [(FIRST_STAGE, 1.0), ("kernels", 2.0)],
        [(FIRST_STAGE, 1.0), ("kernels", 2.0), ("solver", 3.0)],
    ]
    rows = [{"method": "auto", "stages": stages} for stages in taken]
    rows.append({"method": "beam", "stages": None})
    found = [(each.stage, each.ran, each.ended, each.share) for each in lines_of(stage_costs(rows))]
    assert found == [(FIRST_STAGE, 3, 1, 0.3), ("kernels", 2, 1, 0.4), ("solver", 1, 1, 0.3)]


def test_the_rules_that_each_method_breaks_are_those_of_its_rows(comparison):
    table = Counter[tuple[str, str]]()
    for row in comparison.rows():
        table.update({(row["method"], rule): count for rule, count in row["violations"].items() if count})
    broken = lines_of(comparison.rules_broken())
    assert {(line.method, line.rule): line.violations for line in broken} == dict(table) and table
    for line in broken:
        some = [
            row for row in comparison.rows() if row["method"] == line.method and row["violations"][line.rule]
        ]
        assert line.sequences == len(some)


def test_names_of_columns_are_unique():
    for columns in COLUMNS.values():
        names = [column.name for column in columns]
        assert len(set(names)) == len(names)


def test_every_figure_has_a_column_and_every_column_a_figure(comparison):
    """Or is one of those that tables leave out."""
    left_out = {"sequences", "infeasible", "seconds"}
    lines = comparison.lines()
    for names in (["summary", "gaps", "gold", "errors"], ["matches"], ["fields"], ["stages"], ["rules"]):
        columns = {column.field for name in names for column in COLUMNS[name]}
        assert columns <= set(lines[names[0]]) <= columns | left_out


@pytest.mark.parametrize("kind", SUFFIXES)
@pytest.mark.parametrize("gold", [True, False])
def test_every_table_is_written_in_every_format(kind, gold, tmp_path):
    comparison = ordinary() if gold else ordinary(gold=None)
    files = comparison.write_tables(tmp_path / "new", kind)
    assert [file.name for file in files] == [name + SUFFIXES[kind] for name in COLUMNS]
    assert sorted(files) == sorted((tmp_path / "new").iterdir())


@pytest.mark.parametrize(("kind", "read"), [("csv", pd.read_csv), ("parquet", pd.read_parquet)])
def test_data_come_back_as_they_were(comparison, kind, read, tmp_path):
    for name, file in zip(COLUMNS, comparison.write_tables(tmp_path, kind), strict=True):
        pd.testing.assert_frame_equal(read(file), comparison.table(name), check_dtype=False)


@pytest.mark.parametrize("kind", SUFFIXES)
def test_chosen_columns_are_one_table_in_their_order(comparison, kind, tmp_path):
    (file,) = comparison.write_tables(tmp_path, kind, columns=["f1", "method", "mean_gap_low"], digits=2)
    assert file.name == f"summary{SUFFIXES[kind]}"
    table = {"csv": pd.read_csv, "parquet": pd.read_parquet}.get(kind)
    names = ["F1 (%)", "method", "95 % from, all (nats)"]
    if table is not None:
        expected = comparison.summary()
        assert list(table(file)) == names
        assert table(file)["F1 (%)"].tolist() == pytest.approx(
            (100 * expected.f1).round(2).tolist(), nan_ok=True
        )
    else:
        text = file.read_text("utf-8").replace("\\", "")
        assert [text.index(name) for name in names] == sorted(text.index(name) for name in names)
        assert re.search(r"\d\.\d\d\b", text) and not re.search(r"\d\.\d{3}", text.replace("0.005", ""))


def test_a_caption_makes_a_table_that_floats_and_has_a_label(comparison, tmp_path):
    for file in comparison.write_tables(tmp_path, "latex", caption=r"Losses of \emph{beams}."):
        text = file.read_text("utf-8")
        assert text.index(r"\begin{table}") < text.index(r"\caption{Losses of \emph{beams}.}")
        assert text.index(rf"\label{{tab:{file.stem}}}") < text.index(r"\begin{tabular}")
        assert text.endswith("\\end{tabular}\n\\end{table}\n")
    for file in comparison.write_tables(tmp_path, "markdown", caption="Losses"):
        assert file.read_text("utf-8").endswith("|\n\n: Losses\n")


def points(text):
    """About the width of a text in the footnotes of TeX, 8 points large."""
    return sum(2.4 if each in ".,[]- " else 4.25 for each in text)


@pytest.mark.parametrize("gold", [True, False])
def test_the_table_for_papers_fits_a_column(gold, tmp_path):
    comparison = ordinary() if gold else ordinary(gold=None)
    (file,) = comparison.write_tables(tmp_path, "latex", preset="paper")
    text = file.read_text("utf-8")
    head, *lines = [line.split(" & ") for line in text.splitlines() if " & " in line]
    assert "\\footnotesize" in text and "\\label{tab:summary}" in text and len(head) == 5
    shown = [[cell.removesuffix(r" \\").replace("\\", "") for cell in line] for line in (head, *lines)]
    for line in shown[1:]:
        line[4] = "9.9"  # whatever the machine's speed
    widths = [max(points(line[place]) for line in shown) for place in range(5)]
    assert shown[0] == (
        ["Method", "F1", "F1 loss [95 %]", "Gap", "ms"]
        if gold
        else ["Method", "Solved", "Opt.", "Gap [95 %]", "ms"]
    )
    assert sum(widths[1:]) + points("x" * 18) + 4 * 6 <= 241, (
        "the column of a paper, with names of 18 characters"
    )
    line = comparison.summary().set_index("method").loc["given"]
    name = "f1_loss" if gold else "mean_gap"
    value, low, high = ((100 if gold else 1) * line[f"{name}{end}"] for end in ("", "_low", "_high"))
    digits = 1 if gold else 2
    cell = f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]".replace("-", "$-$")
    assert cell in next(each for each in shown if each[0] == "given")
    own = comparison.write_tables(
        tmp_path, "latex", preset="paper", columns=["method", "proved"], caption="Mine"
    )
    assert "\\caption{Mine}" in own[0].read_text("utf-8") and "proved" in own[0].read_text("utf-8")


TEX = r"""\documentclass[10pt,twocolumn]{article}
\usepackage{booktabs}
\newsavebox\whole
\let\begintabular\tabular
\let\closetabular\endtabular
\renewenvironment{tabular}[1]{\begin{lrbox}{\whole}\begintabular{#1}}{\closetabular\end{lrbox}%
\typeout{WIDTH \the\wd\whole}\usebox{\whole}}
\begin{document}
"""


def typeset(folder, files):
    """The widths in points of tables that TeX has set."""
    pages = "".join(rf"\input{{{file.name}}}\clearpage" + "\n" for file in files)
    (folder / "all.tex").write_text(TEX + pages + r"\end{document}")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    return [float(width) for width in re.findall(r"WIDTH ([0-9.]+)pt", done.stdout)]


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no TeX")
def test_tex_sets_every_table_and_the_one_for_papers_fits_a_column(tmp_path):
    if subprocess.run(["kpsewhich", "booktabs.sty"], check=False, capture_output=True).returncode:
        pytest.skip("no booktabs")
    (file,) = ordinary().write_tables(tmp_path, "latex", preset="paper", caption="Mine")
    text = file.read_text("utf-8")
    long = r"evolutionary:time\_limit=0.005"
    assert long in text
    file.write_text(text.replace(long, "constrained-viterbi"))
    (width,) = typeset(tmp_path, [file])
    assert 100 < width <= 229.5, "the column of an article on letter paper"
    files = odd().write_tables(tmp_path, "latex")
    assert len(typeset(tmp_path, files)) == len(files) > 3


def test_numbers_below_zero_have_a_minus(tmp_path):
    (file,) = ordinary().write_tables(tmp_path, "latex", preset="paper")
    text = file.read_text("utf-8")
    assert "[$-$" in text and not re.search(r"[ \[]-[0-9]", text)


@pytest.mark.parametrize(
    ("kind", "begin"),
    [
        pytest.param("pdf", b"%PDF-", marks=pytest.mark.slow),
        ("svg", b"<?xml"),
        pytest.param("png", b"\x89PNG", marks=pytest.mark.slow),
    ],
)
def test_plots_are_written_in_every_format(comparison, kind, begin, tmp_path):
    files = comparison.write_plots(tmp_path / "new", kind)
    assert [file.name for file in files] == [
        f"{name}.{kind}" for name in ("gaps", "anytime", "profile", "lengths")
    ]
    for file in files:
        assert file.read_bytes().startswith(begin)
    first = files[0].read_bytes()
    assert comparison.write_plots(tmp_path / "new", kind)[0].read_bytes() == first, "equal for equal content"


def test_plots_without_data_and_unknown_formats(tmp_path):
    nothing = ordinary(methods=[], predictions={"nothing": [None] * 4})
    assert nothing.write_plots(tmp_path) == []
    with pytest.raises(ValueError, match="format of plots is 'gif'; expected one of pdf, svg, png"):
        nothing.write_plots(tmp_path, "gif")


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_markdown_has_a_cell_for_each_value_whatever_names_hold(tmp_path):
    comparison = odd()
    for name, file in zip(COLUMNS, comparison.write_tables(tmp_path, "markdown"), strict=True):
        head, rule, *lines = (cells(line) for line in file.read_text("utf-8").splitlines())
        table = comparison.table(name)
        assert len(lines) == len(table) and {len(line) for line in [head, rule, *lines]} == {len(head)}
        methods = [re.sub(r"\\(.)", r"\1", line[head.index("method")]) for line in lines]
        assert methods == [readable(method) for method in table["method"]]
        for line, value in zip(lines, table.iloc[:, -1], strict=True):
            assert line[-1] == shown(value, COLUMNS[name][-1].form)


def test_latex_is_escaped_and_has_as_many_cells_as_columns(tmp_path):
    comparison = odd()
    for name, file in zip(COLUMNS, comparison.write_tables(tmp_path, "latex"), strict=True):
        text = file.read_text("utf-8")
        (sides,) = re.findall(r"\\begin\{tabular\}\{([lr]*)\}", text)
        rows = re.findall(r"^(.*) \\\\$", text, re.M)
        assert len(rows) == 1 + len(comparison.table(name))
        for line in rows:
            assert len(re.findall(r"(?<!\\)&", line)) == len(sides) - 1
            bare = re.sub(r"\\[a-zA-Z]+\d*(\{\})? ?|\\[&%$#_{}]|\$\\pm\$|\$-\$", "", line)
            assert not re.search(r"[\\%$#_{}<>|~^]", bare.replace(" & ", ""))
        assert text.count("\\toprule") == text.count("\\midrule") == text.count("\\bottomrule") == 1
        if name not in ("stages", "rules"):
            assert r"a\textless{}b\textgreater{}\&" in text and ODD not in text


def test_latex_does_not_take_a_name_for_an_argument_of_the_line_before(tmp_path):
    given = {"[2cm]": [["a"] * 10] * 4, "*": [["a"] * 10] * 4}
    ordinary(methods=["auto"], predictions=given).write_tables(tmp_path, "latex")
    text = (tmp_path / "gaps.tex").read_text("utf-8")
    assert "\n{[}2cm] &" in text and "\n{*} &" in text


NAMES = ["=1+1", "+x", "-a", "@sum(A1)", "'=quoted", "\t=2", "\r=3", "＝4", "plain=1", "a-b", "a---b"]
NAMES += ["&lt;", 'a"b', "{{x}}"]


def named(tmp_path, kind):
    """The table of gaps of methods with these names, as text."""
    given = {name: [["a"] * 10] * 2 for name in NAMES}
    ordinary(2, methods=["auto"], predictions=given).write_tables(tmp_path, kind)
    return (tmp_path / f"gaps{SUFFIXES[kind]}").read_text("utf-8")


def test_no_cell_of_csv_begins_like_a_formula(tmp_path):
    lines = list(csv.reader(io.StringIO(named(tmp_path, "csv"), newline="")))
    cells = [cell for line in lines for cell in line if not re.fullmatch(r"-?[\d.]+(e[+-]?\d+)?", cell)]
    assert not [cell for cell in cells if re.match(r"[=+\-@\t\r＝＋－＠]", cell)]
    shown = [line[0].removeprefix("'") for line in lines[2:]]
    assert shown == [name.replace("\t", r"\t").replace("\r", r"\r") for name in NAMES]
    matches = (tmp_path / "matches.csv").read_text("utf-8")
    assert "'=1+1,'+x," in matches, "both names of a pair"


def test_markdown_shows_names_as_they_are(tmp_path):
    text = named(tmp_path, "markdown")
    assert r"| \&lt; " in text and r"| \{\{x\}\} " in text and r"| \@sum(A1) " in text


def test_latex_shows_names_as_they_are(tmp_path):
    text = named(tmp_path, "latex")
    assert "\na-{}-{}-b & " in text and "\na\\char34{}b & " in text and "\n\\{\\{x\\}\\} & " in text
    assert " -- &" in text, "a value that is not known is a dash"


def test_columns_without_any_value_are_left_out_for_readers_only(tmp_path):
    comparison = ordinary(gold=None)
    comparison.write_tables(tmp_path, "markdown")
    comparison.write_tables(tmp_path, "csv")
    assert "accuracy" not in (tmp_path / "summary.md").read_text("utf-8")
    assert "accuracy (%)" in pd.read_csv(tmp_path / "summary.csv")
    assert pd.read_csv(tmp_path / "fields.csv").empty


def test_without_pyarrow_a_message_names_the_way_out(comparison, tmp_path, monkeypatch):
    monkeypatch.setattr("ilpinfer.system.extras.find_spec", lambda name: None)
    with pytest.raises(MissingLibrary, match=r"needs pyarrow, .* pip install 'ilpinfer\[parquet\]'"):
        comparison.write_tables(tmp_path, "parquet")


def test_nothing_is_written_where_a_place_is_taken(comparison, tmp_path):
    (tmp_path / "fields.csv").mkdir()
    with pytest.raises(ValueError, match="is a folder; name a file"):
        comparison.write_tables(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["fields.csv"]
    taken = tmp_path / "new" / "gaps.csv"
    taken.parent.mkdir()
    taken.write_text("gold")
    with pytest.raises(ValueError, match="is an input of this command"):
        write_tables(comparison.lines(), taken.parent, "csv", Layout(), [taken])
    assert [path.name for path in taken.parent.iterdir()] == ["gaps.csv"] and taken.read_text() == "gold"


def test_infinite_and_missing_figures_are_no_numbers_in_files(tmp_path):
    comparison = ordinary(methods=[], predictions={"nothing": [None] * 4}, gold=None)
    comparison.write_tables(tmp_path)
    text = (tmp_path / "summary.csv").read_text("utf-8")
    assert not re.search(r"\binf\b|\bnan\b", text) and len(pd.read_csv(io.StringIO(text))) == 1
