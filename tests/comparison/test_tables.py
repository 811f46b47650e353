"""Tables of a comparison, as data frames and as files."""

import csv
import io
import re
import shutil
import subprocess
from collections import Counter

import pandas as pd
import pytest
from support.comparisons import ODD, lines_of, odd, ordinary

from ilpinfer.comparison.columns import COLUMNS, readable, shown
from ilpinfer.comparison.frame import rows_of
from ilpinfer.comparison.rows import FIRST_STAGE
from ilpinfer.comparison.statistics import stage_costs
from ilpinfer.comparison.tables import CAPTIONS, DIGITS, PRESETS, SUFFIXES, Layout, _figures, write_tables
from ilpinfer.system.extras import MissingLibrary


@pytest.fixture(scope="module")
def comparison():
    return ordinary()


def titled(comparison, name):
    """All figures of a table under their titles, as CSV and Parquet have them."""
    return _figures(comparison.lines()[name], COLUMNS[name], Layout())


def test_tables_hold_the_figures_of_the_summary_in_their_units(comparison):
    table, summary = titled(comparison, "summary"), comparison.summary()
    assert table["method"].tolist() == [*comparison.kinds, "bare Viterbi pass"]
    pd.testing.assert_series_equal(table["solved (%)"], 100 * summary.solved, check_names=False)
    pd.testing.assert_series_equal(table["mean gap, all (nats)"], summary.mean_gap, check_names=False)
    assert table["failed"].tolist()[:-1] == [0, 0, 0, 0, 4, 0]
    assert table["median time (ms)"].isna().tolist() == [False] * 4 + [True, True, False]
    lines = lines_of(summary)
    assert len(titled(comparison, "matches")) == len(lines) * (len(lines) - 1) // 2
    fields = titled(comparison, "fields")
    assert fields["F1 gain (% points)"].tolist() == (100 * comparison.field_gains().f1_gain).tolist()


def test_each_sequence_of_auto_is_ended_by_one_stage(comparison):
    stages, rows = lines_of(comparison.stages()), list(rows_of(comparison.frame))
    engine = [row for row in rows if row["stages"]]
    assert {row["method"] for row in engine} == {stage.method for stage in stages} == {"auto"}
    assert stages[0].stage == FIRST_STAGE and stages[0].ran == len(engine) == sum(
        stage.ended for stage in stages
    )
    assert sum(stage.share for stage in stages) == pytest.approx(1.0)
    assert titled(comparison, "stages")["share of the time (%)"].sum() == pytest.approx(100.0)


def test_costs_of_stages_are_sums_over_sequences():
    taken = [
        [(FIRST_STAGE, 1.0)],
        [(FIRST_STAGE, 1.0), ("kernels", 2.0)],
        [(FIRST_STAGE, 1.0), ("kernels", 2.0), ("solver", 3.0)],
    ]
    rows = [{"method": "auto", "stages": stages} for stages in taken]
    rows.append({"method": "beam", "stages": None})
    found = [
        (each.stage, each.ran, each.ended, each.share) for each in lines_of(stage_costs(pd.DataFrame(rows)))
    ]
    assert found == [(FIRST_STAGE, 3, 1, 0.3), ("kernels", 2, 1, 0.4), ("solver", 1, 1, 0.3)]


def test_the_rules_that_each_method_breaks_are_those_of_its_rows(comparison):
    table = Counter[tuple[str, str]]()
    for row in rows_of(comparison.frame):
        table.update({(row["method"], rule): count for rule, count in row["violations"].items() if count})
    broken = lines_of(comparison.rules_broken())
    assert {(line.method, line.rule): line.violations for line in broken} == dict(table) and table
    for line in broken:
        some = [
            row
            for row in rows_of(comparison.frame)
            if row["method"] == line.method and row["violations"][line.rule]
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
        pd.testing.assert_frame_equal(read(file), titled(comparison, name), check_dtype=False)


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
        heads = [name.partition(" (")[0] for name in names]
        assert [text.index(head) for head in heads] == sorted(text.index(head) for head in heads)
        assert re.search(r"\d\.\d\d\b", text) and not re.search(r"\d\.\d{3}", text.replace("0.005", ""))


def test_a_caption_makes_a_table_that_floats_and_has_a_label(comparison, tmp_path):
    for file in comparison.write_tables(tmp_path, "latex", caption=r"Losses of \emph{beams}."):
        text = file.read_text("utf-8")
        assert text.index(r"\begin{table}") < text.index(r"\caption{Losses of \emph{beams}.}")
        assert text.index(rf"\label{{tab:{file.stem}}}") < text.index(r"\begin{tabular}")
        assert text.endswith("\\end{tabular}}}\n\\end{table}\n")
    for file in comparison.write_tables(tmp_path, "markdown", caption="Losses"):
        assert file.read_text("utf-8").endswith("|\n\n: Losses\n")


@pytest.mark.parametrize(
    ("preset", "gold", "heads", "units"),
    [
        (
            "paper",
            True,
            ["Method", "F1", "F1 loss", "Gap", "Time"],
            ["", "(%)", "(% points) [95 %]", "(nats)", "(ms)"],
        ),
        (
            "paper",
            False,
            ["Method", "Solved", "Opt.", "Gap", "Time"],
            ["", "(%)", "(%)", "(nats) [95 %]", "(ms)"],
        ),
        (
            "gaps",
            True,
            ["Method", "Gap", "Search", "Model", "Opt.", "Time"],
            ["", "(nats) [95 %]", "errors", "errors", "(%)", "(ms)"],
        ),
        ("gaps", False, ["Method", "Gap", "Opt.", "Time"], ["", "(nats) [95 %]", "(%)", "(ms)"]),
    ],
)
def test_presets_have_heads_with_units_and_intervals_in_their_cells(preset, gold, heads, units, tmp_path):
    comparison = ordinary() if gold else ordinary(gold=None)
    (file,) = comparison.write_tables(tmp_path, "latex", preset=preset, position="tb")
    text = file.read_text("utf-8")
    lines = [line.removesuffix(r" \\").split(" & ") for line in text.splitlines() if " & " in line]
    shown = [[cell.strip().replace("\\", "") for cell in line] for line in lines]
    assert shown[:2] == [heads, units]
    assert [line[0] for line in shown[2:]] == [*comparison.kinds, "bare Viterbi pass"]
    assert file.name == f"{preset}.tex" and f"\\label{{tab:{preset}}}" in text
    assert "\\begin{table}[tb]" in text and any(caption in text for caption in CAPTIONS.values())
    line = comparison.summary().set_index("method").loc["given"]
    name = "f1_loss" if preset == "paper" and gold else "mean_gap"
    value, low, high = (
        (100 if name == "f1_loss" else 1) * line[f"{name}{end}"] for end in ("", "_low", "_high")
    )
    digits = 1 if name == "f1_loss" else 2
    cell = f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]".replace("-", "$-$")
    assert cell in next(each for each in shown if each[0] == "given")


