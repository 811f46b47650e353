"""The page of a comparison in a browser without a window: no error, and tables that sort."""

import re
import subprocess

import pytest
from support.browser import BROWSER, FLAGS, NAMES
from support.comparisons import odd, ordinary

from ilpinfer.comparison.report import report_of

CLICK = """
<script>
const head = [...document.querySelectorAll("#summary thead tr:last-child th")]
  .find(each => each.textContent.startsWith("{column}"));
for (let i = 0; i < {clicks}; i++) head.querySelector("button").click();
</script>
"""
pytestmark = pytest.mark.skipif(BROWSER is None, reason=f"none of {', '.join(NAMES)} is installed")


def page_of(comparison):
    return report_of(comparison, comparison.lines())


def opened(folder, text):
    """The page after its scripts have run, and what the browser wrote to its console."""
    path = folder / "page.html"
    path.write_text(text, "utf-8")
    command = [
        *(BROWSER, *FLAGS, "--enable-logging=stderr", "--v=0"),
        *(f"--user-data-dir={folder / 'profile'}", "--dump-dom", path.as_uri()),
    ]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert "</html>" in run.stdout, run.stderr
    return run.stdout, [line for line in run.stderr.splitlines() if "CONSOLE" in line]


def column(page, name):
    """Texts of a column of the summary, in the order of the lines, and the state of its head."""
    (table,) = re.findall(r'<table class="sortable" id="summary".*?</table>', page, re.S)
    heads = re.findall(r"<th (?!colspan)([^>]*)><button[^>]*>(.*?)<", table.partition("</thead>")[0])
    place = [title for _, title in heads].index(name)
    lines = re.findall(r"<tr>(.*?)</tr>", table.partition("<tbody>")[2], re.S)
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", line, re.S)[place] for line in lines]
    return [re.sub("<[^>]*>", "", cell) for cell in cells], heads[place][0]


@pytest.mark.parametrize("clicks", [1, 2])
@pytest.mark.parametrize("name", ["mean gap", "median time", "method"])
def test_a_click_sorts_and_says_so(tmp_path, name, clicks):
    text = page_of(ordinary())
    before, state = column(text, name)
    assert "aria-sort" not in state
    script = CLICK.replace("{column}", name).replace("{clicks}", str(clicks))
    page, errors = opened(tmp_path, text.replace("</body>", f"{script}</body>"))
    after, state = column(page, name)
    assert errors == []
    assert f'aria-sort="{["ascending", "descending"][clicks - 1]}"' in state
    known = [each for each in after if each != "–"]
    key = str.lower if name == "method" else lambda text: float(text.partition(" [")[0])
    assert known == sorted(known, key=key, reverse=clicks == 2) and sorted(before) == sorted(after)
    assert after == known + ["–"] * (len(after) - len(known))


@pytest.mark.parametrize("width", [1400, 400])
def test_the_page_is_no_wider_than_the_window(tmp_path, width):
    """A frame has the width, as windows of the browser have a smallest one; only wide tables scroll, and not the summary at 1400."""
    script = """<script>
const wide = [...document.querySelectorAll("body *")].filter(each => !each.closest(".box *") && each.getBoundingClientRect().right > innerWidth + 1);
const box = document.querySelector("#summary").parentElement;
document.title = `${wide.length} ${box.scrollWidth > box.clientWidth}`;
</script>"""
    text = page_of(ordinary()).replace("</body>", f"{script}</body>").replace('"', "&quot;")
    frame = (
        f'<iframe srcdoc="{text}" width="{width}" height="900" style="border:0"></iframe><script>onload = () => '
        "{document.title = document.querySelector('iframe').contentDocument.title}</script></html>"
    )
    page, errors = opened(tmp_path, frame)
    assert errors == []
    assert f"<title>0 {str(width < 1000).lower()}</title>" in page


def test_a_console_error_would_be_noticed(tmp_path):
    _, errors = opened(tmp_path, "<script>missing()</script></html>")
    assert len(errors) == 1


def test_names_that_mean_something_to_html_run_no_script(tmp_path):
    page, errors = opened(tmp_path, page_of(odd()))
    assert errors == []
    assert page.count("<script") == 1