def test_caption_label_and_position_are_those_that_are_given(comparison, tmp_path):
    options = {"caption": "Mine", "label": "tab:mine", "position": "h"}
    (file,) = comparison.write_tables(tmp_path, "latex", columns=["method", "proved"], **options)
    text = file.read_text("utf-8")
    assert "\\begin{table}[h]\n\\centering\n\\caption{Mine}\n\\label{tab:mine}\n" in text
    assert "proved & (" not in text and "(\\%)" in text


TEX = r"""\documentclass[10pt,%s]{article}
\usepackage{booktabs,graphicx}
\newsavebox\whole
\let\scaled\resizebox
\renewcommand\resizebox[3]{\sbox\whole{\scaled{#1}{#2}{#3}}\typeout{WIDTH \the\wd\whole}\usebox{\whole}}
\begin{document}
"""


def typeset(folder, files, columns="twocolumn"):
    """The widths in points of tables that TeX has set."""
    pages = "".join(rf"\noindent\input{{{file.name}}}\clearpage" + "\n" for file in files)
    (folder / "all.tex").write_text(TEX % columns + pages + r"\end{document}")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    widths = [float(width) for width in re.findall(r"WIDTH ([0-9.]+)pt", done.stdout)]
    assert len(widths) == len(files)
    return widths


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no TeX")
def test_tex_sets_every_table_and_none_is_wider_than_page_or_column(tmp_path):
    if subprocess.run(["kpsewhich", "booktabs.sty"], check=False, capture_output=True).returncode:
        pytest.skip("no booktabs")
    comparison = ordinary()
    files = [comparison.write_tables(tmp_path, "latex", preset=preset)[0] for preset in PRESETS]
    assert all(100 < width <= 229.6 for width in typeset(tmp_path, files)), "the column of an article"
    for some in (comparison, odd()):
        files = some.write_tables(tmp_path, "latex")
        assert len(files) > 3 and all(width <= 345.1 for width in typeset(tmp_path, files, "onecolumn"))


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
        table = titled(comparison, name)
        methods = [re.sub(r"\\(.)", r"\1", line[head.index("method")]) for line in lines]
        if "bare Viterbi pass" not in methods:  # its measures are not printed
            table = table[table["method"] != "bare Viterbi pass"]
        assert len(lines) == len(table) and {len(line) for line in [head, rule, *lines]} == {len(head)}
        assert methods == [readable(method) for method in table["method"]]
        form = COLUMNS[name][-1].form
        for line, value in zip(lines, table.iloc[:, -1], strict=True):
            assert line[-1].partition(" ")[0] == shown(value, form, DIGITS.get(form))


def test_latex_is_escaped_and_has_as_many_cells_as_columns(tmp_path):
    comparison = odd()
    for name, file in zip(COLUMNS, comparison.write_tables(tmp_path, "latex"), strict=True):
        text = file.read_text("utf-8")
        (sides,) = re.findall(r"\\begin\{tabular\}\{@\{\}([lr]*)@\{\}\}", text)
        rows = re.findall(r"^(.*) \\\\$", text, re.M)
        assert len(rows) >= 2 + len(titled(comparison, name)) - (name in ("gaps", "errors"))
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
    shown = [line[0].removeprefix("'") for line in lines[2:-1]]
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
    with pytest.raises(ValueError, match="is also an input of this command"):
        write_tables(comparison.lines(), taken.parent, "csv", Layout(), [taken])
    assert [path.name for path in taken.parent.iterdir()] == ["gaps.csv"] and taken.read_text() == "gold"


def test_infinite_and_missing_figures_are_no_numbers_in_files(tmp_path):
    comparison = ordinary(methods=[], predictions={"nothing": [None] * 4}, gold=None)
    comparison.write_tables(tmp_path)
    text = (tmp_path / "summary.csv").read_text("utf-8")
    assert not re.search(r"\binf\b|\bnan\b", text) and len(pd.read_csv(io.StringIO(text))) == 2
